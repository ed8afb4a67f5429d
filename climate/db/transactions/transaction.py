# SPDX-License-Identifier: Apache-2.0

"""A transaction, and the repositories of the rows that it reads and writes."""

from __future__ import annotations

import contextlib
import datetime
import functools
from collections.abc import Callable
from typing import Generic
from typing import Protocol
from typing import TypeVar

import sqlalchemy as sa

from climate.allocation.blocks import Block
from climate.allocation.rearrangements import Rearrangement
from climate.clock import Clock
from climate.db.booking.idempotency_keys import IdempotencyKeys
from climate.db.booking.offers import Offers
from climate.db.booking.projects import Projects
from climate.db.booking.rests import Rests
from climate.db.booking.writer import BookingWriter
from climate.db.booking.writer import PendingBookings
from climate.db.leases.claims import Claims
from climate.db.leases.events import Events
from climate.db.leases.handovers import Handovers
from climate.db.leases.inconsistencies import Inconsistencies
from climate.db.leases.intents import Intents
from climate.db.leases.lease_lists import LeaseLists
from climate.db.leases.leases import Leases
from climate.db.leases.queues import LeaseQueue
from climate.db.leases.reservations import Reservations
from climate.db.leases.steps import HistorySteps
from climate.db.leases.trusts import Trusts
from climate.db.leases.yield_times import YieldTimes
from climate.db.messages.charges import Charges
from climate.db.messages.deliveries import Deliveries
from climate.db.messages.feeds import FeedRows
from climate.db.messages.outbox import Outbox
from climate.db.messages.webhooks import WebhookRows
from climate.db.processes.chores import Chores
from climate.db.processes.secrets import Secrets
from climate.db.reports.affected_leases import AffectedLeases
from climate.db.reports.calendar_pages import CalendarPages
from climate.db.reports.operator_lists import OperatorLists
from climate.db.reports.refusals import RefusalCounts
from climate.db.reports.usage import UsageReports
from climate.db.resources.allocations import Allocations
from climate.db.resources.catalogue import Catalogue
from climate.db.resources.failures import Failures
from climate.db.resources.holdings import Holdings
from climate.db.resources.maintenances import Maintenances
from climate.db.resources.properties import Properties
from climate.db.resources.property_choices import PropertyCounts
from climate.db.resources.resource_types import ResourceTypes
from climate.db.resources.resources import Resources
from climate.db.resources.things import Things
from climate.db.search.search import ResourceSearch
from climate.db.statements.repository import Repository
from climate.db.timelines.following import TimelineFollowing
from climate.db.timelines.reader import TimelineReader
from climate.db.timelines.timelines import Timelines
from climate.domain.budgets import RequestBudget
from climate.domain.budgets import UNLIMITED

R = TypeVar('R', bound=Repository)
T = TypeVar('T')


class _Rows(Generic[R]):
    """An attribute that creates a repository when a transaction first needs it."""

    def __init__(self, kind: type[R]) -> None:
        self._kind = kind

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, transaction: Transaction, owner: type) -> R:
        rows = self._kind(transaction.session, transaction.now)
        # From now on Python finds it there, without this descriptor.
        transaction.__dict__[self._name] = rows
        return rows


