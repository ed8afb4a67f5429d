# SPDX-License-Identifier: Apache-2.0

"""Flexible leases: booked as soon as there is room, and moved forward until they are firm."""

from __future__ import annotations

import datetime
from typing import Any
from unittest import mock

import jsonschema

from climate.booking.planning import displacement
from climate.booking.planning import plans
from climate.messaging import schemas
from climate.upkeep.planning import Planner
from tests import base
from tests import services
from tests.functional import fixtures
from tests.functional import http
from tests.functional import race_case

FIXED = {'start_date': '2030-01-02T00:00:00Z', 'end_date': '2030-01-02T06:00:00Z'}
WINDOW = {'earliest': '2030-01-02T00:00:00Z', 'duration': '2h'}
HOUR = 3600


@services.on_each_engine(base.TestCase, 'TestPlans')
class _Plans:
    """A service with four hosts, and a manager that plans on request."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(fixtures.Service(database=self.kind))
        self.planner = Planner(self.service.services.leases)

    def send(self, method: str, path: str, body: Any = None, version: str = '1.8') -> Any:
        return http.send(
            self.service.app, method, f'/v1/{path}', body,
            token='alice:blue:member', version=version,
        )  # fmt: skip

    def book(self, hosts: int, **facts: Any) -> dict[str, Any]:
        # In the order of their requests.
        self.service.clock.advance(1)
        one = {'resource_type': 'physical:host', 'min': hosts, 'max': hosts}
        answer = self.send('POST', 'leases', {'name': 'a', 'reservations': [one], **facts})
        self.assertEqual(201, answer.status_int, answer.text)
        lease: dict[str, Any] = answer.json['lease']
        return lease

    def lease(self, lease: dict[str, Any]) -> dict[str, Any]:
        shown: dict[str, Any] = self.send('GET', f'leases/{lease["id"]}').json['lease']
        return shown

    def change(self, lease: dict[str, Any], **body: Any) -> dict[str, Any]:
        answer = self.send('PUT', f'leases/{lease["id"]}', body)
        self.assertEqual(200, answer.status_int, answer.text)
        changed: dict[str, Any] = answer.json['lease']
        return changed

    def hosts(self, *leases: dict[str, Any]) -> list[int]:
        return [
            len(one['resources']) for lease in leases for one in self.lease(lease)['reservations']
        ]

    def lines(self, lease: dict[str, Any]) -> list[str]:
        history = self.send('GET', f'leases/{lease["id"]}/history').json['history']
        return [line['text'] for step in history['steps'] for line in step['lines']]

    def moves(self) -> list[dict[str, Any]]:
        """Return the notifications of moves."""
        with self.service.store.reading() as tx:
            rows = [row for row in tx.outbox.unsent() if row.event_type == schemas.MOVED]
        moves = [dict(row.payload) for row in rows]
        for payload in moves:
            jsonschema.validate(payload, schemas.SCHEMAS[schemas.MOVED])
        return moves

    def starts(self, *leases: dict[str, Any]) -> list[str]:
        return [self.lease(lease)['start_date'][8:16] for lease in leases]

    def test_what_is_freed_goes_to_the_first_in_line(self) -> None:
        fixed = self.book(4, **FIXED)
        first, second, third = (self.book(hosts, **WINDOW) for hosts in (3, 3, 1))
        self.assertEqual(['02T06:00', '02T08:00', '02T06:00'], self.starts(first, second, third))
        self.assertEqual(0, self.planner.round())
        self.assertEqual(204, self.send('DELETE', f'leases/{fixed["id"]}').status_int)
        self.assertEqual(3, self.planner.round())
        self.assertEqual(['02T00:00', '02T02:00', '02T00:00'], self.starts(first, second, third))
        self.assertEqual(0, self.planner.round())
        moves = self.moves()
        ids = [lease['id'] for lease in (first, second, third)]
        self.assertEqual(ids, [one['lease_id'] for one in moves])
        self.assertEqual(
            'moved forward to 2030-01-02T00:00:00Z from 2030-01-02T06:00:00Z,'
            ' because there is room',
            moves[0]['reason'],
        )

    def test_the_present_may_pass_while_a_start_is_looked_for(self) -> None:
        now = {'start_date': 'now', 'duration': '6h'}
        fixed, lease = self.book(4, **now), self.book(4, duration='2h')
        self.assertEqual(204, self.send('DELETE', f'leases/{fixed["id"]}').status_int)
        decide = plans.decided

        def slowly(*words: Any) -> Any:
            found = decide(*words)
            self.service.clock.advance(2)
            return found

        before = self.service.clock.now()
        with mock.patch.object(plans, 'decided', slowly):
            self.assertEqual(1, self.planner.round())
        self.assertEqual(before, datetime.datetime.fromisoformat(self.lease(lease)['start_date']))

    def test_firm_leases_stay(self) -> None:
        fixed = self.book(4, **FIXED)
        lease = self.book(4, **WINDOW, firm_before='2h')
        self.assertEqual('2030-01-02T04:00:00Z', lease['firm_at'])
        self.service.clock.move_to(datetime.datetime(2030, 1, 2, 4, tzinfo=datetime.UTC))
        self.assertEqual(204, self.send('DELETE', f'leases/{fixed["id"]}').status_int)
        self.assertEqual(0, self.planner.round())
        self.assertEqual(['02T06:00'], self.starts(lease))

    def test_a_window_is_changed(self) -> None:
        self.book(4, **FIXED)
        lease = self.book(4, **WINDOW)
        later = self.change(lease, earliest='2030-01-02T07:00:00Z')
        self.assertEqual('2030-01-02T07:00:00Z', later['start_date'])
        longer = self.change(lease, duration='4h')
        self.assert_has(longer, end_date='2030-01-02T11:00:00Z', earliest='2030-01-02T07:00:00Z')
        fixed = self.change(lease, earliest=None)
        self.assertEqual(
            [None] * 4, [fixed[name] for name in ('earliest', 'latest', 'firm_before', 'firm_at')]
        )
        flexible = self.change(lease, earliest='2030-01-02T00:00:00Z')
        self.assertEqual(
            ['2030-01-02T06:00:00Z', '2030-01-02T10:00:00Z', 3600],
            [flexible[name] for name in ('start_date', 'end_date', 'firm_before')],
        )
        dated = self.change(lease, start_date='2030-01-03T00:00:00Z', duration='1h')
        self.assertEqual([None] * 2, [dated[name] for name in ('earliest', 'firm_at')])

    def test_without_room_it_is_refused(self) -> None:
        self.book(4, **FIXED)
        one = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
        body = {'name': 'a', 'reservations': [one], **WINDOW, 'latest': '2030-01-02T07:00:00Z'}
        before = self.service.rows()['leases']
        answer = self.send('POST', 'leases', body)
        self.assertEqual(409, answer.status_int, answer.text)
        self.assertEqual(before, self.service.rows()['leases'])

    def test_a_fixed_lease_takes_the_place_of_flexible_ones(self) -> None:
        first, second, third = (self.book(hosts, **WINDOW) for hosts in (2, 2, 4))
        self.assertEqual(['02T00:00', '02T00:00', '02T02:00'], self.starts(first, second, third))
        self.book(2, start_date='2030-01-02T00:00:00Z', end_date='2030-01-02T02:00:00Z')
        # The one that was requested last is in the way of nothing.
        self.assertEqual(['02T00:00', '02T04:00', '02T02:00'], self.starts(first, second, third))
        self.assertEqual(0, race_case.overlaps(self.service.store))
        history = self.send('GET', f'leases/{second["id"]}/history').json['history']
        texts = [line['text'] for step in history['steps'] for line in step['lines']]
        self.assertEqual(
            [
                'moved back to 2030-01-02T04:00:00Z from 2030-01-02T00:00:00Z,'
                ' because a lease with a fixed start needs the resources'
            ],
            texts,
        )
        self.assertEqual(texts, [one['reason'] for one in self.moves()])

    def test_it_takes_the_place_of_those_that_were_requested_last(self) -> None:
        leases = [self.book(1, **WINDOW) for _ in range(4)]
        self.book(2, start_date='2030-01-02T01:00:00Z', end_date='2030-01-02T05:00:00Z')
        self.assertEqual(['02T00:00', '02T00:00', '02T02:00', '02T02:00'], self.starts(*leases))

    def test_the_largest_gives_way(self) -> None:
        leases = [
            self.book(hosts, **{**WINDOW, 'duration': f'{hours}h'})
            for hosts, hours in ((1, 2), (1, 4), (2, 2))
        ]
        self.book(1, start_date='2030-01-02T00:00:00Z', end_date='2030-01-02T01:00:00Z')
        # Of two that are as large, the one that was requested last.
        self.assertEqual(['02T00:00', '02T00:00', '02T01:00'], self.starts(*leases))
        self.book(1, start_date='2030-01-02T01:30:00Z', end_date='2030-01-02T02:00:00Z')
        self.assertEqual(['02T00:00', '02T00:00', '02T02:00'], self.starts(*leases))
        self.assertEqual(0, race_case.overlaps(self.service.store))

    def test_the_lowest_priority_gives_way(self) -> None:
        high = self.book(2, **{**WINDOW, 'duration': '4h'})
        low, last = self.book(1, **WINDOW, priority=-1), self.book(1, **WINDOW)
        self.book(1, start_date='2030-01-02T00:00:00Z', end_date='2030-01-02T01:00:00Z')
        self.assertEqual(['02T00:00', '02T01:00', '02T00:00'], self.starts(high, low, last))

    def test_none_gives_way_to_a_lower_priority(self) -> None:
        lease = self.book(4, **WINDOW)
        one = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
        body = {'name': 'a', 'reservations': [one], 'priority': -1, **FIXED}
        self.assertEqual(409, self.send('POST', 'leases', body).status_int)
        self.assertEqual(201, self.send('POST', 'leases', {**body, 'priority': 0}).status_int)
        self.assertEqual(['02T06:00'], self.starts(lease))

    def test_all_of_them_have_hosts(self) -> None:
        leases = [self.book(2, **WINDOW) for _ in range(2)]
        fixed = self.book(4, start_date='2030-01-02T01:00:00Z', end_date='2030-01-02T05:00:00Z')
        self.assertEqual([2, 2, 4], self.hosts(*leases, fixed))
        self.assertEqual(['took the place of 2 flexible leases'], self.lines(fixed))

    def test_without_another_place_nothing_moves(self) -> None:
        until = {**WINDOW, 'latest': '2030-01-02T03:00:00Z'}
        # What is booked is not put back to wait, even if it would.
        leases = [self.book(2, **until), self.book(2, **until, wait=True)]
        before = self.service.rows()
        one = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
        answer = self.send('POST', 'leases', {'name': 'a', 'reservations': [one], **FIXED})
        self.assertEqual(409, answer.status_int, answer.text)
        self.assertEqual(['02T00:00', '02T00:00'], self.starts(*leases))
        self.assertEqual(before['leases'], self.service.rows()['leases'])
        self.assertEqual(before['allocations'], self.service.rows()['allocations'])

    def test_a_refused_request_is_not_looked_into_again(self) -> None:
        lease = self.book(4, **WINDOW, latest='2030-01-02T03:00:00Z')
        one = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
        fixed = {'name': 'a', 'reservations': [one], **FIXED}
        soon = {'name': 'b', 'reservations': [one], **WINDOW, 'latest': '2030-01-02T02:30:00Z'}
        search = displacement.Displacing.displacing
        with mock.patch.object(displacement.Displacing, 'displacing', autospec=True) as searches:
            searches.side_effect = search
            for body, number in ((fixed, 1), (fixed, 1), (soon, 3), (soon, 3), (fixed, 3)):
                self.assertEqual(409, self.send('POST', 'leases', body).status_int)
                self.assertEqual(number, searches.call_count)
            # A window is longer, though nothing has moved.
            self.change(lease, latest='2030-01-02T09:00:00Z')
            self.assertEqual(201, self.send('POST', 'leases', fixed).status_int)

    def test_a_short_window_takes_the_place_of_long_ones(self) -> None:
        first, second = (
            self.book(2, **WINDOW, latest=f'2030-01-02T0{hour}:00:00Z') for hour in (8, 3)
        )
        third = self.book(2, **WINDOW, latest='2030-01-02T02:30:00Z')
        # Of the two that were there, the one that was requested first can wait longer.
        self.assertEqual(['02T02:00', '02T00:00', '02T00:00'], self.starts(first, second, third))
        self.assertIsNotNone(self.lease(third)['firm_at'])
        (text,) = self.lines(first)
        self.assertIn('because a lease with a shorter window needs the resources', text)
        self.assertEqual(['took the place of 1 flexible lease'], self.lines(third))
        self.assertEqual(0, race_case.overlaps(self.service.store))
        one = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
        body = {'name': 'a', 'reservations': [one], **WINDOW, 'latest': '2030-01-02T02:00:00Z'}
        self.assertEqual(409, self.send('POST', 'leases', body).status_int)

    def test_an_extension_takes_the_place_of_flexible_leases(self) -> None:
        fixed = self.book(4, **FIXED)
        lease = self.book(4, **WINDOW)
        self.assertEqual(['02T06:00'], self.starts(lease))
        self.change(fixed, end_date='2030-01-02T07:00:00Z')
        self.assertEqual(['02T07:00'], self.starts(lease))
        self.assertEqual(0, race_case.overlaps(self.service.store))

    def test_firm_leases_are_not_displaced(self) -> None:
        self.book(4, earliest='2030-01-02T00:00:00Z', duration='2h', firm_before='30d')
        one = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
        answer = self.send('POST', 'leases', {'name': 'a', 'reservations': [one], **FIXED})
        self.assertEqual(409, answer.status_int, answer.text)

    def test_a_rehearsal_names_the_leases_that_would_give_way(self) -> None:
        lease = self.book(4, **WINDOW)
        one = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
        body = {'name': 'a', 'reservations': [one], **FIXED, 'dry_run': True}
        answers = [
            http.send(self.service.app, 'POST', '/v1/leases', body, token=token, version='1.8')
            for token in ('alice:blue:member', 'bob:red:member')
        ]
        moved = {
            'id': lease['id'],
            'name': 'a',
            'start_date': '2030-01-02T06:00:00Z',
            'end_date': '2030-01-02T08:00:00Z',
        }
        self.assertEqual(
            [{'leases': [moved], 'others': 0}, {'leases': [], 'others': 1}],
            [answer.json['dry_run']['displaced'] for answer in answers],
        )
        self.assertEqual(['02T00:00'], self.starts(lease))

    def wait(self, hosts: int, **facts: Any) -> dict[str, Any]:
        window = {**WINDOW, 'latest': '2030-01-02T08:00:00Z', 'wait': True, **facts}
        return self.book(hosts, **window)

    def test_without_room_it_waits(self) -> None:
        fixed = self.book(4, **{**FIXED, 'end_date': '2030-01-02T08:00:00Z'})
        first, second = self.wait(3), self.wait(4)
        self.assertEqual(['WAITING'] * 2, [one['status'] for one in (first, second)])
        self.assertEqual([], first['events'])
        before = self.send('GET', f'leases/{first["id"]}', version='1.0').json['lease']
        self.assertEqual('PENDING', before['status'])
        for version, status, number in (
            ('1.8', 'WAITING', 2),
            ('1.8', 'PENDING', 1),
            ('1.7', 'PENDING', 3),
        ):
            found = self.send('GET', f'leases?status={status}', version=version).json['leases']
            self.assertEqual(number, len(found), version)
        self.assertEqual(400, self.send('GET', 'leases?status=WAITING', version='1.7').status_int)
        self.assertEqual(0, self.planner.round())
        self.assertEqual(204, self.send('DELETE', f'leases/{fixed["id"]}').status_int)
        self.assertEqual(2, self.planner.round())
        self.assertEqual(['02T00:00', '02T02:00'], self.starts(first, second))
        self.assertEqual('PENDING', self.lease(first)['status'])
        self.assertEqual([3, 4], self.hosts(first, second))
        self.assertEqual(0, self.planner.round())

    def test_what_has_waited_for_too_long_ends(self) -> None:
        self.book(4, **{**FIXED, 'end_date': '2030-01-02T08:00:00Z'})
        late, gone = self.wait(1), self.wait(1, wait_until='2030-01-02T05:00:00Z')
        self.service.clock.move_to(datetime.datetime(2030, 1, 2, 5, 30, tzinfo=datetime.UTC))
        self.assertEqual(1, self.planner.round())
        self.assertEqual('There was no room for it in time', self.lease(gone)['end_reason'])
        self.service.clock.move_to(datetime.datetime(2030, 1, 2, 6, 1, tzinfo=datetime.UTC))
        self.assertEqual(1, self.planner.round())
        self.assertEqual('There was no room for it in time', self.lease(late)['end_reason'])

    def test_what_waits_is_deleted(self) -> None:
        self.book(4, **{**FIXED, 'end_date': '2030-01-02T08:00:00Z'})
        lease = self.wait(1)
        self.assertEqual(204, self.send('DELETE', f'leases/{lease["id"]}').status_int)
        self.assertEqual(404, self.send('GET', f'leases/{lease["id"]}').status_int)
