# SPDX-License-Identifier: Apache-2.0

"""Updates or inserts many rows in one statement, each row with its own values.

Drivers send a list of parameters as one statement for each row. Here, columns with the same
value in all rows are parameters, and the rest of the rows is one parameter, a JSON document.
The text of a statement depends only on its columns::

    UPDATE events SET state = :same_state, due = changed.due, …
    FROM json_to_recordset(:rows) AS changed(row_id …, due …)
    WHERE events.id = changed.row_id

    INSERT INTO events (id, due, …) SELECT changed.id, changed.due, …
    FROM json_to_recordset(:rows) AS changed(row_id …, id …, due …)
    ORDER BY changed.row_id

PyMySQL writes all values into the text anyway, and MariaDB reads them from there in a third
of the time that it takes for a document, so there an INSERT has ``VALUES``.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate.db.engine.prepared import prepared
from climate.db.schema.types import instant_text
from climate.db.schema.types import UtcDateTime
from climate.db.statements.lists import Among

ROW_ID: Final = 'row_id'
"""The key of the id of a row."""

_Encoder = Callable[[Any], Any]
_Builder = Callable[[sa.Table, Sequence[str], Sequence[str], sa.Dialect], str]
_Rows = Sequence[Mapping[str, Any]]
_JSON: Final = json.JSONEncoder(ensure_ascii=False)
# Not a backslash and the text u0000.
_NUL: Final = re.compile(r'(?<!\\)(?:\\\\)*\\u0000')
# Statements and encoders for the few sets of columns that are written, on any engine.
_KEPT: Final = 256
_IDS: Final = 'ids'
_MARIADB: Final = ('mysql', 'mariadb')


def update(session: sa.Connection, table: sa.Table, rows: _Rows) -> None:
    """Update rows of *table* that exist.

    :param rows: the new values by column, and the id under :data:`ROW_ID`; all rows
        have the same columns
    :raises ValueError: if a text contains a NUL, which JSON can express but not every
        engine can store
    """
    names = sorted(rows[0].keys() - {ROW_ID})
    same = tuple(name for name in names if _is_same(name, rows))
    own = tuple(name for name in names if name not in same)
    if own:
        _run(session, _update_text, table, (own, same), rows)
        return
    values = {f'same_{name}': rows[0][name] for name in same}
    session.execute(_equal(table, same), {_IDS: [row[ROW_ID] for row in rows], **values})


def insert(session: sa.Connection, table: sa.Table, rows: _Rows) -> None:
    """Insert rows into *table*, in their order.

    :param rows: the values by column; all rows have the same columns
    :raises ValueError: as :func:`update`
    """
    names = tuple(sorted(rows[0]))
    if session.dialect.name in _MARIADB:
        _insert_values(session, table, names, rows)
        return
    numbered = [{ROW_ID: number, **row} for number, row in enumerate(rows)]
    _run(session, _insert_text, table, (names, ()), numbered)


def parameters(
    table: sa.Table, names: tuple[str, ...], dialect: sa.Dialect, row: Mapping[str, Any]
) -> list[Any]:
    """Return the values of a row as parameters of :func:`values_text`, not on MariaDB."""
    return [
        row[name] if encode is None or encode is _number else encode(row[name])
        for name, encode in _encoders(table, names, dialect)
    ]


def document(table: sa.Table, names: tuple[str, ...], dialect: sa.Dialect, rows: _Rows) -> str:
    """Return rows as the parameter of :func:`document_text`.

    :raises ValueError: as :func:`update`
    """
    encoders = ((ROW_ID, None), *_encoders(table, names, dialect))
    numbered = ({ROW_ID: number, **row} for number, row in enumerate(rows))
    return _document(table, encoders, numbered)


def document_text(table: sa.Table, names: tuple[str, ...], dialect: sa.Dialect) -> str:
    """Return an INSERT of the rows of a document, for PostgreSQL."""
    source = _recordset(sa.Integer(), table, names, dialect, rows='%s')
    return _insert_from(source, table, names, dialect)


def _is_same(name: str, rows: _Rows) -> bool:
    """Whether all rows have the same value in a column."""
    value = rows[0][name]
    return all(row[name] is value or row[name] == value for row in rows)


@functools.lru_cache(_KEPT)
def _equal(table: sa.Table, names: tuple[str, ...]) -> sa.Update:
    """Return the statement for rows that get the same values."""
    values: dict[str, Any] = {name: sa.bindparam(f'same_{name}') for name in names}
    return sa.update(table).where(Among(table.c.id, _IDS)).values(values)


def _run(
    session: sa.Connection,
    build: _Builder,
    table: sa.Table,
    names: tuple[tuple[str, ...], tuple[str, ...]],
    rows: _Rows,
) -> None:
    """Run a statement with a document.

    :param names: the columns that each row has a value of its own for, and all others
    """
    own, same = names
    dialect = session.dialect
    encoders = ((ROW_ID, None), *_encoders(table, own, dialect))
    text = _document(table, encoders, rows)
    # PyMySQL escapes a text character by character, but bytes all at once.
    sent = text.encode() if dialect.name in _MARIADB else text
    values = {f'same_{name}': rows[0][name] for name in same}
    session.execute(_statement(build, table, own, same, dialect), {'rows': sent, **values})


def _document(
    table: sa.Table,
    encoders: Sequence[tuple[str, _Encoder | None]],
    rows: Iterable[Mapping[str, Any]],
) -> str:
    text = _JSON.encode(
        [
            {name: encode(row[name]) if encode else row[name] for name, encode in encoders}
            for row in rows
        ]
    )
    if '\\u0000' in text and _NUL.search(text):
        raise ValueError(f'a value of {table.name} contains a NUL')
    return text


def _insert_values(
    session: sa.Connection, table: sa.Table, names: tuple[str, ...], rows: _Rows
) -> None:
    encoders = _encoders(table, names, session.dialect)
    values = [
        _sent(table, encode(row[name]) if encode else row[name])
        for row in rows
        for name, encode in encoders
    ]
    text = values_text(table, names, session.dialect, len(rows))
    session.exec_driver_sql(text, tuple(values))


def _sent(table: sa.Table, value: Any) -> Any:
    """Return a value as PyMySQL escapes it fast, see :func:`_run`.

    :raises ValueError: if it contains a NUL
    """
    if not isinstance(value, str):
        return value
    if '\0' in value:
        raise ValueError(f'a value of {table.name} contains a NUL')
    return value.encode()


@functools.lru_cache(_KEPT)
def values_text(table: sa.Table, names: tuple[str, ...], dialect: sa.Dialect, count: int) -> str:
    """Return an INSERT of rows, with a parameter for each value."""
    quote = dialect.identifier_preparer.quote
    mark = '?' if dialect.name == 'sqlite' else '%s'
    row = f'({", ".join([mark] * len(names))})'
    return (
        f'INSERT INTO {table.name} ({", ".join(map(quote, names))})'  # noqa: S608  names of the schema
        f' VALUES {", ".join([row] * count)}'
    )


@functools.lru_cache(_KEPT)
def _encoders(
    table: sa.Table, names: tuple[str, ...], dialect: sa.Dialect
) -> tuple[tuple[str, _Encoder | None], ...]:
    """Return each column with the function that converts its values, if they need one."""
    return tuple((name, _encoder(table.c[name].type, dialect)) for name in names)


def _encoder(kind: Any, dialect: sa.Dialect) -> _Encoder | None:
    if isinstance(kind, UtcDateTime):
        return instant_text
    if isinstance(kind, sa.TypeDecorator):
        return functools.partial(_bound, kind, dialect)
    return _number if isinstance(kind, sa.Boolean) else None


def _bound(kind: sa.TypeDecorator[Any], dialect: sa.Dialect, value: Any) -> Any:
    return kind.process_bind_param(value, dialect)


def _number(value: bool | None) -> int | None:
    """Return a boolean as a number, which every engine reads as a boolean."""
    return None if value is None else int(value)


@functools.lru_cache(_KEPT)
def _statement(
    build: _Builder,
    table: sa.Table,
    own: tuple[str, ...],
    same: tuple[str, ...],
    dialect: sa.Dialect,
) -> sa.TextClause:
    typed = (sa.bindparam(f'same_{name}', type_=table.c[name].type) for name in same)
    return prepared(sa.text(build(table, own, same, dialect)).bindparams(*typed))


def _assignments(
    own: Iterable[str], same: Iterable[str], dialect: sa.Dialect, table: str = ''
) -> str:
    """Return the assignments of an UPDATE from ``changed``.

    :param table: the name of the table and a period, where columns need it
    """
    quote = dialect.identifier_preparer.quote
    assignments = [f'{table}{quote(name)} = changed.{quote(name)}' for name in own]
    assignments += [f'{table}{quote(name)} = :same_{name}' for name in same]
    return ', '.join(assignments)


def _update_text(
    table: sa.Table, own: Sequence[str], same: Sequence[str], dialect: sa.Dialect
) -> str:
    source, name = _source(table.c.id.type, table, own, dialect), table.name
    if dialect.name in _MARIADB:
        # In this order, whatever the optimizer believes about the size of the document.
        return (
            f'UPDATE {source} STRAIGHT_JOIN {name} ON {name}.id = changed.{ROW_ID}'  # noqa: S608  names of the schema
            f' SET {_assignments(own, same, dialect, f"{name}.")}'
        )
    return (
        f'UPDATE {name} SET {_assignments(own, same, dialect)}'  # noqa: S608  names of the schema
        f' FROM {source} WHERE {name}.id = changed.{ROW_ID}'
    )


def _insert_text(
    table: sa.Table, names: Sequence[str], _same: Sequence[str], dialect: sa.Dialect
) -> str:
    return _insert_from(_source(sa.Integer(), table, names, dialect), table, names, dialect)


def _source(key: Any, table: sa.Table, names: Sequence[str], dialect: sa.Dialect) -> str:
    """Return the rows of the document as a table.

    :param key: the type of :data:`ROW_ID`
    """
    if dialect.name == 'sqlite':
        return _rows_on_sqlite(names, dialect)
    if dialect.name in _MARIADB:
        return _json_table(key, table, names, dialect)
    return _recordset(key, table, names, dialect)


def _rows_on_sqlite(names: Iterable[str], dialect: sa.Dialect) -> str:
    quote = dialect.identifier_preparer.quote
    columns = (f"json_extract(value, '$.{name}') AS {quote(name)}" for name in (ROW_ID, *names))
    return f'(SELECT {", ".join(columns)} FROM json_each(:rows)) AS changed'  # noqa: S608  names of the schema


def _insert_from(source: str, table: sa.Table, names: Sequence[str], dialect: sa.Dialect) -> str:
    quote = dialect.identifier_preparer.quote
    values = (f'changed.{quote(name)}' for name in names)
    return (
        f'INSERT INTO {table.name} ({", ".join(map(quote, names))})'  # noqa: S608  names of the schema
        f' SELECT {", ".join(values)} FROM {source} ORDER BY changed.{ROW_ID}'
    )


def _recordset(
    key: Any, table: sa.Table, names: Sequence[str], dialect: sa.Dialect, rows: str = ':rows'
) -> str:
    """Return the rows of the document as a table, for PostgreSQL.

    :param rows: the parameter of the document
    """
    quote = dialect.identifier_preparer.quote
    columns = (f'{quote(name)} {kind}' for name, kind in _kinds(key, table, names, dialect))
    return f'json_to_recordset(CAST({rows} AS json)) AS changed({", ".join(columns)})'


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
