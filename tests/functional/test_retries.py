# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from typing import Any

import fixtures

from climate import exceptions
from climate.booking.leases import Leases
from tests import base
from tests import services
from tests.functional import http
from tests.functional.db import everything
from tests.functional.db import plans
from tests.functional.retries import DAY
from tests.functional.retries import LEASE
from tests.functional.retries import MAINTENANCE
from tests.functional.retries import RetryCase


@services.on_each_engine(base.TestCase, 'TestRetries')
class _Retries(RetryCase):
    """Requests that are sent again."""

    def test_an_answer_is_repeated(self) -> None:
        first = self.booked()
        rows = self.service.rows()
        self.assert_replayed(first, self.booked('"k"'))
        self.assertEqual(rows, self.service.rows())
        self.assertEqual(1, len(self.leases()))

    def test_without_a_key_each_is_another(self) -> None:
        self.booked(None)
        self.booked(None)
        self.assertEqual(2, len(self.leases()))

    def test_older_microversions_ignore_it(self) -> None:
        self.booked(version='1.3')
        self.assertNotIn('Idempotency-Replayed', self.booked('', version='1.3').headers)
        self.assertEqual(2, len(self.leases()))

    def test_another_request(self) -> None:
        self.booked()
        for answer in (
            self.post('/leases', {**LEASE, 'name': 'wednesday'}),
            self.post('/leases?', {**LEASE, 'x': 1}),
            self.post('/maintenances', MAINTENANCE, token='root:blue:admin'),
            self.post('/leases', LEASE, token='bob:blue:member'),
        ):
            self.refused(answer, 409, 'IDEMPOTENCY_KEY_REUSED')
        self.assertEqual(1, len(self.leases()))

    def test_another_project(self) -> None:
        first = self.booked()
        other = self.booked(token='alice:red:member')
        self.assertNotEqual(first.json['lease']['id'], other.json['lease']['id'])
        self.assertEqual('red', other.json['lease']['project_id'])
        self.assert_replayed(other, self.booked(token='alice:red:member'))

    def test_who_may_not_do_it_does_not_see_what_was_answered(self) -> None:
        http.expect(201, self.post('/maintenances', MAINTENANCE, token='root:ops:admin'))
        answer = self.post('/maintenances', MAINTENANCE, token='root:ops:member')
        self.refused(answer, 403, 'POLICY_NOT_AUTHORIZED')

    def test_refusals_are_repeated(self) -> None:
        first = http.expect(400, self.post('/leases', {**LEASE, 'end_date': 'never'}))
        self.assert_replayed(first, self.post('/leases', {**LEASE, 'end_date': 'never'}))

    def test_errors_of_the_service_are_not(self) -> None:
        for error in (
            exceptions.DatabaseUnavailable(),
            exceptions.BookedMeanwhile(),
            exceptions.TooManyRequests(kind='webhook', limit='1', retry_after=60),
            ValueError('a fault'),
        ):

            def fail(*_: Any, error: Exception = error) -> Any:
                raise error

            with fixtures.MonkeyPatch('climate.booking.leases.Leases.create', fail):
                answer = self.post('/leases', LEASE)
            self.assertEqual(getattr(error, 'code', 500), answer.status_int)
        first = self.booked()
        self.assertNotIn('Idempotency-Replayed', first.headers)
        self.assert_replayed(first, self.booked())

    def test_invalid_keys(self) -> None:
        rows = self.service.rows()
        for key in ('', '""', '"', 'x' * 256, '\x80'):
            self.refused(self.post('/leases', LEASE, key), 400, 'MALFORMED_PARAMETER')
        self.assertEqual(rows, self.service.rows())

    def test_too_many(self) -> None:
        for key in ('a', 'b', 'c'):
            self.post('/leases', {}, key)
        rows = self.service.rows()
        answer = self.post('/leases', LEASE, 'd')
        self.refused(answer, 429, 'TOO_MANY_REQUESTS')
        self.assertEqual(str(DAY), answer.headers['Retry-After'])
        self.assertEqual(rows, self.service.rows())
        self.booked(None)
        self.booked(token='alice:red:member')

    def test_rehearsals_run_again(self) -> None:
        rehearsal = {**LEASE, 'dry_run': True}
        for body, status in ((rehearsal, 200), ({**rehearsal, 'end_date': 'never'}, 400)):
            key = f'of {status}'
            http.expect(status, self.post('/leases', body, key))
            http.expect(status, self.post('/leases', body, key))
            self.refused(self.post('/leases', LEASE, key), 409, 'IDEMPOTENCY_KEY_REUSED')
        self.assertNotIn('dry_run', everything.text(self.service.store.engine))
        self.assertEqual([], self.leases())

    def test_a_large_answer(self) -> None:
        name = 'climate.enforcement.idempotency_keys.LARGEST'
        with fixtures.MonkeyPatch(name, 100):
            self.booked()
        answer = self.post('/leases', LEASE)
        self.refused(answer, 409, 'IDEMPOTENT_ANSWER_LOST')
        self.assert_contains(answer.json['error_message'], '201', self.leases()[0])
        self.assertEqual(1, len(self.leases()))

    def test_after_a_day_the_key_is_free(self) -> None:
        first = self.booked()
        self.service.clock.advance(DAY)
        second = self.booked()
        self.assertNotEqual(first.json['lease']['id'], second.json['lease']['id'])
        self.assert_replayed(second, self.booked())

    def test_what_is_deleted_is_not_booked_again(self) -> None:
        first = self.booked()
        path = f'/v1/leases/{first.json["lease"]["id"]}'
        http.send(self.service.app, 'DELETE', path, token=http.MEMBER)
        self.assert_replayed(first, self.booked())
        self.assertEqual([], self.leases())


