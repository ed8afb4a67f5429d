# SPDX-License-Identifier: Apache-2.0

"""Where the database is, and by which driver it is reached."""

from __future__ import annotations

import importlib.util
from unittest import mock

from climate import exceptions
from climate.db.engine import addresses
from tests import base
from tests import services
from tests.functional.db import cases

_PG = 'client_encoding=utf8'


class TestAddresses(base.TestCase):
    """What operators write, and what is made of it."""

    def test_drivers(self) -> None:
        for written, wanted in (
            ('postgresql://u:p%40@h:5433/d', 'postgresql+psycopg://u:p%40@h:5433/d?' + _PG),
            ('postgresql+psycopg://u@h/d', 'postgresql+psycopg://u@h/d?' + _PG),
            ('postgresql+psycopg2://u@h/d', 'postgresql+psycopg2://u@h/d?' + _PG),
            ('mysql://u@h/d?charset=utf8mb4', 'mysql+pymysql://u@h/d?charset=utf8mb4'),
            ('mysql+pymysql://u@h/d', 'mysql+pymysql://u@h/d?charset=utf8mb4'),
            ('mysql://u@h/d?charset=utf8', 'mysql+pymysql://u@h/d?charset=utf8mb4'),
            ('postgresql://u@h/d?client_encoding=latin1', 'postgresql+psycopg://u@h/d?' + _PG),
            ('sqlite:////tmp/d', 'sqlite:////tmp/d'),
        ):
            self.assertEqual(wanted, addresses.usable(written))

    def test_what_is_installed(self) -> None:
        find = importlib.util.find_spec
        old = mock.patch.object(
            importlib.util, 'find_spec', lambda name: None if name == 'psycopg' else find(name)
        )
        with old:
            found = addresses.usable('postgresql://u@h/d')
        self.assertEqual('postgresql+psycopg2://u@h/d?' + _PG, found)
        with mock.patch.object(importlib.util, 'find_spec', return_value=None):
            for backend in ('postgresql', 'mysql'):
                self.assertIn(f'{backend}+', addresses.usable(f'{backend}://u@h/d'))

    def test_refusals_say_no_password(self) -> None:
        for written, text in (
            (None, 'is not set'),
            ('', 'is not set'),
            ('u:hunter2@h', 'is not a database URL'),
            ('postgresql+pg8000://u:hunter2@h/d', 'the driver pg8000 is not installed'),
            ('mysql+mysqldb://u:hunter2@h/d', 'the driver mysqldb is not installed'),
            ('oracle://u:hunter2@h/d', 'oracle is not supported'),
            ('nothing://u:hunter2@h/d', 'nothing is not supported'),
        ):
            error = self.assertRaises(exceptions.ConfigurationError, addresses.usable, written)
            self.assertIn(text, error.message)
            self.assertNotIn('hunter2', error.message)

    def test_what_is_prepared_at_a_server(self) -> None:
        for kind, driver in ((services.POSTGRESQL, 'psycopg'), (services.PSYCOPG2, 'psycopg2')):
            store = self.closing(cases.connect(self.useFixture(services.Database(kind)).url))
            self.assertEqual(driver, store.engine.dialect.driver)
            with store.engine.connect() as connection:
                for _ in range(8):
                    connection.exec_driver_sql('SELECT 1')
                count = connection.exec_driver_sql('SELECT count(*) FROM pg_prepared_statements')
                self.assertEqual(0, count.scalar_one(), driver)
