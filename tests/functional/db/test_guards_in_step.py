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
"""Migrations and models make the same constraints and triggers."""

from __future__ import annotations

from climate.db import guards
from climate.db import migration
from tests import base
from tests import services
from tests.functional.db import cases
from tests.functional.db import unguarded


class _InStep:
    """Migrations and models guard alike."""

    kind = ''

    def test_models_and_migrations_guard_alike(self) -> None:
        found = []
        for make in (migration.sync, migration.metadata().create_all):
            database = self.useFixture(services.Database(self.kind))
            store = cases.connect(database.url)
            self.addCleanup(store.close)
            make(store.engine)
            with store.engine.begin() as connection:
                found.append(unguarded.installed(connection))
                unguarded.remove(connection)
                self.assertEqual(set(), unguarded.installed(connection))
                guards.install(connection)
                found.append(unguarded.installed(connection))
        self.assertEqual([found[0]] * 4, found)
        self.assertTrue(found[0])


class TestInStepSqlite(_InStep, base.TestCase):
    """On SQLite."""

    kind = services.SQLITE


class TestInStepMariadb(_InStep, base.TestCase):
    """On MariaDB."""

    kind = services.MARIADB


class TestInStepPostgresql(_InStep, base.TestCase):
    """On PostgreSQL."""

    kind = services.POSTGRESQL
