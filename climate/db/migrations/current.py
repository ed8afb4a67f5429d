# SPDX-License-Identifier: Apache-2.0

"""The revision of the tables, for processes that do not upgrade them.

They load the library that upgrades tables only if these are not at the newest revision.
"""

from __future__ import annotations

import pkgutil
from typing import Final

import sqlalchemy as sa

from climate import exceptions
from climate.db.migrations import versions

# The library writes the revision into this table.
_VERSIONS: Final = sa.table('alembic_version', sa.column('version_num', sa.String))


def version(engine: sa.Engine) -> str | None:
    """Return the revision of the tables; None if there are none."""
    with engine.connect() as connection:
        return version_of(connection)


def version_of(connection: sa.Connection) -> str | None:
    """Return the revision of the tables; None if there are none."""
    if not sa.inspect(connection).has_table(_VERSIONS.name):
        return None
    return connection.scalars(sa.select(_VERSIONS.c.version_num)).one_or_none()


def number(revision: str) -> str:
    """Return the number of a revision."""
    return revision.partition('.')[0]


def newest() -> str:
    """Return the number of the newest revision that the code knows, from the name of its module."""
    return max(info.name.partition('_')[0] for info in pkgutil.iter_modules(versions.__path__))


def check(engine: sa.Engine) -> None:
    """Refuse tables on which this code does not work.

    :raises climate.exceptions.ConfigurationError: with what the operator must do
    """
    found = version(engine)
    if found is None or number(found) == newest():
        return
    from climate.db.migrations import migration  # noqa: PLC0415  loads alembic

    if (why := migration.complaint(found, migration.revisions())) is not None:
        raise exceptions.ConfigurationError(why)
