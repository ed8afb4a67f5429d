# SPDX-License-Identifier: Apache-2.0

"""Which dates a lease may have."""

from __future__ import annotations

import datetime
from typing import Any

import hypothesis
from hypothesis import strategies as st

from climate import exceptions
from climate.booking.requests.new_leases import check_dates
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.periods import floored
from climate.domain.periods import Period
from climate.domain.requests import EventDraft
from climate.domain.requests import LeaseChange
from climate.domain.requests import LeaseDraft
from climate.leases import dates
from tests import base
from tests.narrowing import present

NOW = datetime.datetime(2030, 1, 1, 12, 0, 30, 250000, tzinfo=datetime.UTC)
MINUTE = datetime.timedelta(minutes=1)
THIS_MINUTE = NOW.replace(second=0, microsecond=0)


def at(minutes: float) -> datetime.datetime:
    """Return the instant so many minutes from the beginning of this minute."""
    return THIS_MINUTE + datetime.timedelta(minutes=minutes)


def draft(start: float, end: float, **facts: Any) -> LeaseDraft:
    """Return a wish for a lease."""
    return LeaseDraft(name='l', start=at(start), end=at(end), **facts)


def lease(
    start: float, end: float, status: LeaseStatus = LeaseStatus.PENDING, **facts: Any
) -> Lease:
    """Return a lease."""
    return Lease(
        id='l',
        name='l',
        user_id='u',
        project_id='p',
        period=Period(start=at(start), end=at(end)),
        status=status,
        **facts,
    )


instants = st.integers(0, 4 * 10**9 * 10**6).map(
    lambda microseconds: (
        datetime.datetime.fromtimestamp(0, datetime.UTC)
        + datetime.timedelta(microseconds=microseconds)
    )
)


class TestFloored(base.TestCase):
    @hypothesis.given(instants, st.sampled_from([1, 60, 3600]))
    def test_last_multiple_not_after(self, instant: datetime.datetime, seconds: int) -> None:
        grain = datetime.timedelta(seconds=seconds)
        floor = floored(instant, grain)
        self.assertLessEqual(floor, instant)
        self.assertLess(instant - floor, grain)
        self.assertEqual(0, floor.timestamp() % seconds)

    def test_no_grain(self) -> None:
        self.assertEqual(NOW, floored(NOW, datetime.timedelta(0)))


class TestNew(base.TestCase):
    @hypothesis.given(st.integers(-3, 10), st.integers(-3, 10))
    def test_starts_in_this_minute_or_later_and_ends_after(self, start: int, end: int) -> None:
        good = start >= 0 and end > start
        try:
            check_dates(draft(start, end), NOW)
        except exceptions.InvalidInput:
            self.assertFalse(good)
        else:
            self.assertTrue(good)

    def test_texts_that_clients_compare(self) -> None:
        for wish, text in (
            (draft(-1, 5), 'Start date must be later than current date'),
            (draft(5, 5), 'End date must be later than start date.'),
            (draft(5, 4), 'End date must be later than start date.'),
            (draft(0, 0.1), 'End date must be later than current and start date'),
        ):
            self.assertRaisesRegex(exceptions.InvalidInput, text, check_dates, wish, NOW)

    def test_asked_before_the_minute_ended(self) -> None:
        later = NOW + MINUTE
        check_dates(draft(0, 5), NOW)
        self.assertRaises(exceptions.InvalidInput, check_dates, draft(0, 5), later)

    def test_before_end_lies_inside(self) -> None:
        for minutes, good in ((4, False), (5, True), (7, True), (8, True), (9, False)):
            wish = draft(5, 8, before_end_date=at(minutes))
            if good:
                check_dates(wish, NOW)
            else:
                self.assertRaises(exceptions.OutsideLease, check_dates, wish, NOW)

    def test_events_lie_between_now_and_the_end(self) -> None:
        for minutes, good in ((-1, False), (0, True), (8, True), (9, False)):
            wish = draft(5, 8, events=(EventDraft(kind=EventKind.NOTIFICATION, time=at(minutes)),))
            if good:
                check_dates(wish, NOW)
            else:
                with self.assertRaisesRegex(exceptions.InvalidInput, r'events\[0\]'):
                    check_dates(wish, NOW)


class TestChangedPeriod(base.TestCase):
    @hypothesis.given(
        st.integers(-5, 10), st.integers(1, 10), st.none() | st.integers(-5, 20), st.booleans()
    )
    def test_end(self, start: int, length: int, end: int | None, pending: bool) -> None:
        status = LeaseStatus.PENDING if pending else LeaseStatus.ACTIVE
        old = lease(start, start + length, status)
        change = LeaseChange(end=None if end is None else at(end))
        try:
            period = dates.changed_period(old, change, NOW)
        except exceptions.InvalidInput:
            self.assertTrue(end is not None and (end < 0 or end <= start))
            return
        self.assertEqual(old.period.start, period.start)
        if end is None or at(end) == old.period.end:
            self.assertEqual(old.period.end, period.end)
        elif end == 0 and not pending:
            self.assertEqual(NOW, period.end)
        else:
            self.assertEqual(at(end), period.end)

    @hypothesis.given(st.integers(-5, 20), st.sampled_from(LeaseStatus))
    def test_start(self, start: int, status: LeaseStatus) -> None:
        old = lease(2, 10, status)
        try:
            period = dates.changed_period(old, LeaseChange(start=at(start)), NOW)
        except exceptions.InvalidInput:
            started = status is not LeaseStatus.PENDING and start != 2
            self.assertTrue(started or start < 0 or start >= 10)
        else:
            self.assertEqual(Period(start=at(start), end=at(10)), period)

    def test_a_late_start_may_stay(self) -> None:
        old = lease(-5, 10)
        change = LeaseChange(start=at(-5), end=at(20))
        self.assertEqual(at(-5), dates.changed_period(old, change, NOW).start)

    def test_until_now_ends_a_running_lease_at_once(self) -> None:
        old = lease(-5, 10, LeaseStatus.ACTIVE)
        self.assertEqual(NOW, dates.changed_period(old, LeaseChange(end=at(0)), NOW).end)


class TestChangedBeforeEnd(base.TestCase):
    @hypothesis.given(st.integers(0, 20), st.integers(1, 20), st.integers(0, 40), st.data())
    def test_moves_with_the_end_and_stays_inside(
        self, start: int, length: int, shift: int, data: st.DataObject
    ) -> None:
        wanted = data.draw(st.integers(start, start + length))
        end = data.draw(st.integers(start + 1, 60))
        old = lease(start, start + length, before_end_date=at(wanted))
        period = Period(start=at(start), end=at(end))
        moved = present(dates.changed_before_end(old, LeaseChange(), period))
        self.assertLessEqual(period.start, moved)
        self.assertLessEqual(moved, period.end)
        ideal = at(wanted + end - start - length)
        self.assertEqual(min(max(ideal, period.start), period.end), moved)

    def test_default_stays_default(self) -> None:
        period = Period(start=at(1), end=at(9))
        self.assertIsNone(dates.changed_before_end(lease(1, 5), LeaseChange(), period))

    def test_a_given_date_must_lie_inside_and_none_removes_it(self) -> None:
        old = lease(1, 5, before_end_date=at(3))
        for wanted in (at(1), at(5), None):
            change = LeaseChange(before_end_date=wanted)
            self.assertEqual(wanted, dates.changed_before_end(old, change, old.period))
        for wanted in (at(0), at(6)):
            with self.assertRaises(exceptions.OutsideLease):
                dates.changed_before_end(old, LeaseChange(before_end_date=wanted), old.period)
