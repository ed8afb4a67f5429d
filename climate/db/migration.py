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

"""Upgrades the tables of a database to the revision that the code needs.

A process may meet tables that a newer release has upgraded. Their revision says whether it
can work on them: ``0031.0029`` is revision 0031, on which code works that knows revision
0029. Without such an ending, all code works on it.
"""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator
from collections.abc import Sequence

import sqlalchemy as sa
from alembic import command
from alembic import config
from alembic import migration
from alembic import script
from alembic import util

from climate import exceptions
from climate.db import lock_waits
from climate.db import session_limits
from climate.db import sort_names
from climate.db import store
from climate.db import tables

# How long an upgrade waits for another one of the same database.
_LOCK_SECONDS = 600
_LOCK_NAME = 'climate db sync'
# An upgrade that compares many rows sends no statement meanwhile.
_IDLE_SECONDS = 600


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
            found = version_of(connection)
            if found is not None and found not in revisions():
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
            if revision == 'head':
                sort_names.fill(connection)


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


def version(engine: sa.Engine) -> str | None:
    """Return the revision of the tables; None if there are none."""
    with engine.connect() as connection:
        return version_of(connection)


def version_of(connection: sa.Connection) -> str | None:
    """Return the revision of the tables; None if there are none."""
    return migration.MigrationContext.configure(connection).get_current_revision()


def check_current(engine: sa.Engine) -> None:
    """Refuse tables on which this code does not work.

    :raises climate.exceptions.ConfigurationError: with what the operator must do
    """
    found = version(engine)
    if found is not None and (why := complaint(found, revisions())) is not None:
        raise exceptions.ConfigurationError(why)


def complaint(found: str, known: Sequence[str]) -> str | None:
    """Return why code does not work on tables; None if it does.

    :param found: the revision of the tables
    :param known: the revisions that the code knows, oldest first
    """
    numbers = [number(revision) for revision in known]
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


def number(revision: str) -> str:
    """Return the number of a revision."""
    return revision.partition('.')[0]


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
    found.set_main_option('script_location', str(pathlib.Path(__file__).with_name('migrations')))
    return found
