# SPDX-License-Identifier: Apache-2.0

"""Reads resources and their bookings as arrays, for timelines."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import functools
from collections import defaultdict
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

import numpy as np
import sqlalchemy as sa

from climate.allocation import extracts
from climate.allocation.blocks import Block
from climate.allocation.blocks import BlockFacts
from climate.allocation.blocks import Bookings
from climate.allocation.blocks import SIZE
from climate.allocation.blocks import WHOLE
from climate.allocation.columns import Property
from climate.allocation.steps import Ints
from climate.allocation.steps import LATEST
from climate.allocation.steps import microseconds
from climate.db.resources.resources import inventory
from climate.db.statements.repository import Repository
from climate.db.timelines import packed
from climate.db.timelines.statements import GENERATIONS
from climate.db.timelines.statements import OMITTED
from climate.db.timelines.statements import ONE
from climate.db.timelines.statements import PART
from climate.db.timelines.statements import PARTS_OF_MANY
from climate.db.timelines.statements import PARTS_OF_ONE
from climate.db.timelines.statements import PeriodKind
from climate.db.timelines.statements import PeriodQuery
from climate.db.timelines.statements import PERIODS
from climate.db.timelines.statements import RESOURCE_ROWS
from climate.db.timelines.statements import Scope
from climate.db.timelines.statements import STOCK
from climate.db.timelines.statements import SUMS
from climate.domain.resources import Inventory

# Of more changed resources than these, the whole block is read.
_MOST_ALONE: Final = SIZE // 4

Sums = Mapping[int, tuple[int, int]]
"""The sums that identify the resources of each block, and their generations, by its number."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CachedBlock:
    """A block, and the sums that show whether it is out of date.

    :ivar sums: that identify its resources, and of their generations
    :ivar until: allocations that start later are missing
    :ivar omits: whether there may be such allocations
    :ivar changed: how many resources were read for it
    """

    block: Block
    sums: tuple[int, int]
    until: datetime.datetime
    omits: bool
    changed: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Periods:
    """When some resources are in use, and until when they were.

    :ivar booked: live allocations by resource class; those of whole resources by WHOLE
    :ivar out: maintenances
    :ivar returned: the latest end of a released allocation, in microseconds since 1970, by
        resource id
    :ivar returned_whole: likewise of a released allocation of the whole resource
    """

    booked: Mapping[str, Bookings]
    out: Bookings
    returned: Mapping[int, int]
    returned_whole: Mapping[int, int]

    @classmethod
    def of(cls, rows: Sequence[Any]) -> _Periods:
        """Return what the rows of a query of periods say.

        :raises climate.db.timelines.packed.CutOff: if the text of one is not complete
        """
        booked: defaultdict[str, list[tuple[int, int, str]]] = defaultdict(list)
        out: list[tuple[int, int, str]] = []
        returned: dict[int, int] = {}
        whole: dict[int, int] = {}
        for kind, resource_id, name, number, text in rows:
            if kind == PeriodKind.BOOKED:
                booked[name or WHOLE].append((resource_id, number, text))
            elif kind == PeriodKind.OUT:
                out.append((resource_id, number, text))
            else:
                end = min(max(number, 0), LATEST)
                returned[resource_id] = max(end, returned.get(resource_id, 0))
                if name is None:
                    whole[resource_id] = end
        return cls(
            booked={name: packed.bookings(found) for name, found in booked.items()},
            out=packed.bookings(out),
            returned=returned,
            returned_whole=whole,
        )


