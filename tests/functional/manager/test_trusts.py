# SPDX-License-Identifier: Apache-2.0

"""Trusts of users: made where they are needed, with what is needed, gone with the lease."""

from __future__ import annotations

import datetime
import json
import logging
from typing import Any

import fixtures

from climate import exceptions
from climate.api.http import microversions
from climate.booking.requests import trusts
from climate.domain.leases import Lease
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.plugins.stack.plugin import VirtualStack
from climate.plugins.stack.settings import StackSettings
from tests import shown
from tests.databases import fetch
from tests.functional.manager import harness
from tests.functional.manager import stack_case
from tests.functional.manager.walk.stacks import TEMPLATE

NOON = harness.NOW.timestamp()
HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1, 'before_end': ''}


class _Trusts(stack_case.StackCase):
    def setUp(self) -> None:
        super().setUp()
        self.logged = self.useFixture(fixtures.FakeLogger(level=logging.DEBUG))

    def revoke(self) -> None:
        """Let the user take back what was trusted."""
        for row in self.trusts():
            self.cloud.identity.delete_trust(str(row[0]))

    def leave(self) -> None:
        """Let the user leave the project."""
        self.cloud.put_member('alice', harness.PROJECT)

    def assert_over(self, lease: Lease, status: str) -> None:
        """Check that a lease has come to its end, and no trust is left."""
        self.assertEqual(status, self.site.status(lease))
        self.assertEqual([], self.trusts())


class TestTrusts(_Trusts):
    """When there is a trust."""

    def test_only_where_it_is_needed(self) -> None:
        self.site.book((HOST,), 100, 200)
        self.existing(self.mine(), start=300, on_end=['suspend'])
        self.assertEqual(0, self.cloud.calls('identity.create_trust'))
        lease = self.site.book(
            (HOST, {'resource_type': stack_case.TYPE, 'name': 'web', 'template': TEMPLATE}),
            4000,
            5000,
        )
        ((trust_id, user, project, roles, until, redelegate),) = self.trusts()
        self.assertEqual(
            ('alice', harness.PROJECT, 'member,reader', 1), (user, project, roles, redelegate)
        )
        # Should nobody delete it, it is of no use some time after the end.
        self.assertEqual((harness.at(5000) + harness.SETTINGS.trust_margin).timestamp(), until)
        self.assertEqual(trust_id, self.site.now(lease).trust_id)

    def test_for_snapshots_which_only_who_takes_them_sees(self) -> None:
        lease = self.existing(self.mine())
        self.assertEqual(1, len(self.trusts()))
        self.site.until(stack_case.END + 60)
        self.assertEqual([('COMPLETE', 'end')], self.snapshots())
        self.assert_over(lease, 'TERMINATED')

    def test_snapshots_of_a_stack_whose_user_has_left_are_ours(self) -> None:
        stack_id = self.mine()
        lease = self.existing(stack_id)
        self.site.until(stack_case.START + 60)
        self.leave()
        self.site.until(stack_case.END + 60)
        (kept,) = self.cloud.orchestration.list_stack_snapshots(stack_id)
        self.assertEqual('COMPLETE', kept.status)
        self.assert_over(lease, 'TERMINATED')

    def test_who_wants_snapshots_afterwards_is_too_late(self) -> None:
        lease = self.existing(self.mine(), on_end=['suspend'])
        with self.assertRaises(exceptions.CantUpdateParameter):
            self.site.change(lease, ({'on_end': ['snapshot', 'suspend']},))

    def test_with_the_roles_that_operators_name(self) -> None:
        settings = StackSettings(roles=frozenset({'reader'}))
        self.site.plugins[stack_case.TYPE] = VirtualStack(settings)
        self.made()
        self.assertEqual(['reader'], [row[3] for row in self.trusts()])

    def test_who_lacks_a_role_is_refused(self) -> None:
        self.cloud.put_member('alice', harness.PROJECT, 'reader')
        error = self.assertRaises(exceptions.Conflict, self.made)
        self.assertEqual(409, error.code)
        self.assertIn('member', error.message)
        self.assertEqual([], self.trusts())
        self.assertIsNone(fetch(self.site.store, lambda tx: tx.claims.next_due()))

    def test_keystone_is_unavailable(self) -> None:
        self.cloud.fail('identity.create_trust')
        self.assertEqual(503, self.assertRaises(exceptions.CloudUnavailable, self.made).code)
        self.assertEqual([], self.trusts())

    def test_who_shows_no_token(self) -> None:
        body = {'resource_type': stack_case.TYPE, 'name': 'web', 'template': TEMPLATE}
        with self.assertRaisesRegex(exceptions.InvalidInput, 'token'):
            self.site.book((body,), 100, 200, token=None)

    def test_what_is_refused_leaves_none(self) -> None:
        self.made()
        self.assertRaises(exceptions.NotEnoughResources, self.made)
        self.assertEqual(1, len(self.trusts()))
        self.cloud.fail('identity.delete_trust')
        self.assertRaises(exceptions.NotEnoughResources, self.made)


