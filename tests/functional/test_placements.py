# SPDX-License-Identifier: Apache-2.0

"""Placements from the request to the database, on each engine, with SQL and in memory."""

from __future__ import annotations

import random
import threading
from collections import Counter
from typing import Any

from fixtures import MonkeyPatch

from climate import exceptions
from climate.booking.choosing import placements
from climate.domain.leases import Allocation
from climate.domain.requests import ResourceChange
from climate.leases.settings import LeasingSettings
from climate.plugins.host.plugin import PhysicalHost
from climate.plugins.instance.by_size import VirtualInstance
from climate.resources.registrar import Registrar
from climate.testing import service as serving
from climate.upkeep.rehoming import Rehoming
from tests import base
from tests import drafts
from tests import services
from tests.functional import bodies
from tests.functional import fixtures
from tests.functional import http

PERIOD = {'start_date': '2030-02-01T00:00:00Z', 'end_date': '2030-02-01T02:00:00Z'}
# Zone and rack of compute-1 to compute-6.
PLACES = ('a1', 'a1', 'b2', 'b2', 'b3', 'c3')


def hosts(count: int, most: int | None = None, **placement: Any) -> dict[str, Any]:
    """Return a reservation of hosts."""
    most = count if most is None else most
    return bodies.hosts(count, most, **{'placement': placement} if placement else {})


def slots(amount: int, vcpus: int = 2, **placement: Any) -> dict[str, Any]:
    """Return a reservation of instances on different hosts."""
    return bodies.instances(
        amount=amount,
        vcpus=vcpus,
        memory_mb=1024,
        disk_gb=1,
        affinity=None,
        **{'placement': placement} if placement else {},
    )


class PlacementCase(base.TestCase):
    """A service with six hosts in three zones and three racks."""

    kind = services.SQLITE

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(
            fixtures.Service(database=self.kind, types=(PhysicalHost(), VirtualInstance()))
        )
        registrar = Registrar(self.service.store, self.service.plugins, self.service.cloud)
        for number in range(fixtures.HOSTS + 1, len(PLACES) + 1):
            self.service.cloud.add_hypervisor(f'compute-{number}')
            registrar.register_resource(drafts.host(f'compute-{number}'))
        for number, place in enumerate(PLACES, 1):
            self.label(number, zone=place[0], rack=place)

    def label(self, number: int, **values: str) -> None:
        """Set properties of a host."""
        self.service.services.resources.update(number, ResourceChange(capabilities=values))

    def send(self, method: str, path: str, body: Any = None, version: str = '1.4') -> Any:
        """Send a request as a member of the project."""
        return serving.send(self.service, method, f'/v1/{path}', body, version=version)

    def book(self, *reservations: Any, status: int = 201, **facts: Any) -> Any:
        """Request a lease; return it, or the refusal."""
        body = {'name': 'l', **PERIOD, 'reservations': reservations, **facts}
        answer = http.expect(status, self.send('POST', 'leases', body))
        return answer.json['lease'] if status == 201 else answer.json

    def members(self, lease: Any, place: int = 0) -> list[str]:
        """Return the names of the hosts of one reservation, member by member."""
        placement = lease['reservations'][place]['placement']
        self.assertEqual(
            list(range(len(placement['members']))), [one['member'] for one in placement['members']]
        )
        return [one['resource_name'] for one in placement['members']]

    def where(self, lease: Any, name: str, place: int = 0) -> Counter[str]:
        """Return how many members have each value of a property."""
        numbers = [int(each.rpartition('-')[2]) for each in self.members(lease, place)]
        places = [PLACES[number - 1] for number in numbers]
        return Counter(each[0] if name == 'zone' else each for each in places)

    def shown(self, lease: Any) -> Any:
        """Return a lease as it is now."""
        return self.send('GET', f'leases/{lease["id"]}').json['lease']

    def fail_host(self, number: int) -> None:
        """Have a host fail, and reservations move off it."""
        store, settings = self.service.store, LeasingSettings(heal_horizon=None)
        store.run(lambda tx: tx.failures.fail([number]))
        Rehoming(store, self.service.plugins, settings, random.Random(1)).round(self.service.cloud)

    def allocations(self, lease: Any) -> list[Allocation]:
        with self.service.store.reading() as tx:
            return tx.allocations.live_of([one['id'] for one in lease['reservations']])


