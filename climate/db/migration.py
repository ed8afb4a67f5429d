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

"""Upgrades the tables of a database to the revision that the code needs."""

from __future__ import annotations

import pathlib

import sqlalchemy as sa
from alembic import command
from alembic import config
from alembic import migration
from alembic import script
from alembic import util

from climate import exceptions
from climate.db import tables


def sync(engine: sa.Engine, revision: str = 'head') -> None:
    """Upgrade the tables to *revision*, unless they already have it.

    :raises climate.exceptions.InvalidInput: if the code does not know it, or that of the tables
    """
    with engine.begin() as connection:
        alembic = _config()
        alembic.attributes['connection'] = connection
        try:
            command.upgrade(alembic, revision)
        except util.CommandError as error:
            raise exceptions.InvalidInput(str(error)) from None


def version(engine: sa.Engine) -> str | None:
    """Return the revision of the tables; None if there are none."""
    with engine.connect() as connection:
        return version_of(connection)


def version_of(connection: sa.Connection) -> str | None:
    """Return the revision of the tables; None if there are none."""
    return migration.MigrationContext.configure(connection).get_current_revision()


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
