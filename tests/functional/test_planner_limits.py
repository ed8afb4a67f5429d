# SPDX-License-Identifier: Apache-2.0

"""What keeps one flexible lease from moving keeps no other, and is not shown to others."""

from __future__ import annotations

import datetime
from typing import Any
from unittest import mock

from climate.booking.planning import displacement
from climate.booking.planning import plans
from climate.enforcement.limits import Limits
from climate.enforcement.limits import ProjectLimits
from climate.upkeep import planning
from climate.upkeep.planning import Planner
from tests import base
from tests.functional import fixtures
from tests.functional import http

FIXED = {'start_date': '2030-01-02T00:00:00Z', 'end_date': '2030-01-02T06:00:00Z'}
WINDOW = {'earliest': '2030-01-02T00:00:00Z', 'duration': '2h'}
MINE, NEAR, FEW = 'alice:blue:member', 'bob:red:member', 'carol:green:member'
END = {'end_date': '2030-02-01T00:00:00Z'}
MONTH = {'start_date': '2030-01-02T00:00:00Z', **END}
LIMITS = ProjectLimits(by_project={'red': Limits(days_ahead=2), 'green': Limits(resources=2)})


class TestPlannerLimits(base.TestCase):
    """A service with four hosts, where two of three projects have limits."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(fixtures.Service(limits=LIMITS))
        self.planner = Planner(self.service.services.leases)

    def ask(self, hosts: int, token: str = MINE, **facts: Any) -> Any:
        # In the order of their requests.
        self.service.clock.advance(1)
        one = {'resource_type': 'physical:host', 'min': hosts, 'max': hosts}
        if 'placement' in facts:
            one['placement'] = facts.pop('placement')
        body = {'name': 'a', 'reservations': [one], **facts}
        return http.send(self.service.app, 'POST', '/v1/leases', body, token=token, version='1.8')

    def book(self, hosts: int, token: str = MINE, **facts: Any) -> dict[str, Any]:
        lease: dict[str, Any] = http.expect(201, self.ask(hosts, token, **facts)).json['lease']
        return lease

    def delete(self, lease: dict[str, Any], token: str = MINE) -> None:
        path = f'/v1/leases/{lease["id"]}'
        http.expect(204, http.send(self.service.app, 'DELETE', path, token=token, version='1.8'))

    def start(self, lease: dict[str, Any]) -> str:
        path = f'/v1/leases/{lease["id"]}'
        start: str = http.send(self.service.app, 'GET', path, version='1.8').json['lease'][
            'start_date'
        ]
        return start[8:16]

    def test_leases_that_stay_do_not_keep_others_from_being_looked_at(self) -> None:
        self.book(3, **FIXED)
        fixed = self.book(1, **FIXED)
        # Only a search finds another place for them, and it finds none.
        search = {'prefer': [{'property': 'rack', 'value': 'r1'}]}
        for _ in range(3):
            self.book(4, placement=search, **WINDOW)
        lease = self.book(1, **WINDOW)
        self.delete(fixed)
        with mock.patch.object(planning, '_MOVES', 2):
            self.assertEqual([1, 0], [self.planner.round(), self.planner.round()])
        self.assertEqual('02T00:00', self.start(lease))

    def test_a_short_gap_before_a_lease_is_of_use(self) -> None:
        self.book(4, start_date=FIXED['start_date'], end_date='2030-01-02T05:00:00Z')
        fixed = self.book(4, start_date='2030-01-02T05:00:00Z', end_date=FIXED['end_date'])
        lease = self.book(4, **WINDOW)
        other = self.book(4, **WINDOW)
        self.assertEqual(0, self.planner.round())
        self.delete(fixed)
        self.assertEqual(2, self.planner.round())
        self.assertEqual(['02T05:00', '02T07:00'], [self.start(lease), self.start(other)])

    def test_who_cannot_be_moved_so_far_ahead_is_in_the_way(self) -> None:
        lease = self.book(4, NEAR, **WINDOW)
        search = displacement.Displacing.displacing
        calls = []

        def counted(*words: Any) -> Any:
            calls.append(words)
            return search(*words)

        with mock.patch.object(displacement.Displacing, 'displacing', counted):
            answer = self.ask(4, start_date=FIXED['start_date'], end_date='2030-01-05T00:00:00Z')
        self.assertEqual('NOT_ENOUGH_RESOURCES', http.expect(409, answer).json['error_name'])
        self.assertEqual(1, len(calls))
        self.assertEqual('02T00:00', self.start(lease))

    def test_limits_of_displaced_leases_are_not_shown(self) -> None:
        self.book(2, FEW, start_date=FIXED['end_date'], end_date='2030-01-02T08:00:00Z')
        self.book(2, FEW, **WINDOW, latest='2030-01-02T08:00:00Z')
        answer = http.expect(409, self.ask(4, **FIXED))
        self.assertEqual('NOT_ENOUGH_RESOURCES', answer.json['error_name'])

    def test_who_gives_way_moves_to_where_limits_allow_it(self) -> None:
        self.book(2, FEW, start_date=FIXED['end_date'], end_date='2030-01-02T08:00:00Z')
        lease = self.book(2, FEW, **WINDOW)
        self.book(4, **FIXED)
        self.assertEqual('02T08:00', self.start(lease))

    def test_a_lease_may_wait_although_its_last_start_is_too_far_ahead(self) -> None:
        self.book(4, start_date=FIXED['start_date'], end_date='2030-01-07T00:00:00Z')
        window = {**WINDOW, 'latest': '2030-01-06T23:00:00Z'}
        self.assertEqual('WAITING', self.book(4, NEAR, **window, wait=True)['status'])
        answer = http.expect(409, self.ask(4, NEAR, **window))
        self.assertEqual('NOT_ENOUGH_RESOURCES', answer.json['error_name'])

    def test_a_preemptible_lease_is_refused_like_any_other(self) -> None:
        answer = self.ask(3, FEW, **WINDOW, preemptible=True)
        self.assertEqual('LEASE_REFUSED', http.expect(403, answer).json['error_name'])

    def test_no_window_and_no_end_is_too_late(self) -> None:
        last = {'latest': '9999-12-31T23:59:59Z', 'wait': True}
        self.book(4, start_date=FIXED['start_date'], end_date='9999-12-31T23:59:59Z')
        http.expect(409, self.ask(4, start_date=FIXED['start_date'], end_date=last['latest']))
        self.book(4, earliest=FIXED['start_date'], duration='36525d', **last)
        self.assertEqual(0, self.planner.round())
        path = '/v1/queue'
        http.expect(200, http.send(self.service.app, 'GET', path, token=MINE, version='1.8'))
        self.assertEqual(400, self.ask(4, duration='2910900d', **last).status_int)

    def change(self, lease: dict[str, Any], token: str, **facts: Any) -> Any:
        path = f'/v1/leases/{lease["id"]}'
        return http.send(self.service.app, 'PUT', path, facts, token=token, version='1.8')

    def test_a_lease_that_waits_is_booked_in_its_new_window(self) -> None:
        self.book(4, **FIXED)
        lease = self.book(4, **WINDOW, latest=FIXED['end_date'], wait=True)
        self.assertEqual(0, self.planner.round())
        changed = http.expect(200, self.change(lease, MINE, latest='2030-01-03T00:00:00Z')).json
        self.assertEqual('WAITING', changed['lease']['status'])
        self.assertEqual(1, self.planner.round())
        self.assertEqual('02T06:00', self.start(lease))

    def test_limits_hold_for_the_new_window_of_a_lease_that_waits(self) -> None:
        self.book(4, **MONTH)
        lease = self.book(4, NEAR, **WINDOW, latest=MONTH['end_date'], wait=True)
        answer = self.change(lease, NEAR, earliest='2030-01-06T00:00:00Z')
        self.assertIn('days_ahead', http.expect(400, answer).json['error_message'])

    def chosen(self) -> int:
        """Have a round, and return how often it chose resources for a lease."""
        with mock.patch.object(
            plans._Deciding, '_chosen', autospec=True, side_effect=plans._Deciding._chosen
        ) as chosen:
            self.planner.round()
        return chosen.call_count

    def hold(self, number: int) -> dict[str, Any]:
        """Have leases wait that a limit holds, and return one that has all its project may have."""
        other, full = self.book(2, **MONTH), self.book(2, FEW, **MONTH)
        window = {**WINDOW, 'latest': MONTH['end_date'], 'wait': True}
        for _ in range(number):
            self.assertEqual('WAITING', self.book(1, FEW, **window)['status'])
        self.planner.round()
        self.delete(other)
        return full

    def test_what_a_limit_holds_costs_no_choices(self) -> None:
        self.hold(5)
        for _ in range(3):
            self.assertEqual(0, self.chosen())
            self.delete(self.book(1, **FIXED))

    def test_what_a_limit_holds_is_booked_as_soon_as_its_project_has_less(self) -> None:
        full = self.hold(3)
        self.assertEqual(0, self.planner.round())
        self.delete(full, FEW)
        self.assertEqual(3, self.planner.round())
        path = '/v1/leases?status=PENDING'
        found = http.send(self.service.app, 'GET', path, token=FEW, version='1.8').json['leases']
        starts = sorted(one['start_date'][8:16] for one in found)
        self.assertEqual(['02T00:00', '02T00:00', '02T02:00'], starts)

    def test_a_lease_begins_when_its_limit_allows_it_sooner_than_now(self) -> None:
        fixed = self.book(2, FEW, **FIXED)
        others = self.book(2, **MONTH), self.book(2, start_date=FIXED['end_date'], **END)
        window = {**WINDOW, 'latest': '2030-02-02T00:00:00Z'}
        lease = self.book(2, FEW, **window)
        self.assertEqual(('01T00:00', 0), (self.start(lease), self.planner.round()))
        for one in others:
            self.delete(one)
        self.assertEqual(1, self.planner.round())
        self.assertEqual(fixed['end_date'][8:16], self.start(lease))

    def test_a_lease_that_was_too_far_ahead_is_looked_at_when_time_has_passed(self) -> None:
        every = self.book(4, **MONTH)
        window = {**WINDOW, 'latest': '2030-01-08T00:00:00Z', 'wait': True}
        lease = self.book(4, NEAR, **window)
        self.delete(every)
        self.book(4, start_date=FIXED['start_date'], end_date='2030-01-07T00:00:00Z')
        self.assertEqual([0, 0], [self.planner.round(), self.planner.round()])
        self.service.clock.move_to(datetime.datetime(2030, 1, 5, 0, 1, tzinfo=datetime.UTC))
        self.assertEqual(1, self.planner.round())
        self.assertEqual('07T00:00', self.start(lease))
