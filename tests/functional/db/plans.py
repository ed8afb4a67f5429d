# SPDX-License-Identifier: Apache-2.0
"""Asks an engine how it would run a statement, and finds what it would read whole."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

# Not the outbox, which is short and read from its beginning.
LARGE = frozenset({'allocations', 'events', 'leases', 'reservations', 'steps'})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Statement:
    """One statement as it went to the engine."""

    text: str
    parameters: Any

    @property
    def verb(self) -> str:
        """SELECT, UPDATE and so on."""
        return self.text.split(maxsplit=1)[0].upper()


@contextlib.contextmanager
def captured(engine: sa.Engine) -> Iterator[list[Statement]]:
    """Collect the statements that run inside, BEGIN and its like left out."""
    found: list[Statement] = []

    def collect(
        _connection: Any, _cursor: Any, text: str, parameters: Any, _context: Any, _many: bool
    ) -> None:
        statement = Statement(text=text, parameters=parameters)
        if statement.verb not in ('BEGIN', 'COMMIT', 'ROLLBACK', 'PRAGMA', 'SET', 'SAVEPOINT'):
            found.append(statement)

    sa.event.listen(engine, 'before_cursor_execute', collect)
    try:
        yield found
    finally:
        sa.event.remove(engine, 'before_cursor_execute', collect)


def full_scans(engine: sa.Engine, statement: Statement) -> list[str]:
    """Return what the engine would read whole of the large tables to run *statement*."""
    explain = {'sqlite': _sqlite, 'postgresql': _postgresql}.get(engine.dialect.name, _mariadb)
    with engine.connect() as connection:
        return explain(connection, statement)


def plan(engine: sa.Engine, statement: Statement) -> str:
    """Return a statement and how the engine goes about it, for people."""
    prefix = {'sqlite': 'EXPLAIN QUERY PLAN ', 'postgresql': 'EXPLAIN ANALYZE '}
    with engine.connect() as connection:
        found = _rows(connection, prefix.get(engine.dialect.name, 'ANALYZE '), statement)
    lines = [' | '.join(str(cell) for cell in row) for row in found]
    return '\n'.join([statement.text, *lines])


def _rows(connection: sa.Connection, prefix: str, statement: Statement) -> list[Any]:
    return list(connection.exec_driver_sql(prefix + statement.text, statement.parameters))


def _sqlite(connection: sa.Connection, statement: Statement) -> list[str]:
    # 'SCAN leases USING INDEX ix' is a walk in the order of an index, which a
    # LIMIT ends early; a bare SCAN is the table itself.
    found = []
    for row in _rows(connection, 'EXPLAIN QUERY PLAN ', statement):
        words = row[3].split()
        if words[0] == 'SCAN' and 'INDEX' not in words and _table(statement, words[1]) in LARGE:
            found.append(row[3])
    return found


def _table(statement: Statement, name: str) -> str:
    """Return the table behind an alias."""
    for table in LARGE:
        if f'{table} AS {name}' in statement.text:
            return table
    return name


def _postgresql(connection: sa.Connection, statement: Statement) -> list[str]:
    (row,) = _rows(connection, 'EXPLAIN (FORMAT JSON) ', statement)
    plan = row[0] if isinstance(row[0], list) else json.loads(row[0])
    found: list[str] = []
    waiting = [plan[0]['Plan']]
    while waiting:
        node = waiting.pop()
        waiting += node.get('Plans', [])
        if node['Node Type'] == 'Seq Scan' and node['Relation Name'] in LARGE:
            found.append(f'Seq Scan on {node["Relation Name"]}')
    return found


def _mariadb(connection: sa.Connection, statement: Statement) -> list[str]:
    found = []
    for row in _rows(connection, 'EXPLAIN ', statement):
        plan = dict(row._mapping)
        if plan['type'] == 'ALL' and _table(statement, str(plan['table'])) in LARGE:
            found.append(f'ALL on {plan["table"]}')
    return found
