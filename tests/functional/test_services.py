# SPDX-License-Identifier: Apache-2.0

"""The servers that tests borrow from: found or not, and left as they were."""

from __future__ import annotations

import os
import sys
import types
import unittest
from unittest import mock

import fixtures
import sqlalchemy as sa
import testtools

from tests import base
from tests import services
from tests.functional.processes import free_port


def _needing_mariadb() -> tuple[type[base.TestCase], type[base.TestCase]]:
    """Return cases that need MariaDB: in a fixture, and in a fixture of a fixture.

    They are made here because a loader runs what a module has.
    """

    class UsesDatabase(base.TestCase):
        def test_it(self) -> None:
            self.useFixture(services.Database(services.MARIADB))

    class Outer(fixtures.Fixture):
        def _setUp(self) -> None:
            self.useFixture(services.Database(services.MARIADB))

    class UsesOuter(base.TestCase):
        def test_it(self) -> None:
            self.useFixture(Outer())

    return UsesDatabase, UsesOuter


class TestAnswers(base.TestCase):
    """A server that is away skips a test, or fails it where it must be there."""

    def setUp(self) -> None:
        super().setUp()
        services.trouble.cache_clear()
        self.addCleanup(services.trouble.cache_clear)
        port = free_port()
        for name, url in (
            ('CLIMATE_TEST_MYSQL_URL', f'mysql://root@127.0.0.1:{port}/'),
            ('CLIMATE_TEST_POSTGRESQL_URL', f'postgresql://x:secret@127.0.0.1:{port}/postgres'),
            ('CLIMATE_TEST_RABBIT_URL', f'rabbit://guest:guest@127.0.0.1:{port}/'),
        ):
            self.useFixture(fixtures.EnvironmentVariable(name, url))

    def test_an_unavailable_server_skips_the_test(self) -> None:
        self.useFixture(fixtures.EnvironmentVariable('CLIMATE_REQUIRE_SERVICES', None))
        for name in (services.MARIADB, services.POSTGRESQL, services.RABBITMQ):
            self.assertFalse(services.answers(name))
            with self.assertRaisesRegex(unittest.SkipTest, f'{name} does not answer'):
                services.require(name)

    def test_an_unavailable_server_fails_if_services_are_required(self) -> None:
        self.useFixture(fixtures.EnvironmentVariable('CLIMATE_REQUIRE_SERVICES', '1'))
        for name in (services.MARIADB, services.POSTGRESQL, services.RABBITMQ):
            with self.assertRaisesRegex(AssertionError, f'{name} does not answer'):
                services.require(name)

    def test_sqlite_is_always_there(self) -> None:
        self.useFixture(fixtures.EnvironmentVariable('CLIMATE_REQUIRE_SERVICES', '1'))
        services.require(services.SQLITE)

    def test_reason_keeps_the_password(self) -> None:
        self.assertNotIn('secret', services.trouble(services.POSTGRESQL) or 'secret')

    def test_fixture_skips_its_test(self) -> None:
        self.useFixture(fixtures.EnvironmentVariable('CLIMATE_REQUIRE_SERVICES', None))
        for case in _needing_mariadb():
            result = unittest.TestResult()
            case('test_it').run(result)
            self.assertEqual(1, len(result.skipped))
            self.assertTrue(result.wasSuccessful())

    def test_fixture_fails_its_test_where_all_must_answer(self) -> None:
        self.useFixture(fixtures.EnvironmentVariable('CLIMATE_REQUIRE_SERVICES', '1'))
        for case in _needing_mariadb():
            result = unittest.TestResult()
            case('test_it').run(result)
            self.assertEqual([], result.skipped)
            ((_, text),) = result.errors + result.failures
            self.assertIn('mysql does not answer', text)


class TestOnEachEngine(base.TestCase):
    """A decorated class has a test case for each engine in its module."""

    def setUp(self) -> None:
        super().setUp()
        self.module = types.ModuleType('made_up')
        patch = mock.patch.dict(sys.modules, made_up=self.module)
        patch.start()
        self.addCleanup(patch.stop)

        class Tests:
            kind = ''

            def test_it(self) -> None:
                pass

        Tests.__module__ = 'made_up'
        self.tests = Tests

    def ids(self) -> dict[str, str]:
        """Return the engine of each test that a loader finds in the module."""
        found = unittest.defaultTestLoader.loadTestsFromModule(self.module)
        return {case.id(): case.kind for suite in found for case in suite}

    def test_names(self) -> None:
        self.assertIs(self.tests, services.on_each_engine(base.TestCase)(self.tests))
        ids = [f'made_up.Test{each}.test_it' for each in ('Sqlite', 'Mariadb', 'Postgresql')]
        self.assertEqual(dict(zip(ids, services.DATABASES, strict=True)), self.ids())

    def test_some_engines_of_a_test_case(self) -> None:
        engines = (services.SQLITE, services.PSYCOPG2)
        case = type('TestOn', (self.tests, base.TestCase), {'__module__': 'made_up'})
        services.on_each_engine(prefix='TestOn', engines=engines)(case)
        ids = [f'made_up.TestOn{each}.test_it' for each in ('Sqlite', 'Psycopg2')]
        self.assertEqual(dict(zip(ids, engines, strict=True)), self.ids())

    def test_name_of_another_class(self) -> None:
        services.on_each_engine(base.TestCase)(self.tests)
        with self.assertRaisesRegex(ValueError, 'made_up has two classes TestSqlite'):
            services.on_each_engine(base.TestCase)(self.tests)