class TestOnEngine(PlacementCase):
    """What depends on the engine, on SQLite."""

    def test_one_rack(self) -> None:
        lease = self.book(hosts(2, same=['rack']))
        (rack,) = self.where(lease, 'rack')
        self.assertIn(rack, ('a1', 'b2'))
        self.assertEqual(lease, self.shown(lease))
        self.assertEqual(
            set(self.members(lease)), {one.resource_name for one in self.allocations(lease)}
        )
        first = lease['reservations'][0]['placement']['members'][0]
        self.assertEqual({'rack': rack}, first['properties'])
        other = self.book(hosts(2, same=['rack']))
        self.assertNotEqual(self.where(lease, 'rack'), self.where(other, 'rack'))
        refusal = self.book(hosts(2, same=['rack']), status=409)
        self.assertIn('the free ones do not fulfill the placement', refusal['error_message'])

    def test_hosts_and_slots_in_one_rack(self) -> None:
        same = [{'reservation': 0, 'property': 'rack'}]
        lease = self.book(hosts(1), slots(3, same_as=same))
        self.assertEqual({*self.where(lease, 'rack')}, {*self.where(lease, 'rack', 1)})
        self.assertFalse({*self.members(lease)} & {*self.members(lease, 1)})

    def test_replacements_keep_to_it(self) -> None:
        lease = self.book(hosts(1, same=['rack']), hosts(1, apart_from=[0]))
        before = self.book(hosts(2, spread=[{'property': 'zone'}]))
        gone = before['reservations'][0]['placement']['members'][0]
        self.fail_host(int(gone['resource_id']))
        now = self.shown(before)
        self.assertNotIn(gone['resource_name'], self.members(now))
        self.assertEqual({1}, {*self.where(now, 'zone').values()}, (before, now))
        self.assertEqual(lease, self.shown(lease))

    def test_changes_keep_to_it(self) -> None:
        lease = self.book(hosts(2, spread=[{'property': 'zone'}]))
        change = {'id': lease['reservations'][0]['id'], 'min': 3, 'max': 3}
        body = {'reservations': [change]}
        now = http.expect(200, self.send('PUT', f'leases/{lease["id"]}', body)).json['lease']
        self.assertEqual(Counter(a=1, b=1, c=1), self.where(now, 'zone'))
        self.assertEqual(now, self.shown(lease))
        body = {'reservations': [{**change, 'min': 6, 'max': 6}]}
        self.assertEqual(409, self.send('PUT', f'leases/{lease["id"]}', body).status_int)
        body = {'end_date': '2030-02-01T04:00:00Z'}
        self.assertEqual(200, self.send('PUT', f'leases/{lease["id"]}', body).status_int)
        self.assertEqual(self.members(now), self.members(self.shown(lease)))

    def test_private_properties_are_missing(self) -> None:
        self.service.store.run(lambda tx: tx.properties.set_private('physical:host', 'rack', True))
        refusal = self.book(hosts(2, same=['rack']), status=400)
        self.assertIn("has the property 'rack'", refusal['error_message'])


