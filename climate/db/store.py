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

from climate.allocation.blocks import Block
from climate.clock import Clock
from climate.conf import allocation as allocation_options
from climate.conf import database as options
from climate.db import addresses
from climate.db import clock_difference
from climate.db import connections
from climate.db import errors
from climate.db import key_files
from climate.db import prepared
from climate.db.allocations import Allocations
from climate.db.attempts import Attempts
from climate.db.books import Books
from climate.db.books import Docket
from climate.db.calendar_pages import CalendarPages
from climate.db.catalogue import Catalogue
from climate.db.charges import Charges
from climate.db.chores import Chores
from climate.db.claims import Claims
from climate.db.clock_difference import Difference
from climate.db.deliveries import Deliveries
from climate.db.events import Events
from climate.db.failures import Failures
from climate.db.feeds import FeedRows
from climate.db.handovers import Handovers
from climate.db.holdings import Holdings
from climate.db.idempotency_keys import IdempotencyKeys
from climate.db.intents import Intents
from climate.db.judgement import LostRace
from climate.db.lease_lists import LeaseLists
from climate.db.leases import Leases
from climate.db.lock_waits import LockWaits
from climate.db.maintenances import Maintenances
from climate.db.oddities import Oddities
from climate.db.offers import Offers
from climate.db.outbox import Outbox
from climate.db.oversight import Oversight
from climate.db.projects import Projects
from climate.db.properties import Properties
from climate.db.property_choices import PropertyCounts
from climate.db.refusals import RefusalCounts
from climate.db.reservations import Reservations
from climate.db.reservations import VAULT
from climate.db.resource_types import ResourceTypes
from climate.db.resources import Resources
from climate.db.rooms import Rooms
from climate.db.search import ResourceSearch
from climate.db.secrets import Secrets
from climate.db.steps import HistorySteps
from climate.db.things import Things
from climate.db.timeline_following import TimelineFollowing
from climate.db.timeline_reader import TimelineReader
from climate.db.timelines import Timelines
from climate.db.troubles import Troubles
from climate.db.trusts import Trusts
from climate.db.usage import UsageReports
from climate.db.vault import Vault
from climate.db.webhooks import WebhookRows
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
    options.register_opts(conf)
    allocation_options.register_opts(conf)
    conf.set_default('max_retries', 0, group='database')
    # As many as a process has threads. A thread that finds no connection in the pool
    # opens one for each transaction, which takes longer.
    conf.set_default('max_pool_size', 20, group='database')
    # Four processes then need fewer than the 151 that MariaDB accepts by default.
    conf.set_default('max_overflow', 15, group='database')


class Transaction:
    """A transaction, with a repository for each table.

    :ivar session: the connection that it has for itself
    :ivar now: the instant at which it began (aware UTC), used for ``created_at``
        and ``updated_at``
    :ivar book: locks resources, and returns the :class:`Books` that can book them
    :param clock: the source of that instant
    :param docket: None in a read-only transaction
    :ivar timelines: None if everything is searched for in SQL
    :ivar following: lets them follow what it books; None if no search has used them
    :param waits: whether it waits for timelines, since SQL does not answer its questions
    :ivar budget: what is left for the request that it serves
    """

    def __init__(
        self,
        session: sa.Connection,
        clock: Clock,
        docket: Docket | None = None,
        timelines: Timelines | None = None,
        *,
        waits: bool = False,
        budget: RequestBudget = UNLIMITED,
    ) -> None:
        self.now = now = clock.now()
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
        self.property_values = PropertyCounts(session, now)
        self.troubles = Troubles(session, now)
        self.leases = Leases(session, now)
        self.lease_lists = LeaseLists(session, now)
        self.reservations = Reservations(session, now)
        self.allocations = Allocations(session, now)
        self.handovers = Handovers(session, now)
        self.holdings = Holdings(session, now)
        self.events = Events(session, now)
        self.steps = HistorySteps(session, now)
        self.outbox = Outbox(session, now)
        self.claims = Claims(session, now)
        self.charges = Charges(session, now)
        self.chores = Chores(session, now)
        self.trusts = Trusts(session, now)
        self.intents = Intents(session, now)
        self.idempotency_keys = IdempotencyKeys(session, now)
        self.offers = Offers(session, now)
        self.secrets = Secrets(session, now)
        self.oddities = Oddities(session, now)
        self.projects = Projects(session, now)
        self.book = functools.partial(Books, session, now, docket)
        self.timelines = timelines
        self.following: TimelineFollowing | None = None
        self._docket = docket
        self._waits = waits
        self.budget = budget
        self._add_others(session, now)

    def _add_others(self, session: sa.Connection, now: datetime.datetime) -> None:
        self.calendar_pages = CalendarPages(session, now)
        self.oversight = Oversight(session, now)
        self.refusals = RefusalCounts(session, now)
        self.usage = UsageReports(session, now)
        self.webhooks = WebhookRows(session, now)
        self.deliveries = Deliveries(session, now)
        self.feeds = FeedRows(session, now)

    def timeline(
        self, resource_type: str, until: datetime.datetime | None = None, *, waits: bool = False
    ) -> list[Block] | None:
        """Return all resources of a type with what is booked of them; None to use SQL.

        Before anything is written: timelines must not contain what may be rolled back.

        :param until: the end of the period that is of interest; None for one within the
            horizon, or for everything in a transaction that waits
        :param waits: whether this question is not for SQL, as all of such a transaction
        """
        if self.timelines is None:
            return None
        reader = TimelineReader(self.session, self.now)
        found: list[Block] | None
        with self.budget.for_all():
            if self._waits or waits:
                found = self.timelines.complete(reader, resource_type, until)
            else:
                found = self.timelines.current(reader, resource_type, until)
        if found is not None:
            self.follow(self.timelines)
        return found

    def follow(self, timelines: Timelines) -> None:
        """Let timelines follow what it books, because it chooses from them."""
        if self._docket is not None and self.following is None:
            self.following = TimelineFollowing(timelines, self._docket)

    def undo(self) -> None:
        """Roll back what was written, and release all locks."""
        self.session.rollback()


