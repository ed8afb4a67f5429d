# SPDX-License-Identifier: Apache-2.0

"""Some resources of a block as a block of their own, perhaps without some allocations."""

from __future__ import annotations

import dataclasses
import operator
from collections import defaultdict
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

import numpy as np
from numpy import typing as npt

from climate.allocation.blocks import Block
from climate.allocation.blocks import Bookings
from climate.allocation.blocks import WHOLE
from climate.allocation.steps import Ints
from climate.allocation.steps import microseconds
from climate.allocation.steps import StepFunctions
from climate.allocation.steps import Uses
from climate.allocation.supplies import Supply
from climate.domain import copies
from climate.domain.leases import Allocation

_NO_USES: Final = Uses.of([])


def vacated(blocks: Sequence[Block], gone: Mapping[str, Bookings]) -> list[Block]:
    """Return resources without some of their live allocations.

    The resources that have them move to blocks of their own, which are small.

    :param gone: by resource class; those of whole resources by :data:`WHOLE`
    """
    having = [np.zeros(0, dtype=np.int64), *(found.resource_ids for found in gone.values())]
    ids = np.unique(np.concatenate(having))
    found = []
    for block in blocks:
        theirs = np.isin(block.ids, ids)
        if theirs.any():
            found.append(without(extract(block, np.flatnonzero(theirs)), gone))
            found.append(block.only(~theirs))
        else:
            found.append(block)
    return found


def extract(block: Block, rows: Ints) -> Block:
    """Return a block of some resources.

    :param rows: in ascending order
    """
    return Block(
        ids=block.ids[rows],
        names=tuple(block.names[row] for row in rows.tolist()),
        generations=block.generations[rows],
        bookable=block.bookable[rows],
        occupied=block.occupied.picked(rows),
        whole=block.whole.picked(rows),
        out=block.out.picked(rows),
        returned=block.returned[rows],
        returned_whole=block.returned_whole[rows],
        supplies={name: supply.picked(rows) for name, supply in block.supplies.items()},
        used={name: function.picked(rows) for name, function in block.used.items()},
        periods={name: uses.picked(rows) for name, uses in block.periods.items()},
        columns=block.columns.picked(rows),
    )


