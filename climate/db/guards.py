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

"""Rules that the database enforces itself, for every writer.

The service decides what can be booked and judges its own result before it
commits. These are the same rules once more, as constraints and triggers, for
a faulty release and for statements typed on a console:

* what is allocated as a whole overlaps no other live allocation of its resource;
* at no instant is more of a class allocated than the resource has of it;
* what live allocations need is not taken away: a deleted resource has none and
  gets none, and inventories do not shrink below them.

Only growth is judged, and only the time by which an allocation grows. To give
something back, to shorten it or to hold it is never refused, nor is anything
because of overcommitment that was there before.

Every statement that lets use grow, or supply shrink, also *writes* the row of
the resource: it raises ``generation``. So two writers wait for each other,
the second one is refused at REPEATABLE READ on PostgreSQL, where it would not
see what the first one did, two nodes of a Galera cluster cannot both commit,
and a booking under way looks again.

The statements of each engine are in a module of its own. Each has one place
that says how much of a class is in use over a time; what counts use in another
way replaces that place.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.db import guards_mariadb
from climate.db import guards_postgresql
from climate.db import guards_sqlite


class Rule(enum.StrEnum):
    """What a statement was refused for: how the text of the refusal begins."""

    WHOLE = 'climate_whole_overlap'
    CAPACITY = 'climate_capacity'
    SUPPLY = 'climate_supply'
    DELETED = 'climate_deleted'


# MariaDB cuts texts at 128 characters, SQLite takes literals only: the same
# words everywhere, and no values in them.
TEXTS = {
    Rule.WHOLE: f'{Rule.WHOLE}: what is allocated as a whole overlaps another allocation',
    Rule.CAPACITY: f'{Rule.CAPACITY}: more of a class would be allocated than there is',
    Rule.SUPPLY: f'{Rule.SUPPLY}: live allocations need what would be removed',
    Rule.DELETED: f'{Rule.DELETED}: a resource would be allocated that is deleted',
}

_ENGINES = {
    'mysql': guards_mariadb,
    'mariadb': guards_mariadb,
    'postgresql': guards_postgresql,
    'sqlite': guards_sqlite,
}
_REFUSED = re.compile(f'({"|".join(Rule)}): ')


def statements(dialect: str, table: str | None = None) -> Iterator[str]:
    """Yield the DDL of an engine; each can be run again.

    :param dialect: name of SQLAlchemy's dialect
    :param table: only what belongs to this table; None for all
    """
    words = {rule.name.lower(): text for rule, text in TEXTS.items()}
    for owner, ddl in _ENGINES[dialect].guards(**words):
        if table in (None, owner):
            yield ddl


def come_with(metadata: sa.MetaData) -> None:
    """Have tables that are made of models guarded as well, as the migrations do."""
    for name in ('resources', 'inventories', 'allocations'):
        sa.event.listen(metadata.tables[name], 'after_create', _guard)


def _guard(table: sa.Table, connection: sa.Connection, **_: Any) -> None:
    install(connection, table.name)


def install(connection: sa.Connection, table: str | None = None) -> None:
    """Have the database keep the rules.

    A migration that makes one of the tables again on SQLite, where that is how
    columns are changed, has to call this afterwards: triggers go with a table.

    :param table: only those of this table; None for all
    :raises climate.exceptions.ConfigurationError: if the user of the database may
        not make triggers
    """
    try:
        for ddl in statements(connection.dialect.name, table):
            connection.exec_driver_sql(ddl)
    except sa.exc.DBAPIError as error:
        hint = guards_mariadb.hint(error.orig)
        if hint is None:
            raise
        raise exceptions.ConfigurationError(f'No trigger can be made: {hint}') from error


def broken(error: BaseException) -> Rule | None:
    """Return the rule for which the database refused a statement.

    :param error: what SQLAlchemy or oslo.db raised
    :returns: None if that was for something else
    """
    # Only what the driver says: SQLAlchemy's own texts have values in them.
    error = getattr(error, 'inner_exception', None) or error
    orig = getattr(error, 'orig', None)
    if orig is None:
        return None
    constraint = getattr(getattr(orig, 'diag', None), 'constraint_name', None)
    for text in (f'{constraint}: ', *orig.args):
        match = _REFUSED.match(text) if isinstance(text, str) else None
        if match is not None:
            return Rule(match[1])
    return None