class TestPlacements(PlacementCase):
    """What is booked."""

    def test_one_zone_for_as_many_as_possible(self) -> None:
        lease = self.book(hosts(1, 6, same=['zone']))
        self.assertEqual(Counter(b=3), self.where(lease, 'zone'))

    def test_spread_over_zones(self) -> None:
        lease = self.book(hosts(3, spread=[{'property': 'zone'}]))
        self.assertEqual(Counter(a=1, b=1, c=1), self.where(lease, 'zone'))
        # Zone c is full, and still counts.
        self.book(hosts(3, spread=[{'property': 'zone'}]), status=409)
        lease = self.book(hosts(2, spread=[{'property': 'zone'}]))
        self.assertEqual(Counter(a=1, b=1), self.where(lease, 'zone'))

    def test_a_larger_skew(self) -> None:
        lease = self.book(hosts(5, 6, spread=[{'property': 'zone', 'max_skew': 2}]))
        self.assertEqual(Counter(a=2, b=3, c=1), self.where(lease, 'zone'))

    def test_preferences_decide_among_what_is_allowed(self) -> None:
        prefer = [{'property': 'rack', 'value': 'b3', 'weight': 2}]
        self.assertEqual(['compute-5'], self.members(self.book(hosts(1, prefer=prefer))))
        # It is taken; a preference refuses nothing.
        self.assertEqual(1, len(self.members(self.book(hosts(1, prefer=prefer)))))

    def test_slots_apart_from_those_of_another_reservation(self) -> None:
        lease = self.book(slots(3, apart_from=[1]), slots(4))
        self.assertFalse({*self.members(lease)} & {*self.members(lease, 1)})
        ids = [one['id'] for one in lease['reservations']]
        for mine, other in ((0, 1), (1, 0)):
            self.assertEqual([ids[other]], lease['reservations'][mine]['placement']['apart_from'])

    def test_what_one_reservation_has_to_leave_to_another(self) -> None:
        # One after the other, the first may take one of the two hosts in rack b2.
        only = '["==", "$rack", "b2"]'
        for _ in range(3):
            lease = self.book(
                {**hosts(2, same=['rack']), 'resource_properties': '["!=", "$rack", "c3"]'},
                {**hosts(2), 'resource_properties': only},
            )
            self.assertEqual(Counter(a1=2), self.where(lease, 'rack'))
            self.send('DELETE', f'leases/{lease["id"]}')

    def test_hosts_in_use_with_too_little_room(self) -> None:
        prefer = [{'property': 'rack', 'value': 'b2'}]
        self.book(slots(2, vcpus=10, same=['rack'], prefer=prefer))
        lease = self.book(slots(2, vcpus=10, same=['rack'], prefer=prefer))
        self.assertEqual(Counter(a1=2), self.where(lease, 'rack'))

    def test_a_resource_without_replacement_is_missing(self) -> None:
        lease = self.book(hosts(2, same=['rack'], prefer=[{'property': 'rack', 'value': 'a1'}]))
        self.assertEqual(['compute-1', 'compute-2'], sorted(self.members(lease)))
        self.fail_host(1)
        now = self.shown(lease)
        self.assertTrue(now['reservations'][0]['missing_resources'])
        self.assertEqual(['compute-1', 'compute-2'], sorted(self.members(now)))

    def test_fewer_hosts_are_spread_as_well(self) -> None:
        lease = self.book(hosts(4, spread=[{'property': 'zone'}]))
        change = {'id': lease['reservations'][0]['id'], 'min': 2, 'max': 2}
        answer = self.send('PUT', f'leases/{lease["id"]}', {'reservations': [change]})
        self.assertEqual(200, answer.status_int, answer.text)
        self.assertEqual({1}, {*self.where(answer.json['lease'], 'zone').values()})

    def test_offers_and_rehearsals_choose_alike(self) -> None:
        self.book(hosts(2, same=['rack']))
        self.book(hosts(2, same=['rack']))
        wanted = hosts(2, same=['rack'])
        body = {'reservations': [wanted], 'duration': '2h', 'earliest': PERIOD['start_date']}
        offer = http.expect(200, self.send('POST', 'offers', body)).json['offers'][0]
        self.assertGreaterEqual(offer['start_date'], PERIOD['end_date'])
        body = {'name': 'l', **PERIOD, 'reservations': [wanted], 'dry_run': True}
        self.assertEqual(409, self.send('POST', 'leases', body).status_int)
        dates = {key: offer[key] for key in PERIOD}
        found = self.send('POST', 'leases', {**body, **dates}).json['dry_run']
        self.assertEqual(2, len(self.members(found['lease'])))
        self.book(wanted, **dates)

    def test_offers_that_are_taken_keep_to_it(self) -> None:
        wanted = {'reservations': [hosts(2, same=['rack'])], 'duration': '2h'}
        for hold in ({}, {'hold': '60s'}):
            offer = self.send('POST', 'offers', {**wanted, **hold}).json['offers'][0]
            answer = self.send('POST', 'leases', {'name': 'l', 'offer_id': offer['id']})
            self.assertEqual(201, answer.status_int, answer.text)
            self.assertEqual([2], [*self.where(answer.json['lease'], 'rack').values()])

    def test_offers_of_one_rack_that_are_taken(self) -> None:
        wanted = {'reservations': [hosts(2)], 'duration': '2h', 'earliest': PERIOD['start_date']}
        wanted |= {'prefer': 'same', 'property': 'rack'}
        for hold in ({}, {'hold': '60s'}):
            offer = self.send('POST', 'offers', {**wanted, **hold}).json['offers'][0]
            self.assertEqual('same', offer['reason'])
            answer = self.send('POST', 'leases', {'name': 'l', 'offer_id': offer['id']})
            self.assertEqual(201, answer.status_int, answer.text)
            numbers = [
                int(item.resource_name.rpartition('-')[2])
                for item in self.allocations(answer.json['lease'])
            ]
            self.assertEqual(1, len({PLACES[number - 1] for number in numbers}))


