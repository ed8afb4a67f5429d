# SPDX-License-Identifier: Apache-2.0

"""Upgrades the tables of a database to the revision that the code needs.

A process may meet tables that a newer release has upgraded. Their revision says whether it
can work on them: ``0031.0029`` is revision 0031, on which code works that knows revision
0029. Without such an ending, all code works on it.

The first revision is that of the tables before the first release. What was older is upgraded
by a commit of that time.
"""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator
from collections.abc import Sequence

import sqlalchemy as sa
from alembic import command
from alembic import config
from alembic import script
from alembic import util

from climate import exceptions
from climate.db.engine import lock_waits
from climate.db.engine import session_limits
from climate.db.migrations.current import number
from climate.db.migrations.current import version_of
from climate.db.schema import tables
from climate.db.transactions import store

# How long an upgrade waits for another one of the same database.
_LOCK_SECONDS = 600
_LOCK_NAME = 'climate db sync'
# An upgrade that compares many rows sends no statement meanwhile.
_IDLE_SECONDS = 600
# The last commit with the migrations that made the tables of the first revision.
_COMMIT_BEFORE = '48181e9e1e34'


def sync(engine: sa.Engine, revision: str = 'head') -> None:
    """Upgrade the tables to *revision*, unless they already have it.

    It can be interrupted at any time and called again. Of several calls at once, one
    upgrades, and the others wait for it.

    :raises climate.exceptions.Conflict: if another call does not end, or if the tables or
        their rows cannot be upgraded
    :raises climate.exceptions.InvalidInput: if the code does not know it, or that of the tables
    """
    with engine.connect() as connection:
        if connection.dialect.name == 'sqlite':
            connection.info[store.WRITES] = True
        else:
            # What is set up here is not for those that would use the connection next.
            connection.detach()
            session_limits.relax(connection, _IDLE_SECONDS)
            lock_waits.relax(connection, _LOCK_SECONDS)
        with connection.begin(), _alone(connection):
            found, known = version_of(connection), revisions()
            if found is not None and (why := _too_old(found, known)) is not None:
                raise exceptions.InvalidInput(why)
            if found is not None and found not in known:
                raise exceptions.InvalidInput(
                    f'The tables are at {found}, which this release does not know: a newer one has'
                    ' upgraded them'
                )
            alembic = _config()
            alembic.attributes['connection'] = connection
            try:
                command.upgrade(alembic, revision)
            except util.CommandError as error:
                raise exceptions.InvalidInput(str(error)) from None


@contextlib.contextmanager
def _alone(connection: sa.Connection) -> Iterator[None]:
    """Wait until no other process upgrades these tables."""
    if connection.dialect.name == 'postgresql':
        connection.execute(
            sa.text('SELECT pg_advisory_xact_lock(hashtext(:name))'), {'name': _LOCK_NAME}
        )
    elif connection.dialect.name in ('mysql', 'mariadb'):
        # Not by a row or a table: each DDL statement would release it. The name is that of
        # all databases of the server, and has at most 64 characters.
        name = sa.func.concat(_LOCK_NAME, ' ', sa.func.crc32(sa.func.database()))
        if connection.scalar(sa.select(sa.func.get_lock(name, _LOCK_SECONDS))) != 1:
            raise exceptions.Conflict('Another process has been upgrading the tables for minutes')
    yield


def complaint(found: str, known: Sequence[str]) -> str | None:
    """Return why code does not work on tables; None if it does.

    :param found: the revision of the tables
    :param known: the revisions that the code knows, oldest first
    """
    numbers = [number(revision) for revision in known]
    if (why := _too_old(found, known)) is not None:
        return why
    if found not in known:
        needed = least(found)
        if needed is None or needed in numbers:
            return None
        return (
            f'A newer release has upgraded the tables to {found}, on which only releases work that'
            f' know {needed}; this one knows {known[-1]}: install the newer release'
        )
    if found == known[-1]:
        return None
    text = f'The tables are at {found}, the code needs {known[-1]}: run climate-manage db sync'
    needed = least(known[-1])
    if needed is not None and needed > number(found):
        text += (
            f'. First stop all processes of releases before revision {needed}: they do not work on'
            ' the new tables'
        )
    return text


def _too_old(found: str, known: Sequence[str]) -> str | None:
    """Return why tables are older than the first revision of the code; None if they are not."""
    if number(found) >= number(known[0]):
        return None
    return (
        f'The tables are at {found}, which only a commit before the first release can upgrade: run'
        f' climate-manage db sync of commit {_COMMIT_BEFORE}, which upgrades them to {known[0]}'
    )


def least(revision: str) -> str | None:
    """Return the number of the oldest revision that code must know to work on *revision*.

    None if all code works on it.
    """
    return revision.partition('.')[2] or None


def head() -> str:
    """Return the newest revision that the code knows."""
    found = script.ScriptDirectory.from_config(_config()).get_current_head()
    if found is None:
        raise RuntimeError('there are no migrations')
    return found


def revisions() -> list[str]:
    """Return all revisions that the code knows, oldest first."""
    walk = script.ScriptDirectory.from_config(_config()).walk_revisions()
    return [step.revision for step in walk][::-1]


def metadata() -> sa.MetaData:
    """Return the tables as the models define them."""
    return tables.METADATA


def _config() -> config.Config:
    found = config.Config()
    found.set_main_option('script_location', str(pathlib.Path(__file__).parent))
    return found
