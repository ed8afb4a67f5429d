# SPDX-License-Identifier: Apache-2.0
"""Requests of many threads of one process at once: keys, offers and holds.

Races between processes are in test_retry_races, test_change_races and test_hold_races. About 15
seconds of processor time.
"""

from __future__ import annotations

import collections
import contextlib
import os
from collections.abc import Callable
from typing import Any

import webob

from climate.enforcement.limits import Limits
from climate.enforcement.limits import ProjectLimits
from tests import base
from tests import services
from tests.databases import fetch
from tests.functional import http
from tests.functional.fixtures import Service
from tests.threads import together

THREADS = 16
MANY_THREADS = 64
HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
PERIOD = {'start_date': '2030-02-01T00:00:00Z', 'end_date': '2030-02-01T02:00:00Z'}
LEASE = {'name': 'l', **PERIOD, 'reservations': [HOST]}
OFFERS = {'reservations': [HOST], 'duration': '2h', 'earliest': PERIOD['start_date'], 'limit': 1}


class _Serving:
    """A service with four hosts."""

    kind = services.SQLITE

    def setUp(self) -> None:
        super().setUp()
        limits = ProjectLimits(usual=Limits(holds=2))
        self.service = self.useFixture(Service(database=self.kind, limits=limits))

    def post(self, path: str, body: Any, key: str = '') -> webob.Response:
        """Send a POST of a member."""
        headers = {'Idempotency-Key': key} if key else {}
        facts = {'token': http.MEMBER, 'version': '1.4', 'headers': headers}
        return http.send(self.service.app, 'POST', f'/v1/{path}', body, **facts)

    def at_once(self, threads: int, ask: Callable[[int], webob.Response]) -> list[webob.Response]:
        """Return the answers to requests that begin together."""
        return together(ask, range(threads))

    def counted(self, answers: list[webob.Response]) -> dict[int, int]:
        return dict(collections.Counter(answer.status_int for answer in answers))

    def leases(self) -> list[dict[str, Any]]:
        answer = http.send(self.service.app, 'GET', '/v1/leases?limit=100', version='1.4')
        return answer.json['leases']


@services.on_each_engine(base.TestCase)
class _AtOnce(_Serving):
    """The same on each engine."""

    def check_key(self, path: str, body: Any, status: int) -> webob.Response:
        """Check that requests with one key do their work once; return the answer."""
        answers = self.at_once(THREADS, lambda _: self.post(path, body, 'k'))
        done = [answer for answer in answers if answer.status_int == status]
        self.assertEqual(1, len({answer.body for answer in done}), self.counted(answers))
        for answer in answers:
            if answer.status_int != status:
                self.assertEqual('IDEMPOTENCY_KEY_IN_USE', answer.json['error_name'])
        return done[0]

    def test_one_key_books_one_lease(self) -> None:
        made = self.check_key('leases', LEASE, 201)
        self.assertEqual([made.json['lease']['id']], [one['id'] for one in self.leases()])

    def test_one_key_holds_one_offer(self) -> None:
        made = self.check_key('offers', {**OFFERS, 'hold': '120s'}, 200)
        held = fetch(self.service.store, lambda tx: [one.id for one in tx.offers.held()])
        self.assertEqual([one['id'] for one in made.json['offers']], held)

    def test_one_offer_is_taken_once(self) -> None:
        """There is room for four leases, but the offer is one."""
        for more in ({}, {'hold': '120s'}):
            (offer,) = self.post('offers', {**OFFERS, **more}).json['offers']
            body = {'name': 'taken', 'offer_id': offer['id']}
            before = len(self.leases())
            answers = self.at_once(THREADS, lambda _, body=body: self.post('leases', body))
            self.assertEqual({201: 1, 409: THREADS - 1}, self.counted(answers))
            self.assertEqual(before + 1, len(self.leases()))

    def test_holds_at_the_limit(self) -> None:
        answers = self.at_once(THREADS, lambda _: self.post('offers', {**OFFERS, 'hold': '120s'}))
        counts = self.counted(answers)
        self.assertEqual(2, counts[200], counts)
        # Some lose a race for the hosts before the limit refuses them.
        self.assertLessEqual(counts.keys(), {200, 403, 409})
        self.assertEqual(2, fetch(self.service.store, lambda tx: tx.offers.count_held('blue')))

    def test_many_threads(self) -> None:
        """Each host is booked once, whatever is searched for, offered and held meanwhile."""

        def ask(number: int) -> webob.Response:
            if number % 4 == 1:
                return self.post('offers', OFFERS)
            if number % 4 == 2:
                return self.post('leases', {**LEASE, 'dry_run': True})
            if number % 4 == 3:
                path = '/v1/availability?resource_type=physical:host'
                return http.send(self.service.app, 'GET', path, version='1.4')
            return self.post('leases', LEASE)

        counts = self.counted(self.at_once(MANY_THREADS, ask))
        self.assertLessEqual(counts.keys(), {200, 201, 409, 503}, counts)
        self.assertEqual(counts[201], len(self.leases()))
        while self.post('leases', LEASE).status_int == 201:
            counts[201] += 1
        self.assertEqual(4, counts[201])


class TestFork(_Serving, base.TestCase):
    """A server that forks its workers after the application has answered requests."""

    kind = services.POSTGRESQL

    def in_child(self, ask: Callable[[], bool]) -> int:
        """Return the exit code of a child that is 0 if it got what it asked for."""
        child = os.fork()
        if not child:
            code = 1
            with contextlib.suppress(Exception):
                code = 0 if ask() else 1
            os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def test_a_fork_with_a_loaded_timeline(self) -> None:
        self.assertEqual(201, self.post('leases', LEASE).status_int)
        (offer,) = self.post('offers', OFFERS).json['offers']
        taking = {'name': 'l', 'offer_id': offer['id']}
        self.assertEqual(0, self.in_child(lambda: self.post('leases', taking).status_int == 201))
        three = {**LEASE, 'reservations': [{**HOST, 'min': 3, 'max': 3}]}
        for ask in (
            lambda: self.post('leases', taking).status_int == 409,
            lambda: self.post('leases', three).status_int == 409,
            lambda: self.post('leases', LEASE).status_int == 201,
        ):
            self.assertEqual(0, self.in_child(ask))
        # The parent sees what its children have booked.
        self.assertEqual(3, len(self.leases()))
        self.assertEqual(201, self.post('leases', LEASE).status_int)
        self.assertEqual(409, self.post('leases', LEASE).status_int)


class TestForkMariadb(TestFork):
    """The same on MariaDB."""

    kind = services.MARIADB
