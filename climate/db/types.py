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

"""Column types with the same semantics on SQLite, MariaDB and PostgreSQL."""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy as sa
from oslo_db.sqlalchemy import types as oslo_types
from sqlalchemy.dialects import mysql


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
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError('a naive datetime cannot be stored')
        return value.astimezone(datetime.UTC).replace(tzinfo=None)

    def process_result_value(
        self, value: datetime.datetime | None, dialect: sa.Dialect
    ) -> datetime.datetime | None:
        """Add the zone."""
        return None if value is None else value.replace(tzinfo=datetime.UTC)


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


class JsonDict(oslo_types.JsonEncodedDict):
    """A JSON object as text.

    It does not parse empty objects, which are the most frequent ones in lists.
    """

    cache_ok = True

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Any:
        """Return the object."""
        return {} if value == '{}' else super().process_result_value(value, dialect)


def json_dict() -> oslo_types.JsonEncodedDict:
    """Return the type for a JSON object."""
    return JsonDict(mysql_as_medium=True)


def big_id() -> Any:
    """Return a type for large integers; SQLite autoincrements only INTEGER columns."""
    return sa.BigInteger().with_variant(sa.Integer(), 'sqlite')
