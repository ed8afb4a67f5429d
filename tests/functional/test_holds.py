# SPDX-License-Identifier: Apache-2.0

"""Offers that are held and taken: others cannot book what is held, and a hold ends by itself."""

from __future__ import annotations

import datetime
import uuid
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.db.administration import purge
from climate.db.schema import tables
from climate.db.transactions import expired_holds
from climate.enforcement.limits import Limits
from climate.enforcement.limits import ProjectLimits
from climate.testing.kinds import TypeRegistrar
from tests import base
from tests import services
from tests.functional import http
from tests.functional.manager.walk import kinds
from tests.functional.test_offers import HOSTS
from tests.functional.test_offers import OffersCase
from tests.functional.test_offers import PERIOD

BOB = 'bob:red:member'
ALL_HOSTS = {**HOSTS, 'min': 4, 'max': 4}
MINUTE = 60


class HoldsCase(OffersCase):
    """A service, with requests of two projects."""

    def offer(self, *reservations: Any, token: str = '', **facts: Any) -> dict[str, Any]:
        """Return the first offer for reservations from the first of February on."""
        body = {
            'reservations': list(reservations),
            'duration': '2h',
            'earliest': PERIOD['start_date'],
            'limit': 1,
            **facts,
        }
        return http.expect(200, self.sent('POST', 'offers', body, token)).json['offers'][0]

    def held(self, *reservations: Any, **facts: Any) -> dict[str, Any]:
        """Return an offer that is held for two minutes."""
        return self.offer(*reservations, **{'hold': '120s', **facts})

    def take(self, offer: Any, token: str = '', **facts: Any) -> Any:
        """Take an offer."""
        body = {'name': 'taken', 'offer_id': offer['id'], **facts}
        return self.sent('POST', 'leases', body, token)

    def sent(self, method: str, path: str, body: Any, token: str = '', **headers: str) -> Any:
        """Send a request; as a member of the project if there is no token."""
        facts = {'token': token or http.MEMBER, 'version': '1.4', 'headers': headers}
        return http.send(self.service.app, method, f'/v1/{path}', body, **facts)

    def check_status(self, status: int, answer: Any) -> Any:
        """Check the status of an answer; return its body."""
        self.assertEqual(status, answer.status_int, answer.text)
        return answer.json if answer.body else None

    def allocations(self) -> list[tuple[Any, ...]]:
        """Return what is booked: resource, class, amount and period."""
        table = tables.ALLOCATIONS.c
        columns = (table.resource_id, table.resource_class, table.amount, table.start_date)
        with self.service.store.reading() as tx:
            query = sa.select(*columns).where(table.live == 1)
            return sorted(map(tuple, tx.session.execute(query)), key=str)


@base.test_each(kinds.KINDS)
class TestEveryType(HoldsCase):
    """A test for each type."""

    def check(self, name: str) -> None:
        """Hold what a type reserves, and take exactly that."""
        kind = kinds.KINDS[name]
        place = self.start()
        registrar = TypeRegistrar(place.store, place.plugins, place.cloud)
        reservations = [dict(request) for request in kind.furnish(registrar)]
        before = self.allocations()
        offer = self.held(*reservations)
        held = self.allocations()
        self.assertNotEqual(before, held)
        cloud = self.service.cloud.contents()
        rehearsed = self.check_status(200, self.take(offer, dry_run=True))['dry_run']
        self.assertEqual(held, self.allocations())
        self.assertEqual(cloud, self.service.cloud.contents())
        lease = self.check_status(201, self.take(offer))['lease']
        self.assertEqual(PERIOD, {key: f'{lease[key]}' for key in PERIOD})
        self.assertEqual(held, self.allocations())
        self.assertEqual(len(rehearsed['lease']['reservations']), len(lease['reservations']))
        self.check_status(204, self.sent('DELETE', f'leases/{lease["id"]}', None))


