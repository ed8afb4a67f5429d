# SPDX-License-Identifier: Apache-2.0

"""Periods for several reservations, against trying one hour after the other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from climate.allocation import joint
from climate.allocation.joint import Frame
from climate.allocation.joint import SearchBudget
from climate.allocation.joint import SlotCondition
from climate.allocation.steps import microseconds
from climate.domain.resources import Spread
from tests import base
from tests.unit.allocation import test_blocks as plain
from tests.unit.allocation.strategies import at

HOUR = plain.HOUR

needs = st.lists(
    st.tuples(plain.demands, st.integers(1, 4), st.sampled_from(Spread)), min_size=1, max_size=3
)
whens = st.tuples(st.integers(0, 10), st.integers(0, 20), st.integers(1, 9), st.integers(0, 2))
cases = st.tuples(plain.hosts, needs, whens)

Case = tuple[list[plain.Host], list[tuple[dict[str, int], int, Spread]], tuple[int, int, int, int]]


class JointCase(base.TestCase):
    """Hosts, and needs that are to be met on them together.

    :ivar pause: in hours, like all others
    """

    def prepare(self, case: Case) -> None:
        """Set the hosts and the needs."""
        self.hosts, found, (self.first, self.further, self.length, self.pause) = case
        block = plain.block(self.hosts)
        self.conditions = [
            SlotCondition(
                place=place,
                blocks=[block],
                demand=demand,
                count=count,
                spread=spread if demand else Spread.ANY,
            )
            for place, (demand, count, spread) in enumerate(found)
        ]
        self.frame = Frame(
            length=self.length * HOUR,
            pause=self.pause * HOUR,
            earliest=microseconds(at(self.first)),
            latest=microseconds(at(self.first + self.further)),
        )

    def enough(self, one: SlotCondition, start: int, length: int) -> bool:
        """Whether there are enough slots from an hour on."""
        slots = [host.slots(dict(one.demand), start, length, self.pause) for host in self.hosts]
        return total(one.spread, slots) >= one.count

    def starts(self) -> list[int]:
        """Return the hours at which each need is met on its own."""
        return [
            start
            for start in range(self.first, self.first + self.further + 1)
            if all(self.enough(one, start, self.length) for one in self.conditions)
        ]


def total(spread: Spread, slots: list[int]) -> int:
    """Return how many slots count."""
    match spread:
        case Spread.TOGETHER:
            return max(slots)
        case Spread.APART:
            return sum(each > 0 for each in slots)
        case Spread.ANY:
            return sum(slots)


class JointTest(JointCase):
    @given(cases)
    def test_first(self, case: Case) -> None:
        self.prepare(case)
        expected = next((microseconds(at(start)) for start in self.starts()), None)
        self.assertEqual(expected, SearchBudget(1000).first(self.conditions, self.frame))

    @given(cases)
    def test_turns(self, case: Case) -> None:
        """What is free at a start is free at the last turn before it."""
        self.prepare(case)
        turns = joint.turns(self.conditions, self.frame).tolist()
        for start in self.starts():
            last = max(turn for turn in turns if turn <= microseconds(at(start)))
            bounds = self.frame.bounds(last)
            for one in self.conditions:
                number = one.pieces(bounds)
                self.assertIsNotNone(number)
                self.assertLessEqual(number, one.count)
        for turn in turns:
            bounds = self.frame.bounds(turn)
            for one in self.conditions:
                self.assertEqual(one.fits(bounds), one.pieces(bounds) is not None)

    @given(cases)
    def test_no_start_is_skipped(self, case: Case) -> None:
        self.prepare(case)
        starts = self.starts()
        tried = {self.first}
        start = self.frame.earliest
        while (later := joint.after(self.conditions, self.frame, start)) is not None:
            self.assertGreater(later, start)
            start = later
            tried.add((start - microseconds(at(0))) // HOUR)
        # Each start that is free while the hour before is not has to be tried.
        self.assertLessEqual({start for start in starts if start - 1 not in starts}, tried)

    @given(cases, st.integers(0, 12))
    def test_longest(self, case: Case, more: int) -> None:
        self.prepare(case)
        for start in self.starts()[:1]:
            expected = max(
                length
                for length in range(self.length, self.length + more + 1)
                if all(self.enough(one, start, length) for one in self.conditions)
            )
            latest = microseconds(at(start + self.length + more))
            end = joint.longest(self.conditions, self.frame, microseconds(at(start)), latest)
            self.assertEqual(microseconds(at(start + expected)), end)

    @given(cases)
    def test_shortages(self, case: Case) -> None:
        self.prepare(case)
        found_short = SearchBudget(1000).shortages(self.conditions, self.frame, self.frame.earliest)
        short = [
            place
            for place, one in enumerate(self.conditions)
            if not self.enough(one, self.first, self.length)
        ]
        self.assertEqual(short, sorted({one.place for one in found_short}))
        for shortage in found_short:
            one = self.conditions[shortage.place]
            name = shortage.resource_class
            part = one if name is None else one.of_class(name)
            slots = [
                host.slots(dict(part.demand), self.first, self.length, self.pause)
                for host in self.hosts
            ]
            units = 1 if name is None else one.demand[name]
            self.assertEqual((one.count - total(one.spread, slots)) * units, shortage.missing)
            expected = next(
                (
                    microseconds(at(start))
                    for start in range(self.first, self.first + self.further + 1)
                    if self.enough(part, start, self.length)
                ),
                None,
            )
            self.assertEqual(expected, shortage.until)

    def test_no_more_searches_than_allowed(self) -> None:
        host = plain.Host(inventories=(), uses=())
        self.prepare(([host], [({}, 1, Spread.ANY)] * 3, (0, 1, 1, 0)))
        searching = SearchBudget(2)
        self.assertIsNone(searching.first(self.conditions, self.frame))
        self.assertEqual(0, searching.left)

    def test_whole_minutes(self) -> None:
        minute = joint.MINUTE
        found = [joint.rounded(time) for time in (1, minute, minute + 1)]
        self.assertEqual([minute, minute, 2 * minute], found)
