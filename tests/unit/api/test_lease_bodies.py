# SPDX-License-Identifier: Apache-2.0

"""From bodies to what the core is asked for."""

from __future__ import annotations

import datetime

from climate import exceptions
from climate.api.http.microversions import V1_0
from climate.api.http.microversions import V1_1
from climate.api.http.microversions import V1_3
from climate.api.http.microversions import V1_8
from climate.api.schemas import leases
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.periods import Period
from climate.domain.requests import UNSET
from tests import base

UTC = datetime.UTC
NOW = datetime.datetime(2030, 1, 1, 12, 0, 30, tzinfo=UTC)
HOUR = datetime.timedelta(hours=1)
LEASE = {'name': 'l', 'start_date': 'now', 'end_date': '2030-01-02 00:00'}


def draft(version=V1_0, **fields):
    """Return the draft of a lease with *fields*."""
    return leases.Reader({**LEASE, **fields}, version, NOW).draft(20)


def change(body, version=V1_0, start=NOW, **facts):
    """Return the change that *body* stands for, of a lease of an hour."""
    lease = Lease(
        id='l',
        name='l',
        user_id='u',
        project_id='p',
        period=Period(start=start, end=start + HOUR),
        **facts,
    )
    return leases.Reader(body, version, NOW).change(lambda: lease)


class DraftTest(base.TestCase):
    """New leases."""

    def test_plain(self):
        plain = draft()
        self.assertEqual(NOW.replace(second=0), plain.start)
        self.assert_has(plain, end=datetime.datetime(2030, 1, 2, tzinfo=UTC), asked_at=NOW)
        self.assertFalse(plain.strict)
        self.assertIsNone(plain.notify_before_start)

    def test_identity_is_never_taken_from_a_body(self):
        found = draft(id='x', project_id='p', user_id='u', status='ACTIVE', trust_id='t')
        self.assertEqual(draft(), found)

    def test_both_spellings_of_the_time_of_an_event(self):
        one = draft(events=[{'event_type': 'notification', 'time': '2030-01-01 13:00'}])
        two = draft(events=[{'event_type': 'notification', 'event_date': '2030-01-01 13:00'}])
        self.assertEqual(one.events, two.events)
        self.assertEqual(13, one.events[0].time.hour)

    def test_an_event_without_a_time(self):
        error = self.assertRaises(
            exceptions.MissingParameter, draft, events=[{'event_type': 'notification'}]
        )
        self.assertEqual('Missing parameter events[0].time', error.message)

    def test_a_wrong_time_of_an_event(self):
        self.assert_error(
            exceptions.InvalidDate,
            'events[0].time',
            draft,
            events=[{'event_type': 'notification', 'time': 'x'}],
        )

    def test_before_end_as_an_event(self):
        event = {'event_type': 'before_end_lease', 'event_date': '2030-01-01 23:00'}
        self.assertEqual(23, draft(events=[event]).before_end_date.hour)
        self.assertEqual((), draft(events=[event]).events)

    def test_duration(self):
        self.assertEqual(NOW + 1.5 * HOUR, draft(V1_1, end_date=None, duration='90m').end)
        self.assert_error(exceptions.InvalidInput, 'duration', draft, V1_1, duration=60)
        error = self.assertRaises(exceptions.MissingParameter, draft, V1_1, end_date=None)
        self.assertEqual('Missing parameter end_date', error.message)

    def test_what_1_1_brought_is_dropped_at_1_0(self):
        self.assertEqual(draft(), draft(duration=60, notify_before_start=[5]))

    def test_notices_are_sorted(self):
        self.assertEqual((60, 5), draft(V1_1, notify_before_start=[5, 60, 5]).notify_before_start)
        self.assertEqual((), draft(V1_1, notify_before_start=[]).notify_before_start)


class ChangeTest(base.TestCase):
    """Changes of leases."""

    def test_empty(self):
        empty = change({})
        self.assertIsNone(empty.name)
        self.assertIs(UNSET, empty.before_end_date)
        self.assertIs(UNSET, empty.notify_before_start)

    def test_null_resets_what_has_a_default(self):
        reset = change({'before_end_date': None, 'notify_before_start': None}, V1_1)
        self.assertIsNone(reset.before_end_date)
        self.assertIsNone(reset.notify_before_start)

    def test_duration_counts_from_the_start(self):
        self.assertEqual(NOW + HOUR, change({'duration': '1h'}, V1_1, start=NOW).end)
        moved = change({'start_date': '2031-01-01T00:00Z', 'duration': '1h'}, V1_1, start=NOW)
        self.assertEqual(datetime.datetime(2031, 1, 1, 1, tzinfo=UTC), moved.end)

    def test_notices_of_moves(self):
        self.assertEqual(('moved',), change({'notices': ['moved']}, V1_8).notices)
        self.assert_error(
            exceptions.MalformedParameter,
            'one of before_start, started, before_end',
            change,
            {'notices': ['moved']},
            V1_3,
        )

    def test_duration_of_a_flexible_lease(self):
        window = {'earliest': NOW, 'firm_before': 3600}
        pending = change({'duration': '2h'}, V1_8, **window)
        self.assertEqual((2 * HOUR, None), (pending.window.duration, pending.end))
        active = change({'duration': '2h'}, V1_8, status=LeaseStatus.ACTIVE, **window)
        self.assertEqual((None, NOW + 2 * HOUR), (active.window.duration, active.end))

    def test_reservations(self):
        one = change({'reservations': [{'id': 'r', 'min': 2}]}).reservations[0]
        self.assertEqual(('r', 2), (one.id, one.body['min']))
        self.assert_error(
            exceptions.MissingParameter,
            'reservations[0].id',
            change,
            {'reservations': [{'min': 2}]},
        )
