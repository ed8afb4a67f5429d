# SPDX-License-Identifier: Apache-2.0

"""The queue of flexible leases: places, forecasts, pages, and what they cost."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from climate.conf.planner import Displace
from climate.upkeep.planning import Planner
from tests import base
from tests import services
from tests.functional import fixtures
from tests.functional import http

FIXED = {'start_date': '2030-01-02T00:00:00Z', 'end_date': '2030-01-02T08:00:00Z'}
WINDOW = {'earliest': '2030-01-02T00:00:00Z', 'duration': '2h'}
WAIT = {**WINDOW, 'latest': '2030-01-02T08:00:00Z', 'wait': True}
MINE, THEIRS, ADMIN = 'alice:blue:member', 'bob:red:member', 'root:operators:admin'


@services.on_each_engine(base.TestCase, 'TestQueue')
class _Queue:
    """A service with four hosts."""

    kind = services.SQLITE

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(fixtures.Service(database=self.kind))

    def book(self, hosts: int, token: str = MINE, **facts: Any) -> dict[str, Any]:
        # In the order of their requests.
        self.service.clock.advance(1)
        one = {'resource_type': 'physical:host', 'min': hosts, 'max': hosts}
        body = {'name': 'a', 'reservations': [one], **facts}
        answer = http.send(self.service.app, 'POST', '/v1/leases', body, token=token, version='1.8')
        self.assertEqual(201, answer.status_int, answer.text)
        lease: dict[str, Any] = answer.json['lease']
        return lease

    def page(self, path: str = '/v1/queue', token: str = MINE) -> Any:
        answer = http.send(self.service.app, 'GET', path, token=token, version='1.8')
        self.assertEqual(200, answer.status_int, answer.text)
        return answer.json

    def queue(self, path: str = '/v1/queue', token: str = MINE) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.page(path, token)['queue']
        return found

    def test_leases_of_others_count_and_are_not_shown(self) -> None:
        self.book(4, **FIXED)
        self.book(3, THEIRS, **WAIT)
        mine = self.book(2, **WAIT)
        self.book(1, THEIRS, **WINDOW)
        (one,) = self.queue()
        self.assertEqual(
            [mine['id'], 2, {'leases': 1, 'amounts': {'physical:host': 3}}],
            [one['lease_id'], one['place'], one['ahead']],
        )
        self.assertEqual([1, 3], [each['place'] for each in self.queue(token=THEIRS)])
        self.assertEqual([1, 2, 3], [each['place'] for each in self.queue(token=ADMIN)])

    def change(self, lease: dict[str, Any], token: str, priority: int) -> int:
        path, body = f'/v1/leases/{lease["id"]}', {'priority': priority}
        answer = http.send(self.service.app, 'PUT', path, body, token=token, version='1.8')
        if answer.status_int == 200:
            self.assertEqual(priority, answer.json['lease']['priority'])
        return int(answer.status_int)

    def test_a_higher_priority_comes_first(self) -> None:
        fixed = self.book(4, **FIXED)
        low, plain = self.book(4, priority=-1, **WAIT), self.book(4, **WAIT)
        high = self.book(4, ADMIN, priority=5, **WAIT)
        found = [(each['lease_id'], each['priority']) for each in self.queue(token=ADMIN)]
        self.assertEqual([(high['id'], 5), (plain['id'], 0), (low['id'], -1)], found)
        self.assertEqual([2, 3], [each['place'] for each in self.queue()])
        (last,) = self.queue(f'/v1/queue?marker={plain["id"]}')
        self.assertEqual([low['id'], 2], [last['lease_id'], last['ahead']['leases']])
        self.assertEqual(403, self.change(plain, MINE, 3))
        self.assertEqual(200, self.change(plain, MINE, -100))
        self.assertEqual(200, self.change(low, ADMIN, 7))
        path = f'/v1/leases/{fixed["id"]}'
        http.send(self.service.app, 'DELETE', path, token=MINE, version='1.8')
        Planner(self.service.services.leases).round()
        found = [(each['lease_id'], each['forecast'][11:13]) for each in self.queue(token=ADMIN)]
        order = [(low['id'], '00'), (high['id'], '02'), (plain['id'], '04')]
        self.assertEqual(order, found)

    def test_who_may_set_which_priority(self) -> None:
        one = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
        for priority, token, status in (
            (1, MINE, 403), (0, MINE, 201), (-100, MINE, 201), (100, ADMIN, 201),
            (101, ADMIN, 400), (-101, MINE, 400), (0.5, MINE, 400), ('1', MINE, 400),
            (None, MINE, 400), (True, MINE, 400),
        ):  # fmt: skip
            body = {'name': 'a', 'reservations': [one], 'priority': priority, **WAIT}
            where = '/v1/leases'
            answer = http.send(self.service.app, 'POST', where, body, token=token, version='1.8')
            self.assertEqual(status, answer.status_int, (priority, answer.text))

    def test_pages_have_the_places_of_the_whole_queue(self) -> None:
        self.book(4, **FIXED)
        ids = [self.book(1, **WAIT)['id'] for _ in range(3)]
        first = self.page('/v1/queue?limit=2')
        self.assertEqual(ids[:2], [each['lease_id'] for each in first['queue']])
        (last,) = self.queue(first['queue_links'][0]['href'])
        self.assertEqual([ids[2], 3], [last['lease_id'], last['place']])

    def test_only_leases_that_share_a_type_compete(self) -> None:
        self.book(4, **FIXED)
        instances = {
            'resource_type': 'virtual:instance', 'amount': 2,
            'vcpus': 1, 'memory_mb': 512, 'disk_gb': 1,
        }  # fmt: skip
        self.book(1, **WINDOW, reservations=[instances])
        self.book(1, **WAIT)
        self.assertEqual([1, 1], [each['place'] for each in self.queue()])
        both = [instances, {'resource_type': 'physical:host', 'min': 1, 'max': 1}]
        self.book(1, **WAIT, reservations=both)
        self.assertEqual(
            {'leases': 2, 'amounts': {'physical:host': 1, 'virtual:instance': 2}},
            self.queue()[-1]['ahead'],
        )

    def test_a_forecast_is_what_the_planner_finds(self) -> None:
        fixed = self.book(4, **FIXED)
        self.book(2, **WAIT)
        self.assertEqual(
            [None, '2030-01-02T08:00:00Z'],
            [self.queue()[0][name] for name in ('forecast', 'room_at')],
        )
        path = f'/v1/leases/{fixed["id"]}'
        body = {'end_date': '2030-01-02T05:00:00Z'}
        answer = http.send(self.service.app, 'PUT', path, body, token=MINE, version='1.8')
        self.assertEqual(200, answer.status_int, answer.text)
        (one,) = self.queue()
        self.assertEqual(['2030-01-02T05:00:00Z'] * 2, [one['forecast'], one['room_at']])
        self.assertEqual('2030-01-02T05:00:00Z', one['waits_for'][0]['until'])

    def test_firm_leases_are_in_no_queue(self) -> None:
        self.book(1, **WINDOW, firm_before='30d')
        self.book(1, **FIXED)
        self.assertEqual([], self.queue())

    @contextlib.contextmanager
    def counted(self) -> Iterator[list[str]]:
        found: list[str] = []

        def collect(*facts: Any) -> None:
            found.append(facts[2])

        engine = self.service.store.engine
        sa.event.listen(engine, 'before_cursor_execute', collect)
        try:
            yield found
        finally:
            sa.event.remove(engine, 'before_cursor_execute', collect)

    def test_statements_do_not_grow_with_the_queue(self) -> None:
        self.book(4, **FIXED)
        numbers = []
        for _ in range(2):
            for _ in range(4):
                self.book(1, **WAIT)
            self.queue()
            with self.counted() as statements:
                self.queue()
            numbers.append(len(statements))
        self.assertEqual(numbers[0], numbers[1], statements)
        self.assertLessEqual(numbers[1], 12, statements)

    def availability(self, version: str = '1.8') -> Any:
        path = (
            '/v1/availability?resource_type=physical:host&start=2030-01-02T00:00:00Z'
            '&end=2030-01-02T04:00:00Z&step=2h&resources=VCPU:8'
        )
        answer = http.send(self.service.app, 'GET', path, token=MINE, version=version)
        self.assertEqual(200, answer.status_int, answer.text)
        return answer.json['availability']['groups'][0]

    def test_availability_counts_movable_bookings_apart(self) -> None:
        before = self.availability()
        self.assertEqual(before['whole']['free'], before['whole']['free_if_moved'])
        self.book(1, **FIXED)
        self.book(2, **WINDOW)
        self.book(1, start_date='2030-01-02T02:00:00Z', end_date='2030-01-02T03:00:00Z')
        group = self.availability()
        self.assertEqual({'free': [1, 2], 'total': [4, 4], 'free_if_moved': [3, 2]}, group['whole'])
        for name in ('free', 'total'):
            self.assertEqual(group['whole'][name], self.availability('1.7')['whole'][name])
        self.assertNotIn('free_if_moved', self.availability('1.7')['whole'])
        each = before['slots']['free'][0] // 4
        self.assertEqual([3 * each, 2 * each], group['slots']['free_if_moved'])

    def test_nothing_is_free_if_moved_where_nothing_is_displaced(self) -> None:
        self.book(2, **WINDOW)
        self.service.replace_settings(displace=Displace.NEVER)
        amounts = self.availability()['whole']
        self.assertEqual([2, 4], amounts['free'])
        self.assertEqual(amounts['free'], amounts['free_if_moved'])

    def offers(self, version: str = '1.8', **query: Any) -> list[dict[str, Any]]:
        body = {
            'reservations': [{'resource_type': 'physical:host', 'min': 2, 'max': 2}],
            'duration': '2h', 'earliest': '2030-01-02T00:00:00Z', 'limit': 2, **query,
        }  # fmt: skip
        answer = http.send(
            self.service.app, 'POST', '/v1/offers', body, token=MINE, version=version
        )
        self.assertEqual(200, answer.status_int, answer.text)
        found: list[dict[str, Any]] = answer.json['offers']
        return found

    def test_an_offer_may_displace_flexible_leases(self) -> None:
        lease = self.book(4, THEIRS, **WINDOW)
        first, second = self.offers()
        keys = ('reason', 'displaced', 'start_date')
        self.assertEqual(
            [['displacing', 1, '2030-01-02T00:00:00Z'], ['soonest', 0, '2030-01-02T02:00:00Z']],
            [[one[key] for key in keys] for one in (first, second)],
        )
        self.assertEqual(2, first['reservations'][0]['amount'])
        for query in ({'version': '1.7'}, {'hold': '5m'}, {'prefer': 'fewest_resources'}):
            self.assertNotIn('displacing', [one['reason'] for one in self.offers(**query)], query)
        stored = http.send(
            self.service.app, 'GET', f'/v1/offers/{first["id"]}', token=MINE, version='1.8'
        )
        self.assertEqual(1, stored.json['offer']['displaced'])
        body = {'name': 'taken', 'offer_id': first['id'], 'dry_run': True}
        rehearsed = http.send(
            self.service.app, 'POST', '/v1/leases', body, token=MINE, version='1.8'
        )
        self.assertEqual({'leases': [], 'others': 1}, rehearsed.json['dry_run']['displaced'])
        del body['dry_run']
        taken = http.send(self.service.app, 'POST', '/v1/leases', body, token=MINE, version='1.8')
        self.assertEqual(201, taken.status_int, taken.text)
        path = f'/v1/leases/{lease["id"]}'
        moved = http.send(self.service.app, 'GET', path, token=THEIRS, version='1.8')
        # One of the other offers is held from two to four.
        self.assertEqual('2030-01-02T04:00:00Z', moved.json['lease']['start_date'])

    def test_no_offer_displaces_what_has_no_other_place(self) -> None:
        self.book(4, **WINDOW, latest='2030-01-02T03:00:00Z')
        self.assertEqual(['soonest', 'next'], [one['reason'] for one in self.offers()])