class TestRenewed(_Trusts):
    """Trusts of leases that are prolonged."""

    MARGIN = harness.SETTINGS.trust_margin.total_seconds()

    def prolong(self, lease: Lease, end: float, **caller: Any) -> None:
        """Let a user give a lease another end; by default its owner."""
        who = {'user_id': 'alice', 'project_id': harness.PROJECT, **caller}
        self.site.leases.update(
            Caller(**who, token=f'{who["user_id"]}:{who["project_id"]}'),
            lease.id,
            harness.PROJECT,
            LeaseChange(end=harness.at(end), grain=datetime.timedelta(0)),
        )

    def expiries(self) -> list[float]:
        """Return how many seconds after noon each trust expires."""
        return sorted(float(row[4]) - harness.NOW.timestamp() for row in self.trusts())

    def test_its_owner_gives_a_new_one_once_it_is_needed(self) -> None:
        lease = self.made()
        first = self.site.now(lease).trust_id
        self.prolong(lease, stack_case.END + self.MARGIN / 2)
        self.assertEqual(first, self.site.now(lease).trust_id)
        later = stack_case.END + self.MARGIN / 2 + 1
        self.prolong(lease, later)
        self.assertEqual([stack_case.END + self.MARGIN, later + self.MARGIN], self.expiries())
        # The one before is left to what it was handed on to.
        second = self.site.now(lease).trust_id
        self.assertEqual({first, second}, {row[0] for row in self.trusts()})
        self.assertNotEqual(first, second)
        self.prolong(lease, stack_case.END)
        self.assertEqual('TERMINATED', self.site.status_at(stack_case.END + 100, lease))
        list(self.site.repair().run())
        self.assert_over(lease, 'TERMINATED')

    def test_the_same_end_once_more_renews_it_as_well(self) -> None:
        """As after an administrator has prolonged the lease."""
        lease = self.made()
        far = stack_case.END + self.MARGIN
        self.prolong(lease, far, user_id='root', all_projects=True)
        self.assertEqual([stack_case.END + self.MARGIN], self.expiries())
        self.assertIn(f'Lease {lease.id} may outlast its trust', self.logged.output)
        self.prolong(lease, far)
        self.assertIn(far + self.MARGIN, self.expiries())

    def test_what_is_refused_leaves_none(self) -> None:
        lease = self.made()
        self.made(start=stack_case.END + 100, end=stack_case.END + 200)
        known = self.expiries()
        far = stack_case.END + 2 * self.MARGIN
        self.assertRaises(exceptions.NotEnoughResources, self.prolong, lease, far)
        self.assertEqual(known, self.expiries())
        self.cloud.fail('identity.create_trust')
        self.assertRaises(exceptions.CloudUnavailable, self.prolong, lease, far)
        self.assertEqual(stack_case.END, self.site.now(lease).period.end.timestamp() - NOON)

    def test_a_lease_until_the_end_of_time(self) -> None:
        end = datetime.datetime(9999, 12, 31, tzinfo=datetime.UTC)
        self.assertEqual(9999, trusts.expiry(end, harness.SETTINGS.trust_margin).year)

    def test_leases_that_need_none_get_none(self) -> None:
        lease = self.existing(self.mine(), on_end=['suspend'])
        self.prolong(lease, stack_case.END + 2 * self.MARGIN)
        self.assertEqual([], self.trusts())


