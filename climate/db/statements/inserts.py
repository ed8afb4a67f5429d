# SPDX-License-Identifier: Apache-2.0

"""Inserts rows, of several tables in one statement where the engine can.

On PostgreSQL a new lease is one statement instead of five, each of which takes a round trip::

    WITH leases_0 AS (INSERT INTO leases (…) VALUES (…)),
         events_2 AS (INSERT INTO events (…) SELECT … FROM json_to_recordset(…) …), …
    INSERT INTO outbox (…) VALUES (…)

Foreign keys and triggers are checked at its end.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import cast

import sqlalchemy as sa

from climate.db.engine import prepared
from climate.db.statements import bulk
from climate.db.statements.deferred import DeferredWrites

Rows = Sequence[Mapping[str, Any]]

_Waiting = list[tuple[sa.Table, Rows]]
# With its connection. The dictionary of a connection would outlive its transaction, and fails
# after the connection has.
_WAITING: contextvars.ContextVar[tuple[sa.Connection, _Waiting] | None] = contextvars.ContextVar(
    'waiting inserts', default=None
)


def insert(session: sa.Connection | DeferredWrites, statement: sa.Insert, rows: Rows) -> None:
    """Insert rows into one table, now or at the end of :func:`together`.

    :param statement: without values
    :param rows: at least one, the values by column; all have the same columns
    """
    if not isinstance(session, sa.Connection):
        session.execute(statement, rows)
        return
    table = cast('sa.Table', statement.table)
    if session.dialect.name == 'sqlite':
        _insert_on_sqlite(session, table, rows)
        return
    waiting = _WAITING.get()
    if waiting is not None and waiting[0] is session:
        waiting[1].append((table, rows))
    else:
        bulk.insert(session, table, rows)


def _insert_on_sqlite(session: sa.Connection, table: sa.Table, rows: Rows) -> None:
    """Insert rows without SQLAlchemy's conversions, which take longer than SQLite."""
    names, dialect = tuple(rows[0]), session.dialect
    text = bulk.values_text(table, names, dialect, 1)
    session.exec_driver_sql(
        text, [tuple(bulk.parameters(table, names, dialect, row)) for row in rows]
    )


@contextlib.contextmanager
def together(session: sa.Connection) -> Iterator[None]:
    """Send all inserts of a block at its end, in one statement, if the engine can.

    The block must not read or update the rows that it inserts.
    """
    if session.dialect.name != 'postgresql':
        yield
        return
    waiting: _Waiting = []
    token = _WAITING.set((session, waiting))
    try:
        yield
    finally:
        _WAITING.reset(token)
    if waiting:
        _send(session, waiting)


def _send(session: sa.Connection, waiting: Sequence[tuple[sa.Table, Rows]]) -> None:
    shapes = tuple((table, tuple(rows[0]), len(rows) == 1) for table, rows in waiting)
    values: list[Any] = []
    for (table, names, alone), (_, rows) in zip(shapes, waiting, strict=True):
        if alone:
            values += bulk.parameters(table, names, session.dialect, rows[0])
        else:
            values.append(bulk.document(table, names, session.dialect, rows))
    text = _text(session.dialect, shapes)
    session.exec_driver_sql(text, tuple(values), execution_options=prepared.OPTIONS)


@functools.lru_cache(256)
def _text(dialect: sa.Dialect, shapes: tuple[tuple[sa.Table, tuple[str, ...], bool], ...]) -> str:
    """Return the statement.

    :param shapes: of each insert the table, the columns, and whether it is of one row
    """
    *first, last = (
        bulk.values_text(table, names, dialect, 1)
        if alone
        else bulk.document_text(table, names, dialect)
        for table, names, alone in shapes
    )
    named = (
        f'{table.name}_{number} AS ({text})'
        for number, ((table, *_), text) in enumerate(zip(shapes, first, strict=False))
    )
    return f'WITH {", ".join(named)} {last}' if first else last
