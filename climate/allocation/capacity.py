# SPDX-License-Identifier: Apache-2.0

"""How much of a resource is left over a period, in Placement's terms."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from collections.abc import Mapping

from climate.allocation import timeline
from climate.domain.leases import Allocation
from climate.domain.periods import Period
from climate.domain.resources import Inventory


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Use:
    """Units of a resource class that are taken for a period.

    :ivar resource_class: None if the whole resource is taken, which leaves
        no units of any class
    """

    period: Period
    resource_class: str | None
    amount: int = 1

    @classmethod
    def of(cls, allocation: Allocation) -> Use:
        """Return what *allocation* takes of its resource."""
        return cls(
            period=allocation.period,
            resource_class=allocation.resource_class,
            amount=allocation.amount,
        )


def left(inventory: Inventory, uses: Iterable[Use], window: Period) -> int:
    """Return the units of *inventory* that are free throughout *window*.

    :param uses: of the same resource; those of other classes do not count
    :returns: units, never negative, even if the inventory has shrunk below
        what is booked
    """
    own: list[tuple[Period, int]] = []
    for use in uses:
        if use.resource_class is None:
            if use.period.overlaps(window):
                return 0
        elif use.resource_class == inventory.resource_class:
            own.append((use.period, use.amount))
    return max(0, inventory.capacity - timeline.peak(own, window))


def slots(
    inventories: Iterable[Inventory], demand: Mapping[str, int], uses: Iterable[Use], window: Period
) -> int:
    """Return how many times *demand* fits on a resource throughout *window*.

    Each time is an allocation of its own, so its amounts have to respect the
    ``min_unit``, ``max_unit`` and ``step_size`` of the inventories.

    :param demand: units by resource class; classes with 0 units do not count
    :raises ValueError: if an amount is negative, or nothing is demanded
    """
    if any(amount < 0 for amount in demand.values()):
        raise ValueError('a demand is not negative')
    wanted = {name: amount for name, amount in demand.items() if amount}
    if not wanted:
        raise ValueError('a demand names at least one unit of a class')
    known = {inventory.resource_class: inventory for inventory in inventories}
    if any(name not in known or not _fits(known[name], wanted[name]) for name in wanted):
        return 0
    taken = tuple(uses)
    return min(left(known[name], taken, window) // amount for name, amount in wanted.items())


def _fits(inventory: Inventory, amount: int) -> bool:
    in_bounds = inventory.min_unit <= amount <= inventory.max_unit
    return in_bounds and amount % inventory.step_size == 0
