# SPDX-License-Identifier: Apache-2.0

"""What a template becomes in the API, and what changes in place."""

from __future__ import annotations

import datetime
from typing import Any

from climate.heat import bodies
from tests import base

NOW = datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC)
HOST = {'label': 'big', 'resource_type': 'physical:host', 'min': 1, 'max': 1}
ROOM = {'resource_type': 'virtual:instance', 'amount': 2, 'vcpus': 1, 'affinity': None}
# The server is a part of what the second reservation implies.
LEASE = {
    'status': 'PENDING',
    'reservations': [
        {'id': 'h', 'resource_type': 'physical:host', 'part_of': None},
        {'id': 'i', 'resource_type': 'virtual:instance', 'part_of': None},
        {'id': 'p', 'resource_type': 'physical:host', 'part_of': 'i'},
    ],
}
FIXED = {'name': 'a', 'start_date': '2030-01-01T13:00Z', 'end_date': '2030-01-01T15:00Z'}
PLAIN = {**FIXED, 'reservations': [HOST, ROOM]}
SOON = {'name': 'a', 'duration': '2h', 'firm_before': '90m', 'reservations': [HOST, ROOM]}


class PeriodTest(base.TestCase):
    """Which properties describe a period together."""

    def test_possible(self) -> None:
        for given in (
            {'start_date', 'end_date'},
            {'start_date', 'duration'},
            {'end_date'},
            {'duration'},
            {'duration', 'earliest', 'latest', 'prefer', 'property'},
            {'duration', 'firm_before'},
            {'duration', 'earliest', 'latest', 'firm_before', 'notify_before_start', 'notices'},
            {'duration', 'latest', 'wait', 'wait_until'},
            {'duration', 'preemptible', 'yield', 'min_duration'},
        ):
            self.assertIsNone(bodies.fault_of_period(given), given)

    def test_impossible(self) -> None:
        for given, about in (
            (set(), 'Exactly one of end_date and duration'),
            ({'start_date'}, 'Exactly one of end_date and duration'),
            ({'end_date', 'duration'}, 'Exactly one of end_date and duration'),
            ({'end_date', 'latest'}, 'latest requires duration'),
            ({'start_date', 'duration', 'prefer'}, 'prefer requires duration, without start_date'),
            ({'end_date', 'firm_before'}, 'firm_before requires duration, without start_date'),
            ({'start_date', 'duration', 'firm_before'}, 'firm_before requires duration'),
            ({'duration', 'firm_before', 'prefer'}, 'firm_before excludes prefer'),
            ({'duration', 'firm_before', 'before_end_date'}, 'excludes before_end_date'),
            ({'duration', 'firm_before', 'events'}, 'firm_before excludes events'),
            ({'start_date', 'duration', 'wait'}, 'wait requires duration, without start_date'),
            ({'duration', 'wait', 'prefer'}, 'wait excludes prefer'),
            ({'duration', 'firm_before', 'wait_until'}, 'wait_until requires wait'),
            ({'start_date', 'duration', 'preemptible'}, 'preemptible requires duration, without'),
            ({'duration', 'preemptible', 'prefer'}, 'preemptible excludes prefer'),
            ({'duration', 'wait', 'yield'}, 'yield requires preemptible'),
            ({'duration', 'wait', 'min_duration'}, 'min_duration requires preemptible'),
            ({'end_date', 'min_duration'}, 'min_duration requires duration, without start_date'),
        ):
            self.assertIn(about, bodies.fault_of_period(given) or '', given)

    def test_labels(self) -> None:
        self.assertIsNone(bodies.fault_of_labels([HOST, ROOM, ROOM]))
        self.assertIn('have the label big', bodies.fault_of_labels([HOST, ROOM, HOST]) or '')