class Store:
    """Runs work in transactions on the configured database.

    :ivar vault: encrypts the secrets of drafts
    :ivar timelines: answer questions about free time; bookings search there only if
        ``[allocation] timelines`` is set
    :raises climate.exceptions.ConfigurationError: if no database is configured, or
        its driver is not installed
    """

    def __init__(self, conf: cfg.ConfigOpts, clock: Clock) -> None:
        self._clock = clock
        self.timelines = Timelines(
            datetime.timedelta(seconds=conf.allocation.cleaning_time),
            datetime.timedelta(days=conf.allocation.timeline_horizon),
        )
        self._timelines = self.timelines if conf.allocation.timelines else None
        self._manager = enginefacade.transaction_context()
        self.vault = Vault(key_files.configured(conf))
        connection = addresses.usable(conf.database.connection)
        self._password = addresses.password(connection)
        ours = {option.dest for option in options.OPTS}
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
    def reading(
        self, timelines: Timelines | None = None, budget: RequestBudget = UNLIMITED
    ) -> Iterator[Transaction]:
        """Open a read-only transaction.

        :param timelines: those that it waits for; None for those of bookings, if they use any
        :param budget: what is left for the request that it serves
        :raises climate.exceptions.DatabaseUnavailable: if it does not answer
        """
        try:
            with self.engine.connect() as session, prepared.kept(session), budget.transaction():
                session.info[VAULT] = self.vault
                found, waits = timelines or self._timelines, timelines is not None
                yield Transaction(session, self._clock, timelines=found, waits=waits, budget=budget)
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
            docket = Docket()
            transaction = Transaction(session, self._clock, docket, self._timelines, budget=budget)
            try:
                with budget.transaction():
                    yield transaction
                if transaction.following is not None:
                    transaction.following.read(session)
                if docket.additions:
                    # This has to be the last statement before the commit.
                    docket.judge(session)
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

        Bookings are checked before the commit (:mod:`climate.db.judgement`). After a
        deadlock, or an insert of a row that another transaction has inserted
        meanwhile, *work* is called again in a new transaction. It must therefore have
        no effects outside the database.

        :param undone: roll back instead of committing, whatever *work* has written
        :param budget: what is left for the request that it serves
        :raises climate.db.judgement.LostRace: if the resources lack the capacity for
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
        """Load the timelines that are not loaded yet, if they are enabled.

        :raises climate.exceptions.DatabaseUnavailable: if it does not answer
        """
        for resource_type in resource_types:
            if self._timelines is not None and not self._timelines.has(resource_type):
                with self.reading() as transaction:
                    transaction.timeline(resource_type)

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
