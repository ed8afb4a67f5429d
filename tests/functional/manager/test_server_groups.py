# SPDX-License-Identifier: Apache-2.0

"""Server groups of reservations: there before the lease is, or neither is."""

from __future__ import annotations

import dataclasses
from typing import Any
from unittest import mock

from climate import exceptions
from climate.cloud.base import ServerDraft
from climate.cloud.base import ServerGroup
from climate.domain.leases import Lease
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.domain.requests import ReservationChange
from tests import base
from tests.databases import fetch
from tests.functional import bodies
from tests.functional.manager import harness
from tests.functional.manager.broken_transactions import Killed
from tests.functional.manager.broken_transactions import transaction_fails
from tests.functional.manager.walk.deployment import CALLER
from tests.functional.manager.walk.deployment import WalkDeployment

APART = bodies.instances(vcpus=4, memory_mb=2048, disk_gb=10, amount=2, affinity=False)
ANY = {**APART, 'affinity': None}
MAKE = 'compute.create_server_group'
LATER = 3 * 3600


class _Case(base.TestCase):
    def one_attempt(self) -> Any:
        """Have each booking choose once only."""
        leases = self.site.leases
        settings = dataclasses.replace(leases.settings, booking_attempts=1)
        return mock.patch.object(
            self.site, 'leases', dataclasses.replace(leases, settings=settings)
        )

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(WalkDeployment())
        self.cloud = self.site.cloud

    def create(self, *bodies: dict[str, Any], start: float = LATER) -> Lease:
        """Book reservations."""
        return self.site.book(bodies, start, start + 3600)

    def change(self, lease: Lease, caller: Any = CALLER, **body: Any) -> Lease:
        """Change the only reservation of a lease."""
        change = ReservationChange(id=lease.reservations[0].id, body=body)
        return self.site.leases.update(caller, lease.id, None, LeaseChange(reservations=(change,)))

    def groups(self) -> list[ServerGroup]:
        """Return the groups that there are."""
        return list(self.cloud.compute.list_server_groups())

    def intents(self) -> list[str]:
        """Return what was written down and is neither booked nor forgotten."""
        with self.site.store.reading() as tx:
            return [item.reservation_id for item in tx.intents.left(harness.at(10 * LATER))]

    def leases(self) -> int:
        """Return how many reservations there are."""
        alive, ended = fetch(self.site.store, lambda tx: tx.inconsistencies.reservations())
        return len(alive | ended)


class TestBooking(_Case):
    """A lease that is booked has its group, and one that is refused has none."""

    def test_it_is_in_the_answer_and_can_be_used(self) -> None:
        lease = self.create(APART, start=0)
        (group,) = self.groups()
        self.assertEqual((harness.PROJECT, 'anti-affinity'), (group.project_id, group.policy))
        self.assertEqual(group.id, lease.reservations[0].facts['server_group_id'])
        self.assertEqual([], self.intents())
        self.assertEqual('ACTIVE', self.site.status_at(5, lease))
        self.assertEqual([group], self.groups())
        compute = self.cloud.compute_of(harness.PROJECT)
        draft = ServerDraft(
            name='one', flavor_id=lease.reservations[0].id, scheduler_hints={'group': group.id}
        )
        server = compute.find_server(compute.create_server(draft))
        self.assertEqual('ACTIVE', server.status if server else None)
        self.site.delete(lease)
        self.site.until(100)
        self.assertEqual([], self.groups())

    def test_deleted_before_the_start(self) -> None:
        lease = self.create(APART)
        self.site.delete(lease)
        self.site.until(5)
        self.assertEqual(([], 'gone'), (self.groups(), self.site.status(lease)))

    def test_nova_is_unavailable(self) -> None:
        self.cloud.reachable = False
        error = self.assertRaises(exceptions.CloudUnavailable, self.create, APART)
        self.assertIn('The server group cannot be made', error.message)
        self.assertEqual(0, self.leases())
        # Who needs no group needs no Nova.
        self.assertEqual('PENDING', self.create(ANY).status)

    def test_nova_refuses(self) -> None:
        self.cloud.fail(MAKE, error='permanent')
        error = self.assertRaises(exceptions.Conflict, self.create, APART)
        self.assertIn('The server group cannot be made', error.message)
        self.assertEqual((0, [], []), (self.leases(), self.groups(), self.intents()))

    def test_the_second_of_two_cannot_be_made(self) -> None:
        self.cloud.fail(MAKE, error='permanent', skip=1)
        self.assertRaises(exceptions.Conflict, self.create, APART, ANY, APART)
        self.assertEqual((0, [], []), (self.leases(), self.groups(), self.intents()))

    def test_no_transaction_is_open_meanwhile(self) -> None:
        plugin: Any = self.site.plugins['virtual:instance']
        make = plugin.make

        def writing(*arguments: Any) -> Any:
            # SQLite has one writer at a time: it would wait for us.
            self.site.store.run(lambda tx: tx.intents.forget(['none']))
            return make(*arguments)

        with mock.patch.object(plugin, 'make', writing):
            self.assertEqual('PENDING', self.create(APART).status)

    def test_none_is_made_for_what_cannot_be_had(self) -> None:
        self.cloud.keep_journal()
        self.assertRaises(exceptions.NotEnoughResources, self.create, {**APART, 'amount': 50})
        self.assertEqual([], [call.verb for call in self.cloud.journal() if 'group' in call.verb])

    def test_it_goes_if_others_were_faster(self) -> None:
        error = exceptions.BookedMeanwhile()
        # The first finds room, the second writes down, the third books.
        with transaction_fails(3, error, after=False):
            with self.one_attempt():
                self.assertRaises(exceptions.BookedMeanwhile, self.create, APART)
        self.assertEqual((0, [], []), (self.leases(), self.groups(), self.intents()))


