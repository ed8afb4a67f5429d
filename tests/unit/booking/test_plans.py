# SPDX-License-Identifier: Apache-2.0

"""What plans decide, against a reference that looks at each minute of each host."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import hypothesis
from hypothesis import strategies as st

from climate.booking.planning.places import Place
from tests import base
from tests import planned_hosts
from tests.planned_hosts import Booking
from tests.planned_hosts import Check
from tests.planned_hosts import HostBookings
from tests.planned_hosts import HOSTS
from tests.planned_hosts import Part

_LENGTHS = st.integers(1, 6)
_AHEAD = st.integers(0, 8)
_HOST = st.integers(0, HOSTS - 1)
_PARTS = st.lists(
    st.builds(Part, whole=st.booleans(), count=st.integers(1, 2)), min_size=1, max_size=2
)
_WINDOW = st.none() | st.integers(0, 10)
_REQUESTS = st.tuples(st.just('request'), _PARTS, _LENGTHS, _AHEAD, _WINDOW)
_FIXED = st.tuples(st.just('fix'), _HOST, _AHEAD, st.integers(1, 10))
_ENDS = st.tuples(st.just('end'), st.integers(0, 20))
# Much has to be booked before anything can gain.
_STEPS = st.builds(
    lambda *parts: [step for steps in parts for step in steps],
    st.lists(_FIXED, min_size=3, max_size=6),
    st.lists(_REQUESTS, min_size=3, max_size=6),
    st.lists(
        st.one_of(
            _REQUESTS,
            _FIXED,
            _ENDS,
            _ENDS,
            st.tuples(st.just('switch'), _HOST),
            st.tuples(st.just('wait'), st.integers(1, 4)),
        ),
        min_size=3,
        max_size=12,
    ),
)
HISTORIES: dict[str, st.SearchStrategy[Any]] = {
    'pause': st.sampled_from([0, 0, 2]),
    'steps': _STEPS,
    'fails': st.lists(st.booleans(), max_size=5),
}


class HistoryCase(base.TestCase):
    """Leases are requested, end, and are deleted, hosts are closed, and time passes."""

    def check_history(self, pause: int, steps: list[Any], fails: list[bool]) -> None:
        """Check each plan of a history.

        :param pause: between two allocations of a host
        :param steps: what happens
        :param fails: whether the first writes fail
        """
        bookings, left = HostBookings(pause), [*fails]
        for name, *words in steps:
            firm = {one: one.start for one in bookings.leases if one not in bookings.movable()}
            getattr(bookings, name)(*words)
            before = {one: one.start for one in bookings.movable()}
            firm |= {one: one.start for one in bookings.leases if one not in before}
            bookings.plan(lambda: bool(left) and left.pop(), self.checking(bookings))
            self.assertFalse(bookings.overbooked())
            for one, start in firm.items():
                if one in bookings.leases:
                    self.assertEqual(start, one.start, one)
            for one, start in before.items():
                self.check_lease(bookings, one, start)

    def checking(self, bookings: HostBookings) -> Check:
        """Return what checks that the oldest lease that gains gets the soonest start."""

        def check(one: Booking, place: Place, done: Collection[Booking]) -> None:
            start = planned_hosts.minute(place.period.start)
            self.assertEqual(bookings.soonest(one), start, one)
            older = [each for each in bookings.movable() if each.order < one.order]
            gains = [
                each for each in older if each not in done and bookings.soonest(each) is not None
            ]
            self.assertEqual([], gains)

        return check

    def check_lease(self, bookings: HostBookings, one: Booking, before: int | None) -> None:
        """Check where a lease is that could move.

        :param before: its start before the plan
        """
        if one.start is not None:
            self.assertTrue((one.first or 0) <= one.start <= one.last, one)
        if before is not None:
            self.assertTrue(one.start is not None and one.start <= before, one)
        if one in bookings.movable():
            self.assertIsNone(bookings.soonest(one), one)


class TestHistories(HistoryCase):
    """Some histories."""

    @hypothesis.given(**HISTORIES)
    def test_each_plan_is_right(self, pause: int, steps: list[Any], fails: list[bool]) -> None:
        self.check_history(pause, steps, fails)

    def test_what_is_free_before_a_lease_may_be_shorter(self) -> None:
        """It begins there, and goes on with what it has."""
        for pause in (0, 2):
            bookings = HostBookings(pause)
            for host in range(HOSTS):
                bookings.fix(host, 0, 4)
            bookings.request([Part(True, HOSTS)], 6, 0, None)
            for start in (4 + pause, 0):
                bookings.plan(lambda: False, self.checking(bookings))
                self.assertEqual(start, bookings.leases[-1].start)
                while len(bookings.leases) > 1:
                    bookings.end(0)
