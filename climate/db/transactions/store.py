# SPDX-License-Identifier: Apache-2.0

"""Transactions on the configured database, and the retries of those that fail."""

from __future__ import annotations

import contextlib
import datetime
import functools
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any
from typing import TypeVar

import sqlalchemy as sa
from oslo_config import cfg
from oslo_db import options as oslo_options
from oslo_db.sqlalchemy import enginefacade

from climate import conf as options
from climate.clock import Clock
from climate.conf import allocation
from climate.conf import database
from climate.db.booking.verification import LostRace
from climate.db.booking.writer import PendingBookings
from climate.db.encryption import key_files
from climate.db.encryption.vault import Vault
from climate.db.engine import addresses
from climate.db.engine import clock_difference
from climate.db.engine import connections
from climate.db.engine import errors
from climate.db.engine import prepared
from climate.db.engine.clock_difference import Difference
from climate.db.engine.lock_waits import LockWaits
from climate.db.leases.reservations import VAULT
from climate.db.timelines.reader import TimelineReader
from climate.db.timelines.timelines import Timelines
from climate.db.transactions.attempts import Attempts
from climate.db.transactions.transaction import Transaction
from climate.domain.budgets import RequestBudget
from climate.domain.budgets import UNLIMITED

T = TypeVar('T')

