# SPDX-License-Identifier: Apache-2.0

"""Offers and rehearsals of every resource type: they can be booked, and they change nothing."""

from __future__ import annotations

import datetime
from typing import Any

from fixtures import MonkeyPatch

from climate import exceptions
from climate.domain.charges import Charge
from climate.enforcement.base import Filter
from climate.enforcement.base import FilterQuestion
from climate.enforcement.durations import MaxLeaseDuration
from climate.enforcement.filters import Filters
from climate.enforcement.limits import Limits
from climate.enforcement.limits import ProjectLimits
from climate.leases.prices import Prices
from climate.testing import service as serving
from climate.testing.kinds import TypeRegistrar
from tests import base
from tests import services
from tests.functional import bodies
from tests.functional import declared
from tests.functional import fixtures
from tests.functional import http
from tests.functional.manager.walk import kinds

HOUR = datetime.timedelta(hours=1)
PERIOD = {'start_date': '2030-02-01T00:00:00Z', 'end_date': '2030-02-01T02:00:00Z'}
HOSTS = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
SLOTS = bodies.instances(amount=2, vcpus=2, memory_mb=1024, disk_gb=1, affinity=None)


class OffersCase(base.TestCase):
    """A service with all resource types; nothing may change in it or in its cloud."""

    kind = services.SQLITE

    def start(self, **facts: Any) -> fixtures.Service:
        """Return a service with four hosts."""
        service = fixtures.Service(database=self.kind, types=declared.plugins().values(), **facts)
        self.service = self.useFixture(service)
        return self.service

    def send(self, method: str, path: str, body: Any) -> Any:
        """Send a request as a member of the project."""
        return serving.send(self.service, method, f'/v1/{path}', body, version='1.4')

    def send_in_vain(self, method: str, path: str, body: Any, status: int = 200) -> Any:
        """Send a request that must change no row but those of offers, nor the cloud."""
        before = self.rows(), self.service.cloud.contents()
        answer = http.expect(status, self.send(method, path, body))
        self.assertEqual(before, (self.rows(), self.service.cloud.contents()))
        return answer.json

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return everything that is in the database, except offers."""
        return {table: rows for table, rows in self.service.rows().items() if table != 'offers'}

    def lease(self, reservations: Any, **facts: Any) -> dict[str, Any]:
        """Return the body of a lease."""
        return {'name': 'l', **PERIOD, 'reservations': reservations, **facts}


@base.test_each(kinds.KINDS)
class TestEveryType(OffersCase):
    """A test for each type."""

    def check(self, name: str) -> None:
        """Ask for offers, rehearse the first, book it, and rehearse its end."""
        kind = kinds.KINDS[name]
        place = self.start()
        registrar = TypeRegistrar(place.store, place.plugins, place.cloud)
        reservations = [dict(request) for request in kind.furnish(registrar)]
        wanted = {'reservations': reservations, 'duration': '2h', 'limit': 2}
        earliest = {'earliest': PERIOD['start_date']}
        found = self.send_in_vain('POST', 'offers', {**wanted, **earliest})['offers']
        self.assertEqual(2, len(found))
        first = {key: found[0][key] for key in ('start_date', 'end_date')}
        self.assertEqual(PERIOD, first)
        lease = self.lease(reservations, **first)
        rehearsed = self.send_in_vain('POST', 'leases', {**lease, 'dry_run': True})['dry_run']
        self.assertEqual('PENDING', rehearsed['lease']['status'])
        made = http.expect(201, self.send('POST', 'leases', lease)).json['lease']
        for one, other in zip(made['reservations'], rehearsed['reservations'], strict=True):
            self.assertEqual(one['resource_type'], other['resource_type'])
        extension = self.send_in_vain('GET', f'leases/{made["id"]}/extension', None)['extension']
        self.assertEqual('2030-02-15T02:00:00Z', extension['end_date'])
        self.assertEqual(['extended'], [one['reason'] for one in extension['offers']])
        later = {'end_date': '2030-02-01T03:00:00Z', 'dry_run': True}
        changed = self.send_in_vain('PUT', f'leases/{made["id"]}', later)['dry_run']
        self.assertEqual('2030-02-01T03:00:00Z', changed['lease']['end_date'])


@services.on_each_engine(prefix='TestNothingChanges', engines=services.DATABASE_SERVERS)
class TestNothingChanges(OffersCase):
    """Rehearsals and offers, accepted or refused, on each engine."""

    def test_every_table_is_the_same(self) -> None:
        self.start()
        booked = self.send('POST', 'leases', self.lease([HOSTS, SLOTS])).json['lease']
        lease_id = f'leases/{booked["id"]}'
        self.send_in_vain('POST', 'leases', self.lease([HOSTS, SLOTS], dry_run=True))
        too_many = [{**HOSTS, 'min': 4, 'max': 4}]
        self.send_in_vain('POST', 'leases', self.lease(too_many, dry_run=True), 409)
        self.send_in_vain('POST', 'leases', self.lease(too_many), 409)
        self.send_in_vain('PUT', lease_id, {'name': 'other', 'dry_run': True})
        self.send_in_vain('PUT', lease_id, {'start_date': '2030-01-31T00:00:00Z', 'dry_run': True})
        more = {'id': booked['reservations'][0]['id'], 'min': 2, 'max': 2}
        self.send_in_vain('PUT', lease_id, {'reservations': [more], 'dry_run': True})
        more = {**more, 'min': 4, 'max': 4}
        self.send_in_vain('PUT', lease_id, {'reservations': [more], 'dry_run': True}, 409)
        wanted = {'reservations': [HOSTS, SLOTS], 'min_duration': '3h'}
        self.assertEqual(1, len(self.send_in_vain('POST', 'offers', wanted)['offers']))

    def test_of_a_running_lease(self) -> None:
        self.start()
        booked = self.send('POST', 'leases', self.lease([HOSTS, SLOTS])).json['lease']
        self.service.clock.move_to(fixtures.NOW.replace(month=2, hour=1))
        self.service.work()
        lease_id = f'leases/{booked["id"]}'
        more = {'id': booked['reservations'][1]['id'], 'amount': 4}
        change = {'reservations': [more], 'end_date': '2030-02-01T05:00:00Z', 'dry_run': True}
        found = self.send_in_vain('PUT', lease_id, change)['dry_run']
        self.assertEqual('UPDATING', found['lease']['status'])
        self.assertEqual(8, found['reservations'][1]['classes']['VCPU'])


class Counts(Filter):
    """Counts what it is asked, in a service of its own."""

    waits = True

    def __init__(self) -> None:
        self.asked = 0

    @classmethod
    def from_conf(cls, conf: Any) -> Counts:
        """Return it."""
        return cls()

    def check_create(self, question: FilterQuestion) -> None:
        """Count."""
        self.asked += 1

    def check_update(self, question: FilterQuestion) -> None:
        """Count."""
        self.asked += 1

    def notify(self, charge: Charge) -> None:
        """Count."""
        self.asked += 1


class TestLimits(OffersCase):
    """Offers and rehearsals within the limits of a project, and of filters."""

    def test_a_filter_that_waits_is_not_asked(self) -> None:
        counts = Counts()
        self.start(filters=Filters({'counts': counts}))
        found = self.send_in_vain('POST', 'leases', self.lease([HOSTS], dry_run=True))
        self.assertEqual(['counts'], found['dry_run']['filters_not_asked'])
        self.send_in_vain('POST', 'offers', {'reservations': [HOSTS], 'duration': '1h'})
        self.assertEqual(0, counts.asked)
        self.assertEqual(201, self.send('POST', 'leases', self.lease([HOSTS])).status_int)
        self.assertEqual(1, counts.asked)

    def test_a_filter_that_refuses(self) -> None:
        self.start(filters=Filters({'max_lease_duration': MaxLeaseDuration(HOUR)}))
        self.send_in_vain('POST', 'leases', self.lease([HOSTS], dry_run=True), 403)
        self.send_in_vain('POST', 'offers', {'reservations': [HOSTS], 'duration': '2h'}, 403)
        self.send_in_vain('POST', 'offers', {'reservations': [HOSTS], 'duration': '1h'})

    def test_limits_of_the_project(self) -> None:
        self.start(limits=ProjectLimits(usual=Limits(days_ahead=5, reservations_per_lease=2)))
        wanted = {'reservations': [HOSTS], 'duration': '3d', 'limit': 5}
        # None of them starts more than five days ahead.
        self.assertEqual(2, len(self.send_in_vain('POST', 'offers', wanted)['offers']))
        self.send_in_vain('POST', 'offers', {**wanted, 'earliest': '2030-01-10T00:00:00Z'}, 403)
        self.send_in_vain('POST', 'offers', {**wanted, 'reservations': [HOSTS] * 3}, 403)

    def test_the_last_start_can_be_the_cheapest(self) -> None:
        self.start(prices=Prices(units={'physical:host': 1.0}, factors=(0.5,) * 6 + (1.0,) * 18))
        evening = {'earliest': '2030-02-01T20:00:00Z', 'latest': '2030-02-02T03:00:00Z'}
        wanted = {'reservations': [HOSTS], 'duration': '6h', 'prefer': 'cheapest', **evening}
        [offer] = self.send_in_vain('POST', 'offers', wanted)['offers']
        self.assertEqual('2030-02-01T21:00:00Z', offer['start_date'])

    def test_a_refusal_does_not_depend_on_alternatives(self) -> None:
        """Whatever fails while they are searched for, the refusal says why."""
        self.start()

        def fail(*_: Any) -> Any:
            raise exceptions.DatabaseUnavailable

        self.useFixture(MonkeyPatch('climate.booking.offers.alternatives.find', fail))
        too_many = self.lease([{**HOSTS, 'min': 5, 'max': 5}])
        found = self.send_in_vain('POST', 'leases', too_many, 409)
        self.assert_has(found, error_name='NOT_ENOUGH_RESOURCES', alternatives=[])


class TestCompeting(OffersCase):
    """As much as there is for reservations that need the same resources."""

    def test_no_amount_can_be_larger(self) -> None:
        self.start()
        slots = {**SLOTS, 'vcpus': 4, 'amount': 100}
        hosts = {**HOSTS, 'min': 3, 'max': 3}
        found = self.send_in_vain('POST', 'leases', self.lease([hosts, slots, slots]), 409)
        most = {one['reason']: one for one in found['alternatives']}['most']
        amounts = [one['amount'] for one in most['reservations']]
        self.assertEqual(3, len(amounts))
        self.send_in_vain('POST', 'leases', self.lease(self.of(amounts, slots), dry_run=True))
        for place in range(3):
            more = [number + (each == place) for each, number in enumerate(amounts)]
            self.send_in_vain('POST', 'leases', self.lease(self.of(more, slots), dry_run=True), 409)

    def of(self, amounts: list[int], slots: dict[str, Any]) -> list[dict[str, Any]]:
        """Return reservations of some amounts."""
        first, *others = amounts
        hosts = {**HOSTS, 'min': first, 'max': first}
        return [hosts, *({**slots, 'amount': number} for number in others)]


class TestIsolation(OffersCase):
    """What one project may learn of another: nothing but that something is taken."""

    def test_no_names(self) -> None:
        self.start()
        theirs = {**self.lease([{**HOSTS, 'min': 3, 'max': 3}]), 'name': 'secret'}
        made = http.send(
            self.service.app, 'POST', '/v1/leases', theirs, token='bob:red:member', version='1.4'
        ).json['lease']
        wanted = {'reservations': [{**HOSTS, 'min': 2, 'max': 2}], 'duration': '1h'}
        wanted['earliest'] = PERIOD['start_date']
        texts = [
            self.send('POST', 'offers', wanted).text,
            self.send('POST', 'leases', self.lease(wanted['reservations'])).text,
            self.send('POST', 'leases', self.lease([HOSTS], dry_run=True)).text,
            self.send('GET', 'availability?resource_type=physical:host', None).text,
        ]
        for text in texts:
            for word in ('secret', 'bob', 'red', 'compute-', made['id']):
                self.assertNotIn(word, text.replace('reservation', ''))

    def test_servers_of_another_project(self) -> None:
        """They do not exist for others, and are free or not for their own."""
        place = self.start()
        kind = kinds.KINDS['virtual:server']
        registrar = TypeRegistrar(place.store, place.plugins, place.cloud)
        reservations = [dict(request) for request in kind.furnish(registrar)]
        wanted = {'reservations': reservations, 'duration': '1h'}
        answer = http.send(
            self.service.app, 'POST', '/v1/offers', wanted, token='bob:red:member', version='1.4'
        )
        self.assertIn(answer.status_int, (400, 404), answer.text)
