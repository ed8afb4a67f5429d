# SPDX-License-Identifier: Apache-2.0

"""Availability in many intervals, against a sweep of one resource and interval at a time."""

from __future__ import annotations

import dataclasses

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from climate.allocation import availability
from climate.allocation import extracts
from climate.allocation.buckets import Buckets
from climate.allocation.steps import microseconds
from climate.allocation.steps import StepFunctions
from climate.allocation.steps import Uses
from climate.allocation.supplies import Supply
from climate.domain.resources import Inventory
from tests import base
from tests.unit.allocation import test_blocks as plain
from tests.unit.allocation.strategies import at

HOUR = plain.HOUR
NOTHING: dict[str, int] = {}


def capacity(host: plain.Host, name: str) -> int:
    """Return the capacity of a host, of one class."""
    return sum(one.capacity for one in host.inventories if one.resource_class == name)


def serves(host: plain.Host, start: int, length: int) -> bool:
    """Whether a host is open to bookings, and in service for some hours."""
    window = plain.hours(start, start + length)
    return host.bookable and not any(out.overlaps(window) for out in host.maintenances)


class AvailabilityTest(base.TestCase):
    @given(
        st.lists(plain.hosts, min_size=1, max_size=2),
        plain.demands,
        st.tuples(st.integers(0, 12), st.integers(1, 4), st.integers(1, 6), st.integers(0, 2)),
        st.integers(1, 3),
    )
    def test_each_interval(
        self,
        found: list[list[plain.Host]],
        demand: dict[str, int],
        when: tuple[int, int, int, int],
        number: int,
    ) -> None:
        first, width, count, pause = when
        groups = [np.arange(len(each)) % (number + 1) - 1 for each in found]
        answer = availability.availability(
            [plain.block(each) for each in found],
            Buckets(
                start=microseconds(at(first)), width=width * HOUR, number=count, pause=pause * HOUR
            ),
            demand,
            groups,
            number,
        )
        known = {one.resource_class for each in found for host in each for one in host.inventories}
        self.assertEqual(sorted(known), list(answer.classes))
        places = [first + place * width for place in range(count)]

        def of_group(group: int) -> list[plain.Host]:
            return [
                host
                for each, mine in zip(found, groups, strict=True)
                for host, its in zip(each, mine.tolist(), strict=True)
                if its == group
            ]

        for group in range(number):
            hosts = of_group(group)
            self.check(
                answer.whole,
                group,
                [
                    (
                        sum(host.slots(NOTHING, start, width, pause) for host in hosts),
                        sum(serves(host, start, width) for host in hosts),
                    )
                    for start in places
                ],
            )
            if demand:
                assert answer.slots is not None
                self.check(
                    answer.slots,
                    group,
                    [
                        (
                            sum(host.slots(demand, start, width, pause) for host in hosts),
                            sum(
                                min(capacity(host, name) // units for name, units in demand.items())
                                for host in hosts
                                if serves(host, start, width) and accepts(host, demand)
                            ),
                        )
                        for start in places
                    ],
                )
            for name in answer.classes:
                self.check(
                    answer.classes[name],
                    group,
                    [
                        (
                            sum(left(host, name, start, width, pause) for host in hosts),
                            sum(
                                capacity(host, name) for host in hosts if serves(host, start, width)
                            ),
                        )
                        for start in places
                    ],
                )

    @given(plain.hosts, plain.demands, st.integers(1, 12))
    def test_some_resources_of_a_block_at_a_time(
        self, hosts: list[plain.Host], demand: dict[str, int], steps: int
    ) -> None:
        block, bounds = plain.block(hosts), plain.bounds(2, 3, 1)
        parts = list(extracts.split(block, steps))
        ids = np.concatenate([part.ids for _, part in parts])
        slots = np.concatenate([part.slots(demand, bounds) for _, part in parts])
        self.assertEqual(block.ids.tolist(), ids.tolist())
        self.assertEqual(block.slots(demand, bounds).tolist(), slots.tolist())
        for rows, part in parts:
            self.assertEqual(block.ids[rows].tolist(), part.ids.tolist())

    def check(
        self, found: availability.Amounts, group: int, expected: list[tuple[int, int]]
    ) -> None:
        """Compare what is free and what there is of a group."""
        actual = list(zip(found.free[group].tolist(), found.total[group].tolist(), strict=True))
        self.assertEqual(expected, actual)

    def test_a_class_that_no_resource_has_is_left_out(self) -> None:
        vcpus = Inventory(resource_class='VCPU', total=8, max_unit=8)
        block = plain.block([plain.Host(inventories=(vcpus,), uses=())])
        block = dataclasses.replace(
            block,
            supplies={**block.supplies, 'SEAT': Supply.none(1)},
            used={**block.used, 'SEAT': StepFunctions.of(1, Uses.of([]))},
        )
        buckets = Buckets(start=microseconds(at(0)), width=HOUR, number=1, pause=0)
        answer = availability.availability([block], buckets, NOTHING, [np.zeros(1, dtype=int)], 1)
        self.assertEqual(['VCPU'], list(answer.classes))

    @given(plain.hosts, st.integers(0, 10), st.integers(1, 3))
    def test_what_is_over_does_not_count(
        self, hosts: list[plain.Host], first: int, later: int
    ) -> None:
        # Three hours of one interval have passed: the rest is an interval of its own.
        start, length = microseconds(at(first)), 4
        passed = min(later, length - 1)
        groups = [np.zeros(len(hosts), dtype=np.int64)]

        def asked(buckets: Buckets) -> availability.Availability:
            return availability.availability([plain.block(hosts)], buckets, {'VCPU': 1}, groups, 1)

        since = start + passed * HOUR
        found = asked(Buckets(start=start, width=length * HOUR, number=1, since=since))
        rest = asked(Buckets(start=since, width=(length - passed) * HOUR, number=1))
        for one, other in (
            (found.whole, rest.whole),
            (found.slots, rest.slots),
            (found.classes.get('VCPU'), rest.classes.get('VCPU')),
        ):
            if one is None or other is None:
                self.assertIs(one, other)
                continue
            self.assertEqual(other.free.tolist(), one.free.tolist())
            self.assertEqual(other.total.tolist(), one.total.tolist())


def accepts(host: plain.Host, demand: dict[str, int]) -> bool:
    """Whether one allocation of a host may have these amounts."""
    by_name = {one.resource_class: one for one in host.inventories}

    def fits(one: Inventory | None, units: int) -> bool:
        return (
            one is not None and one.min_unit <= units <= one.max_unit and units % one.step_size == 0
        )

    return all(fits(by_name.get(name), units) for name, units in demand.items())


def left(host: plain.Host, name: str, start: int, length: int, pause: int) -> int:
    """Return how many units of a class are free throughout some hours, by trying."""
    most = capacity(host, name)
    whole = plain.Host(
        inventories=(Inventory(resource_class=name, total=most, max_unit=most),) if most else (),
        uses=tuple(use for use in host.uses if use.resource_class in (None, name)),
        maintenances=host.maintenances,
        bookable=host.bookable,
        returned=host.returned,
    )
    return next(
        (units for units in range(most, 0, -1) if whole.slots({name: units}, start, length, pause)),
        0,
    )