@services.on_each_engine(prefix='TestHold', engines=services.DATABASE_SERVERS)
class TestHold(HoldsCase):
    """What others see of a hold, on each engine."""

    def setUp(self) -> None:
        super().setUp()
        self.start(limits=ProjectLimits(usual=Limits(holds=2, leases=3)))

    def test_no_other_lease_can_book_it(self) -> None:
        offer = self.held(ALL_HOSTS)
        self.assertEqual('2030-01-01T12:02:30.250000Z', offer['held_until'])
        for token in (BOB, ''):
            refused = self.check_status(
                409, self.sent('POST', 'leases', self.lease([HOSTS]), token)
            )
            self.assertEqual('2030-02-01T02:00:00Z', refused['alternatives'][0]['start_date'])
        self.assertEqual('2030-02-01T02:00:00Z', self.offer(HOSTS, token=BOB)['start_date'])
        self.assertEqual([], self.sent('GET', 'leases', None).json['leases'])
        self.check_status(404, self.sent('GET', f'leases/{offer["id"]}', None))
        self.check_status(404, self.sent('DELETE', f'leases/{offer["id"]}', None))
        self.check_status(404, self.take(offer, BOB))
        lease = self.check_status(201, self.take(offer))['lease']
        shown = self.check_status(200, self.sent('GET', f'offers/{offer["id"]}', None))['offer']
        self.assertEqual((None, lease['id']), (shown['held_until'], shown['lease_id']))
        self.assertIn(lease['id'], self.check_status(409, self.take(offer))['error_message'])

    def test_it_goes_by_itself(self) -> None:
        """No manager runs. Bookings, searches and lists ignore it all the same."""
        resource = '/resources/allocations?type=physical:host'
        for ask in (
            lambda: self.check_status(201, self.sent('POST', 'leases', self.lease([ALL_HOSTS]))),
            lambda: self.check_status(
                200, self.sent('POST', 'leases', self.lease([ALL_HOSTS], dry_run=True))
            ),
            lambda: self.assertEqual(
                PERIOD['start_date'], self.offer(HOSTS, token=BOB)['start_date']
            ),
            lambda: self.assertEqual([4], self._free()),
            lambda: self.assertEqual(
                [[]] * 4,
                [
                    one['reservations']
                    for one in self.sent('GET', resource[1:], None).json['allocations']
                ],
            ),
            lambda: purge.purge(self.service.store, self.service.clock.now()),
        ):
            offer = self.held(ALL_HOSTS)
            self.assertEqual([0], self._free())
            # Its last instant is not held any more.
            self.service.clock.move_to(datetime.datetime.fromisoformat(offer['held_until']))
            ask()
            shown = self.check_status(200, self.sent('GET', f'offers/{offer["id"]}', None))
            self.assertIsNone(shown['offer']['held_until'])
            for lease in self.sent('GET', 'leases', None).json['leases']:
                self.sent('DELETE', f'leases/{lease["id"]}', None)
            self.assertEqual([], self.allocations())

    def test_one_that_others_release_was_in_the_way(self) -> None:
        self.held(ALL_HOSTS)
        self.service.clock.advance(2 * MINUTE)
        store, began = self.service.store, self.service.clock.now()
        refused = exceptions.NotEnoughResources()
        self.assertFalse(expired_holds.released_after_refusal(store, ValueError(), began))
        self.assertTrue(expired_holds.release(store))
        self.assertTrue(expired_holds.released_after_refusal(store, refused, began))
        self.service.clock.advance(1)
        began = self.service.clock.now()
        self.assertFalse(expired_holds.released_after_refusal(store, refused, began))

    def _free(self) -> list[int]:
        path = 'availability?resource_type=physical:host&start={start_date}&end={end_date}'
        answer = self.check_status(200, self.sent('GET', path.format(**PERIOD), None))
        return answer['availability']['groups'][0]['whole']['free'][:1]

    def test_its_own_offer_after_it(self) -> None:
        """It can still be taken until another lease books its resources."""
        offer = self.held(ALL_HOSTS)
        self.service.clock.move_to(datetime.datetime.fromisoformat(offer['held_until']))
        with self.service.store.reading() as tx:
            self.assertFalse(tx.offers.get(offer['id'], 'blue').is_held(tx.now))
        lease = self.check_status(201, self.take(offer))['lease']
        self.check_status(204, self.sent('DELETE', f'leases/{lease["id"]}', None))
        self.assertEqual([], self.allocations())
        offer = self.held(ALL_HOSTS)
        self.service.clock.advance(2 * MINUTE)
        self.check_status(201, self.sent('POST', 'leases', self.lease([HOSTS]), BOB))
        gone = self.check_status(404, self.take(offer))
        self.assertEqual('OFFER_GONE', gone['error_name'])
        self.assertEqual('2030-02-01T02:00:00Z', gone['alternatives'][0]['start_date'])
        self.assertEqual('soonest', gone['alternatives'][0]['reason'])
        self.check_status(404, self.take(offer, dry_run=True))

    def test_an_offer_that_has_expired(self) -> None:
        offer = self.offer(HOSTS, earliest='now')
        self.assertEqual(offer['start_date'], offer['expires_at'])
        self.service.clock.advance(30 * MINUTE)
        gone = self.check_status(404, self.take(offer))
        self.assertEqual(f'Offer {offer["id"]} has expired', gone['error_message'])
        self.assertEqual('2030-01-01T12:32:00Z', gone['alternatives'][0]['start_date'])
        self.assertEqual('2030-01-01T14:32:00Z', gone['alternatives'][0]['end_date'])
        self.service.clock.advance(60 * MINUTE)
        purge.purge(self.service.store, self.service.clock.now())
        gone = self.check_status(404, self.take(offer))
        self.assertEqual('NOT_FOUND', gone['error_name'])

    def test_limits(self) -> None:
        """Of holds; and of leases, which a hold is not."""
        offers = [self.held(HOSTS), self.held(HOSTS)]
        body = {'reservations': [HOSTS], 'duration': '2h', 'hold': 60}
        refused = self.check_status(403, self.sent('POST', 'offers', body))
        self.assertIn('Limit holds of the project is 2', refused['error_message'])
        self.check_status(200, self.sent('POST', 'offers', body, BOB))
        self.check_status(204, self.sent('DELETE', f'offers/{offers[0]["id"]}', None))
        self.check_status(404, self.take(offers[0]))
        self.held(HOSTS)
        for start in ('2031-01-01T00:00:00Z', '2032-01-01T00:00:00Z', '2033-01-01T00:00:00Z'):
            lease = {'start_date': start, 'end_date': start.replace('T00', 'T01')}
            self.check_status(201, self.sent('POST', 'leases', self.lease([HOSTS], **lease)))
        before = self.allocations()
        self.check_status(403, self.take(offers[1]))
        self.assertEqual(before, self.allocations())
        lease_id = self.sent('GET', 'leases', None).json['leases'][0]['id']
        self.check_status(204, self.sent('DELETE', f'leases/{lease_id}', None))
        self.check_status(201, self.take(offers[1]))

    def test_stored_offers_are_limited(self) -> None:
        self.service.services.leases.settings.limits.by_project['blue'] = Limits(offers=3)
        body = {'reservations': [HOSTS], 'duration': '2h', 'limit': 2}
        self.check_status(200, self.sent('POST', 'offers', body))
        refused = self.check_status(403, self.sent('POST', 'offers', body))
        self.assertIn('Your project has 3 offers', refused['error_message'])
        self.check_status(200, self.sent('POST', 'offers', {**body, 'limit': 1}))
        self.service.clock.advance(120 * MINUTE)
        purge.purge(self.service.store, self.service.clock.now())
        self.check_status(200, self.sent('POST', 'offers', body))

    def test_refusals_store_half_of_them(self) -> None:
        self.service.services.leases.settings.limits.by_project['blue'] = Limits(offers=4)
        many = {**HOSTS, 'min': 5, 'max': 5}
        body = {'name': 'l', 'start_date': '2030-02-01T00:00:00Z', 'duration': '2h'}
        refused = [
            self.check_status(409, self.sent('POST', 'leases', {**body, 'reservations': [many]}))
            for _ in range(3)
        ]
        found = [[one.get('id') for one in each['alternatives']] for each in refused]
        self.assertEqual([True, True, False], [found_id is not None for [found_id] in found])
        body = {'reservations': [HOSTS], 'duration': '2h', 'limit': 2}
        self.check_status(200, self.sent('POST', 'offers', body))

    def test_of_operators(self) -> None:
        """They see it; what they do to its resource does not break it."""
        offer = self.held(ALL_HOSTS)
        found = self.sent('GET', 'resources/allocations', None, 'root:ops:admin').json
        (shown,) = found['allocations'][0]['reservations']
        self.assert_has(shown, lease_id=offer['id'], held_until=offer['held_until'])
        host = found['allocations'][0]['resource_id']
        self.check_status(409, self.sent('DELETE', f'os-hosts/{host}', None, 'root:ops:admin'))
        disabled = self.sent('PUT', f'resources/{host}', {'disabled': True}, 'root:ops:admin')
        self.check_status(200, disabled)
        self.check_status(201, self.take(offer))

    def test_a_resource_can_be_deleted_after_it(self) -> None:
        offer = self.held(ALL_HOSTS)
        self.service.clock.advance(2 * MINUTE)
        host = self.sent('GET', 'os-hosts', None, 'root:ops:admin').json['hosts'][0]['id']
        self.check_status(204, self.sent('DELETE', f'os-hosts/{host}', None, 'root:ops:admin'))
        self.check_status(404, self.take(offer))

    def test_bad_values(self) -> None:
        body = {'reservations': [HOSTS], 'duration': '1h'}
        for hold in ('601s', 0, -1, 'soon', 86400 * 10**9):
            refused = self.check_status(400, self.sent('POST', 'offers', {**body, 'hold': hold}))
            self.assertIn('Malformed parameter hold', refused['error_message'])
        for hold in (None, [], 1.5, True):
            refused = self.check_status(400, self.sent('POST', 'offers', {**body, 'hold': hold}))
            self.assertIn('hold', refused['error_message'])
        offer = self.offer(HOSTS)
        for name, value in {**PERIOD, 'duration': '1h', 'reservations': []}.items():
            refused = self.check_status(400, self.take(offer, **{name: value}))
            self.assertIn(f'Malformed parameter {name}', refused['error_message'])
        self.check_status(400, self.take(offer, colour='red'))
        self.check_status(400, self.take({'id': None}))
        self.check_status(400, self.take({'id': 7}))
        self.check_status(404, self.take({'id': 'x'}))
        self.check_status(404, self.take({'id': str(uuid.uuid4())}))
        self.check_status(400, self.take(offer, events=[{'event_type': 'notification'}]))
        self.check_status(201, self.take(offer, before_end_date='2030-02-01T01:00:00Z'))

    def test_idempotency_keys(self) -> None:
        """A repetition gets the same; a try that died has held once, and taken once."""
        body = {'reservations': [HOSTS], 'duration': '1h', 'hold': 60}
        answers = [
            self.check_status(200, self.sent('POST', 'offers', body, **{'Idempotency-Key': 'a'}))
            for _ in range(2)
        ]
        self.assertEqual(*answers)
        (offer, *_) = answers[0]['offers']
        forget = sa.update(tables.IDEMPOTENCY_KEYS).values(status=None, body=None, claim_until=None)
        self.service.store.run(lambda tx: tx.session.execute(forget))
        again = self.check_status(
            200, self.sent('POST', 'offers', body, **{'Idempotency-Key': 'a'})
        )
        self.assertEqual([offer], again['offers'])
        taking = {'name': 'l', 'offer_id': offer['id']}
        made = self.check_status(
            201, self.sent('POST', 'leases', taking, **{'Idempotency-Key': 'b'})
        )
        self.service.store.run(lambda tx: tx.session.execute(forget))
        again = self.check_status(
            201, self.sent('POST', 'leases', taking, **{'Idempotency-Key': 'b'})
        )
        self.assertEqual(made['lease']['id'], again['lease']['id'])
        self.assertEqual(1, len(self.allocations()))