class Transaction:
    """A transaction, with a repository for each table.

    :ivar session: the connection that it has for itself
    :ivar now: the instant at which it began (aware UTC), used for ``created_at``
        and ``updated_at``
    :ivar book: locks resources, and returns the :class:`BookingWriter` that can book them
    :param clock: the source of that instant
    :param pending: None in a read-only transaction
    :ivar timelines: those of the store
    :ivar following: lets them follow what it books; None if no search has used them
    :ivar rearrangement: changes what searches find in them; None if nothing does
    :ivar budget: what is left for the request that it serves
    """

    resources = _Rows(Resources)
    things = _Rows(Things)
    failures = _Rows(Failures)
    search = _Rows(ResourceSearch)
    catalogue = _Rows(Catalogue)
    maintenances = _Rows(Maintenances)
    resource_types = _Rows(ResourceTypes)
    properties = _Rows(Properties)
    property_values = _Rows(PropertyCounts)
    affected_leases = _Rows(AffectedLeases)
    leases = _Rows(Leases)
    lease_lists = _Rows(LeaseLists)
    queue = _Rows(LeaseQueue)
    reservations = _Rows(Reservations)
    allocations = _Rows(Allocations)
    handovers = _Rows(Handovers)
    holdings = _Rows(Holdings)
    events = _Rows(Events)
    steps = _Rows(HistorySteps)
    outbox = _Rows(Outbox)
    claims = _Rows(Claims)
    charges = _Rows(Charges)
    chores = _Rows(Chores)
    trusts = _Rows(Trusts)
    intents = _Rows(Intents)
    idempotency_keys = _Rows(IdempotencyKeys)
    offers = _Rows(Offers)
    rests = _Rows(Rests)
    secrets = _Rows(Secrets)
    inconsistencies = _Rows(Inconsistencies)
    projects = _Rows(Projects)
    calendar_pages = _Rows(CalendarPages)
    operator_lists = _Rows(OperatorLists)
    refusals = _Rows(RefusalCounts)
    usage = _Rows(UsageReports)
    webhooks = _Rows(WebhookRows)
    deliveries = _Rows(Deliveries)
    feeds = _Rows(FeedRows)
    yield_times = _Rows(YieldTimes)

    def __init__(
        self,
        session: sa.Connection,
        clock: Clock,
        timelines: Timelines,
        pending: PendingBookings | None = None,
        *,
        budget: RequestBudget = UNLIMITED,
    ) -> None:
        self.now = now = clock.now()
        self.session = session
        self.book = functools.partial(BookingWriter, session, now, pending)
        self.timelines = timelines
        self.following: TimelineFollowing | None = None
        self.rearrangement: Rearrangement | None = None
        self._pending = pending
        self.budget = budget

    def timeline(self, resource_type: str, until: datetime.datetime | None = None) -> list[Block]:
        """Return all resources of a type with what is booked of them.

        Before anything is written: timelines must not contain what may be rolled back.

        :param until: the end of the period that is of interest; None for everything
        """
        if self.rearrangement is not None:
            return self.rearrangement.blocks(resource_type, lambda: self._timeline(resource_type))
        return self._timeline(resource_type, until)

    def _timeline(self, resource_type: str, until: datetime.datetime | None = None) -> list[Block]:
        reader = TimelineReader(self.session, self.now)
        with self.budget.for_all():
            blocks = self.timelines.current(reader, resource_type, until)
        self.follow()
        return blocks

    def unchanged_timeline(
        self, resource_type: str, until: datetime.datetime
    ) -> list[Block] | None:
        """Return what :meth:`timeline` returns if nothing has to be read; None otherwise."""
        reader = TimelineReader(self.session, self.now)
        with self.budget.for_all():
            return self.timelines.unchanged(reader, resource_type, until)

    def passing_timeline(self, resource_type: str, until: datetime.datetime) -> list[Block]:
        """Return what :meth:`timeline` returns, also of what this transaction has written."""
        reader = TimelineReader(self.session, self.now)
        return self.timelines.passing(reader, resource_type, until)

    def follow(self) -> None:
        """Let timelines follow what it books, because it chooses from them."""
        if self._pending is not None and self.following is None:
            self.following = TimelineFollowing(self.timelines, self._pending)

    def undo(self) -> None:
        """Roll back what was written, and release all locks."""
        self.session.rollback()


class Transactions(Protocol):
    """What runs work in transactions: a :class:`climate.db.transactions.store.Store`."""

    def reading(self) -> contextlib.AbstractContextManager[Transaction]:
        """Open a read-only transaction."""

    def run(self, work: Callable[[Transaction], T], /) -> T:
        """Run *work* in a transaction that may write, and commit."""
