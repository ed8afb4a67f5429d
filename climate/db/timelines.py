# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Timelines of resource types in the memory of a process, kept up to date from SQL.

A timeline is a cache. Each transaction that changes what a resource has, or what is
free of it, increases the generation of the resource. A sum of generations for each
block therefore tells what has to be read again. What is chosen from a timeline is
still judged when it is booked (:mod:`climate.db.judgement`).
"""

from __future__ import annotations

import dataclasses
import datetime
import threading
from collections import defaultdict
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

import numpy as np
import sqlalchemy as sa

from climate.allocation.blocks import Block
from climate.allocation.blocks import BlockFacts
from climate.allocation.blocks import Bookings
from climate.allocation.blocks import SIZE
from climate.allocation.steps import Ints
from climate.allocation.steps import LATEST
from climate.db.repository import Repository
from climate.db.resources import inventory
from climate.db.tables import ALLOCATIONS
from climate.db.tables import INVENTORIES
from climate.db.tables import MAINTENANCES
from climate.db.tables import RESOURCES
from climate.domain.resources import Inventory

# Of more changed resources than these, the whole block is read.
_MOST_ALONE: Final = SIZE // 4

_BLOCK = RESOURCES.c.id // SIZE
_OF_TYPE = (RESOURCES.c.resource_type == sa.bindparam('resource_type'), RESOURCES.c.deleted == 0)
# The sum of the ids tells a resource from one that took its place.
_SUMS = (
    sa.select(_BLOCK, sa.func.sum(RESOURCES.c.id), sa.func.sum(RESOURCES.c.generation))
    .where(*_OF_TYPE)
    .group_by(_BLOCK)
)
_IDS: sa.BindParameter[Any] = sa.bindparam('ids', expanding=True)
_RESOURCES = (
    sa.select(
        RESOURCES.c.id,
        RESOURCES.c.name,
        RESOURCES.c.generation,
        RESOURCES.c.reservable,
        RESOURCES.c.disabled,
        RESOURCES.c.failed_at,
    )
    .where(*_OF_TYPE)
    .order_by(RESOURCES.c.id)
)
# As the driver returns them, which numpy converts at once: converting each of a million
# instants would take longer than reading them.
_RAW = sa.types.NullType()
_BOOKED = sa.select(
    ALLOCATIONS.c.resource_id,
    ALLOCATIONS.c.resource_class,
    ALLOCATIONS.c.amount,
    sa.type_coerce(ALLOCATIONS.c.start_date, _RAW),
    sa.type_coerce(ALLOCATIONS.c.end_date, _RAW),
).where(ALLOCATIONS.c.live == 1)
_RETURNED = (
    sa.select(
        ALLOCATIONS.c.resource_id,
        sa.type_coerce(sa.func.max(ALLOCATIONS.c.end_date), _RAW),
        sa.type_coerce(
            sa.func.max(sa.case((ALLOCATIONS.c.resource_class.is_(None), ALLOCATIONS.c.end_date))),
            _RAW,
        ),
    )
    .where(ALLOCATIONS.c.live == 0, ALLOCATIONS.c.end_date > sa.bindparam('since'))
    .group_by(ALLOCATIONS.c.resource_id)
)
_OUT = sa.select(
    MAINTENANCES.c.resource_id,
    sa.type_coerce(MAINTENANCES.c.start_date, _RAW),
    sa.type_coerce(MAINTENANCES.c.end_date, _RAW),
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Kept:
    """A block, and the sums that tell whether it is out of date.

    :ivar sums: of the ids and of the generations of its resources
    """

    block: Block
    sums: tuple[int, int]


class Timelines:
    """The timelines of one store; for many threads.

    :param cleaning_time: between two allocations of a resource
    """

    def __init__(self, cleaning_time: datetime.timedelta) -> None:
        self._cleaning_time = cleaning_time
        self._kept: dict[str, Mapping[int, _Kept]] = {}
        self._reading = threading.Lock()

    def current(self, reader: TimelineReader, resource_type: str) -> list[Block]:
        """Return all resources of a type as they are now, in id order.

        :param reader: of a transaction that has written nothing
        """
        sums = reader.sums(resource_type)
        kept = self._kept.get(resource_type, {})
        if {number: each.sums for number, each in kept.items()} != sums:
            since = reader.since(self._cleaning_time)
            # One thread reads what has changed; those that wait find it.
            with self._reading:
                latest = self._kept.get(resource_type, {})
                kept = {
                    number: latest[number]
                    if number in latest and latest[number].sums == found
                    else reader.block(resource_type, number, latest.get(number), since)
                    for number, found in sums.items()
                }
                self._kept[resource_type] = kept
        return [kept[number].block for number in sorted(kept)]


class TimelineReader(Repository):
    """Reads resources and their bookings as arrays."""

    def since(self, cleaning_time: datetime.timedelta) -> datetime.datetime:
        """Return from when on released allocations are of interest."""
        return self._now - cleaning_time

    def sums(self, resource_type: str) -> dict[int, tuple[int, int]]:
        """Return the sum of the ids and that of the generations of each block."""
        found = self._session.execute(_SUMS, {'resource_type': resource_type})
        return {int(number): (int(ids), int(generations)) for number, ids, generations in found}

    def block(
        self, resource_type: str, number: int, kept: _Kept | None, since: datetime.datetime
    ) -> _Kept:
        """Return a block as it is now.

        :param kept: as it was; None to read all of it
        """
        first = number * SIZE
        rows = self._session.execute(
            _RESOURCES.where(RESOURCES.c.id >= first, RESOURCES.c.id < first + SIZE),
            {'resource_type': resource_type},
        ).all()
        ids = np.array([row.id for row in rows], dtype=np.int64)
        changed: Sequence[Any] = rows
        block = kept.block if kept is not None and np.array_equal(kept.block.ids, ids) else None
        if block is not None:
            seen = dict(zip(block.ids.tolist(), block.generations.tolist(), strict=True))
            changed = [row for row in rows if row.generation != seen[row.id]]
        scope = _range(first) if len(changed) > _MOST_ALONE else [row.id for row in changed]
        facts = self._facts(changed, scope, since)
        return _Kept(
            block=Block.of(facts) if block is None else block.updated(facts),
            sums=(int(ids.sum()), sum(row.generation for row in rows)),
        )

    def _facts(self, rows: Sequence[Any], scope: Any, since: datetime.datetime) -> BlockFacts:
        """Return what is known of some resources.

        :param rows: of the resources, read before this
        :param scope: their ids, or a range of ids that contains them
        """
        ids = [row.id for row in rows]
        whole: list[Any] = []
        parts: defaultdict[str, list[Any]] = defaultdict(list)
        for row in self._session.execute(_within(_BOOKED, ALLOCATIONS, scope)):
            (whole if row[1] is None else parts[row[1]]).append(row)
        returned = {
            row[0]: (_times([row[1]])[0], _times([row[2]])[0] if row[2] else 0)
            for row in self._session.execute(
                _within(_RETURNED, ALLOCATIONS, scope), {'since': since}
            )
        }
        out = [
            (resource_id, None, 1, start, end)
            for resource_id, start, end in self._session.execute(_within(_OUT, MAINTENANCES, scope))
        ]
        return BlockFacts(
            ids=np.array(ids, dtype=np.int64),
            names=[row.name for row in rows],
            generations=np.array([row.generation for row in rows], dtype=np.int64),
            bookable=np.array(
                [row.reservable and not row.disabled and row.failed_at is None for row in rows],
                dtype=np.bool_,
            ),
            returned=_column(returned, ids, 0),
            returned_whole=_column(returned, ids, 1),
            inventories=self._inventories(scope),
            whole=_bookings(whole),
            parts={name: _bookings(found) for name, found in parts.items()},
            out=_bookings(out),
        )

    def _inventories(self, scope: Any) -> Mapping[str, Mapping[int, Inventory]]:
        found: defaultdict[str, dict[int, Inventory]] = defaultdict(dict)
        for row in self._session.execute(_within(sa.select(INVENTORIES), INVENTORIES, scope)):
            found[row.resource_class][row.resource_id] = inventory(row)
        return found


def _range(first: int) -> range:
    return range(first, first + SIZE)


def _within(query: sa.Select[Any], table: sa.Table, scope: range | Sequence[int]) -> Any:
    """Return a query limited to the rows of some resources."""
    if isinstance(scope, range):
        return query.where(table.c.resource_id.between(scope[0], scope[-1]))
    return query.where(table.c.resource_id.in_(scope))


def _bookings(rows: Sequence[Any]) -> Bookings:
    """Return rows of resource id, class, amount, start and end as arrays."""
    ids, _, amounts, starts, ends = zip(*rows, strict=True) if rows else ((),) * 5
    return Bookings(
        resource_ids=np.array(ids, dtype=np.int64),
        starts=_times(starts),
        ends=_times(ends),
        amounts=np.array(amounts, dtype=np.int64),
    )


def _times(values: Sequence[Any]) -> Ints:
    """Return instants, naive ones or their texts in SQLite, as microseconds since 1970."""
    found = np.array(values, dtype='datetime64[us]').astype(np.int64)
    return np.clip(found, 0, LATEST)


def _column(found: Mapping[int, tuple[int, int]], ids: Sequence[int], place: int) -> Ints:
    return np.array([found.get(key, (0, 0))[place] for key in ids], dtype=np.int64)
