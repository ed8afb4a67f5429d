# SPDX-License-Identifier: Apache-2.0

"""Records the writes of repositories, so that those of many leases become a few statements."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from collections.abc import MutableMapping
from collections.abc import Sequence
from typing import Any
from typing import NoReturn

import sqlalchemy as sa

from climate.db.schema.tables import CHARGES
from climate.db.schema.tables import EVENTS
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import OUTBOX
from climate.db.schema.tables import RESERVATIONS
from climate.db.schema.tables import STEPS
from climate.db.schema.tables import YIELD_TIMES
from climate.db.statements import bulk

Values = dict[str, Any]

# Rows refer only to rows of tables before them.
_UPDATED = (LEASES, RESERVATIONS, EVENTS, STEPS)
_INSERTED = (EVENTS, STEPS, OUTBOX, CHARGES, YIELD_TIMES)


class NotBatched(RuntimeError):
    """A lease needs what a batch can neither answer nor defer; it has to be handled alone."""


@dataclasses.dataclass(slots=True)
class LeaseWrites:
    """What one lease changes.

    :ivar inserts: new rows, by table
    :ivar updates: changed values, by table and id
    :ivar held: ids of the reservations whose allocations are held from now on
    :ivar released: ids of the reservations that release everything
    :ivar given_back: amounts to release, by allocation id
    :ivar unclaimed: ids of the leases whose claims end
    :ivar forgotten: ids of the trusts that are deleted
    :ivar undone: the arguments of :meth:`climate.db.leases.steps.HistorySteps.undo`
    """

    inserts: dict[sa.Table, list[Values]] = dataclasses.field(default_factory=dict)
    updates: dict[sa.Table, dict[Any, Values]] = dataclasses.field(default_factory=dict)
    held: set[str] = dataclasses.field(default_factory=set)
    released: set[str] = dataclasses.field(default_factory=set)
    given_back: dict[int, int] = dataclasses.field(default_factory=dict)
    unclaimed: list[str] = dataclasses.field(default_factory=list)
    forgotten: list[str] = dataclasses.field(default_factory=list)
    undone: list[tuple[Any, ...]] = dataclasses.field(default_factory=list)


class DeferredWrites:
    """Takes the place of the connection in the repositories of a batch.

    It records inserts, and the updates by id whose statements are constants of the
    repositories. An id can be updated several times; the last value of a column counts.

    :ivar info: as of the connection
    :ivar record: what is recorded; replaced for each lease
    """

    def __init__(self, info: MutableMapping[Any, Any]) -> None:
        self.info = info
        self.record = LeaseWrites()

    def execute(self, statement: Any, values: Any = None) -> None:
        """Record a statement.

        :raises NotBatched: if it is not an insert, or not an update by id
        """
        rows: list[Values] = [values] if isinstance(values, dict) else list(values or ())
        if isinstance(statement, sa.Insert) and rows:
            self.record.inserts.setdefault(_table(statement, _INSERTED), []).extend(rows)
        elif isinstance(statement, sa.Update) and rows and bulk.ROW_ID in rows[0]:
            table = _table(statement, _UPDATED)
            self._check_known(table, rows)
            changed = self.record.updates.setdefault(table, {})
            for row in rows:
                changed.setdefault(row[bulk.ROW_ID], {}).update(row)
        else:
            self.scalars(statement)

    def _check_known(self, table: sa.Table, rows: Iterable[Values]) -> None:
        """Check that rows to update exist already: updates are written before inserts.

        :raises NotBatched: if one does not
        """
        inserted = self.record.inserts.get(table, ())
        new = {row.get('id') for row in inserted} if inserted else ()
        if new and any(row[bulk.ROW_ID] in new for row in rows):
            raise NotBatched(f'updates a row of {table} that it has inserted')

    def scalars(self, statement: Any, _values: Any = None) -> NoReturn:
        """Refuse a query.

        :raises NotBatched: always
        """
        raise NotBatched(' '.join(str(statement).split())[:80])

    scalar = scalars

    def updates(self, table: sa.Table, row_id: str) -> bool:
        """Whether an update of a row is recorded."""
        return row_id in self.record.updates.get(table, ())

    def writes(self, table: sa.Table) -> bool:
        """Whether something is recorded that changes *table*."""
        return bool(self.record.inserts.get(table) or self.record.updates.get(table))


def _table(statement: Any, known: Iterable[sa.Table]) -> sa.Table:
    """Return the table of a statement.

    :raises NotBatched: if batches do not write it
    """
    for table in known:
        if statement.table is table:
            return table
    raise NotBatched(f'writes {statement.table}')


def write(session: sa.Connection, records: Sequence[LeaseWrites]) -> None:
    """Write the rows of several leases, with as few statements as possible.

    Each lease writes only its own rows, so their order does not matter.
    """
    for table in _UPDATED:
        changed = (row for each in records for row in each.updates.get(table, {}).values())
        for rows in _alike(changed):
            bulk.update(session, table, rows)
    for table in _INSERTED:
        new = (row for each in records for row in each.inserts.get(table, ()))
        for rows in _alike(new):
            bulk.insert(session, table, rows)


def _alike(rows: Iterable[Values]) -> Iterable[list[Values]]:
    """Group rows with the same columns."""
    alike: dict[tuple[str, ...], list[Values]] = {}
    for row in rows:
        alike.setdefault(tuple(sorted(row)), []).append(row)
    return alike.values()
