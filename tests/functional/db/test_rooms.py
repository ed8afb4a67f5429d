# SPDX-License-Identifier: Apache-2.0

"""Parts of resources as timelines read them, held against the pure functions."""

from __future__ import annotations

from typing import Any

import hypothesis
from hypothesis import strategies as st

from climate.allocation import capacity
from climate.allocation.blocks import Bounds
from climate.allocation.capacity import Use
from climate.allocation.steps import microseconds
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.leases import AllocationState
from climate.domain.periods import Period
from climate.domain.resources import Inventory
from climate.domain.resources import used_classes
from tests import services
from tests.functional.db import cases

INVENTORIES = (
    Inventory(resource_class='VCPU', total=8, reserved=1, allocation_ratio=1.5, max_unit=8),
    Inventory(resource_class='MEMORY_MB', total=64, min_unit=2, step_size=2, max_unit=64),
)
DEMANDS = ({'VCPU': 1}, {'VCPU': 2, 'MEMORY_MB': 8}, {'MEMORY_MB': 2, 'VCPU': 0}, {'VCPU': 9})

uses = st.lists(
    st.tuples(
        st.integers(-4, 12),
        st.integers(1, 5),
        st.sampled_from(['VCPU', 'VCPU', 'MEMORY_MB', None]),
        st.integers(1, 4),
        st.sampled_from([AllocationState.BOOKED, AllocationState.HELD, AllocationState.RELEASED]),
    ),
    max_size=8,
)


def slots(
    tx: Transaction, demand: dict[str, int], wanted: Period, pause: int = 0
) -> dict[int, int]:
    """Return how many slots are free on each host, also after what was just written.

    :param pause: the time for cleaning, in hours
    """
    padded = wanted.padded(pause * cases.HOUR)
    bounds = Bounds(
        start=microseconds(wanted.start),
        end=microseconds(wanted.end),
        clear_start=microseconds(padded.start),
        clear_end=microseconds(padded.end),
    )
    return {
        int(host): int(count)
        for block in tx.passing_timeline(cases.TYPE, padded.end)
        for host, count in zip(block.ids, block.slots(used_classes(demand), bounds), strict=True)
        if count
    }


@services.on_each_engine(cases.StoreCase, 'TestRooms')
class Rooms:
    """What is left of hosts."""

    guarded = False

    def test_slots_are_counted_right(self) -> None:
        # Made for each engine: hypothesis wants one function to be one test.
        drawn = st.lists(uses, min_size=2, max_size=4)
        wanted = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 4)), min_size=1, max_size=3)
        hypothesis.settings(max_examples=25)(hypothesis.given(drawn, wanted)(self._counts))()

    def _counts(self, drawn: list[list[tuple]], wanted: list[tuple[int, int]]) -> None:
        def compare(tx: Transaction) -> None:
            lease = cases.lease()
            tx.leases.insert(lease)
            tx.reservations.insert(lease.reservations)
            ids = [
                tx.resources.insert(cases.host(number, inventories=INVENTORIES))
                for number in range(len(drawn))
            ]
            booked = {
                host: [_allocation(lease.reservations[0].id, host, *_over(item)) for item in items]
                for host, items in zip(ids, drawn, strict=True)
            }
            cases.put(tx, (item for items in booked.values() for item in items))
            for start, length in wanted:
                self._compare(tx, booked, cases.hours(start, start + length))

        self.store.run(compare, undone=True)

    def _compare(
        self, tx: Transaction, booked: dict[int, list[Allocation]], wanted: Period
    ) -> None:
        for demand in DEMANDS:
            expected = {}
            for host, items in booked.items():
                live = [
                    Use.of(item)
                    for item in items
                    if item.state is not AllocationState.RELEASED or item.resource_class is None
                ]
                count = capacity.slots(INVENTORIES, demand, live, wanted)
                if count:
                    expected[host] = count
            self.assertEqual(expected, slots(tx, demand, wanted))

    def test_a_whole_host_is_cleaned_before_parts_are_used(self) -> None:
        def look(tx: Transaction) -> None:
            lease = cases.lease()
            tx.leases.insert(lease)
            tx.reservations.insert(lease.reservations)
            host = tx.resources.insert(cases.host(1, inventories=INVENTORIES))
            cases.put(tx, [_allocation(lease.reservations[0].id, host, 0, 4, None, 1, 'booked')])
            self.assertEqual({}, slots(tx, {'VCPU': 1}, cases.hours(5, 6), pause=2))
            self.assertEqual({host: 10}, slots(tx, {'VCPU': 1}, cases.hours(5, 6)))

        self.store.run(look, undone=True)

    def test_part_of_an_allocation_is_given_back(self) -> None:
        def look(tx: Transaction) -> None:
            lease = cases.lease()
            tx.leases.insert(lease)
            tx.reservations.insert(lease.reservations)
            mine = lease.reservations[0].id
            host = tx.resources.insert(cases.host(1, inventories=INVENTORIES))
            cases.put(tx, [_allocation(mine, host, -1, 4, 'VCPU', 6, 'held')])
            row = tx.allocations.live_of([mine])[0]
            tx.allocations.give_back({row.id: 2})
            self.assertEqual([4], [item.amount for item in tx.allocations.live_of([mine])])
            self.assertEqual({host: 6}, slots(tx, {'VCPU': 1}, cases.hours(1, 2)))
            tx.allocations.give_back({row.id: 9})
            self.assertEqual([], tx.allocations.live_of([mine]))

        self.store.run(look, undone=True)

    def test_only_what_is_held_too_long_crowds(self) -> None:
        def look(tx: Transaction) -> None:
            old, new = cases.lease(), cases.lease()
            for lease in (old, new):
                tx.leases.insert(lease)
                tx.reservations.insert(lease.reservations)
            theirs, mine = old.reservations[0].id, new.reservations[0].id
            host = tx.resources.insert(cases.host(1, inventories=INVENTORIES))
            # Ten units in all: seven held by a lease that ended an hour ago.
            cases.put(tx, [_allocation(theirs, host, -5, 4, 'VCPU', 7, 'held')])
            cases.put(tx, [_allocation(mine, host, 0, 4, 'VCPU', 3, 'booked')])
            self.assertFalse(tx.allocations.crowded([mine]))
            cases.put(tx, [_allocation(mine, host, 0, 4, 'VCPU', 1, 'booked')])
            self.assertTrue(tx.allocations.crowded([mine]))
            self.assertEqual([], tx.allocations.holders([mine]))
            tx.allocations.release([theirs])
            self.assertFalse(tx.allocations.crowded([mine]))

        self.store.run(look, undone=True)


def _over(item: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a use that has ended by now if it was released."""
    start, length, name, amount, state = item
    if state is AllocationState.RELEASED:
        start = min(start, -length)
    return start, length, name, amount, state


def _allocation(
    reservation_id: str,
    host: int,
    start: int,
    length: int,
    name: str | None,
    amount: int,
    state: str,
) -> Allocation:
    period = cases.hours(start, start + length)
    facts = {'amount': 1 if name is None else amount, 'state': AllocationState(state)}
    return cases.allocation(reservation_id, host, period, name, **facts)
