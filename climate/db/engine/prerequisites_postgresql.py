# SPDX-License-Identifier: Apache-2.0

"""What PostgreSQL needs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

import sqlalchemy as sa

from climate.db.schema import tables

# CREATE OR REPLACE TRIGGER.
_OLDEST: Final = 140000
_ENCODING: Final = 'UTF8'

_FACTS: Final = sa.text("""
    SELECT current_setting('server_version_num')::int AS number,
           current_setting('server_version') AS version,
           current_setting('server_encoding') AS encoding,
           current_setting('transaction_read_only') = 'on' AS read_only,
           current_setting('max_connections')::int
           - current_setting('superuser_reserved_connections')::int AS accepted,
           current_database() AS database, current_user AS role, current_schema() AS schema,
           current_setting('search_path') AS path,
           current_schema() IS NULL
           OR has_schema_privilege(current_schema(), 'CREATE') AS creates,
           (SELECT pg_get_userbyid(datdba) FROM pg_database
            WHERE datname = current_database()) AS owner
""")
_OF_OTHERS: Final = sa.text("""
    SELECT relname, pg_get_userbyid(relowner) AS owner FROM pg_class
    JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = current_schema() AND relkind IN ('r', 'p') AND relname IN :names
          AND NOT pg_has_role(relowner, 'USAGE')
    ORDER BY relname
""").bindparams(sa.bindparam('names', expanding=True))


@dataclasses.dataclass(frozen=True, kw_only=True)
class PostgresqlFacts:
    """What a server says of itself, of the database and of the role.

    :ivar schema: where tables are created; None if no schema of the search path exists
    :ivar of_others: the owners of tables that the role cannot alter, by table
    """

    number: int
    version: str
    encoding: str
    read_only: bool
    accepted: int
    database: str
    role: str
    schema: str | None
    path: str
    creates: bool
    owner: str
    of_others: dict[str, str]


def read(connection: sa.Connection) -> PostgresqlFacts:
    """Ask the server."""
    row = connection.execute(_FACTS).one()._mapping
    names = [*tables.METADATA.tables, 'alembic_version']
    owners = connection.execute(_OF_OTHERS, {'names': names}).all()
    return PostgresqlFacts(**row, of_others={str(name): str(owner) for name, owner in owners})


def complaints(facts: PostgresqlFacts) -> Iterator[str]:
    """Yield a sentence for each thing that it lacks."""
    if facts.number < _OLDEST:
        yield f'PostgreSQL {facts.version} is too old: Climate needs {_OLDEST // 10000} or later'
    if facts.encoding != _ENCODING:
        yield (
            f'the database {facts.database} has the encoding {facts.encoding}, which cannot store'
            f" all texts: create it with ENCODING '{_ENCODING}' TEMPLATE template0"
        )
    if facts.read_only:
        yield 'the server is read-only: connect to the primary'
    if facts.schema is None:
        yield (
            f'no schema of the search path {facts.path} exists in the database {facts.database},'
            f' or {facts.role} may not use it'
        )
    if not facts.creates:
        yield (
            f'{facts.role} may not create tables in the schema {facts.schema} of the database'
            f' {facts.database}, which belongs to {facts.owner}:'
            f' ALTER DATABASE {facts.database} OWNER TO {facts.role}'
        )
    for table, owner in list(facts.of_others.items())[:1]:
        yield (
            f'{facts.role} may not alter the table {table}, and {len(facts.of_others) - 1} others,'
            f' which belong to {owner}: REASSIGN OWNED BY {owner} TO {facts.role}'
        )