@services.on_each_engine(base.TestCase, 'TestCosts')
class _Costs(RetryCase):
    """How many statements requests take."""

    def counted(self, version: str) -> list[int]:
        """Return the statements of a lease that is made, shown, listed, changed and deleted."""
        found = []
        path = '/v1/leases'
        for method, suffix, body in (
            ('POST', '', LEASE),
            ('GET', '', None),
            ('GET', '?limit=2', None),
            ('GET', '/{}', None),
            ('PUT', '/{}', {'name': 'a'}),
            ('PUT', '/{}', {'end_date': '2031-05-03T12:00:00Z'}),
            ('DELETE', '/{}', None),
        ):
            with plans.captured(self.service.store.engine) as statements:
                answer = http.send(
                    self.service.app, method, path + suffix.format(self.made), body, version=version
                )
            self.assertIn(answer.status_int, (200, 201, 204), answer.text)
            if method == 'POST':
                self.made = answer.json['lease']['id']
            found.append(len(statements))
        return found

    def test_requests_without_the_headers_take_no_more(self) -> None:
        self.made = ''
        for _ in range(2):
            self.counted('1.3')
        self.assertEqual(self.counted('1.3'), self.counted('1.4'))

    def test_a_key_takes_few(self) -> None:
        with plans.captured(self.service.store.engine) as plain:
            self.booked(None)
        with plans.captured(self.service.store.engine) as first:
            self.booked()
        with plans.captured(self.service.store.engine) as again:
            self.booked()
        # The key is looked up, counted, inserted and answered; the lease is looked up twice.
        # A search that begins near the end of the list may take one more.
        self.assertLessEqual(len(first) - len(plain), 8)
        self.assertEqual(1, len(again))


@services.on_each_engine(base.TestCase, 'TestCrashes')
class _Crashes(RetryCase):
    """Requests whose process dies."""

    def late(self) -> None:
        """Let the claims of dead processes expire."""
        self.service.clock.advance(91)

    def test_one_that_is_in_progress(self) -> None:
        with self.dead():
            self.booked()
        answer = self.post('/leases', LEASE)
        self.refused(answer, 409, 'IDEMPOTENCY_KEY_IN_USE')
        self.assertEqual('1', answer.headers['Retry-After'])

    def test_the_lease_that_was_booked_is_found(self) -> None:
        with self.dead():
            first = self.booked()
        self.late()
        self.assertEqual(first.body, self.booked().body)
        self.assertEqual(1, len(self.leases()))
        self.assert_replayed(first, self.booked())

    def test_it_is_found_though_it_could_not_be_booked_any_more(self) -> None:
        lease = {**LEASE, 'start_date': '2030-01-01T12:01:00Z', 'end_date': '2030-01-01T13:00:00Z'}
        with self.dead():
            first = self.post('/leases', lease)
        self.service.clock.advance(3600)
        again = self.post('/leases', lease)
        self.assertEqual((201, first.json), (again.status_int, again.json))

    def test_it_was_deleted_meanwhile(self) -> None:
        with self.dead():
            first = self.booked()
        path = f'/v1/leases/{first.json["lease"]["id"]}'
        http.send(self.service.app, 'DELETE', path, token=http.MEMBER)
        self.late()
        answer = self.post('/leases', LEASE)
        self.refused(answer, 409, 'CONFLICT')
        self.assertIn('deleted since', answer.json['error_message'])
        self.assertEqual([], self.leases())

    def test_it_died_before_it_booked(self) -> None:
        def die(*_: Any) -> Any:
            raise exceptions.ServiceUnavailable

        with self.dead(), fixtures.MonkeyPatch('climate.booking.leases.Leases.create', die):
            self.assertEqual(503, self.post('/leases', LEASE).status_int)
        self.late()
        self.booked()
        self.assertEqual(1, len(self.leases()))

    def test_one_that_comes_back_books_nothing(self) -> None:
        """It was paused for so long that a retry has taken its place."""
        create, answers = Leases.create, []

        def paused(*arguments: Any) -> Any:
            with fixtures.MonkeyPatch('climate.booking.leases.Leases.create', create):
                self.late()
                answers.append(self.booked())
            # It has looked already whether there is a lease.
            with fixtures.MonkeyPatch('climate.booking.writing.create.earlier', lambda *_: None):
                return create(*arguments)

        with fixtures.MonkeyPatch('climate.booking.leases.Leases.create', paused):
            late = self.post('/leases', LEASE)
        self.refused(late, 409, 'IDEMPOTENCY_KEY_IN_USE')
        (booked,) = answers
        self.assertEqual([booked.json['lease']['id']], self.leases())
        self.assert_replayed(booked, self.booked())

    def test_a_maintenance_is_found(self) -> None:
        with self.dead():
            first = self.post('/maintenances', MAINTENANCE, token=http.ADMIN)
        self.late()
        again = self.post('/maintenances', MAINTENANCE, token=http.ADMIN)
        self.assertEqual((201, first.json), (again.status_int, again.json))
        self.assertEqual(1, len(self.service.rows()['maintenances']))