class NewLeaseTest(base.TestCase):
    """Bodies of POST."""

    def test_labels_and_empty_values_stay_in_the_template(self) -> None:
        body = bodies.lease({**PLAIN, 'notices': None, 'before_end_date': '2030-01-01T14:00Z'})
        self.assertEqual({*FIXED, 'before_end_date', 'reservations'}, body.keys())
        host, room = body['reservations']
        self.assertEqual({'resource_type', 'min', 'max'}, host.keys())
        self.assertEqual({'resource_type', 'amount', 'vcpus'}, room.keys())

    def test_without_a_start(self) -> None:
        self.assertEqual('now', bodies.lease({**PLAIN, 'start_date': None})['start_date'])
        self.assertFalse(bodies.by_offer({**PLAIN, 'start_date': None}))
        self.assertTrue(bodies.by_offer({'duration': '2h'}))

    def test_flexible(self) -> None:
        body = bodies.lease({**SOON, 'earliest': None, 'latest': '2030-01-09T00:00Z'})
        self.assertEqual({*SOON, 'latest'}, body.keys())
        self.assertEqual(('2h', '90m'), (body['duration'], body['firm_before']))
        self.assertTrue(bodies.is_flexible(SOON))
        self.assertFalse(bodies.by_offer(SOON))

    def test_waiting(self) -> None:
        waits = {**SOON, 'firm_before': None, 'wait': True, 'wait_until': '2030-01-09T00:00Z'}
        self.assertEqual(waits.keys() - {'firm_before'}, bodies.lease(waits).keys())
        self.assertTrue(bodies.is_flexible(waits))
        self.assertFalse(bodies.by_offer(waits))
        # In place: both are flexible.
        self.assertFalse(bodies.needs_offer(waits, SOON))
        self.assertTrue(bodies.needs_offer(waits, {**waits, 'wait': None, 'wait_until': None}))

    def test_preemptible(self) -> None:
        slices = {
            **SOON, 'firm_before': None, 'preemptible': True, 'yield': 'end', 'min_duration': '30m'
        }  # fmt: skip
        self.assertEqual(slices.keys() - {'firm_before'}, bodies.lease(slices).keys())
        self.assertTrue(bodies.is_flexible(slices))
        self.assertFalse(bodies.by_offer(slices))
        # The API changes none of them.
        for changed in ({'yield': 'requeue'}, {'min_duration': None}, {'preemptible': None}):
            self.assertTrue(bodies.needs_offer(slices, {**slices, 'wait': True, **changed}))
        none = dict.fromkeys(('preemptible', 'yield', 'min_duration'))
        fixed = {**slices, **none, 'start_date': '2030-01-01T13:00Z'}
        self.assertFalse(bodies.needs_offer(slices, fixed))

    def test_now_is_tried_only_if_it_is_as_good_as_an_offer(self) -> None:
        for wanted, now in (
            ({}, True),
            ({'latest': '2030-01-01T14:00Z'}, True),
            ({'latest': '2030-01-01T13:59Z'}, False),
            ({'latest': 'tomorrow'}, False),
            ({'earliest': '2030-01-01T11:00Z'}, False),
            ({'prefer': 'cheapest'}, False),
        ):
            self.assertEqual(now, bodies.starts_now({'duration': '2h', **wanted}, NOW), wanted)

    def test_search(self) -> None:
        query = bodies.search({'duration': '2h', 'reservations': [HOST]}, NOW)
        self.assertEqual('2030-01-15T14:00:00+00:00', query['latest'])
        self.assertFalse(bodies.is_searched(query, '2030-01-15T11:59:59Z'))
        self.assertTrue(bodies.is_searched(query, '2030-01-15T12:00:00Z'))
        given = {'earliest': '2030-02-01T00:00Z', 'latest': '2030-02-02T00:00Z', 'prefer': 'same'}
        query = bodies.search({'duration': '2h', 'reservations': [HOST], **given}, NOW)
        self.assertEqual({**query, **given, 'limit': 1}, query)


