# SPDX-License-Identifier: Apache-2.0

"""The values of a property that would do instead of what a requirement compares it with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Sequence

import numpy as np

from climate.allocation import requirements
from climate.allocation.blocks import Block
from climate.allocation.columns import TRAIT
from climate.allocation.requirements import All
from climate.allocation.requirements import Comparison
from climate.allocation.requirements import Operator
from climate.allocation.requirements import Requirement
from climate.allocation.steps import Ints
from climate.domain.resources import Spread


def comparisons(requirement: Requirement | None) -> Iterator[Comparison]:
    """Yield the comparisons that every resource has to fulfil."""
    match requirement:
        case Comparison():
            yield requirement
        case All(parts=parts):
            for part in parts:
                yield from comparisons(part)


def without(requirement: Requirement | None, comparison: Comparison) -> Requirement | None:
    """Return a requirement without a comparison that every resource has to fulfil."""
    if requirement == comparison:
        return None
    if isinstance(requirement, All):
        return requirements.all_of(*(without(part, comparison) for part in requirement.parts))
    return requirement


def equal(key: str, value: str) -> Comparison:
    """Return the comparison of a property with one value."""
    return Comparison(key=key, op=Operator.EQ, value=value)


def sufficient(
    blocks: Sequence[Block], slots: Sequence[Ints], key: str, count: int, spread: Spread
) -> list[str]:
    """Return the values of a property whose resources have enough slots, in order.

    :param slots: on each resource, by block
    :param key: the name of the property
    :param count: how many slots are enough
    """
    found: defaultdict[str, int] = defaultdict(int)
    for block, free in zip(blocks, slots, strict=True):
        for (kind, name), column in block.columns.found.items():
            if name != key or kind == TRAIT:
                continue
            for code, (value, _) in enumerate(column.values):
                mine: Ints = free[column.codes == code]
                match spread:
                    case Spread.TOGETHER:
                        found[value] = max(found[value], int(mine.max(initial=0)))
                    case Spread.APART:
                        found[value] += int(np.count_nonzero(mine))
                    case Spread.ANY:
                        found[value] += int(mine.sum())
    return sorted(value for value, number in found.items() if number >= count > 0)


def of(blocks: Sequence[Block], key: str) -> list[str]:
    """Return the values of a property that resources open to bookings have, in order.

    :param key: the name of the property
    """
    found = {
        value
        for block in blocks
        for (kind, name), column in block.columns.found.items()
        if name == key and kind != TRAIT
        for code, (value, _) in enumerate(column.values)
        if (block.bookable & (column.codes == code)).any()
    }
    return sorted(found)
