# SPDX-License-Identifier: Apache-2.0

"""The servers that tests may use, and fixtures for databases and queues on them.

If a server does not respond, the tests that need it are skipped. With
``CLIMATE_REQUIRE_SERVICES=1`` they fail, so that a complete run cannot be incomplete by
mistake.
"""

from __future__ import annotations

import contextlib
import functools
import getpass
import json
import os
import pathlib
import sys
import tempfile
import unittest
import uuid
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any
from typing import NoReturn

import amqp
import fixtures
import sqlalchemy as sa

from climate.db.engine import addresses

MARIADB = 'mysql'
POSTGRESQL = 'postgresql'
PSYCOPG2 = 'psycopg2'
"""PostgreSQL with its previous driver, which only a few tests use."""
RABBITMQ = 'rabbitmq'
SQLITE = 'sqlite'

DATABASE_SERVERS = (MARIADB, POSTGRESQL)
DATABASES = (SQLITE, *DATABASE_SERVERS)

_ENGINES = {SQLITE: 'Sqlite', MARIADB: 'Mariadb', POSTGRESQL: 'Postgresql', PSYCOPG2: 'Psycopg2'}
_TIMEOUT = 5
_DRIVERS = {'mysql': 'mysql+pymysql', 'postgresql': 'postgresql+psycopg'}
# Without encryption. PyMySQL reads the certificates of all authorities for each connection,
# even to a server that encrypts nothing, and Debian's PostgreSQL encrypts on request.
_QUERIES = {
    MARIADB: {'charset': 'utf8mb4', 'ssl_disabled': 'true'},
    POSTGRESQL: {'sslmode': 'disable'},
}
_PRIORITIES = ('audit', 'critical', 'debug', 'error', 'info', 'sample', 'warn')


def address(name: str) -> sa.URL:
    """Return the URL of a server, from the environment or a default.

    :param name: ``mysql``, ``postgresql``, ``psycopg2`` or ``rabbitmq``
    """
    if name == PSYCOPG2:
        return address(POSTGRESQL).set(drivername='postgresql+psycopg2')
    if name == MARIADB:
        text = os.environ.get('CLIMATE_TEST_MYSQL_URL', 'mysql://root@127.0.0.1:3306/')
    elif name == POSTGRESQL:
        default = f'postgresql://{getpass.getuser()}@127.0.0.1:5432/postgres'
        text = os.environ.get('CLIMATE_TEST_POSTGRESQL_URL', default)
    else:
        text = os.environ.get('CLIMATE_TEST_RABBIT_URL', 'rabbit://guest:guest@127.0.0.1:5672/')
    url = sa.make_url(text)
    url = url.set(drivername=_DRIVERS.get(url.drivername, url.drivername))
    return url.set(query={**_QUERIES.get(name, {}), **url.query})


@functools.cache
def trouble(name: str) -> str | None:
    """Return why a server cannot be used; None if it can. Checks once per process."""
    try:
        if name == RABBITMQ:
            _channel(address(name)).close()
        elif name != SQLITE:
            with _server(name).connect() as connection:
                connection.execute(sa.text('SELECT 1'))
    except (OSError, ImportError, amqp.exceptions.AMQPError, sa.exc.SQLAlchemyError) as error:
        lines = str(error).splitlines() or [type(error).__name__]
        return f'{name} does not answer at {address(name)!r}: {lines[0]}'
    return None


def answers(name: str) -> bool:
    """Whether a server can be used."""
    return trouble(name) is None


def require(name: str) -> None:
    """Skip the test if a server cannot be used, or fail if all servers are required.

    :raises unittest.SkipTest: if it does not respond
    :raises AssertionError: if it does not, and CLIMATE_REQUIRE_SERVICES is 1
    """
    reason = trouble(name)
    if reason is not None:
        missing(reason)


def missing(reason: str) -> NoReturn:
    """Skip the test because a server is missing, or fail if all servers are required.

    :raises unittest.SkipTest: with *reason*
    :raises AssertionError: with *reason*, if CLIMATE_REQUIRE_SERVICES is 1
    """
    if os.environ.get('CLIMATE_REQUIRE_SERVICES') == '1':
        raise AssertionError(reason)
    raise unittest.SkipTest(reason)


def on_each_engine(
    case: type | None = None, prefix: str = 'Test', engines: Iterable[str] = DATABASES
) -> Callable[[type], type]:
    """Return a class decorator that runs the tests of the class on each database engine.

    It adds one class per engine to the module of the decorated class: ``TestSqlite``,
    ``TestMariadb`` and ``TestPostgresql``. The attribute ``kind`` of each is its engine.

    :param case: the test case that the classes derive from as well; needed unless the
        decorated class is a test case, whose own tests run too
    :param prefix: the start of the names of the classes
    :param engines: some of ``DATABASES`` and ``psycopg2``
    :raises ValueError: when it decorates, if the module already has a class of such a name
    """

    def decorate(tests: type) -> type:
        module = vars(sys.modules[tests.__module__])
        bases = (tests, case) if case else (tests,)
        for kind in engines:
            name = prefix + _ENGINES[kind]
            if name in module:
                raise ValueError(f'{tests.__module__} has two classes {name}')
            module[name] = type(name, bases, {'__module__': tests.__module__, 'kind': kind})
        return tests

    return decorate


