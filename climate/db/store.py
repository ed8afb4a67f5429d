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

"""The door to the database: transactions, and what is done when they fail."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import functools
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from typing import Any
from typing import TypeVar

import sqlalchemy as sa
from oslo_config import cfg
from oslo_db import api as oslo_api
from oslo_db import exception as oslo_exception
from oslo_db import options as oslo_options
from oslo_db.sqlalchemy import enginefacade
from sqlalchemy import event
from sqlalchemy import orm

from climate.clock import Clock
from climate.conf import database as options
from climate.db import addresses
from climate.db import errors
from climate.db.allocations import Allocations
from climate.db.books import Books
from climate.db.books import Docket
from climate.db.catalogue import Catalogue
from climate.db.charges import Charges
from climate.db.chores import Chores
from climate.db.claims import Claims
from climate.db.events import Events
from climate.db.failures import Failures
from climate.db.handovers import Handovers
from climate.db.intents import Intents
from climate.db.leases import Leases
from climate.db.maintenances import Maintenances
from climate.db.oddities import Oddities
from climate.db.outbox import Outbox
from climate.db.projects import Projects
from climate.db.properties import Properties
from climate.db.reservations import Reservations
from climate.db.reservations import VAULT
from climate.db.resource_types import ResourceTypes
from climate.db.resources import Resources
from climate.db.rooms import Rooms
from climate.db.search import ResourceSearch
from climate.db.secrets import Secrets
from climate.db.steps import Steps
from climate.db.things import Things
from climate.db.troubles import Troubles
from climate.db.trusts import Trusts
from climate.db.vault import Vault

T = TypeVar('T')

_WRITES = 'climate_writes'
_SQLITE_BUSY_SECONDS = 30
_CONNECT_SECONDS = 5
_COMPARISONS = 3
# What a database says that it is o'clock in UTC, in the middle of a transaction.
_MYSQL_CLOCK = sa.text('SELECT UTC_TIMESTAMP(6)')
_CLOCKS = {
    'mysql': _MYSQL_CLOCK,
    'mariadb': _MYSQL_CLOCK,
    'postgresql': sa.text("SELECT clock_timestamp() AT TIME ZONE 'UTC'"),
}


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register oslo.db's options on *conf*, with defaults fit for a service.

    If the database is down, requests get 503 at once and do not wait: each
    caller tries again in its own way.
    """
    oslo_options.set_defaults(conf)
    options.register_opts(conf)
    conf.set_default('max_retries', 0, group='database')
    # As many as the threads of a process: a thread without a
    # connection in the pool opens one for each transaction, which takes longer.
    conf.set_default('max_pool_size', 20, group='database')


class Transaction:
    """One transaction, and the tables it can reach.

    :ivar now: the instant it began (aware UTC); written as created_at and
        updated_at
    :param clock: says what time it is
    :param docket: None if it only reads
    """

    def __init__(self, session: orm.Session, clock: Clock, docket: Docket | None = None) -> None:
        now = clock.now()
        self._docket = docket
        self.now = now
        self.session = session
        self.resources = Resources(session, now)
        self.things = Things(session, now)
        self.failures = Failures(session, now)
        self.rooms = Rooms(session, now)
        self.search = ResourceSearch(session, now)
        self.catalogue = Catalogue(session, now)
        self.maintenances = Maintenances(session, now)
        self.resource_types = ResourceTypes(session, now)
        self.properties = Properties(session, now)
        self.troubles = Troubles(session, now)
        self.leases = Leases(session, now)
        self.reservations = Reservations(session, now)
        self.allocations = Allocations(session, now)
        self.handovers = Handovers(session, now)
        self.events = Events(session, now)
        self.steps = Steps(session, now)
        self.outbox = Outbox(session, now)
        self.claims = Claims(session, now)
        self.charges = Charges(session, now)
        self.chores = Chores(session, now)
        self.trusts = Trusts(session, now)
        self.intents = Intents(session, now)
        self.secrets = Secrets(session, now)
        self.oddities = Oddities(session, now)
        self.projects = Projects(session, now)

    def undo(self) -> None:
        """Take back all that was written; nothing is locked any more."""
        self.session.rollback()

    def book(
        self,
        resource_ids: Collection[int],
        *,
        pause: datetime.timedelta = datetime.timedelta(0),
        own: Collection[str] = (),
    ) -> Books:
        """Lock resources and return the right to book them; see :class:`Books`.

        :raises RuntimeError: if the transaction only reads
        """
        if self._docket is None:
            raise RuntimeError('a transaction that only reads cannot book')
        return Books(self.session, self.now, self._docket, resource_ids, pause=pause, own=own)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """How two clocks differ.

    :ivar offset: what has to be added to ours for that of the database
    :ivar uncertainty: half of the time that asking took
    """

    offset: datetime.timedelta = datetime.timedelta(0)
    uncertainty: datetime.timedelta = datetime.timedelta(0)


