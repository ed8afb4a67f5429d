# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import threading
from typing import Any

import fixtures
import webob

from climate import exceptions
from climate.api.http.waits import Waits
from tests import base
from tests.functional import http
from tests.functional.db import plans
from tests.functional.fixtures import Service

LEASE = {
    'name': 'now',
    'start_date': 'now',
    'duration': '1h',
    'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1}],
}


class WaitingTest(base.TestCase):
    """Prefer: wait=N; the manager works while a request sleeps."""

    def setUp(self) -> None:
        super().setUp()
        self.slept: list[float] = []
        self.works = True
        self.during: Any = None
        service = Service()
        service.waits = Waits(30, 1, self.pause, lambda: sum(self.slept))
        self.service = self.useFixture(service)

    def pause(self, seconds: float) -> None:
        """Sleep, while a manager works."""
        self.slept.append(seconds)
        self.service.clock.advance(seconds)
        if self.during is not None:
            during, self.during = self.during, None
            during()
        if self.works:
            self.service.work()

    def send(
        self, method: str, path: str, body: Any = None, prefer: str | None = 'wait=10', **facts: Any
    ) -> webob.Response:
        headers = {**facts.pop('headers', {}), **({} if prefer is None else {'Prefer': prefer})}
        facts = {'version': '1.4', 'token': http.MEMBER, 'headers': headers, **facts}
        return http.send(self.service.app, method, f'/v1{path}', body, **facts)

    def created(self, **facts: Any) -> webob.Response:
        answer = self.send('POST', '/leases', {**LEASE, **facts.pop('body', {})}, **facts)
        self.assertEqual(201, answer.status_int, answer.text)
        return answer

    def status(self, answer: webob.Response) -> str:
        return str(answer.json['lease']['status'])

    def test_until_it_has_started(self) -> None:
        answer = self.created()
        self.assertEqual('ACTIVE', self.status(answer))
        self.assertEqual('wait=10', answer.headers['Preference-Applied'])
        shown = self.send('GET', f'/leases/{answer.json["lease"]["id"]}')
        self.assertEqual(answer.headers['ETag'], shown.headers['ETag'])
        self.assertEqual(answer.json, shown.json)

    def test_the_time_is_over(self) -> None:
        self.works = False
        answer = self.created()
        self.assertEqual('PENDING', self.status(answer))
        self.assertEqual('wait=10', answer.headers['Preference-Applied'])
        self.assertAlmostEqual(10, sum(self.slept))

    def test_no_longer_than_the_operator_allows(self) -> None:
        self.works = False
        answer = self.created(prefer='respond-async, wait=86400')
        self.assertEqual('wait=30', answer.headers['Preference-Applied'])
        self.assertAlmostEqual(30, sum(self.slept))

    def test_a_lease_that_starts_later(self) -> None:
        answer = self.created(body={'start_date': '2031-05-01T12:00:00Z'})
        self.assertEqual('PENDING', self.status(answer))
        self.assertEqual('wait=10', answer.headers['Preference-Applied'])
        self.assertEqual([], self.slept)

    def test_one_that_starts_soon(self) -> None:
        answer = self.created(body={'start_date': '2030-01-01T12:00:35Z'})
        self.assertEqual('ACTIVE', self.status(answer))
        self.assertGreater(sum(self.slept), 4)

    def test_one_that_is_deleted_meanwhile(self) -> None:
        self.works = False

        def delete() -> None:
            (lease,) = self.send('GET', '/leases', prefer=None).json['leases']
            path = f'/leases/{lease["id"]}'
            self.assertEqual(204, self.send('DELETE', path, prefer=None).status_int)

        self.during = delete
        self.assertEqual('PENDING', self.status(self.created()))
        self.assertEqual(1, len(self.slept))

    def test_what_is_ignored(self) -> None:
        for prefer in (None, '', 'wait', 'wait=0', 'wait=x', 'return=minimal'):
            answer = self.created(prefer=prefer)
            self.assertNotIn('Preference-Applied', answer.headers)
            self.send('DELETE', f'/leases/{answer.json["lease"]["id"]}', prefer=prefer)
        self.assertNotIn('Preference-Applied', self.created(version='1.3').headers)
        self.assertEqual([], self.slept)

    def test_others_wait_already(self) -> None:
        self.works = False
        inner: list[webob.Response] = []
        self.during = lambda: inner.append(self.created())
        self.assertIn('Preference-Applied', self.created().headers)
        self.assertNotIn('Preference-Applied', inner[0].headers)

    def test_until_it_is_gone(self) -> None:
        path = f'/leases/{self.created().json["lease"]["id"]}'
        answer = self.send('DELETE', path)
        self.assertEqual((204, b''), (answer.status_int, answer.body))
        self.assertEqual('wait=10', answer.headers['Preference-Applied'])
        self.assertEqual(404, self.send('GET', path).status_int)

    def test_it_is_not_gone_in_time(self) -> None:
        path = f'/leases/{self.created().json["lease"]["id"]}'
        self.works = False
        answer = self.send('DELETE', path)
        self.assertEqual((202, b''), (answer.status_int, answer.body))
        self.assertEqual('wait=10', answer.headers['Preference-Applied'])
        self.assertEqual('DELETING', self.status(self.send('GET', path)))

    def test_one_that_had_not_started_is_gone_at_once(self) -> None:
        later = {'start_date': '2031-05-01T12:00:00Z'}
        path = f'/leases/{self.created(body=later).json["lease"]["id"]}'
        self.assertEqual(204, self.send('DELETE', path).status_int)
        self.assertEqual([], self.slept)

    def test_an_outage_does_not_make_it_an_error(self) -> None:
        def fail(*_: Any) -> None:
            raise exceptions.DatabaseUnavailable

        self.during = lambda: self.useFixture(
            fixtures.MonkeyPatch('climate.booking.leases.Leases.status', fail)
        )
        self.works = False
        answer = self.created()
        self.assertEqual('PENDING', self.status(answer))
        self.assertNotIn('Preference-Applied', answer.headers)

    def test_a_refusal_does_not_wait(self) -> None:
        self.assertEqual(400, self.send('POST', '/leases', {}).status_int)
        self.assertEqual(404, self.send('DELETE', f'/leases/{"0" * 8}').status_int)
        self.assertEqual([], self.slept)

    def test_with_a_key(self) -> None:
        headers = {'Idempotency-Key': 'k'}
        first = self.created(headers=headers)
        self.assertEqual('ACTIVE', self.status(first))
        slept = len(self.slept)
        again = self.created(headers=headers)
        self.assertEqual(first.body, again.body)
        self.assertEqual('true', again.headers['Idempotency-Replayed'])
        self.assertNotIn('Preference-Applied', again.headers)
        self.assertEqual(slept, len(self.slept))

    def test_few_statements(self) -> None:
        self.works = False
        with plans.captured(self.service.store.engine) as plain:
            self.created(prefer=None)
        with plans.captured(self.service.store.engine) as waited:
            self.created(prefer='wait=30')
        # One for each pause, and the lease in the end.
        self.assertLessEqual(len(waited) - len(plain), len(self.slept) + 5)
        self.assertLess(len(self.slept), 40)


class ThreadsTest(base.TestCase):
    """A request that waits in a thread."""

    def test_it_holds_no_connection(self) -> None:
        inside, done = threading.Event(), threading.Event()

        def pause(_: float) -> None:
            inside.set()
            done.wait(60)

        service = Service()
        service.waits = Waits(30, 1, pause)
        self.useFixture(service)
        answers: list[webob.Response] = []

        def create() -> None:
            headers = {'Prefer': 'wait=10'}
            answers.append(
                http.send(service.app, 'POST', '/v1/leases', LEASE, version='1.4', headers=headers)
            )

        thread = threading.Thread(target=create)
        thread.start()
        self.assertTrue(inside.wait(60))
        self.assertEqual(0, service.store.engine.pool.checkedout())
        service.work()
        done.set()
        thread.join(60)
        self.assertEqual('ACTIVE', answers[0].json['lease']['status'])
