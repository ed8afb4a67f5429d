# SPDX-License-Identifier: Apache-2.0

"""Rules of booking that the database enforces itself, for every writer.

The service decides what can be booked and checks its result before it commits.
Constraints and triggers enforce the same rules again, against a faulty release and
against statements typed on a console:

* an allocation of a whole resource overlaps no other live allocation of it;
* at no instant do the allocations of a class exceed what the resource has of it;
* what live allocations need cannot be removed: a deleted resource has none and gets
  none, and inventories do not shrink below them.

Only growth is checked, and only the time by which an allocation grows. The database
never refuses to release, shorten or hold an allocation, and refuses nothing because of
existing overcommitment.

Every statement that increases use or reduces supply also *writes* the row of the
resource: it increments ``generation``. This excludes writers from each other:

* the second of two writers waits for the first one;
* at REPEATABLE READ on PostgreSQL, where it would not see what the first one did, the
  second one is refused;
* two nodes of a Galera cluster cannot both commit;
* a booking under way chooses again.

The statements of each engine are in a module of their own. Each module computes the use
of a class over a period in one place (``_PEAK``). Change it there if use is stored
differently.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.db.schema import guards_mariadb
from climate.db.schema import guards_postgresql
from climate.db.schema import guards_sqlite


class Rule(enum.StrEnum):
    """The rule that a statement breaks; the message of the refusal begins with it."""

    WHOLE = 'climate_whole_overlap'
    CAPACITY = 'climate_capacity'
    SUPPLY = 'climate_supply'
    DELETED = 'climate_deleted'


# All engines use the same texts, without values: MariaDB truncates them to 128
# characters, and SQLite accepts literals only.
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
    """Yield the DDL statements of an engine; each can be run repeatedly.

    :param dialect: name of SQLAlchemy's dialect
    :param table: only what belongs to this table; None for all
    """
    words = {rule.name.lower(): text for rule, text in TEXTS.items()}
    for owner, ddl in _ENGINES[dialect].guards(**words):
        if table in (None, owner):
            yield ddl


def attach_to(metadata: sa.MetaData) -> None:
    """Install the rules whenever tables are created from the models."""
    for name in ('resources', 'inventories', 'allocations'):
        sa.event.listen(metadata.tables[name], 'after_create', _guard)


def _guard(table: sa.Table, connection: sa.Connection, **_: Any) -> None:
    install(connection, table.name)


def install(connection: sa.Connection, table: str | None = None) -> None:
    """Create the constraints and triggers.

    A migration that changes columns of one of the tables must call this afterwards:
    on SQLite that recreates the table, which drops its triggers.

    :param table: only those of this table; None for all
    :raises climate.exceptions.ConfigurationError: if the database user may not create
        triggers
    """
    try:
        for ddl in statements(connection.dialect.name, table):
            connection.exec_driver_sql(ddl)
    except sa.exc.DBAPIError as error:
        hint = guards_mariadb.hint(error.orig)
        if hint is None:
            raise
        raise exceptions.ConfigurationError(f'Cannot create triggers: {hint}') from error


def raises(dialect: str, rows: int) -> int:
    """Return by how much new allocations raise the generation of a resource.

    :param dialect: name of SQLAlchemy's dialect
    :param rows: live allocations that a transaction inserts after it has raised the
        generation itself
    """
    # On PostgreSQL, triggers skip resources that the transaction has already written.
    return 0 if dialect == 'postgresql' else rows


def broken(error: BaseException) -> Rule | None:
    """Return the rule that a statement broke.

    :param error: an exception of SQLAlchemy or oslo.db
    :returns: None if the statement failed for another reason
    """
    # Only the driver's message counts: SQLAlchemy's own messages contain values.
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