class Store:
    """Runs work in transactions on the configured database.

    :ivar vault: what encrypts the secrets of drafts
    :raises climate.exceptions.ConfigurationError: if none is configured, or
        what it takes to reach it is not installed
    """

    def __init__(self, conf: cfg.ConfigOpts, clock: Clock) -> None:
        self._clock = clock
        self._manager = enginefacade.transaction_context()
        self.vault = Vault(conf.database.encryption_keys)
        connection = addresses.usable(conf.database.connection)
        ours = {option.dest for option in options.OPTS}
        theirs = {key: value for key, value in conf.database.items() if key not in ours}
        self._manager.configure(**{**theirs, 'connection': connection})
        # The pause after each use is for green threads, which there are none of.
        self._manager.configure(sqlite_fk=True, thread_checkin=False)
        self._manager.append_on_engine_create(_tune)

    @contextlib.contextmanager
    def answering(self) -> Iterator[sa.Engine]:
        """Give the engine to what needs it, such as migrations.

        :raises climate.exceptions.DatabaseUnavailable: if it does not answer
        """
        try:
            yield self.engine
        except errors.RAISED as error:
            errors.reraise(error)

    @property
    def engine(self) -> sa.Engine:
        """The engine, for migrations and tests."""
        return self._manager.writer.get_engine()

    @contextlib.contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Open a transaction that only reads.

        :raises climate.exceptions.DatabaseUnavailable: if it does not answer
        """
        try:
            with self._manager.reader.using(_Context()) as session:
                session.info[VAULT] = self.vault
                yield Transaction(session, self._clock)
        except errors.RAISED as error:
            errors.reraise(error)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Transaction]:
        with self._manager.writer.using(_Context()) as session:
            # Must be the first thing the session hears: SQLite decides at
            # BEGIN whether the transaction may write.
            session.connection(execution_options={_WRITES: True})
            session.info[VAULT] = self.vault
            docket = Docket()
            yield Transaction(session, self._clock, docket)
            if docket.additions:
                # The last statement before the commit, whatever the work was.
                docket.judge(session)

    def run(self, work: Callable[[Transaction], T]) -> T:
        """Run *work* in a transaction that may write, and commit.

        What it books is judged first (:mod:`climate.db.judgement`). The one
        place where a deadlock is tried again; *work* is then called again and
        must have no other effects than those in SQL. So is one that writes
        what another transaction has written since it looked: called again,
        *work* finds it there, and refuses or uses it.

        :raises climate.db.judgement.LostRace: if the resources do not bear
            what was booked; nothing is then
        :raises climate.exceptions.DatabaseUnavailable: if it does not answer
        :raises climate.exceptions.BookedMeanwhile: if the database itself finds
            something booked twice
        """

        @oslo_api.wrap_db_retry(
            max_retries=10,
            retry_interval=0.02,
            inc_retry_interval=True,
            max_retry_interval=0.5,
            retry_on_deadlock=True,
            exception_checker=_is_duplicate,
            jitter=True,
        )
        def attempt() -> T:
            with self._writing() as transaction:
                return work(transaction)

        try:
            return attempt()
        except errors.RAISED as error:
            errors.reraise(error)

    def ping(self) -> None:
        """Ask the database for an answer.

        :raises climate.exceptions.DatabaseUnavailable: if there is none
        """
        with self.reading() as transaction:
            transaction.session.execute(sa.text('SELECT 1'))

    def difference(self) -> Difference:
        """Compare the clock of the database with ours.

        SQLite has none of its own.

        :raises climate.exceptions.DatabaseUnavailable: if it does not answer
        """
        with self.reading() as transaction:
            ask = _CLOCKS.get(transaction.session.connection().dialect.name)
            if ask is None:
                return Difference()
            # The first statement may have to connect, and any may have to wait
            # for a processor: the quickest answer says most.
            found = [self._compare(transaction.session, ask) for _ in range(_COMPARISONS)]
            return min(found, key=lambda one: one.uncertainty)

    def _compare(self, session: orm.Session, ask: sa.TextClause) -> Difference:
        before = self._clock.now()
        theirs = session.execute(ask).scalar_one().replace(tzinfo=datetime.UTC)
        half = (self._clock.now() - before) / 2
        return Difference(offset=theirs - before - half, uncertainty=half)

    def close(self) -> None:
        """Give all connections back."""
        self._manager.dispose_pool()


@enginefacade.transaction_context_provider
class _Context:
    """What oslo.db hangs a transaction on; a new one for each."""


def _is_duplicate(error: Exception) -> bool:
    return isinstance(error, oslo_exception.DBDuplicateEntry)


def _tune(engine: sa.Engine) -> None:
    {'sqlite': _tune_sqlite, 'mysql': _tune_mysql, 'mariadb': _tune_mysql}.get(
        engine.dialect.name, _tune_other
    )(engine)


def _tune_other(engine: sa.Engine) -> None:
    """PostgreSQL is as it should be: READ COMMITTED is its default."""
    event.listen(engine, 'do_connect', functools.partial(_limit_connect, 'connect_timeout'))
    if engine.dialect.driver == 'psycopg':
        event.listen(engine, 'do_connect', _unprepared)


def _tune_mysql(engine: sa.Engine) -> None:
    event.listen(engine, 'do_connect', functools.partial(_limit_connect, 'connect_timeout'))

    @event.listens_for(engine, 'connect')
    def _isolate(dbapi_connection: Any, _record: Any) -> None:
        # With InnoDB's own default a transaction that lost a race would read
        # the losing snapshot until its end.
        with dbapi_connection.cursor() as cursor:
            cursor.execute('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED')


def _limit_connect(name: str, _dialect: Any, _record: Any, _args: Any, params: Any) -> None:
    params.setdefault(name, _CONNECT_SECONDS)


def _unprepared(_dialect: Any, _record: Any, _args: Any, params: Any) -> None:
    # What is prepared at the server gets one plan for whatever is asked, and
    # searches need that of their own; nor do all poolers of connections know it.
    params.setdefault('prepare_threshold', None)


def _tune_sqlite(engine: sa.Engine) -> None:
    # oslo.db opens the file for each transaction, which takes longer than most
    # transactions. Its listeners on the pool move to the new one.
    engine.pool = sa.QueuePool(
        engine.pool._creator,
        max_overflow=-1,
        dialect=engine.dialect,
        _dispatch=engine.pool.dispatch,
    )

    @event.listens_for(engine, 'connect')
    def _prepare(dbapi_connection: Any, _record: Any) -> None:
        dbapi_connection.execute(f'PRAGMA busy_timeout = {_SQLITE_BUSY_SECONDS * 1000}')
        dbapi_connection.execute('PRAGMA journal_mode = WAL')
        # In WAL mode NORMAL loses nothing when a process dies, only the last
        # commits when the machine does; FULL would cost an fsync per commit.
        dbapi_connection.execute('PRAGMA synchronous = NORMAL')

    # oslo.db's listener comes first whatever one asks for, and what it has
    # begun cannot be made to write: it is replaced, and its marker kept, for
    # its listeners for the end remove it.
    for listener in list(engine.dispatch.begin):
        event.remove(engine, 'begin', listener)

    @event.listens_for(engine, 'begin')
    def _begin(connection: sa.Connection) -> None:
        if 'in_transaction' not in connection.info:
            writes = connection.get_execution_options().get(_WRITES)
            connection.exec_driver_sql('BEGIN IMMEDIATE' if writes else 'BEGIN')
            connection.info['in_transaction'] = True