class TimelineReader(Repository):
    """Reads resources and their bookings as arrays."""

    @property
    def now(self) -> datetime.datetime:
        """When the transaction began."""
        return self._now

    def since(self, cleaning_time: datetime.timedelta) -> datetime.datetime:
        """Return from when on released allocations are of interest."""
        return self._now - cleaning_time

    def sums(self, resource_type: str) -> dict[int, tuple[int, int]]:
        """Return the sum that identifies the resources of each block, and of the generations."""
        # Each search of a few resources begins with it, and SQLAlchemy takes longer than SQLite.
        text, positional = _text_of_sums(self._session.dialect)
        values: Any = (resource_type,) if positional else {'resource_type': resource_type}
        found = self._session.exec_driver_sql(text, values)
        return {int(number): (int(ids), int(generations)) for number, ids, generations in found}

    def block(
        self, resource_type: str, number: int, since: datetime.datetime, until: datetime.datetime
    ) -> CachedBlock:
        """Return a block as it is now.

        :param since: leave out what was released before
        :param until: leave out allocations that start later
        """
        every = range(number * SIZE, number * SIZE + SIZE)
        rows = RESOURCE_ROWS.rows(self._session, every, resource_type=resource_type)
        facts, omits = _until(self._facts(rows, every, since), until)
        return CachedBlock(
            until=until,
            omits=omits,
            changed=len(rows),
            block=Block.of(facts),
            sums=(sum(row.id + ONE for row in rows), sum(row.generation for row in rows)),
        )

    def updated(
        self, resource_type: str, kept: Mapping[int, CachedBlock], since: datetime.datetime
    ) -> dict[int, CachedBlock]:
        """Return blocks as they are now, in as many statements for one as for many.

        :param kept: as they were, with the same resources
        :param since: leave out what was released before
        :returns: those of which few resources have changed; each of the others is to be read
            as a whole
        """
        rows: defaultdict[int, list[Any]] = defaultdict(list)
        for row in self._changed(resource_type, kept):
            rows[row.id // SIZE].append(row)
        few = {number: rows[number] for number in kept if len(rows[number]) <= _MOST_ALONE}
        changed = [row for each in few.values() for row in each]
        facts = self._facts(changed, [row.id for row in changed], since) if changed else None
        return {number: _updated(kept[number], facts, len(each)) for number, each in few.items()}

    def _changed(self, resource_type: str, kept: Mapping[int, CachedBlock]) -> Sequence[Any]:
        """Return the resources of some blocks that have changed."""
        numbers = [number for number in kept if len(kept[number].block)]
        if not numbers:
            return ()
        ids = np.concatenate([kept[number].block.ids for number in numbers])
        generations = np.concatenate([kept[number].block.generations for number in numbers])
        places, heads = np.unique(ids // PART, return_index=True)
        sums = dict(zip(places.tolist(), np.add.reduceat(generations, heads).tolist(), strict=True))
        found = self._parts(resource_type, numbers)
        parts = [part for part, total in found if sums.get(part) != total]
        some = ids[np.isin(ids // PART, parts)].tolist()
        seen = dict(zip(ids.tolist(), generations.tolist(), strict=True))
        if len(some) > _MOST_ALONE:
            # Many rows take long to read; most of these have not changed.
            narrow = GENERATIONS.rows(self._session, some, resource_type=resource_type)
            some = [row.id for row in narrow if row.generation != seen[row.id]]
        rows = RESOURCE_ROWS.rows(self._session, some, resource_type=resource_type)
        return [row for row in rows if row.generation != seen[row.id]]

    def _parts(self, resource_type: str, numbers: list[int]) -> Sequence[Any]:
        """Return the parts of some blocks, each with the sum of its generations."""
        values: dict[str, Any] = {'resource_type': resource_type}
        if len(numbers) > 1:
            return self._session.execute(PARTS_OF_MANY, {**values, 'numbers': numbers}).all()
        first = numbers[0] * SIZE
        limits = {'first': first, 'last': first + SIZE - 1}
        return self._session.execute(PARTS_OF_ONE, {**values, **limits}).all()

    def extended(self, kept: CachedBlock) -> Block:
        """Return a block with the allocations that it omits."""
        found = self._periods(OMITTED, kept.block.ids.tolist(), kept.until)
        return extracts.extended(kept.block, found.booked)

    def _periods(self, query: PeriodQuery, scope: Scope, since: datetime.datetime) -> _Periods:
        with contextlib.suppress(packed.CutOff):
            return _Periods.of(query.whole.rows(self._session, scope, since=since))
        packed.let_be_long(self._session)
        with contextlib.suppress(packed.CutOff):
            return _Periods.of(query.whole.rows(self._session, scope, since=since))
        # More than fit into a packet.
        return _Periods.of(query.divided.rows(self._session, scope, since=since))

    def _facts(self, rows: Sequence[Any], scope: Scope, since: datetime.datetime) -> BlockFacts:
        """Return what is known of some resources.

        :param rows: of the resources, read before this
        :param scope: their ids, or a range of ids that contains them
        """
        ids = [row.id for row in rows]
        periods = self._periods(PERIODS, scope, since)
        parts = dict(periods.booked)
        whole = parts.pop(WHOLE, None) or packed.bookings(())
        stock = STOCK.rows(self._session, scope)
        return BlockFacts(
            ids=np.array(ids, dtype=np.int64),
            names=[row.name for row in rows],
            generations=np.array([row.generation for row in rows], dtype=np.int64),
            bookable=np.array(
                [row.reservable and not row.disabled and row.failed_at is None for row in rows],
                dtype=np.bool_,
            ),
            returned=_column(periods.returned, ids),
            returned_whole=_column(periods.returned_whole, ids),
            inventories=_inventories(stock),
            whole=whole,
            parts=parts,
            out=periods.out,
            properties=_properties(stock),
        )


@functools.lru_cache(16)
def _text_of_sums(dialect: sa.Dialect) -> tuple[str, bool]:
    """Return a statement as the driver gets it, and whether its parameters have no names."""
    compiled: Any = SUMS.compile(dialect=dialect)
    return str(compiled), compiled.positional


def _properties(stock: Sequence[Any]) -> list[Property]:
    return [
        Property(
            resource_ids=_ids(row), kind=row.kind, name=row.name, value=row.value, number=row.number
        )
        for row in stock
        if row.kind is not None
    ]


def _inventories(stock: Sequence[Any]) -> Mapping[str, Mapping[int, Inventory]]:
    found: defaultdict[str, dict[int, Inventory]] = defaultdict(dict)
    for row in stock:
        if row.kind is None:
            found[row.resource_class].update(dict.fromkeys(_ids(row), inventory(row)))
    return found


def _ids(row: Any) -> list[int]:
    return [int(key) for key in row.ids.split(',')]


def _until(facts: BlockFacts, until: datetime.datetime) -> tuple[BlockFacts, bool]:
    """Return facts without allocations that start later, and whether there are any."""
    last = microseconds(until)
    every = (facts.whole, *facts.parts.values())
    if not any((found.starts > last).any() for found in every):
        return facts, False
    near = dataclasses.replace(
        facts,
        whole=facts.whole.where(facts.whole.starts <= last),
        parts={name: found.where(found.starts <= last) for name, found in facts.parts.items()},
    )
    return near, True


def _of(facts: BlockFacts, ids: Ints) -> BlockFacts:
    """Return what is known of the resources of one block."""
    mine = np.isin(facts.ids, ids)
    known = frozenset(facts.ids[mine].tolist())
    inventories = {
        name: {key: found[key] for key in known & found.keys()}
        for name, found in facts.inventories.items()
    }
    parts = {
        name: found.where(np.isin(found.resource_ids, ids)) for name, found in facts.parts.items()
    }
    return dataclasses.replace(
        facts,
        ids=facts.ids[mine],
        names=[name for name, its in zip(facts.names, mine, strict=True) if its],
        generations=facts.generations[mine],
        bookable=facts.bookable[mine],
        returned=facts.returned[mine],
        returned_whole=facts.returned_whole[mine],
        inventories={name: found for name, found in inventories.items() if found},
        parts={name: found for name, found in parts.items() if len(found.starts)},
    )


def _updated(kept: CachedBlock, facts: BlockFacts | None, changed: int) -> CachedBlock:
    """Return a block with what is known of some of its resources, and of others."""
    if facts is None or not changed:
        return dataclasses.replace(kept, changed=0)
    here, omits = _until(_of(facts, kept.block.ids), kept.until)
    block = kept.block.updated(here)
    return CachedBlock(
        until=kept.until,
        omits=omits or kept.omits,
        changed=changed,
        block=block,
        sums=(kept.sums[0], int(block.generations.sum())),
    )


def _column(found: Mapping[int, int], ids: Sequence[int]) -> Ints:
    return np.array([found.get(key, 0) for key in ids], dtype=np.int64)