# SQLite decides at BEGIN whether the transaction may write.
WRITES = 'climate_writes'
_WRITING_NOTHING = sa.text('UPDATE resources SET generation = generation WHERE 1 = 0')


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register oslo.db's options on *conf*, with defaults that suit a service, and ours.

    If the database is down, requests fail at once with 503: each caller has its own
    way to retry.
    """
    oslo_options.set_defaults(conf)
    options.register_opts(conf, allocation, database)
    conf.set_default('max_retries', 0, group='database')
    # As many as a process has threads. A thread that finds no connection in the pool
    # opens one for each transaction, which takes longer.
    conf.set_default('max_pool_size', 20, group='database')
    # Four processes then need fewer than the 151 that MariaDB accepts by default.
    conf.set_default('max_overflow', 15, group='database')


class Store:
    """Runs work in transactions on the configured database.

    :ivar vault: encrypts the secrets of drafts
    :ivar timelines: what is booked, in memory
    :raises climate.exceptions.ConfigurationError: if no database is configured, or
        its driver is not installed
    """

    def __init__(self, conf: cfg.ConfigOpts, clock: Clock) -> None:
        self._clock = clock
        self.timelines = Timelines(
            datetime.timedelta(seconds=conf.allocation.cleaning_time),
            datetime.timedelta(days=conf.allocation.timeline_horizon),
        )
        self._manager = enginefacade.transaction_context()
        self.vault = Vault(key_files.configured(conf))
        connection = addresses.usable(conf.database.connection)
        self._password = addresses.password(connection)
        ours = {option.dest for option in database.OPTS}
        theirs = {key: value for key, value in conf.database.items() if key not in ours}
        self._manager.configure(**{**theirs, 'connection': connection})
        # oslo.db's pause after each use serves green threads, which Climate does not use.
        self._manager.configure(sqlite_fk=True, thread_checkin=False)
        tune = functools.partial(_tune, clock, conf.database)
        self._waits = LockWaits(clock.ticks, conf.database.lock_timeout)
        self._manager.append_on_engine_create(tune)
        # Outermost, because its limits precede the statements of others.
        self._manager.append_on_engine_create(self._waits.set_up)

    @contextlib.contextmanager
    def answering(self) -> Iterator[sa.Engine]:
        """Yield the engine, and translate the errors of its use, for migrations.

        :raises climate.exceptions.DatabaseUnavailable: if it does not answer
        """
        try:
            yield self.engine
        except errors.RAISED as error:
            errors.reraise(error, self._password)

    @property
    def engine(self) -> sa.Engine:
        """The engine, for migrations and tests."""
        return self._manager.writer.get_engine()

    @contextlib.contextmanager
    def reading(self, budget: RequestBudget = UNLIMITED) -> Iterator[Transaction]:
        """Open a read-only transaction.

        :param budget: what is left for the request that it serves
        :raises climate.exceptions.DatabaseUnavailable: if it does not answer
        """
        try:
            with self.engine.connect() as session, prepared.kept(session), budget.transaction():
                session.info[VAULT] = self.vault
                yield Transaction(session, self._clock, self.timelines, budget=budget)
        except errors.RAISED as error:
            errors.reraise(error, self._password)

    @contextlib.contextmanager
    def _writing(
        self, budget: RequestBudget, *, undone: bool, attempts: Attempts | None = None
    ) -> Iterator[Transaction]:
        # Not the session of oslo.db, which takes longer than most statements.
        deadline = None if attempts is None else attempts.deadline
        with self.engine.connect() as session, self._waits.until(session, deadline):
            session.info[WRITES] = True
            session.begin()
            session.info[VAULT] = self.vault
            pending = PendingBookings()
            transaction = Transaction(session, self._clock, self.timelines, pending, budget=budget)
            try:
                with budget.transaction():
                    yield transaction
                if transaction.following is not None:
                    transaction.following.read(session)
                if pending.additions:
                    # This has to be the last statement before the commit.
                    pending.verify(session)
            except LostRace:
                if transaction.following is not None:
                    transaction.following.lost()
                raise
            if undone:
                return
            if attempts is not None:
                attempts.commits = True
            session.commit()
            if transaction.following is not None:
                transaction.following.committed()

    def run(
        self,
        work: Callable[[Transaction], T],
        *,
        undone: bool = False,
        budget: RequestBudget = UNLIMITED,
    ) -> T:
        """Run *work* in a transaction that may write, and commit.

        Bookings are checked before the commit (:mod:`climate.db.booking.verification`). After a
        deadlock, or an insert of a row that another transaction has inserted
        meanwhile, *work* is called again in a new transaction. It must therefore have
        no effects outside the database.

        :param undone: roll back instead of committing, whatever *work* has written
        :param budget: what is left for the request that it serves
        :raises climate.db.booking.verification.LostRace: if the resources lack the capacity for
            what was booked; the transaction is rolled back
        :raises climate.exceptions.DatabaseUnavailable: if the database does not answer, or
            cannot do this now
        :raises climate.exceptions.DatabaseRefused: if it refuses what no retry changes
        :raises climate.exceptions.BookedMeanwhile: if a constraint of the database
            finds a double booking
        """

        def attempt() -> T:
            with self._writing(budget, undone=undone, attempts=attempts) as transaction:
                attempts.began = transaction.now
                return work(transaction)

        try:
            with self._waits.deadline() as deadline:
                attempts = Attempts(self, self._clock, deadline)
                return attempts.run(attempt)
        except errors.RAISED as error:
            errors.reraise(error, self._password)

    def load_timelines(self, resource_types: Iterable[str]) -> None:
        """Load the timelines that are not loaded yet.

        :raises climate.exceptions.DatabaseUnavailable: if it does not answer
        """
        # While one reader computes, a server works for the other. Two that share SQLite's library
        # wait for each other, and take twice the processor time.
        with self.answering() as engine:
            number = 1 if engine.dialect.name == 'sqlite' else 2
        for resource_type in resource_types:
            if not self.timelines.has(resource_type):
                with contextlib.ExitStack() as stack:
                    opened = [stack.enter_context(self.reading()) for _ in range(number)]
                    readers = [TimelineReader(each.session, each.now) for each in opened]
                    self.timelines.load(readers, resource_type)

    def ping(self) -> None:
        """Check that the database answers, and that it can be written to.

        :raises climate.exceptions.DatabaseUnavailable: if it does not answer, or is read-only
        """
        with self.reading() as transaction:
            # No row, but refused by a server that is read-only, unlike a SELECT.
            transaction.session.execute(_WRITING_NOTHING)

    def difference(self) -> Difference:
        """Compare the clock of the database with the local one; with SQLite they are the same.

        :raises climate.exceptions.DatabaseUnavailable: if it does not answer
        """
        with self.reading() as transaction:
            return clock_difference.measured(transaction.session, self._clock)

    def close(self) -> None:
        """Close all connections."""
        self._manager.dispose_pool()


def _tune(clock: Clock, conf: Any, engine: sa.Engine) -> None:
    patience = connections.Patience.of(conf)
    connections.tune(clock, engine, prepares=conf.prepared_statements, patience=patience)
    if engine.dialect.name == 'sqlite':
        setattr(engine.dialect, 'do_begin', _begin_sqlite)  # noqa: B010 - of this engine only


def _begin_sqlite(connection: Any) -> None:
    writes = connection.info.pop(WRITES, False)
    connection.driver_connection.execute('BEGIN IMMEDIATE' if writes else 'BEGIN')
