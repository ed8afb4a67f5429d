# SPDX-License-Identifier: Apache-2.0

"""The inventories of many resources, as arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final
from typing import TypeVar

import numpy as np
from numpy import typing as npt

from climate.allocation.steps import Bools
from climate.allocation.steps import Ints
from climate.domain.resources import Inventory

T = TypeVar('T', bound=np.generic)

_NO_INVENTORY: Final = Inventory(resource_class='', total=0, max_unit=0)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Supply:
    """The inventories of one resource class, one for each resource of a block.

    :ivar capacity: units; 0 without an inventory
    :ivar min_unit: the smallest amount of an allocation
    :ivar max_unit: the largest one; 0 without an inventory
    :ivar step_size: amounts are multiples of it
    """

    capacity: Ints
    min_unit: Ints
    max_unit: Ints
    step_size: Ints

    @classmethod
    def none(cls, count: int) -> Supply:
        """Return the inventories of resources without any."""
        nothing = np.zeros(count, dtype=np.int64)
        return cls(capacity=nothing, min_unit=nothing, max_unit=nothing, step_size=nothing + 1)

    def updated(self, rows: Ints, ids: Ints, found: Mapping[int, Inventory]) -> Supply:
        """Return these inventories with those of some resources replaced.

        :param ids: of the resources in *rows*; a resource that is not *found* has none
        """
        items = [found.get(int(resource_id), _NO_INVENTORY) for resource_id in ids]
        return Supply(
            capacity=replaced(self.capacity, rows, [item.capacity for item in items]),
            min_unit=replaced(self.min_unit, rows, [item.min_unit for item in items]),
            max_unit=replaced(self.max_unit, rows, [item.max_unit for item in items]),
            step_size=replaced(self.step_size, rows, [item.step_size for item in items]),
        )

    @classmethod
    def gathered(cls, found: Sequence[tuple[Supply | None, int]]) -> Supply:
        """Return the inventories of some rows of several objects.

        :param found: each with its object; None for a resource without an inventory
        """
        nothing = cls.none(1)
        rows = [(nothing, 0) if supply is None else (supply, row) for supply, row in found]
        return cls(
            **{
                field.name: np.array(
                    [getattr(supply, field.name)[row] for supply, row in rows], dtype=np.int64
                )
                for field in dataclasses.fields(cls)
            }
        )

    def picked(self, rows: Ints | slice) -> Supply:
        """Return the inventories of some rows."""
        return Supply(
            capacity=self.capacity[rows],
            min_unit=self.min_unit[rows],
            max_unit=self.max_unit[rows],
            step_size=self.step_size[rows],
        )

    def accepts(self, amount: int) -> Bools:
        """Whether each inventory accepts an allocation of *amount* units."""
        found: Bools = (
            (self.min_unit <= amount) & (amount <= self.max_unit) & (amount % self.step_size == 0)
        )
        return found


def replaced(values: npt.NDArray[T], rows: Ints, new: npt.ArrayLike) -> npt.NDArray[T]:
    """Return a copy of an array with some rows replaced."""
    copied = values.copy()
    copied[rows] = new
    return copied