class TestCutOff(_Case):
    """Whoever crashes when, repair finds what is left."""

    def repaired(self) -> list[str]:
        """Repair an hour later; return what was done about what was never booked."""
        self.site.away_until(self.site.seconds() + LATER)
        rehearsed = [item for item in self.site.repair().rehearse() if 'booked' in item.what]
        found = [item.done for item in self.site.repair().run() if 'booked' in item.what]
        self.assertEqual(len(rehearsed), len(found))
        return found

    def test_before_the_booking(self) -> None:
        with transaction_fails(3, Killed(), after=False):
            self.assertRaises(Killed, self.create, APART)
        self.assertEqual((1, 1), (len(self.groups()), len(self.intents())))
        # It may still be booked.
        self.assertEqual([], [i for i in self.site.repair().run() if 'booked' in i.what])
        self.assertEqual(1, len(self.repaired()))
        self.assertEqual((0, [], []), (self.leases(), self.groups(), self.intents()))

    def test_the_answer_of_nova_is_lost(self) -> None:
        self.cloud.fail(MAKE, error='transient', when='after')
        self.assertRaises(exceptions.CloudUnavailable, self.create, APART)
        self.assertEqual(1, len(self.groups()))
        self.assertEqual(1, len(self.repaired()))
        self.assertEqual((0, [], []), (self.leases(), self.groups(), self.intents()))

    def test_the_answer_of_the_database_is_lost(self) -> None:
        with transaction_fails(3, exceptions.DatabaseUnavailable(), after=True):
            self.assertRaises(exceptions.DatabaseUnavailable, self.create, APART)
        # The lease is there, and so is its group.
        self.assertEqual([], self.repaired())
        self.assertEqual((1, 1, []), (self.leases(), len(self.groups()), self.intents()))

    def test_groups_of_others_are_left_alone(self) -> None:
        with transaction_fails(3, Killed(), after=False):
            self.assertRaises(Killed, self.create, APART)
        (group,) = self.groups()
        other = self.cloud.compute_of('red').create_server_group(group.name, 'affinity')
        self.repaired()
        self.assertEqual([other], self.groups())

    def test_nova_is_unavailable_when_it_is_deleted(self) -> None:
        with transaction_fails(3, Killed(), after=False):
            self.assertRaises(Killed, self.create, APART)
        self.cloud.fail('compute.delete_server_group', error='transient')
        self.assertEqual([''], self.repaired())
        self.assertEqual(1, len(self.intents()))
        self.assertEqual(1, len(self.repaired()))
        self.assertEqual(([], []), (self.groups(), self.intents()))


class TestChange(_Case):
    """Another policy is another group."""

    def test_it_is_another_one(self) -> None:
        lease = self.create(APART)
        new = self.change(lease, affinity=True).reservations[0].facts['server_group_id']
        self.assertNotEqual(lease.reservations[0].facts['server_group_id'], new)
        self.site.until(LATER + 5)
        self.assertEqual([new], [group.id for group in self.groups()])
        self.site.until(LATER + 4000)
        self.assertEqual([], self.groups())

    def test_none_any_more(self) -> None:
        self.site.delete(self.change(self.create(APART), affinity='None'))
        self.site.until(5)
        self.assertEqual([], self.groups())

    def test_what_stays_stays(self) -> None:
        lease = self.create(APART)
        self.cloud.reachable = False
        self.change(lease, amount=3)
        self.cloud.reachable = True
        (group,) = self.groups()
        self.assertEqual(group.id, self.site.now(lease).reservations[0].facts['server_group_id'])

    def test_nova_refuses(self) -> None:
        lease = self.create(APART)
        self.cloud.fail(MAKE, error='permanent')
        self.assertRaises(exceptions.Conflict, self.change, lease, affinity=True)
        self.assertIs(False, self.site.now(lease).reservations[0].request['affinity'])
        self.assertEqual(1, len(self.groups()))

    def test_it_cannot_be_had(self) -> None:
        lease = self.create(APART)
        error = exceptions.BookedMeanwhile()
        with transaction_fails(2, error, after=False):
            with self.one_attempt():
                self.assertRaises(exceptions.BookedMeanwhile, self.change, lease, affinity=True)
        self.assertEqual(['anti-affinity'], [group.policy for group in self.groups()])

    def test_by_an_operator_of_another_project(self) -> None:
        lease = self.create(APART)
        root = Caller(user_id='root', project_id='ops', token='root:ops')
        error = self.assertRaises(exceptions.Conflict, self.change, lease, root, affinity=True)
        self.assertIn('members of its project', error.message)
        self.change(lease, root, amount=3)