class TestAddress(base.TestCase):
    """Addresses come from the environment and name the drivers that are used."""

    def test_defaults(self) -> None:
        for name in ('MYSQL', 'POSTGRESQL', 'RABBIT'):
            self.useFixture(fixtures.EnvironmentVariable(f'CLIMATE_TEST_{name}_URL', None))
        mariadb = services.address(services.MARIADB)
        self.assertEqual(
            'mysql+pymysql://root@127.0.0.1:3306/?charset=utf8mb4&ssl_disabled=true', str(mariadb)
        )
        postgresql = services.address(services.POSTGRESQL)
        self.assertEqual('postgresql+psycopg', postgresql.drivername)
        self.assertEqual(('127.0.0.1', 'disable'), (postgresql.host, postgresql.query['sslmode']))
        self.assertEqual('guest', services.address(services.RABBITMQ).password)

    def test_environment(self) -> None:
        self.useFixture(
            fixtures.EnvironmentVariable('CLIMATE_TEST_MYSQL_URL', 'mysql://me:pw@db:33/')
        )
        found = services.address(services.MARIADB)
        self.assert_has(found, username='me', password='pw', host='db', port=33)

    def test_encryption_on_request(self) -> None:
        url = 'postgresql://me@db/postgres?sslmode=require'
        self.useFixture(fixtures.EnvironmentVariable('CLIMATE_TEST_POSTGRESQL_URL', url))
        self.assertEqual('require', services.address(services.POSTGRESQL).query['sslmode'])


@services.on_each_engine(base.TestCase, 'TestDatabaseOn')
class _Databases:
    """Each database is empty, its own, and gone afterwards."""

    def test_it_is_empty_and_gone_afterwards(self) -> None:
        kind = self.kind
        services.require(kind)
        one, two = services.Database(kind), services.Database(kind)
        with one, two:
            self.assertNotEqual(one.url, two.url)
            engine = sa.create_engine(one.url)
            self.assertEqual([], sa.inspect(engine).get_table_names())
            with engine.begin() as connection:
                connection.execute(sa.text('CREATE TABLE things (name VARCHAR(20))'))
            other = sa.create_engine(two.url)
            self.assertEqual([], sa.inspect(other).get_table_names())
            url = one.url
            # Connections are left open on purpose: a database has to go all the same.
        engine.dispose()
        other.dispose()
        self.assert_gone(kind, url)

    def assert_gone(self, kind: str, url: str) -> None:
        if kind == services.SQLITE:
            self.assertFalse(os.path.exists(sa.make_url(url).database or ''))
            return
        with (
            testtools.ExpectedException(sa.exc.OperationalError),
            sa.create_engine(url, poolclass=sa.NullPool).connect(),
        ):
            pass

    def test_unknown_kind(self) -> None:
        with self.assertRaisesRegex(ValueError, 'oracle'):
            services.Database('oracle')


class TestBroker(base.TestCase):
    """Each corner of the broker is its own, and gone afterwards."""

    def test_rabbitmq(self) -> None:
        services.require(services.RABBITMQ)
        with services.Broker() as broker, services.Broker() as other:
            self.assertNotEqual(broker.exchange, other.exchange)
            topic = broker.topic('notifications')
            self.assertNotEqual(topic, other.topic('notifications'))
            self.declare(f'{topic}.info')
            self.assertTrue(self.exists(f'{topic}.info'))
        self.assertFalse(self.exists(f'{topic}.info'))

    def declare(self, queue: str) -> None:
        connection = self.closing(services._channel(services.address(services.RABBITMQ)))
        connection.channel().queue_declare(queue, durable=True, auto_delete=False)

    def exists(self, queue: str) -> bool:
        connection = services._channel(services.address(services.RABBITMQ))
        try:
            connection.channel().queue_declare(queue, passive=True)
        except services.amqp.exceptions.NotFound:
            return False
        finally:
            connection.close()
        return True
