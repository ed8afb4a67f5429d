# SPDX-License-Identifier: Apache-2.0

"""What is left of an inventory, against trying one more until it is too much."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from climate.allocation import capacity
from climate.allocation.capacity import Use
from climate.domain.periods import Period
from climate.domain.resources import Inventory
from tests import base
from tests.unit.allocation import strategies
from tests.unit.allocation.strategies import hours

CLASSES = ('VCPU', 'MEMORY_MB')


def inventory(resource_class: str) -> st.SearchStrategy[Inventory]:
    """Return inventories of a class."""
    return st.builds(
        Inventory,
        resource_class=st.just(resource_class),
        total=st.integers(0, 16),
        reserved=st.integers(0, 4),
        allocation_ratio=st.sampled_from([0.5, 1.0, 1.5, 16.0]),
        min_unit=st.integers(1, 3),
        max_unit=st.integers(1, 16),
        step_size=st.integers(1, 3),
    )


inventories = st.tuples(*map(inventory, CLASSES))
demands = st.dictionaries(st.sampled_from(CLASSES), st.integers(1, 6), min_size=1)
uses = st.lists(
    st.builds(
        Use,
        period=strategies.periods,
        resource_class=st.sampled_from((*CLASSES, *CLASSES, None)),
        amount=st.integers(1, 6),
    ),
    max_size=5,
)


def fits(stock: tuple[Inventory, ...], taken: list[Use], window: Period) -> bool:
    """Whether in no hour of *window* more is taken than there is."""
    for hour in range(30):
        if not window.overlaps(hours(hour, hour + 1)):
            continue
        now = [use for use in taken if use.period.overlaps(hours(hour, hour + 1))]
        whole = [use for use in now if use.resource_class is None]
        if len(whole) > 1 or (whole and len(now) > len(whole)):
            return False
        for one in stock:
            used = sum(use.amount for use in now if use.resource_class == one.resource_class)
            if used > (one.total - one.reserved) * one.allocation_ratio:
                return False
    return True


def slots_by_trying(
    stock: tuple[Inventory, ...], demand: dict[str, int], taken: list[Use], window: Period
) -> int:
    """Count how often *demand* can be added until something is over-full."""
    for one in stock:
        amount = demand.get(one.resource_class, one.min_unit * one.step_size)
        if one.resource_class in demand and (
            amount < one.min_unit or amount > one.max_unit or amount % one.step_size
        ):
            return 0
    asked = tuple(one for one in stock if one.resource_class in demand)
    booked = [use for use in taken if use.resource_class is None or use.resource_class in demand]
    count = 0
    while True:
        for name, amount in demand.items():
            booked.append(Use(period=window, resource_class=name, amount=amount))
        if not fits(asked, booked, window):
            return count
        count += 1


class CapacityTest(base.TestCase):
    @given(inventories, demands, uses, strategies.periods)
    def test_slots(
        self, stock: tuple[Inventory, ...], demand: dict[str, int], taken: list[Use], window: Period
    ) -> None:
        expected = slots_by_trying(stock, demand, taken, window)
        self.assertEqual(expected, capacity.slots(stock, demand, taken, window))

    @given(inventory('VCPU'), uses, strategies.periods)
    def test_left_is_never_negative(
        self, stock: Inventory, taken: list[Use], window: Period
    ) -> None:
        rest = capacity.left(stock, taken, window)
        self.assertGreaterEqual(rest, 0)
        self.assertLessEqual(rest, max(0, stock.capacity))

    def test_left(self) -> None:
        stock = Inventory(resource_class='VCPU', total=8, reserved=2, allocation_ratio=2.0)
        taken = [
            Use(period=hours(0, 4), resource_class='VCPU', amount=5),
            Use(period=hours(4, 8), resource_class='VCPU', amount=3),
            Use(period=hours(0, 8), resource_class='MEMORY_MB', amount=99),
        ]
        self.assertEqual(7, capacity.left(stock, taken, hours(0, 8)))
        self.assertEqual(9, capacity.left(stock, taken, hours(4, 8)))
        self.assertEqual(12, capacity.left(stock, taken, hours(8, 9)))

    def test_a_whole_resource_leaves_nothing(self) -> None:
        stock = Inventory(resource_class='VCPU', total=8)
        whole = Use.of(strategies.taken(1, hours(2, 4)))
        self.assertEqual(0, capacity.left(stock, [whole], hours(3, 9)))
        self.assertEqual(8, capacity.left(stock, [whole], hours(4, 9)))

    def test_bounds_of_a_unit(self) -> None:
        stock = [
            Inventory(resource_class='DISK_GB', total=100, min_unit=10, max_unit=40, step_size=10)
        ]
        for amount, expected in ((10, 10), (30, 3), (40, 2), (5, 0), (50, 0), (15, 0)):
            found = capacity.slots(stock, {'DISK_GB': amount}, [], hours(0, 1))
            self.assertEqual(expected, found, amount)

    def test_a_class_without_inventory_fits_never(self) -> None:
        stock = [Inventory(resource_class='VCPU', total=8)]
        self.assertEqual(0, capacity.slots(stock, {'VCPU': 1, 'VGPU': 1}, [], hours(0, 1)))
        self.assertEqual(8, capacity.slots(stock, {'VCPU': 1, 'VGPU': 0}, [], hours(0, 1)))

    def test_a_demand_that_makes_no_sense(self) -> None:
        for demand in ({}, {'VCPU': 0}, {'VCPU': -1}):
            self.assertRaises(ValueError, capacity.slots, [], demand, [], hours(0, 1))
