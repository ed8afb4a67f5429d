# SPDX-License-Identifier: Apache-2.0

"""Blocks of resources and the earliest period, against sweeps of one resource at a time."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from climate.allocation import capacity
from climate.allocation import earliest
from climate.allocation.blocks import Block
from climate.allocation.blocks import Bounds
from climate.allocation.steps import microseconds
from climate.allocation.steps import StepFunctions
from climate.allocation.steps import Uses
from climate.allocation.supplies import Supply
from climate.domain.periods import Period
from climate.domain.resources import Inventory
from climate.domain.resources import Spread
from tests import base
from tests.unit.allocation import strategies
from tests.unit.allocation.strategies import at
from tests.unit.allocation.strategies import hours

HOUR = 3600 * 10**6
CLASSES = ('VCPU', 'MEMORY_MB')


@dataclasses.dataclass(frozen=True, kw_only=True)
class Host:
    """A resource as the plain sweep sees it."""

    inventories: tuple[Inventory, ...]
    uses: tuple[capacity.Use, ...]
    maintenances: tuple[Period, ...] = ()
    bookable: bool = True
    returned: int = 0

    def slots(self, demand: dict[str, int], start: int, length: int, pause: int) -> int:
        """Return how often *demand* fits from an hour on, for a number of hours."""
        window = hours(start, start + length)
        clear = hours(start - pause, start + length + pause)
        apart = clear if not demand else window
        if not self.bookable or any(out.overlaps(apart) for out in self.maintenances):
            return 0
        if self.returned and self.returned > start - pause:
            return 0
        if not demand:
            return int(not any(use.period.overlaps(clear) for use in self.uses))
        if any(use.resource_class is None and use.period.overlaps(clear) for use in self.uses):
            return 0
        return capacity.slots(self.inventories, demand, self.uses, window)


def times(period: Period) -> tuple[int, int]:
    """Return the bounds of a period in microseconds."""
    return microseconds(period.start), microseconds(period.end)


def functions(found: Sequence[tuple[int, Period, int]], count: int) -> StepFunctions:
    """Return step functions of periods and amounts by row."""
    return StepFunctions.of(
        count, Uses.of([(row, *times(period), amount) for row, period, amount in found])
    )


def supply(hosts: Sequence[Host], name: str) -> Supply:
    """Return the inventories of one class."""
    none = Inventory(resource_class=name, total=0, max_unit=0)
    found = [
        next((one for one in host.inventories if one.resource_class == name), none)
        for host in hosts
    ]
    return Supply(
        capacity=np.array([one.capacity for one in found]),
        min_unit=np.array([one.min_unit for one in found]),
        max_unit=np.array([one.max_unit for one in found]),
        step_size=np.array([one.step_size for one in found]),
    )


def block(hosts: Sequence[Host]) -> Block:
    """Return hosts as a block."""
    uses = [(row, use) for row, host in enumerate(hosts) for use in host.uses]
    returned = np.array([times(hours(host.returned, 30))[0] for host in hosts])
    returned[[not host.returned for host in hosts]] = 0
    count = len(hosts)
    return Block(
        ids=np.arange(count),
        names=tuple(f'compute-{row}' for row in range(count)),
        generations=np.zeros(count, dtype=np.int64),
        bookable=np.array([host.bookable for host in hosts]),
        occupied=functions([(row, use.period, 1) for row, use in uses], count),
        whole=functions(
            [(row, use.period, 1) for row, use in uses if use.resource_class is None], count
        ),
        out=functions(
            [(row, out, 1) for row, host in enumerate(hosts) for out in host.maintenances], count
        ),
        returned=returned,
        returned_whole=returned,
        supplies={name: supply(hosts, name) for name in CLASSES},
        used={
            name: functions(
                [(row, use.period, use.amount) for row, use in uses if use.resource_class == name],
                count,
            )
            for name in CLASSES
        },
        periods={},
    )


inventories = st.lists(
    st.builds(
        Inventory,
        resource_class=st.sampled_from(CLASSES),
        total=st.integers(1, 8),
        reserved=st.integers(0, 2),
        allocation_ratio=st.sampled_from([1.0, 1.5]),
        min_unit=st.integers(1, 2),
        max_unit=st.integers(2, 8),
        step_size=st.integers(1, 2),
    ),
    max_size=2,
    unique_by=lambda one: one.resource_class,
).map(tuple)
hosts = st.lists(
    st.builds(
        Host,
        inventories=inventories,
        uses=st.lists(
            st.builds(
                capacity.Use,
                period=strategies.periods,
                resource_class=st.sampled_from((None, *CLASSES)),
                amount=st.integers(1, 4),
            ),
            max_size=5,
        ).map(tuple),
        maintenances=st.lists(strategies.periods, max_size=1).map(tuple),
        bookable=st.sampled_from([True, True, True, False]),
        returned=st.sampled_from([0, 0, 3]),
    ),
    min_size=1,
    max_size=5,
)
demands = st.dictionaries(st.sampled_from(CLASSES), st.integers(1, 3), max_size=2)


def bounds(start: int, length: int, pause: int) -> Bounds:
    """Return the bounds of a period that begins at an hour."""
    first = microseconds(at(start))
    return Bounds(
        start=first,
        end=first + length * HOUR,
        clear_start=first - pause * HOUR,
        clear_end=first + (length + pause) * HOUR,
    )


class BlockTest(base.TestCase):
    @given(hosts, demands, st.integers(0, 24), st.integers(1, 6), st.integers(0, 2))
    def test_slots(
        self, found: list[Host], demand: dict[str, int], start: int, length: int, pause: int
    ) -> None:
        actual = block(found).slots(demand, bounds(start, length, pause)).tolist()
        self.assertEqual([host.slots(demand, start, length, pause) for host in found], actual)

    @given(hosts)
    def test_a_class_that_no_resource_has(self, found: list[Host]) -> None:
        self.assertFalse(block(found).slots({'CUSTOM_GPU': 1}, bounds(0, 1, 0)).any())


class EarliestTest(base.TestCase):
    @given(
        st.lists(hosts, min_size=1, max_size=2),
        demands,
        st.integers(1, 8),
        st.sampled_from(Spread),
        st.tuples(st.integers(0, 10), st.integers(0, 20), st.integers(1, 9), st.integers(0, 2)),
    )
    def test_earliest(
        self,
        found: list[list[Host]],
        demand: dict[str, int],
        count: int,
        spread: Spread,
        when: tuple[int, int, int, int],
    ) -> None:
        first, further, length, pause = when
        question = earliest.Question(
            demand=demand,
            count=count,
            spread=spread if demand else Spread.ANY,
            length=length * HOUR,
            pause=pause * HOUR,
            earliest=microseconds(at(first)),
            latest=microseconds(at(first + further)),
        )
        every = [host for each in found for host in each]
        expected = next(
            (
                microseconds(at(start))
                for start in range(first, first + further + 1)
                if self.enough(
                    [host.slots(demand, start, length, pause) for host in every], question
                )
            ),
            None,
        )
        self.assertEqual(expected, earliest.earliest([block(each) for each in found], question))

    def enough(self, slots: list[int], question: earliest.Question) -> bool:
        """Whether these slots are enough for a question."""
        match question.spread:
            case Spread.TOGETHER:
                return max(slots) >= question.count
            case Spread.APART:
                return sum(each > 0 for each in slots) >= question.count
            case Spread.ANY:
                return sum(slots) >= question.count

    def test_a_microsecond_after_an_end(self) -> None:
        end = at(3) + datetime.timedelta(microseconds=1)
        use = capacity.Use(period=Period(start=at(0), end=end), resource_class=None)
        question = earliest.Question(
            demand={},
            count=1,
            length=HOUR,
            earliest=microseconds(at(0)),
            latest=microseconds(at(9)),
        )
        found = earliest.earliest([block([Host(inventories=(), uses=(use,))])], question)
        self.assertEqual(microseconds(end), found)