def split(block: Block, steps: int) -> Iterator[tuple[slice, Block]]:
    """Yield blocks of consecutive resources, which have no periods and properties.

    :param steps: about how many steps each step function may have
    :returns: each with the rows of its resources
    """
    most = max(len(function.keys) for function in (block.occupied, *block.used.values()))
    size = -(-len(block) // -(-most // steps)) or 1
    if size >= len(block):
        yield slice(None), block
        return
    for first in range(0, len(block), size):
        rows = slice(first, min(first + size, len(block)))
        yield rows, _part(block, rows)


def _part(block: Block, rows: slice) -> Block:
    limits = rows.start, rows.stop
    return Block(
        ids=block.ids[rows],
        names=block.names[rows],
        generations=block.generations[rows],
        bookable=block.bookable[rows],
        occupied=block.occupied.part(*limits),
        whole=block.whole.part(*limits),
        out=block.out.part(*limits),
        returned=block.returned[rows],
        returned_whole=block.returned_whole[rows],
        supplies={name: supply.picked(rows) for name, supply in block.supplies.items()},
        used={name: function.part(*limits) for name, function in block.used.items()},
        periods={},
    )


def gathered(found: Sequence[tuple[Block, int]]) -> Block:
    """Return a block of some rows of several blocks, which has no periods and properties.

    :param found: each with its block, in the order of their ids
    """
    supplies = {name for block, _ in found for name in block.supplies}
    used = {name for block, _ in found for name in block.used}
    return Block(
        ids=_column(found, operator.attrgetter('ids')),
        names=tuple(block.names[row] for block, row in found),
        generations=_column(found, operator.attrgetter('generations')),
        bookable=_column(found, operator.attrgetter('bookable')).astype(np.bool_),
        occupied=StepFunctions.gathered([(block.occupied, row) for block, row in found]),
        whole=StepFunctions.gathered([(block.whole, row) for block, row in found]),
        out=StepFunctions.gathered([(block.out, row) for block, row in found]),
        returned=_column(found, operator.attrgetter('returned')),
        returned_whole=_column(found, operator.attrgetter('returned_whole')),
        supplies={
            name: Supply.gathered([(block.supplies.get(name), row) for block, row in found])
            for name in supplies
        },
        used={
            name: StepFunctions.gathered([(block.used.get(name), row) for block, row in found])
            for name in used
        },
        periods={},
    )


def _column(
    found: Sequence[tuple[Block, int]], values: Callable[[Block], npt.NDArray[Any]]
) -> Ints:
    return np.array([values(block)[row] for block, row in found], dtype=np.int64)


def without(block: Block, gone: Mapping[str, Bookings]) -> Block:
    """Return a block without some of its live allocations.

    :param gone: by resource class; those of whole resources by :data:`WHOLE`
    """
    uses = _uses(block, gone)
    periods = {
        name: found.less(uses[name]) if name in uses else found
        for name, found in block.periods.items()
    }
    return _plus(block, {name: found.negative() for name, found in uses.items()}, periods)


def extended(block: Block, more: Mapping[str, Bookings]) -> Block:
    """Return a block with more live allocations.

    :param more: by resource class; those of whole resources by :data:`WHOLE`
    """
    uses = _uses(block, more)
    periods = dict(block.periods)
    for name, found in uses.items():
        periods[name] = Uses.joined([periods[name], found]) if name in periods else found
    return _plus(block, uses, periods)


def booked(block: Block, few: Mapping[int, Sequence[Allocation]], generations: Ints) -> Block:
    """Return a block with a few more live allocations.

    :param few: by row
    :param generations: those of the new block
    """
    occupied, whole, used, periods = block.occupied, block.whole, {**block.used}, {**block.periods}
    for row, found in few.items():
        for item in found:
            name = item.resource_class or WHOLE
            times = microseconds(item.period.start), microseconds(item.period.end)
            alone = occupied is whole
            occupied = occupied.raised(row, *times, 1)
            if name == WHOLE:
                whole = occupied if alone else whole.raised(row, *times, item.amount)
            else:
                before = used.get(name) or StepFunctions.of(len(block), _NO_USES)
                used[name] = before.raised(row, *times, item.amount)
            periods[name] = periods.get(name, _NO_USES).with_one(row, *times, item.amount)
    return copies.with_changes(
        block, generations=generations, occupied=occupied, whole=whole, used=used, periods=periods
    )


def bookings(current: Iterable[Allocation]) -> dict[str, Bookings]:
    """Return allocations as arrays, by resource class."""
    rows: defaultdict[str, list[tuple[int, int, int, int]]] = defaultdict(list)
    for item in current:
        times = microseconds(item.period.start), microseconds(item.period.end)
        rows[item.resource_class or WHOLE].append((item.resource_id, *times, item.amount))
    return {
        name: Bookings(
            resource_ids=uses.rows, starts=uses.starts, ends=uses.ends, amounts=uses.amounts
        )
        for name, uses in ((name, Uses.of(found)) for name, found in rows.items())
    }


def _uses(block: Block, found: Mapping[str, Bookings]) -> dict[str, Uses]:
    return {name: bookings.of_rows(block.ids) for name, bookings in found.items()}


def _plus(block: Block, uses: Mapping[str, Uses], periods: Mapping[str, Uses]) -> Block:
    """Return a block in which more is in use, or less.

    :param periods: those of the new block
    """
    occupied, whole, used = block.occupied, block.whole, dict(block.used)
    for name, found in uses.items():
        # Those that remove something have an amount below 0.
        occupied = occupied.plus(dataclasses.replace(found, amounts=np.sign(found.amounts)))
        if name == WHOLE:
            whole = whole.plus(found)
        else:
            before = used.get(name) or StepFunctions.of(len(block), _NO_USES)
            used[name] = before.plus(found)
    return dataclasses.replace(block, occupied=occupied, whole=whole, used=used, periods=periods)