class Database(fixtures.Fixture):
    """An empty database, dropped afterwards.

    :ivar url: its URL for SQLAlchemy, including the password
    """

    def __init__(self, kind: str = SQLITE) -> None:
        """Prepare for a database of *kind*, one of ``DATABASES`` or ``psycopg2``."""
        super().__init__()
        if kind not in (*DATABASES, PSYCOPG2):
            raise ValueError(f'unknown kind of database: {kind}')
        self.kind = kind
        self.name = f'climate_test_{os.getpid()}_{uuid.uuid4().hex[:12]}'
        self.url = ''

    def setUp(self) -> None:
        """Create the database; skip or fail if the server is unavailable."""
        # Not in _setUp, whose exceptions are wrapped: a skip would become an error.
        require(self.kind)
        super().setUp()

    def _setUp(self) -> None:
        if self.kind == SQLITE:
            # Not in the directory of a NestedTempfile, which is deleted earlier.
            folder = tempfile.TemporaryDirectory(prefix='climate-', ignore_cleanup_errors=True)
            self.addCleanup(folder.cleanup)
            self.url = addresses.of_file(pathlib.Path(folder.name, f'{self.name}.sqlite'))
            return
        is_postgresql = self.kind in (POSTGRESQL, PSYCOPG2)
        extra = 'TEMPLATE template0' if is_postgresql else 'CHARACTER SET utf8mb4'
        _run(self.kind, f'CREATE DATABASE {self.name} {extra}')
        force = ' WITH (FORCE)' if is_postgresql else ''
        self.addCleanup(_run, self.kind, f'DROP DATABASE IF EXISTS {self.name}{force}')
        self.url = address(self.kind).set(database=self.name).render_as_string(hide_password=False)


class Broker(fixtures.Fixture):
    """A unique namespace on the message broker.

    :ivar url: the transport URL for oslo.messaging
    :ivar exchange: the name of a unique exchange, for ``[DEFAULT] control_exchange``
    """

    def __init__(self) -> None:
        super().__init__()
        self.exchange = f'climate_test_{os.getpid()}_{uuid.uuid4().hex[:12]}'
        self.url = ''
        self._topics: list[str] = []

    def setUp(self) -> None:
        """Check the broker; skip or fail if it is unavailable."""
        require(RABBITMQ)
        super().setUp()

    def _setUp(self) -> None:
        self.url = address(RABBITMQ).render_as_string(hide_password=False)
        self.addCleanup(self._delete)

    def topic(self, name: str) -> str:
        """Return a unique topic, whose queues are deleted afterwards."""
        topic = f'{self.exchange}.{name}'
        self._topics.append(topic)
        return topic

    def _queues(self) -> Iterator[str]:
        for topic in self._topics:
            yield topic
            yield from (f'{topic}.{priority}' for priority in _PRIORITIES)

    def _delete(self) -> None:
        # RabbitMQ ignores the deletion of queues that do not exist.
        connection = _channel(address(RABBITMQ))
        try:
            channel = connection.channel()
            for queue in self._queues():
                channel.queue_delete(queue)
            channel.exchange_delete(self.exchange)
        finally:
            connection.close()


def _server(name: str) -> sa.Engine:
    return sa.create_engine(
        address(name),
        isolation_level='AUTOCOMMIT',
        poolclass=sa.NullPool,
        connect_args={'connect_timeout': _TIMEOUT},
    )


def _run(name: str, statement: str) -> None:
    with _server(name).connect() as connection:
        connection.execute(sa.text(statement))


def _channel(url: sa.URL) -> amqp.Connection:
    connection = amqp.Connection(
        host=f'{url.host}:{url.port or 5672}',
        userid=url.username or 'guest',
        password=url.password or 'guest',
        virtual_host=url.database or '/',
        connect_timeout=_TIMEOUT,
        read_timeout=_TIMEOUT,
    )
    connection.connect()
    return connection


def notifications(topic: str) -> Iterator[dict[str, Any]]:
    """Take the notifications of a topic from the message bus, in the order in which they came."""
    with contextlib.closing(_channel(address(RABBITMQ))) as connection:
        channel = connection.channel()
        while (message := channel.basic_get(f'{topic}.info', no_ack=True)) is not None:
            yield json.loads(json.loads(message.body)['oslo.message'])