class TestRefused(PlacementCase):
    """Requests that are wrong, and older microversions."""

    def test_bodies(self) -> None:
        for placement, reason in (
            ({'same': 'rack'}, 'same'),
            ({'racks': ['r']}, 'racks'),
            ({'spread': [{'property': 'zone', 'max_skew': 0}]}, 'max_skew'),
            ({'apart_from': [0]}, '0 is not the place of another reservation'),
            ({'apart_from': [7]}, '7 is not the place of another reservation'),
            ({'same_as': [{'reservation': 1, 'property': 'rack'}]}, '1 is not the place'),
            ({'prefer': [{'weight': 1}]}, 'either a trait'),
            ({'prefer': [{'property': 'rack'}]}, 'either a trait'),
            ({'prefer': [{'trait': 'T', 'weight': 101}]}, 'weight'),
            ({'same': ['zone'], 'spread': [{'property': 'zone'}]}, 'is in same too'),
        ):
            self.assertIn(reason, self.book(hosts(1, **placement), status=400)['error_message'])

    def test_unknown_properties(self) -> None:
        for placement in (
            {'same': ['rak']},
            {'same': ['rack', 'rak']},
            {'spread': [{'property': 'rak'}]},
            {'same_as': [{'reservation': 1, 'property': 'rak'}]},
        ):
            wanted = [hosts(1, **placement), hosts(1)]
            asked = {'duration': '1h', 'reservations': wanted}
            answers = [
                self.book(*wanted, status=400),
                self.book(*wanted, status=400, dry_run=True),
                *(
                    self.send('POST', 'offers', {**asked, **more}).json
                    for more in ({}, {'hold': '60s'}, {'prefer': 'cheapest'})
                ),
            ]
            for answer in answers:
                self.assertEqual('MALFORMED_PARAMETER', answer.get('error_name'), answer)
                self.assertIn("has the property 'rak'", answer['error_message'])
        # A preference decides only among resources that are there.
        self.book(hosts(1, prefer=[{'property': 'rak', 'value': 'r'}]))

    def test_older_microversions(self) -> None:
        body = {'name': 'l', **PERIOD, 'reservations': [hosts(1, same=['rack'])]}
        answer = http.expect(400, self.send('POST', 'leases', body, version='1.3'))
        self.assertIn("'placement' is not a field of physical:host", answer.text)
        lease = self.book(hosts(1, same=['rack']))
        shown = self.send('GET', f'leases/{lease["id"]}', version='1.3').json['lease']
        self.assertNotIn('placement', shown['reservations'][0])

    def test_a_property_in_use_stays(self) -> None:
        lease = self.book(hosts(2, same=['rack']))
        number = int(lease['reservations'][0]['placement']['members'][0]['resource_id'])
        self.assertRaises(exceptions.PropertyInUse, self.label, number, rack='z')
        self.label(number, zone='z')

    def test_it_cannot_be_changed(self) -> None:
        lease = self.book(hosts(1, same=['rack']))
        change = {'id': lease['reservations'][0]['id'], 'placement': {}}
        http.expect(400, self.send('PUT', f'leases/{lease["id"]}', {'reservations': [change]}))


class TestMariaDB(TestOnEngine):
    """The same on MariaDB, where an operator can write at the same time."""

    kind = services.MARIADB

    def test_a_label_that_changes_meanwhile(self) -> None:
        place, moved = placements.place, list[int]()

        def place_and_move(*args: Any) -> Any:
            found = place(*args)
            if not moved and not isinstance(found, int):
                moved.append(found[0].shares[0].candidate.resource_id)
                mover = threading.Thread(target=self.label, args=moved, kwargs={'rack': 'z'})
                mover.start()
                mover.join()
            return found

        self.useFixture(MonkeyPatch('climate.booking.choosing.placements.place', place_and_move))
        members = self.book(hosts(2, same=['rack']))['reservations'][0]['placement']['members']
        self.assertEqual(1, len({one['properties']['rack'] for one in members}), members)
        self.assertNotIn(str(moved[0]), [one['resource_id'] for one in members])


class TestPostgreSQL(TestMariaDB):
    """The same on PostgreSQL."""

    kind = services.POSTGRESQL
