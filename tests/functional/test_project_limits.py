# SPDX-License-Identifier: Apache-2.0

"""Projects are held to their limits, from HTTP to SQL."""

from __future__ import annotations

from typing import Any

import webob

from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.enforcement.limits import Limits
from climate.enforcement.limits import ProjectLimits
from tests import base
from tests.functional import http
from tests.functional.db import plans
from tests.functional.fixtures import NOW
from tests.functional.fixtures import Service

HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
GREEN = 'alice:green:member'


class LimitsCase(base.TestCase):
    """A service with limits for the project blue, and with none for green."""

    limits = Limits()

    def setUp(self) -> None:
        super().setUp()
        limits = ProjectLimits(usual=self.limits, by_project={'green': Limits()})
        self.service = self.useFixture(Service(limits=limits))

    def send(self, method: str, path: str, body: Any = None, token: str = '') -> webob.Response:
        """Send a request as a member."""
        return http.send(
            self.service.app,
            method,
            f'/v1/leases{path}',
            body,
            version='1.1',
            token=token or http.MEMBER,
        )

    def create(self, day: int = 1, hosts: int = 0, days: int = 1, **facts: Any) -> webob.Response:
        """Ask for hosts from a day in May."""
        body = {
            'name': 'l',
            'start_date': f'2031-05-{day:02}T12:00:00Z',
            'end_date': f'2031-05-{day + days:02}T12:00:00Z',
            'reservations': [HOST] * hosts,
        }
        return self.send('POST', '', body, **facts)

    def created(self, *args: Any, **facts: Any) -> str:
        """Create a lease; return its id."""
        return str(http.expect(201, self.create(*args, **facts)).json['lease']['id'])

    def change(self, lease_id: str, **body: Any) -> webob.Response:
        return self.send('PUT', f'/{lease_id}', body)

    def assert_refused(
        self, answer: webob.Response, limit: str, most: int, wanted: int, code: int = 403
    ) -> None:
        """Check that a limit is named with both figures."""
        name = {403: 'LEASE_REFUSED', 400: 'PROJECT_LIMIT'}[code]
        self.assertEqual((code, name), (answer.status_int, answer.json['error_name']), answer.text)
        text = f'Limit {limit} of the project is {most}, and this would be {wanted}'
        if limit == 'leases' and wanted == most + 1:
            text = f'Your project has {most} leases, the most it can have.'
            text += ' Delete one, or ask your operator'
        self.assertEqual(text, answer.json['error_message'])


class TestLeases(LimitsCase):
    """How many leases there are."""

    limits = Limits(leases=2)

    def test_one_too_many(self) -> None:
        first = self.created()
        self.created()
        before = self.service.rows()
        self.assert_refused(self.create(), 'leases', 2, 3)
        self.assertEqual(before, self.service.rows())
        self.created(token=GREEN)
        self.assertEqual(204, self.send('DELETE', f'/{first}').status_int)
        self.created()

    def test_what_is_over_does_not_count(self) -> None:
        for _ in range(2):
            self.created(hosts=1)
        self.service.clock.move_to(NOW.replace(year=2032))
        self.service.work()
        answer = self.send('GET', '')
        self.assertEqual(['TERMINATED'] * 2, [item['status'] for item in answer.json['leases']])
        body = {'start_date': '2033-05-01T12:00:00Z', 'end_date': '2033-05-02T12:00:00Z'}
        answer = http.expect(201, self.send('POST', '', {'name': 'l', 'reservations': [], **body}))

    def test_what_the_operator_imposes_is_not_refused(self) -> None:
        for _ in range(2):
            self.created()
        draft = LeaseDraft(
            name='imposed', start=NOW, end=NOW.replace(year=2040), limited=False, strict=True
        )
        self.service.services.leases.create(Caller(user_id='alice', project_id='blue'), draft)
        self.assert_refused(self.create(), 'leases', 2, 4)

    def test_what_it_costs(self) -> None:
        counts = []
        # The first times, a process finds out which resources there are.
        for token, days in ((GREEN, range(1, 5)), (http.MEMBER, range(5, 7))):
            for day in days:
                with plans.captured(self.service.store.engine) as statements:
                    self.created(day, hosts=1, token=token)
            counts.append(len(statements))
        self.assertEqual(3, counts[1] - counts[0])


class TestOneLease(LimitsCase):
    """What one lease may be like."""

    limits = Limits(reservations_per_lease=2, days_per_lease=3, days_ahead=500)

    def test_reservations(self) -> None:
        self.assert_refused(self.create(hosts=3), 'reservations_per_lease', 2, 3)
        self.created(hosts=2)

    def test_days(self) -> None:
        self.assert_refused(self.create(days=4), 'days_per_lease', 3, 4)
        lease_id = self.created(days=3)
        answer = self.change(lease_id, end_date='2031-05-04T12:00:01Z')
        self.assert_refused(answer, 'days_per_lease', 3, 4, 400)
        answer = http.expect(200, self.change(lease_id, end_date='2031-05-04T11:00:00Z'))

    def test_what_is_longer_already_may_become_shorter(self) -> None:
        draft = LeaseDraft(name='l', start=NOW, end=NOW.replace(year=2033), limited=False)
        caller = Caller(user_id='alice', project_id='blue')
        lease = self.service.services.leases.create(caller, draft)
        http.expect(200, self.change(lease.id, end_date='2032-05-04T11:00:00Z'))
        http.expect(400, self.change(lease.id, end_date='2032-05-04T11:00:01Z'))

    def test_days_ahead(self) -> None:
        body = {'name': 'l', 'reservations': []}
        dates = {'start_date': '2031-06-01T12:00:00Z', 'end_date': '2031-06-02T12:00:00Z'}
        self.assert_refused(self.send('POST', '', {**body, **dates}), 'days_ahead', 500, 516)
        self.assert_refused(self.change(self.created(), **dates), 'days_ahead', 500, 516, 400)


class TestResources(LimitsCase):
    """What a project has at one instant."""

    limits = Limits(resources=2)

    def test_at_once(self) -> None:
        first = self.created(1, hosts=2)
        self.assert_refused(self.create(1, hosts=1), 'resources', 2, 3)
        self.created(1, hosts=1, token=GREEN)
        second = self.created(2, hosts=1)
        answer = self.change(first, end_date='2031-05-02T13:00:00Z')
        self.assert_refused(answer, 'resources', 2, 3, 400)
        self.assertEqual(200, self.change(first, name='another').status_int)
        answer = http.expect(200, self.change(second, end_date='2031-05-10T12:00:00Z'))
