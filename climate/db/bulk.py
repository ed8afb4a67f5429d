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

"""Updates or inserts many rows in one statement, each row with its own values.

The rows are one parameter, a JSON document, because drivers send a list of parameters as
one statement for each row. The text of a statement depends only on its columns::

    UPDATE events SET due = changed.due, …
    FROM json_to_recordset(:rows) AS changed(row_id …, due …)
    WHERE events.id = changed.row_id

    INSERT INTO events (id, due, …) SELECT changed.id, changed.due, …
    FROM json_to_recordset(:rows) AS changed(row_id …, id …, due …)
    ORDER BY changed.row_id
"""

from __future__ import annotations

import datetime
import functools
import json
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate.db.types import UtcDateTime

ROW_ID: Final = 'row_id'
"""The key of the id of a row."""

_Encoder = Callable[[Any], Any]
_Builder = Callable[[sa.Table, Sequence[str], sa.Dialect], str]
_JSON: Final = json.JSONEncoder(ensure_ascii=False)
# Statements and encoders for the few sets of columns that are updated, on any engine.
_KEPT: Final = 256


def update(session: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Update rows of *table* that exist.

    :param rows: the new values by column, and the id under :data:`ROW_ID`; all rows
        have the same columns
    :raises ValueError: if a text contains a NUL, which JSON can express but not every
        engine can store
    """
    names = tuple(sorted(rows[0].keys() - {ROW_ID}))
    _run(session, _UPDATES, table, names, rows)


def insert(session: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows into *table*, in their order.

    :param rows: the values by column; all rows have the same columns
    :raises ValueError: as :func:`update`
    """
    names = tuple(sorted(rows[0]))
    numbered = [{ROW_ID: number, **row} for number, row in enumerate(rows)]
    _run(session, _INSERTS, table, names, numbered)


def _run(
    session: sa.Connection,
    builders: Mapping[str, _Builder],
    table: sa.Table,
    names: tuple[str, ...],
    rows: Sequence[Mapping[str, Any]],
) -> None:
    dialect = session.dialect
    encoders = _encoders(table, names, dialect)
    document = _JSON.encode(
        [
            {name: encode(row[name]) if encode else row[name] for name, encode in encoders}
            for row in rows
        ]
    )
    if '\\u0000' in document:
        raise ValueError(f'a value of {table.name} contains a NUL')
    build = builders.get(dialect.name, builders['mysql'])
    # PyMySQL escapes a text character by character, but bytes all at once.
    sent = document.encode() if dialect.name in ('mysql', 'mariadb') else document
    session.execute(_statement(build, table, names, dialect), {'rows': sent})


@functools.lru_cache(_KEPT)
def _encoders(
    table: sa.Table, names: tuple[str, ...], dialect: sa.Dialect
) -> tuple[tuple[str, _Encoder | None], ...]:
    """Return each key of a row with the function that converts its values, if they need one."""
    found = [(name, _encoder(table.c[name].type, dialect)) for name in names]
    return ((ROW_ID, None), *found)


def _encoder(kind: Any, dialect: sa.Dialect) -> _Encoder | None:
    if isinstance(kind, UtcDateTime):
        return _instant
    if isinstance(kind, sa.TypeDecorator):
        return functools.partial(_bound, kind, dialect)
    return _number if isinstance(kind, sa.Boolean) else None


def _bound(kind: sa.TypeDecorator[Any], dialect: sa.Dialect, value: Any) -> Any:
    return kind.process_bind_param(value, dialect)


def _number(value: bool | None) -> int | None:
    """Return a boolean as a number, which every engine reads as a boolean."""
    return None if value is None else int(value)


@functools.lru_cache(_KEPT)
def _instant(value: datetime.datetime | None) -> str | None:
    """Return an instant as a text that every engine reads, and that SQLite can compare."""
    if value is None:
        return None
    utc = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return utc.isoformat(' ', 'microseconds')


@functools.lru_cache(_KEPT)
def _statement(
    build: _Builder, table: sa.Table, names: tuple[str, ...], dialect: sa.Dialect
) -> sa.TextClause:
    return sa.text(build(table, names, dialect))


def _update_on_sqlite(table: sa.Table, names: Sequence[str], dialect: sa.Dialect) -> str:
    quote = dialect.identifier_preparer.quote
    values = (f"{quote(name)} = json_extract(changed.value, '$.{name}')" for name in names)
    return (
        f'UPDATE {table.name} SET {", ".join(values)} FROM json_each(:rows) AS changed'  # noqa: S608  names of the schema
        f" WHERE {table.name}.id = json_extract(changed.value, '$.{ROW_ID}')"
    )


def _update_on_postgresql(table: sa.Table, names: Sequence[str], dialect: sa.Dialect) -> str:
    quote = dialect.identifier_preparer.quote
    values = (f'{quote(name)} = changed.{quote(name)}' for name in names)
    return (
        f'UPDATE {table.name} SET {", ".join(values)}'  # noqa: S608  names of the schema
        f' FROM {_recordset(table.c.id.type, table, names, dialect)}'
        f' WHERE {table.name}.id = changed.{ROW_ID}'
    )


def _update_on_mariadb(table: sa.Table, names: Sequence[str], dialect: sa.Dialect) -> str:
    # In this order, whatever the optimizer believes about the size of the document.
    quote = dialect.identifier_preparer.quote
    values = (f'{table.name}.{quote(name)} = changed.{quote(name)}' for name in names)
    return (
        f'UPDATE {_json_table(table.c.id.type, table, names, dialect)}'  # noqa: S608  names of the schema
        f' STRAIGHT_JOIN {table.name} ON {table.name}.id = changed.{ROW_ID}'
        f' SET {", ".join(values)}'
    )


def _insert_on_sqlite(table: sa.Table, names: Sequence[str], dialect: sa.Dialect) -> str:
    quote = dialect.identifier_preparer.quote
    values = (f"json_extract(changed.value, '$.{name}')" for name in names)
    return (
        f'INSERT INTO {table.name} ({", ".join(map(quote, names))})'  # noqa: S608  names of the schema
        f' SELECT {", ".join(values)} FROM json_each(:rows) AS changed'
        f" ORDER BY json_extract(changed.value, '$.{ROW_ID}')"
    )


def _insert_on_postgresql(table: sa.Table, names: Sequence[str], dialect: sa.Dialect) -> str:
    return _insert_from(_recordset(sa.Integer(), table, names, dialect), table, names, dialect)


def _insert_on_mariadb(table: sa.Table, names: Sequence[str], dialect: sa.Dialect) -> str:
    return _insert_from(_json_table(sa.Integer(), table, names, dialect), table, names, dialect)


def _insert_from(source: str, table: sa.Table, names: Sequence[str], dialect: sa.Dialect) -> str:
    quote = dialect.identifier_preparer.quote
    values = (f'changed.{quote(name)}' for name in names)
    return (
        f'INSERT INTO {table.name} ({", ".join(map(quote, names))})'  # noqa: S608  names of the schema
        f' SELECT {", ".join(values)} FROM {source} ORDER BY changed.{ROW_ID}'
    )


def _recordset(key: Any, table: sa.Table, names: Sequence[str], dialect: sa.Dialect) -> str:
    """Return the rows of the document as a table, for PostgreSQL."""
    quote = dialect.identifier_preparer.quote
    columns = (f'{quote(name)} {kind}' for name, kind in _kinds(key, table, names, dialect))
    return f'json_to_recordset(CAST(:rows AS json)) AS changed({", ".join(columns)})'


def _json_table(key: Any, table: sa.Table, names: Sequence[str], dialect: sa.Dialect) -> str:
    """Return the rows of the document as a table, for MariaDB."""
    quote = dialect.identifier_preparer.quote
    columns = (
        f"{quote(name)} {kind} PATH '$.{name}' ERROR ON ERROR"
        for name, kind in _kinds(key, table, names, dialect)
    )
    rows = 'CONVERT(:rows USING utf8mb4)'
    return f"JSON_TABLE({rows}, '$[*]' COLUMNS({', '.join(columns)})) AS changed"


def _kinds(
    key: Any, table: sa.Table, names: Sequence[str], dialect: sa.Dialect
) -> list[tuple[str, str]]:
    """Return the keys of a row with their types in SQL.

    :param key: the type of :data:`ROW_ID`
    """
    kinds = [(ROW_ID, key), *((name, table.c[name].type) for name in names)]
    return [(name, kind.compile(dialect=dialect)) for name, kind in kinds]


_UPDATES: Final[Mapping[str, _Builder]] = {
    'sqlite': _update_on_sqlite,
    'postgresql': _update_on_postgresql,
    'mysql': _update_on_mariadb,
}
_INSERTS: Final[Mapping[str, _Builder]] = {
    'sqlite': _insert_on_sqlite,
    'postgresql': _insert_on_postgresql,
    'mysql': _insert_on_mariadb,
}
