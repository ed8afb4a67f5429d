# SPDX-License-Identifier: Apache-2.0

"""The calendar through the life of a lease: its past, its tags, and its statements."""

from __future__ import annotations

from typing import Any

import fixtures
import webob

from climate.db.reports import calendar_pages
from tests import base
from tests import services
from tests.functional import bodies
from tests.functional import http
from tests.functional.db import plans
from tests.functional.fixtures import Service

WINDOW = '&start=2029-12-31T00:00:00Z&end=2030-01-05T00:00:00Z'
MOST_STATEMENTS = 8
"""Those of a page: holds, type, count, resources, leases, capacities, bars, maintenances."""
MOST_FOR_A_TAG = 5


@services.on_each_engine(base.TestCase)
class _Calendar:
    """One service on one engine."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(Service(hosts=3, database=self.kind))

    def show(
        self, token: str = http.MEMBER, query: str = WINDOW, version: str = '1.5', **headers: str
    ) -> webob.Response:
        answer = http.send(
            self.service.app,
            'GET',
            f'/v1/calendar?resource_type=physical:host{query}',
            token=token,
            version=version,
            headers={name.replace('_', '-'): text for name, text in headers.items()},
        )
        self.assertIn(answer.status_int, (200, 304), answer.text)
        return answer

    def book(self, name: str, token: str = http.MEMBER, version: str = '1.5', **facts: Any) -> str:
        """Book a host for an hour from the next minute on; return the lease's id."""
        lease = {
            **bodies.lease(name, '2030-01-01T12:05:00Z', '2030-01-01T13:05:00Z', bodies.hosts()),
            **facts,
        }
        answer = http.send(
            self.service.app, 'POST', '/v1/leases', lease, token=token, version=version
        )
        self.assertEqual(201, answer.status_int, answer.text)
        return str(answer.json['lease']['id'])

    def to(self, minutes: float) -> None:
        """Let time pass, and a manager work."""
        self.service.clock.advance(minutes * 60)
        self.service.work()

    def test_a_life(self) -> None:
        mine, theirs = self.book('mine'), self.book('theirs', 'bob:red:member')
        statuses, tags = [], set()
        for minutes in (0, 5, 60):
            self.to(minutes)
            answer = self.show()
            shown = answer.json['calendar']
            self.assertEqual([mine], shown['leases']['id'])
            self.assertEqual([0, -1], sorted(shown['allocations']['lease'], reverse=True))
            statuses += shown['leases']['status']
            tags.add(answer.headers['ETag'])
            self.assertEqual(304, self.show(If_None_Match=answer.headers['ETag']).status_int)
            for secret in (theirs, 'theirs', 'bob', 'red'):
                self.assertNotIn(secret, answer.text)
        self.assertEqual(['PENDING', 'ACTIVE', 'TERMINATED'], statuses)
        self.assertEqual(3, len(tags))
        http.send(self.service.app, 'DELETE', f'/v1/leases/{mine}', token=http.MEMBER)
        self.service.work()
        shown = self.show().json['calendar']
        self.assertEqual(['DELETED'], shown['leases']['status'])
        self.assertEqual([1893499500] * 2, shown['allocations']['start'])
        operators = self.show(http.ADMIN).json['calendar']['leases']
        self.assertEqual({'blue', 'red'}, set(operators['project_id']))

    def test_what_was_cut_short(self) -> None:
        lease_id = self.book('short')
        self.to(15)
        http.send(self.service.app, 'DELETE', f'/v1/leases/{lease_id}', token=http.MEMBER)
        self.service.work()
        shown = self.show().json['calendar']['allocations']
        self.assert_has(shown, start=[1893499500], end=[int(self.service.clock.now().timestamp())])

    def test_what_never_began(self) -> None:
        lease_id = self.book('never')
        http.send(self.service.app, 'DELETE', f'/v1/leases/{lease_id}', token=http.MEMBER)
        self.service.work()
        self.assertEqual([], self.show().json['calendar']['allocations']['start'])

    def test_a_hold_that_expires(self) -> None:
        offers = {
            'duration': '1h',
            'hold': 60,
            'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1}],
        }
        made = http.send(
            self.service.app, 'POST', '/v1/offers', offers, token='bob:red:member', version='1.5'
        )
        self.assertEqual(200, made.status_int, made.text)
        answer = self.show()
        self.assertEqual([0], answer.json['calendar']['held'])
        self.service.clock.advance(61)
        later = self.show(If_None_Match=answer.headers['ETag'])
        self.assertEqual([], later.json['calendar']['held'])

    def test_until_when_a_lease_moves(self) -> None:
        window = {'start_date': None, 'end_date': None, 'earliest': '2030-01-02T00:00:00Z'}
        self.book('fixed')
        lease_id = self.book('soon', version='1.8', duration='1h', firm_before='2h', **window)
        answer = self.show(version='1.8')
        self.assertEqual([None, 1893535200], answer.json['calendar']['leases']['firm_at'])
        self.assertNotIn('firm_at', self.show().json['calendar']['leases'])
        tag = answer.headers['ETag']
        self.assertEqual(200, self.show(If_None_Match=tag).status_int)
        self.assertEqual(304, self.show(version='1.8', If_None_Match=tag).status_int)
        http.send(
            self.service.app, 'PUT', f'/v1/leases/{lease_id}', {'earliest': None},
            token=http.MEMBER, version='1.8',
        )  # fmt: skip
        fixed = self.show(version='1.8', If_None_Match=tag).json['calendar']['leases']
        self.assertEqual([None, None], fixed['firm_at'])

    def test_tags_of_callers_differ(self) -> None:
        self.book('mine')
        tag = self.show().headers['ETag']
        for token in ('bob:red:member', http.ADMIN):
            self.assertEqual(200, self.show(token, If_None_Match=tag).status_int)
        self.assertEqual(304, self.show('rita:blue:reader', If_None_Match=tag).status_int)

    def test_each_change_changes_the_tag(self) -> None:
        lease_id = self.book('mine')
        for method, path, body in (
            ('PUT', f'/v1/leases/{lease_id}', {'name': 'other'}),
            ('PUT', f'/v1/leases/{lease_id}', {'end_date': '2030-01-01T14:05:00Z'}),
            ('PUT', '/v1/resources/2', {'disabled': True}),
            (
                'POST',
                '/v1/maintenances',
                bodies.maintenance('compute-3', '2030-01-02T00:00:00Z', '2030-01-03T00:00:00Z'),
            ),
            ('DELETE', f'/v1/leases/{lease_id}', None),
            ('DELETE', '/v1/os-hosts/2', None),
        ):
            self.service.clock.advance(1)
            tag = self.show().headers['ETag']
            answer = http.send(self.service.app, method, path, body, version='1.5')
            self.assertLess(answer.status_int, 300, answer.text)
            self.service.work()
            self.assertEqual(200, self.show(If_None_Match=tag).status_int, path)

    def test_statements(self) -> None:
        for number in range(3):
            self.book(str(number))
            for query in (WINDOW, f'{WINDOW}&group_by=rack', f'{WINDOW}&search=r1'):
                with plans.captured(self.service.store.engine) as statements:
                    answer = self.show(query=query)
                most = MOST_STATEMENTS + ('group_by' in query)
                self.assertLessEqual(len(statements), most, [one.text for one in statements])
                with plans.captured(self.service.store.engine) as statements:
                    self.show(query=query, If_None_Match=answer.headers['ETag'])
                most = MOST_FOR_A_TAG + ('group_by' in query)
                self.assertLessEqual(len(statements), most, [one.text for one in statements])

    def test_resources_held_for_an_offer_are_not_mine(self) -> None:
        reservations = [{'resource_type': 'physical:host', 'min': 1, 'max': 1}]
        offers = {'duration': '1h', 'hold': 60, 'reservations': reservations}
        http.expect(200, http.send(self.service.app, 'POST', '/v1/offers', offers, version='1.5'))
        self.assertEqual([0], self.show().json['calendar']['held'])
        self.assertEqual(0, self.show(query=f'{WINDOW}&mine=true').json['calendar']['total'])

    def test_too_many_groups(self) -> None:
        grouped = f'{WINDOW}&group_by=rack'
        found = sorted(self.show(query=grouped).json['calendar']['groups']['count'], reverse=True)
        self.assertEqual([2, 1], found)
        self.useFixture(fixtures.MonkeyPatch('climate.db.reports.calendar_pages.MOST_GROUPS', 1))
        shown = self.show(query=grouped).json['calendar']
        self.assertNotIn('groups', shown)
        self.assertEqual(3, shown['total'])

    def test_too_much(self) -> None:
        self.useFixture(fixtures.MonkeyPatch('climate.db.reports.calendar_pages.MOST_BARS', 1))
        self.assertEqual(1, calendar_pages.MOST_BARS)
        self.book('one')
        self.show()
        self.book('two')
        answer = http.send(
            self.service.app,
            'GET',
            f'/v1/calendar?resource_type=physical:host{WINDOW}',
            version='1.5',
        )
        self.assertEqual(400, answer.status_int)
        self.assertIn('lower limit, or shorten the period', answer.json['error_message'])
