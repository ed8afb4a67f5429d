# SPDX-License-Identifier: Apache-2.0

"""Column types with the same semantics on SQLite, MariaDB and PostgreSQL."""

from __future__ import annotations

import datetime
import functools
import json
from collections.abc import Mapping
from typing import Any
from typing import Final

import sqlalchemy as sa
from oslo_db.sqlalchemy import types as oslo_types
from sqlalchemy.dialects import mysql

from climate.exceptions import texts

_DECODER = json.JSONDecoder()
_KNOWN_INSTANTS = 8192
LARGEST_TEXT: Final = 65535
"""The bytes of a TEXT in MariaDB."""
TABLE: Final[Mapping[str, Any]] = {'mysql_engine': 'InnoDB', 'mysql_charset': 'utf8mb4'}
"""Options of every table."""


class UtcDateTime(sa.TypeDecorator[datetime.datetime]):
    """Aware UTC in memory, naive UTC with microseconds in SQL."""

    impl = sa.DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> Any:
        """Keep microseconds on MariaDB, which stores whole seconds by default."""
        if dialect.name in ('mysql', 'mariadb'):
            return dialect.type_descriptor(mysql.DATETIME(fsp=6))
        return dialect.type_descriptor(sa.DateTime())

    def process_bind_param(
        self, value: datetime.datetime | None, dialect: sa.Dialect
    ) -> datetime.datetime | None:
        """Convert to naive UTC; refuse naive instants, whose zone is unknown."""
        return _naive(value)

    def process_result_value(
        self, value: datetime.datetime | None, dialect: sa.Dialect
    ) -> datetime.datetime | None:
        """Add the zone."""
        return _aware(value)

    # A list of leases has thousands of instants, most of them missing or the same as
    # another one: one cached function, instead of those above and the ones of the dialect
    # around them. PyMySQL sends text in any case, and writes it more slowly.

    def bind_processor(self, dialect: sa.Dialect) -> Any:
        """Return the function that prepares a parameter for the driver."""
        return _naive if dialect.name == 'postgresql' else instant_text

    def result_processor(self, dialect: sa.Dialect, coltype: Any) -> Any:
        """Return the function that converts a value of the driver."""
        return stored_instant if dialect.name == 'sqlite' else _aware


@functools.lru_cache(_KNOWN_INSTANTS)
def _naive(value: datetime.datetime | None) -> datetime.datetime | None:
    """Return an instant in UTC without a zone.

    :raises ValueError: if it has none already: then it is unknown
    """
    if value is None:
        return None
    if value.tzinfo is None:
        raise ValueError('a naive datetime cannot be stored')
    if value.tzinfo is not datetime.UTC:
        value = value.astimezone(datetime.UTC)
    return value.replace(tzinfo=None)


@functools.lru_cache(_KNOWN_INSTANTS)
def instant_text(value: datetime.datetime | None) -> str | None:
    """Return an instant as a text that every engine reads, and that SQLite can compare.

    :raises ValueError: if it has no zone: then it is unknown
    """
    naive = _naive(value)
    return None if naive is None else naive.isoformat(' ', 'microseconds')


@functools.lru_cache(_KNOWN_INSTANTS)
def _aware(value: datetime.datetime | None) -> datetime.datetime | None:
    return None if value is None else value.replace(tzinfo=datetime.UTC)


@functools.lru_cache(_KNOWN_INSTANTS)
def stored_instant(value: str | None) -> datetime.datetime | None:
    """Return the instant (aware UTC) of a text in ISO 8601 without a zone."""
    return None if value is None else datetime.datetime.fromisoformat(f'{value}+00:00')


def exact(length: int) -> sa.String:
    """Return a type for strings that are compared byte by byte on every engine.

    In MariaDB's default collation 'a' = 'A', in its plain binary one 'a' = 'a ', and
    PostgreSQL orders by the locale of the database. None of these is what ``==`` and
    ``<`` mean in a requirement.
    """
    kind = sa.String(length)
    kind = kind.with_variant(
        mysql.VARCHAR(length, collation='utf8mb4_nopad_bin'), 'mysql', 'mariadb'
    )
    return kind.with_variant(sa.String(length, collation='C'), 'postgresql')


def exact_text() -> sa.Text:
    """Return the type for text of any length; compares like :func:`exact`."""
    kind = sa.Text()
    kind = kind.with_variant(mysql.TEXT(collation='utf8mb4_nopad_bin'), 'mysql', 'mariadb')
    return kind.with_variant(sa.Text(collation='C'), 'postgresql')


class OutsideText(sa.TypeDecorator[str]):
    """A text that quotes another service, such as an error.

    The texts are cleaned where they enter. This is the second line: a text that was
    missed there must not make a transaction fail each time it is repeated.
    """

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        """Replace what no engine can store, and cut what MariaDB cannot."""
        return None if value is None else texts.storable(value, LARGEST_TEXT)


def long_text() -> sa.Text:
    """Return the type for text that may have more than 64 KiB, which is only stored."""
    return sa.Text().with_variant(mysql.MEDIUMTEXT(), 'mysql', 'mariadb')


class JsonDict(oslo_types.JsonEncodedDict):
    """A JSON object as text.

    It neither parses nor encodes empty objects, which are the most frequent ones.
    """

    cache_ok = True

    def bind_processor(self, dialect: sa.Dialect) -> Any:
        """Return the function that writes a value: none that calls others for each."""
        # PyMySQL sends bytes in hexadecimal, and escapes a text character by character from
        # the first quote on, which takes twenty times as long.
        return _written_bytes if dialect.driver == 'pymysql' else _written

    def result_processor(self, dialect: sa.Dialect, coltype: Any) -> Any:
        """Return the function that parses a value."""
        return _object


def _written(value: Any) -> str:
    if value is None or value == {}:
        return '{}'
    if not isinstance(value, dict):
        raise TypeError(f'a JSON object is required, not {type(value).__name__}')
    return json.dumps(value)


def _written_bytes(value: Any) -> bytes:
    return _written(value).encode()


def _object(value: str | None) -> Any:
    if value == '{}':
        return {}
    return None if value is None else _DECODER.decode(value)


def json_dict() -> oslo_types.JsonEncodedDict:
    """Return the type for a JSON object."""
    return JsonDict(mysql_as_medium=True)


def big_id() -> Any:
    """Return a type for large integers; SQLite autoincrements only INTEGER columns."""
    return sa.BigInteger().with_variant(sa.Integer(), 'sqlite')


def columns(kind: Any, *names: str, **options: Any) -> list[sa.Column[Any]]:
    """Return columns of one type, with the same options."""
    return [sa.Column(name, kind, **options) for name in names]


def claim() -> tuple[sa.Column[Any], sa.Column[Any]]:
    """Return the columns for the process that has claimed a row, and until when."""
    return sa.Column('claim_owner', exact(64)), sa.Column('claim_until', UtcDateTime())