class TestLife(_Trusts):
    """When it goes."""

    def test_it_lasts_as_long_as_the_lease(self) -> None:
        lease = self.made()
        for second in (99, 200, 3599):
            self.site.until(second)
            self.assertEqual(1, len(self.trusts()))
        self.site.until(3700)
        self.assert_over(lease, 'TERMINATED')

    def test_it_goes_with_a_lease_that_is_deleted(self) -> None:
        for second in (0, 60, 1200):
            lease = self.made(start=second + 50, end=second + 9000)
            self.site.until(second + (100 if second == 1200 else 1))
            self.site.delete(lease)
            self.site.until(second + 200)
            self.assert_over(lease, 'gone')

    def test_it_goes_with_a_start_that_fails(self) -> None:
        lease = self.made()
        self.cloud.fail('orchestration.create_stack', error='permanent')
        self.site.until(200)
        self.assert_over(lease, 'ERROR')
        self.site.delete(lease)
        self.site.until(210)
        self.assert_over(lease, 'gone')

    def test_it_goes_with_a_start_that_is_missed(self) -> None:
        lease = self.made()
        self.site.away_until(4000)
        self.site.until(4100)
        self.assert_over(lease, 'TERMINATED')

    def test_it_stays_when_what_was_prepared_is_undone(self) -> None:
        lease = self.made()
        self.cloud.fail('compute.create_flavor', error='permanent')
        self.site.until(50)
        self.assertEqual(1, len(self.site.reasons(lease)))
        self.assertEqual(1, len(self.trusts()))
        self.assertEqual('ACTIVE', self.site.status_at(200, lease))

    def test_it_stays_until_what_heat_has_it_for_is_gone(self) -> None:
        lease = self.made()
        self.site.until(3599)
        self.cloud.set_seconds('stack', 30)
        self.site.until(3620)
        self.assertEqual(1, len(self.trusts()))
        self.site.until(3700)
        self.assert_over(lease, 'TERMINATED')

    def test_keystone_is_unavailable_at_the_end(self) -> None:
        lease = self.made()
        self.site.until(3599)
        self.cloud.fail('identity.delete_trust', None)
        self.assertEqual('ERROR', self.site.status_at(3620, lease))
        self.assertIn('delete_trust', self.reason(lease))
        self.cloud.heal()
        self.site.until(3700)
        self.assert_over(lease, 'TERMINATED')


class TestLost(_Trusts):
    """The user takes it back, or leaves."""

    def test_a_start_that_cannot_be_is_reported(self) -> None:
        for lose in (self.revoke, self.leave):
            begin = self.site.seconds()
            lease = self.made(start=begin + 50, end=begin + 9000)
            self.site.until(begin + 10)
            lose()
            self.assertEqual('ERROR', self.site.status_at(begin + 100, lease))
            self.assertIn('trust', self.reason(lease))
            self.site.delete(lease)
            self.site.until(begin + 200)
            self.assert_over(lease, 'gone')

    def test_ends_are_as_ever(self) -> None:
        for lose in (self.revoke, self.leave):
            begin = self.site.seconds()
            self.cloud.put_member('alice', harness.PROJECT, 'member', 'reader')
            lease = self.made(start=begin + 50, end=begin + 200)
            self.assertEqual('ACTIVE', self.site.status_at(begin + 100, lease))
            lose()
            self.site.until(begin + 300)
            self.assertEqual([], self.cloud.contents()['stacks'])
            self.assert_over(lease, 'TERMINATED')

    def test_no_trust_is_shown(self) -> None:
        lease = self.made()
        trust_id = str(self.trusts()[0][0])
        self.site.until(50)
        self.leave()
        self.site.until(200)
        self.assertIn('start_lease failed for good', self.logged.output)
        found = self.site.now(lease)
        plugins: dict[str, Any] = self.site.plugins
        seen = shown.lease(found, plugins, microversions.MAX)
        payloads = [message.payload for message in self.site.bus.taken]
        self.assertEqual(trust_id, found.trust_id)
        self.assertNotIn(trust_id, json.dumps([seen, payloads]) + self.logged.output)
        self.assertIsNone(seen['trust_id'])
