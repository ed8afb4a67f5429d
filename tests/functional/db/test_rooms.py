# SPDX-License-Identifier: Apache-2.0

"""The search for parts of resources, held against the pure timelines."""

from __future__ import annotations

import datetime

import hypothesis
from hypothesis import strategies as st

from climate.allocation import capacity
from climate.allocation.capacity import Use
from climate.allocation.matches import Match
from climate.db.search.rooms import Window
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.leases import AllocationState
from climate.domain.periods import Period
from climate.domain.resources import Inventory
from tests import services
from tests.functional.db import cases

ANY = Match(resource_type=cases.TYPE)
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


class _Undo(Exception):
    """Rolls a transaction back."""


def window(start: float, end: float, **facts: object) -> Window:
    """Return a window of some hours, without cleaning unless it is said."""
    period = cases.hours(start, end)
    return Window(**{'period': period, 'padded': period, **facts})


@services.on_each_engine(cases.StoreCase, 'TestRooms')
class Rooms:
    """What SQL says is left, against what the timelines say."""

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
                host: [_allocation(lease.reservations[0].id, host, *item) for item in items]
                for host, items in zip(ids, drawn, strict=True)
            }
            cases.put(tx, (item for items in booked.values() for item in items))
            for start, length in wanted:
                self._compare(tx, booked, window(start, start + length))
            raise _Undo

        self.assertRaises(_Undo, self.store.run, compare)

    def _compare(
        self, tx: Transaction, booked: dict[int, list[Allocation]], wanted: Window
    ) -> None:
        for demand in DEMANDS:
            expected = {}
            for host, items in booked.items():
                live = [
                    Use.of(item)
                    for item in items
                    if item.state is not AllocationState.RELEASED or item.resource_class is None
                ]
                slots = capacity.slots(INVENTORIES, demand, live, wanted.period)
                if slots:
                    expected[host] = slots
            found = {
                room.resource_id: min(room.left[name] // demand[name] for name in room.left)
                for room in tx.rooms.find(ANY, demand, wanted)
            }
            self.assertEqual(expected, {host: count for host, count in found.items() if count > 0})

    def test_what_is_being_changed_does_not_count(self) -> None:
        def look(tx: Transaction) -> None:
            lease = cases.lease()
            tx.leases.insert(lease)
            tx.reservations.insert(lease.reservations)
            mine = lease.reservations[0].id
            host = tx.resources.insert(cases.host(1, inventories=INVENTORIES))
            free = tx.resources.insert(cases.host(2, inventories=INVENTORIES))
            cases.put(tx, [_allocation(mine, host, 0, 4, 'VCPU', 4, 'booked')])

            def left(**facts: object) -> list[tuple[int, int]]:
                rooms = tx.rooms.find(ANY, {'VCPU': 1}, window(1, 2, **facts))
                return [(room.resource_id, room.left['VCPU']) for room in rooms]

            self.assertEqual([(host, 6), (free, 10)], left())
            self.assertEqual([(host, 10), (free, 10)], left(except_reservations=[mine]))
            loaded = tx.rooms.find(ANY, {'VCPU': 1}, window(1, 2), loaded=True)
            self.assertEqual([host], [room.resource_id for room in loaded])
            self.assertEqual(cases.at(4), tx.rooms.first_end(ANY, {'VCPU': 1}, window(1, 2)))
            self.assertIsNone(tx.rooms.first_end(ANY, {'VCPU': 1}, window(5, 6)))
            raise _Undo

        self.assertRaises(_Undo, self.store.run, look)

    def test_a_whole_host_is_cleaned_before_parts_are_used(self) -> None:
        def look(tx: Transaction) -> None:
            lease = cases.lease()
            tx.leases.insert(lease)
            tx.reservations.insert(lease.reservations)
            host = tx.resources.insert(cases.host(1, inventories=INVENTORIES))
            cases.put(tx, [_allocation(lease.reservations[0].id, host, 0, 4, None, 1, 'booked')])
            padded = cases.hours(5, 6).padded(datetime.timedelta(hours=2))
            self.assertEqual([], tx.rooms.find(ANY, {'VCPU': 1}, window(5, 6, padded=padded)))
            self.assertEqual(1, len(tx.rooms.find(ANY, {'VCPU': 1}, window(5, 6))))
            raise _Undo

        self.assertRaises(_Undo, self.store.run, look)

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
            room = tx.rooms.find(ANY, {'VCPU': 1}, window(1, 2))[0]
            self.assertEqual(6, room.left['VCPU'])
            tx.allocations.give_back({row.id: 9})
            self.assertEqual([], tx.allocations.live_of([mine]))
            raise _Undo

        self.assertRaises(_Undo, self.store.run, look)

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
            raise _Undo

        self.assertRaises(_Undo, self.store.run, look)


def _allocation(
    reservation_id: str,
    host: int,
    start: int,
    length: int,
    name: str | None,
    amount: int,
    state: str,
) -> Allocation:
    return Allocation(
        reservation_id=reservation_id,
        resource_id=host,
        resource_class=name,
        amount=1 if name is None else amount,
        period=Period(start=cases.at(start), end=cases.at(start + length)),
        state=AllocationState(state),
    )
