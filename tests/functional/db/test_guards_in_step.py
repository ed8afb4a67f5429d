# SPDX-License-Identifier: Apache-2.0
"""Migrations and models make the same constraints and triggers."""

from __future__ import annotations

from climate.db.migrations import migration
from climate.db.schema import guards
from tests import base
from tests import services
from tests.functional.db import cases
from tests.functional.db import unguarded


@services.on_each_engine(base.TestCase, 'TestInStep')
class _InStep:
    """Migrations and models guard alike."""

    def test_models_and_migrations_guard_alike(self) -> None:
        found = []
        for make in (migration.sync, migration.metadata().create_all):
            store = self.closing(cases.connect(self.useFixture(services.Database(self.kind)).url))
            make(store.engine)
            with store.engine.begin() as connection:
                found.append(unguarded.installed(connection))
                unguarded.remove(connection)
                self.assertEqual(set(), unguarded.installed(connection))
                guards.install(connection)
                found.append(unguarded.installed(connection))
        self.assertEqual([found[0]] * 4, found)
        self.assertTrue(found[0])
