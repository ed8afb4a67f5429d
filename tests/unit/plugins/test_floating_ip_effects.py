# SPDX-License-Identifier: Apache-2.0
"""The effects of a reservation of floating IPs, with a failure at each call in turn."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable

from climate import exceptions
from climate.cloud.base import CloudQuota
from climate.plugins import contract
from climate.plugins.floating_ip import errors
from tests import base
from tests.unit.plugins import every_call
from tests.unit.plugins import neutron_effect_runners
from tests.unit.plugins.effect_runners import FailingCallCloud
from tests.unit.plugins.effect_runners import OTHER
from tests.unit.plugins.effect_runners import OWNER
from tests.unit.plugins.effect_runners import RESERVATION
from tests.unit.plugins.neutron_effect_runners import ADDRESSES
from tests.unit.plugins.neutron_effect_runners import FloatingIPEffectRunner
from tests.unit.plugins.neutron_effect_runners import OTHERS_TAGS
from tests.unit.plugins.neutron_effect_runners import TAGS

FIRST, SECOND, THIRD = ADDRESSES


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """An effect in a situation.

    :ivar given: brings a new runner into the situation
    :ivar left: the addresses that the project has afterwards
    """

    effect: str
    given: Callable[[], FloatingIPEffectRunner]
    left: tuple[str, ...]


def fresh() -> FloatingIPEffectRunner:
    """Nothing has happened yet."""
    return FloatingIPEffectRunner()


def leased() -> FloatingIPEffectRunner:
    """The reservation is active."""
    return FloatingIPEffectRunner().started()


def in_use() -> FloatingIPEffectRunner:
    """Active, and two of the addresses lead to a server."""
    runner = leased()
    runner.attach(FIRST, SECOND)
    return runner


def half_started() -> FloatingIPEffectRunner:
    """A start made one, and another without tags."""
    runner = FloatingIPEffectRunner()
    runner.cloud.network.set_floating_ip_tags(runner.take(FIRST, OWNER).id, TAGS)
    runner.take(SECOND, OWNER, f'reservation:{RESERVATION}')
    return runner


def grown() -> FloatingIPEffectRunner:
    """One was active, all three are to be."""
    runner = FloatingIPEffectRunner()
    runner.mine = runner.resources[:1]
    runner.run('start')
    runner.mine = runner.resources
    return runner


def shrunk() -> FloatingIPEffectRunner:
    """The third is to be given up, which nobody uses."""
    runner = in_use()
    runner.shrink(1, 2)
    return runner


def shrunk_wrongly() -> FloatingIPEffectRunner:
    """One is to be given up that is in use, while another is not."""
    runner = in_use()
    runner.shrink(2, 3)
    return runner


def drifted() -> FloatingIPEffectRunner:
    """One was deleted, one lost its tags, one was made anew for somebody else."""
    runner = leased()
    network = runner.cloud.network
    found = runner.found()
    network.delete_floating_ip(found[FIRST].id)
    network.set_floating_ip_tags(found[SECOND].id, {'mine'})
    network.delete_floating_ip(found[THIRD].id)
    network.set_floating_ip_tags(runner.take(THIRD, OTHER).id, TAGS)
    return runner


def disguised() -> FloatingIPEffectRunner:
    """The project has taken all marks away."""
    runner = in_use()
    for item in runner.found().values():
        runner.cloud.network.set_floating_ip_tags(item.id, set())
    return runner


CASES = (
    Case(effect='start', given=fresh, left=ADDRESSES),
    Case(effect='start', given=half_started, left=ADDRESSES),
    Case(effect='start', given=grown, left=ADDRESSES),
    Case(effect='start', given=shrunk, left=(FIRST, SECOND)),
    Case(effect='start', given=shrunk_wrongly, left=(FIRST, SECOND)),
    Case(effect='check', given=in_use, left=ADDRESSES),
    Case(effect='check', given=drifted, left=ADDRESSES),
    Case(effect='check', given=disguised, left=ADDRESSES),
    Case(effect='end', given=fresh, left=()),
    Case(effect='end', given=half_started, left=()),
    Case(effect='end', given=in_use, left=()),
    Case(effect='end', given=drifted, left=()),
    Case(effect='end', given=disguised, left=()),
)


class TestEveryCase(every_call.EveryCase):
    """Whichever call fails, Neutron has in the end what it should."""

    cases = CASES
    beginnings = (fresh, half_started)
    least = 100

    def finish(self, case: Case, runner: FloatingIPEffectRunner, failing: FailingCallCloud) -> None:
        """Run the case to its end, with all that must hold meanwhile."""
        used = {item.id for item in runner.found().values() if item.port_id}

        def watch() -> None:
            now = {item.id for item in runner.found().values() if item.port_id}
            if case.effect != 'end':
                self.assertEqual(used, now)

        runner.run(case.effect, failing, watch)
        found = runner.found()
        self.assertEqual(list(case.left), sorted(found))
        for item in found.values():
            self.assertEqual(OWNER, item.project_id)
            self.assertLessEqual(TAGS, item.tags)
        ids = {address: item.id for address, item in found.items()}
        self.assertEqual(ids or None, runner.facts.get('floating_ips'))
        self.assertIn(runner.neighbour, runner.cloud.networks.floating_ips())

    def nothing_left(self, runner: FloatingIPEffectRunner) -> None:
        self.assertEqual({}, runner.found())


class TestOutcomes(base.TestCase):
    """What effects say, and what they do in corners."""

    def test_made_in_the_project_with_tags(self) -> None:
        for item in leased().found().values():
            self.assertEqual((OWNER, TAGS, None), (item.project_id, item.tags, item.port_id))

    def test_what_goes_is_not_in_use(self) -> None:
        self.assertIsNone(shrunk().run('start').kept)
        self.assertEqual({1: 1, 2: 1}, shrunk_wrongly().run('start').kept)

    def test_what_is_required_is_kept(self) -> None:
        runner = FloatingIPEffectRunner(THIRD).started()
        runner.shrink(1, 2)
        self.assertEqual({1, 3}, set(runner.run('start').kept or ()))

    def test_what_is_in_use_and_what_is_required_have_to_fit(self) -> None:
        runner = FloatingIPEffectRunner(THIRD).started()
        runner.attach(FIRST, SECOND)
        runner.shrink(2, 3)
        self.assertIn(THIRD, self.assertRaises(exceptions.Permanent, runner.once, 'start').message)
        self.assertEqual(set(ADDRESSES), set(runner.found()))

    def test_nothing_in_use_is_removed(self) -> None:
        runner = leased()
        runner.attach(*ADDRESSES)
        before = runner.found()
        runner.shrink(1, 2)
        self.assertIn(THIRD, self.assertRaises(exceptions.Permanent, runner.once, 'start').message)
        self.assertEqual(before, runner.found())

    def test_what_cannot_be_kept_to_the_end_is_not_kept_in_place_of_others(self) -> None:
        runner = in_use()
        runner.shrink(2, 3)
        runner.until -= datetime.timedelta(minutes=1)
        self.assertRaises(exceptions.Permanent, runner.once, 'start')
        self.assertEqual(set(ADDRESSES), set(runner.found()))

    def test_what_is_replaced_goes_although_the_other_is_not_there_yet(self) -> None:
        runner = FloatingIPEffectRunner()
        runner.mine = runner.resources[:2]
        runner.run('start')
        runner.mine, runner.leaving = runner.resources[1:], runner.resources[:1]
        self.assertIsNone(runner.run('start').kept)
        self.assertEqual({SECOND, THIRD}, set(runner.found()))

    def test_an_address_of_another_project_is_waited_for(self) -> None:
        for tags, description in ((set(), ''), (OTHERS_TAGS, f'reservation:{RESERVATION}')):
            runner = FloatingIPEffectRunner()
            other = runner.take(SECOND, OWNER, description)
            runner.cloud.network.set_floating_ip_tags(other.id, tags)
            self.assertIsNone(runner.once('start'))
            runner.once('end')
            self.assertEqual({SECOND}, set(runner.found()))
            runner.cloud.network.delete_floating_ip(other.id)
            runner.run('start')
            self.assertEqual(set(ADDRESSES), set(runner.found()))

    def test_an_address_of_some_other_port_is_waited_for(self) -> None:
        runner = FloatingIPEffectRunner()
        subnet = runner.cloud.network.list_subnets(runner.public.id)[0]
        runner.cloud.networks.add_port(subnet.id, OTHER, 'router', address=FIRST)
        self.assertIsNone(runner.once('start'))

    def test_a_quota_is_reported(self) -> None:
        runner = FloatingIPEffectRunner()
        runner.cloud.networks.set_quota(OWNER, 'floatingips', 2)
        self.assertRaises(CloudQuota, runner.once, 'start')
        runner.run('end')
        self.assertEqual({}, runner.found())

    def test_check_says_what_it_repaired(self) -> None:
        expected = (
            f'floating IP {FIRST} was missing',
            f'floating IP {SECOND} had lost its tags',
            f'floating IP {THIRD} was of another project',
        )
        self.assertEqual(expected, drifted().run('check').repaired)
        runner = drifted()
        runner.run('check')
        self.assertEqual((), runner.run('check').repaired)

    def test_tags_of_the_project_stay(self) -> None:
        runner = drifted()
        runner.run('check')
        self.assertEqual({'mine', *TAGS}, runner.found()[SECOND].tags)

    def test_one_that_goes_while_it_is_tagged_is_made_again(self) -> None:
        runner = FloatingIPEffectRunner()
        runner.cloud.fail('network.set_floating_ip_tags', error='not_found')
        self.assertIsNone(runner.once('start'))
        runner.run('start')


class TestSweep(base.TestCase):
    """What leases that are over have left."""

    def test_only_what_is_known_to_be_over_goes(self) -> None:
        for alive, ended, left in (
            ((), (RESERVATION,), set()),
            ((RESERVATION,), (), set(ADDRESSES)),
            ((RESERVATION,), (RESERVATION,), set(ADDRESSES)),
            ((), (), set(ADDRESSES)),
        ):
            runner = in_use()
            records = contract.Records(alive=frozenset(alive), ended=frozenset(ended))
            for dry_run in (True, False):
                findings = list(runner.plugin.sweep(records, runner.cloud, dry_run=dry_run))
                self.assertEqual(3 - len(left), len(findings))
                self.assertTrue(all(bool(item.done) is not dry_run for item in findings))
                self.assertEqual(set(ADDRESSES) if dry_run else left, set(runner.found()))
            self.assertIn(runner.neighbour, runner.cloud.networks.floating_ips())

    def test_what_does_not_bear_our_tag_stays(self) -> None:
        runner = leased()
        runner.cloud.network.set_floating_ip_tags(runner.found()[FIRST].id, TAGS - {'blazar'})
        records = contract.Records(alive=frozenset(), ended=frozenset({RESERVATION}))
        list(runner.plugin.sweep(records, runner.cloud, dry_run=False))
        self.assertEqual({FIRST}, set(runner.found()))


class TestDiscover(base.TestCase):
    """What can be registered."""

    def setUp(self) -> None:
        super().setUp()
        self.runner = FloatingIPEffectRunner()
        self.public = self.runner.public.id

    def refused(
        self, error: type[exceptions.ClimateError], address: object, network: str = ''
    ) -> None:
        draft = neutron_effect_runners.address_draft(network or self.public, address)  # type: ignore[arg-type]  # what no caller should send
        found = self.assertRaises(error, self.runner.plugin.discover, draft, self.runner.cloud)
        self.assertLess(found.code, 500)

    def test_what_is_kept_of_it(self) -> None:
        (subnet,) = self.runner.cloud.network.list_subnets(self.public)
        draft = neutron_effect_runners.address_draft(self.public, '203.0.113.200')
        draft = dataclasses.replace(draft, capabilities={'room': '1'})
        found = self.runner.plugin.discover(draft, self.runner.cloud)
        self.assertEqual(f'{self.public}:203.0.113.200', found.name)
        expected = {
            'floating_network_id': self.public,
            'subnet_id': subnet.id,
            'floating_ip_address': '203.0.113.200',
        }
        self.assertEqual(expected, dict(found.attributes))
        self.assertEqual({'room': '1'}, dict(found.capabilities))

    def test_what_is_no_address(self) -> None:
        for address in ('', '203.0.113', '203.0.113.01', '203.0.113.1/24', 'x' * 1000, 7, None):
            self.refused(errors.InvalidIPFormat, address)

    def test_a_network_that_is_not_there_or_leads_nowhere(self) -> None:
        inner = self.runner.cloud.networks.add_network('inner', OWNER)
        self.runner.cloud.networks.add_subnet(inner.id, '203.0.113.0/24')
        for name in ('twice', 'twice'):
            self.runner.cloud.networks.add_network(name, OWNER)
        for network in (inner.id, 'nowhere', 'public', 'twice'):
            self.refused(errors.FloatingIPNetworkNotFound, '203.0.113.200', network)

    def test_an_address_of_no_subnet(self) -> None:
        for address in ('198.51.100.1', '203.0.113.0', '203.0.113.255', '2001:db8::1'):
            self.refused(errors.FloatingIPSubnetNotFound, address)

    def test_addresses_that_neutron_hands_out_are_refused(self) -> None:
        for address in ('203.0.113.1', '203.0.113.2', '203.0.113.50', '203.0.113.99'):
            self.refused(errors.NeutronUsesFloatingIP, address)

    def test_an_address_in_use(self) -> None:
        self.runner.take('203.0.113.210')
        subnet = self.runner.cloud.network.list_subnets(self.public)[0]
        self.runner.cloud.networks.add_port(subnet.id, OTHER, 'router', address='203.0.113.211')
        for address in ('203.0.113.210', '203.0.113.211'):
            self.refused(errors.NeutronUsesFloatingIP, address)