class ChangeTest(base.TestCase):
    """Bodies of PUT."""

    def change(self, **changes: Any) -> dict[str, Any] | None:
        return bodies.change(PLAIN, {**PLAIN, **changes}, LEASE)

    def test_nothing(self) -> None:
        self.assertEqual({}, self.change())
        self.assertEqual({}, self.change(reservations=[{**HOST, 'label': 'x'}, ROOM]))

    def test_details(self) -> None:
        found = self.change(name='b', notices=['start'])
        self.assertEqual({'name': 'b', 'notices': ['start']}, found)
        body = bodies.change({**PLAIN, 'notices': ['start']}, {**PLAIN, 'notices': None}, LEASE)
        self.assertEqual({'notices': None}, body)

    def test_dates(self) -> None:
        end = PLAIN['end_date']
        self.assertEqual({'end_date': 'x'}, self.change(end_date='x'))
        self.assertEqual({'start_date': 'x', 'end_date': end}, self.change(start_date='x'))
        self.assertEqual({'duration': '3h'}, self.change(end_date=None, duration='3h'))
        # What has no start any more takes an offer.
        self.assertIsNone(self.change(start_date=None, end_date=None, duration='3h'))

    def test_a_flexible_lease_gets_another_window(self) -> None:
        window = {'earliest': '2030-01-02T00:00Z', 'latest': '2030-01-09T00:00Z'}
        for after, body in (
            (window, window),
            ({'firm_before': '3h'}, {'firm_before': '3h'}),
            ({'duration': '3h'}, {'duration': '3h'}),
        ):
            self.assertEqual(body, bodies.change(SOON, {**SOON, **after}, LEASE))
            self.assertFalse(bodies.needs_offer(SOON, {**SOON, **after}))
        # Without an earliest start it may begin now; null would fix its start.
        body = bodies.change({**SOON, **window}, SOON, LEASE)
        self.assertEqual({'earliest': 'now', 'latest': None}, body)
        # The API knows no null here.
        waits = {**SOON, 'firm_before': None, 'wait': True}
        self.assertEqual({'firm_before': 0}, bodies.change({**waits, **SOON}, waits, LEASE))
        # Once it has begun, a window means nothing.
        active = {**LEASE, 'status': 'ACTIVE'}
        after = {**SOON, **window, 'duration': '3h'}
        self.assertEqual({'duration': '3h'}, bodies.change(SOON, after, active))

    def test_a_lease_that_waits_gets_another_window(self) -> None:
        waits = {**LEASE, 'status': 'WAITING'}
        for after in ({'latest': '2030-01-09T00:00Z'}, {'duration': '3h'}):
            self.assertEqual(after, bodies.change(SOON, {**SOON, **after}, waits))
            self.assertFalse(bodies.needs_another(SOON, {**SOON, **after}, waits))
        # It has no start to fix yet, and no way to yield.
        for after in ({'start_date': '2030-01-02T00:00Z'}, {'preemptible': True}):
            self.assertTrue(bodies.needs_another(SOON, {**SOON, **after}, waits))
        fixed = {**SOON, 'start_date': '2030-01-02T00:00Z'}
        self.assertFalse(bodies.needs_another(SOON, fixed, LEASE))

    def test_what_needs_an_offer(self) -> None:
        offered = {**SOON, 'firm_before': None}
        start = {'start_date': '2030-01-01T13:00Z'}
        for before, after, needs in (
            (offered, {**offered, 'prefer': 'cheapest'}, True),
            (offered, {**offered, 'duration': '3h'}, False),
            (offered, SOON, True),
            (SOON, offered, True),
            (SOON, {**offered, **start}, False),
        ):
            self.assertEqual(needs, bodies.needs_offer(before, after), after)
        body = bodies.change(SOON, {**offered, **start}, LEASE)
        self.assertEqual({**start, 'duration': '2h'}, body)

    def test_reservations(self) -> None:
        found = self.change(reservations=[HOST, {**ROOM, 'amount': 3}])
        self.assertEqual({'reservations': [{'id': 'i', 'amount': 3}]}, found)
        self.assertEqual(
            {'reservations': [{'id': 'h', 'max': 2}, {'id': 'i', 'affinity': True}]},
            self.change(reservations=[{**HOST, 'max': 2}, {**ROOM, 'affinity': True}]),
        )

    def test_reservations_that_the_api_cannot_change(self) -> None:
        for items in (
            [HOST],
            [HOST, ROOM, ROOM],
            [ROOM, HOST],
            [HOST, {**ROOM, 'placement': {'spread': 'rack'}}],
            [HOST, {**ROOM, 'vcpus': None}],
        ):
            self.assertIsNone(self.change(reservations=items), items)


class ReservationIdsTest(base.TestCase):
    """Ids for servers in the same stack."""

    def test_by_label_and_type(self) -> None:
        found = bodies.reservation_ids([HOST, ROOM], LEASE)
        self.assertEqual({'big': 'h', 'physical:host': 'h', 'virtual:instance': 'i'}, found)
        self.assertNotIn('big', bodies.reservation_ids((), LEASE))
