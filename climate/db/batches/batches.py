# SPDX-License-Identifier: Apache-2.0

"""Transactions that change many leases with one statement for each step.

The code that changes a lease is the same as for a lease alone. It gets a
:class:`UnitOfWork`, a transaction that answers from what was read for the whole batch,
and records what is to be written. A lease that fails leaves nothing behind; the records
of all others are written together.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import cast
from typing import TypeVar

import sqlalchemy as sa

from climate.clock import ManualClock
from climate.db.batches.batch_reads import as_held
from climate.db.batches.batch_reads import BatchReads
from climate.db.batches.brief_locks import BriefLockAllocations
from climate.db.batches.brief_locks import limit_waits
from climate.db.leases.claims import Claims
from climate.db.leases.events import Events
from climate.db.leases.handovers import Blocker
from climate.db.leases.handovers import Handovers
from climate.db.leases.leases import Leases
from climate.db.leases.reservations import Reservations
from climate.db.leases.steps import HistorySteps
from climate.db.leases.trusts import Trusts
from climate.db.resources.allocations import Allocations
from climate.db.resources.holdings import holding
from climate.db.resources.holdings import Holdings
from climate.db.resources.resources import Resources
from climate.db.schema.tables import EVENTS
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import RESERVATIONS
from climate.db.schema.tables import STEPS
from climate.db.schema.tables import TRUSTS
from climate.db.statements import deferred
from climate.db.statements.deferred import DeferredWrites
from climate.db.statements.deferred import LeaseWrites
from climate.db.statements.deferred import NotBatched
from climate.db.statements.lists import Among
from climate.db.statements.repository import UNCLAIMED
from climate.db.timelines.timelines import Timelines
from climate.db.transactions.store import Transaction
from climate.domain.events import Event
from climate.domain.history import Effect
from climate.domain.history import HistoryStep
from climate.domain.holdings import HeldResource
from climate.domain.holdings import Holding
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.resources import Resource

T = TypeVar('T')
Part = TypeVar('Part', Event, Reservation)

# Built once, see leases.py.
_UNCLAIM = (
    sa.update(LEASES)
    .where(Among(LEASES.c.id, 'ids'), LEASES.c.claim_owner == sa.bindparam('owner'))
    .values(UNCLAIMED)
)
_FORGET = sa.delete(TRUSTS).where(Among(TRUSTS.c.id, 'ids'))


@dataclasses.dataclass(eq=False)
class _BatchLeases(Leases):
    reads: BatchReads
    writes: DeferredWrites

    def claimed(self, lease_id: str, owner: str) -> Lease | None:
        """Return a lease that the batch has locked.

        :raises NotBatched: if it has not: another transaction has locked the lease, or
            has claimed or deleted it
        """
        lease = self.reads.leases.get(lease_id)
        if lease is None:
            raise NotBatched('the lease is locked, or claimed by another manager')
        return lease

    def update(self, lease: Lease, *, unclaim: bool = False) -> None:
        old = self.reads.leases.get(lease.id)
        if old is None or self.writes.updates(LEASES, lease.id):
            super().update(lease, unclaim=unclaim)
        else:
            self.update_from(old, lease, unclaim=unclaim)


@dataclasses.dataclass(eq=False)
class _BatchReservations(Reservations):
    reads: BatchReads
    writes: DeferredWrites

    def update(self, reservation: Reservation) -> None:
        old = _stored(self.reads, reservation, 'reservations')
        if old is None or self.writes.updates(RESERVATIONS, reservation.id):
            super().update(reservation)
        else:
            self.update_from(old, reservation)


@dataclasses.dataclass(eq=False)
class _BatchEvents(Events):
    reads: BatchReads
    writes: DeferredWrites

    def update(self, event: Event) -> None:
        old = _stored(self.reads, event, 'events')
        if old is None or self.writes.updates(EVENTS, event.id):
            super().update(event)
        else:
            self.update_from(old, event)


def _stored(reads: BatchReads, part: Part, name: str) -> Part | None:
    """Return a part of a lease as the batch has read it; None if it has not."""
    lease = reads.leases.get(part.lease_id)
    parts: Iterable[Part] = () if lease is None else getattr(lease, name)
    return next((item for item in parts if item.id == part.id), None)


@dataclasses.dataclass(eq=False)
class _BatchAllocations(Allocations):
    reads: BatchReads
    writes: DeferredWrites

    def live_of(self, reservation_ids: Collection[str]) -> list[Allocation]:
        if self.writes.record.released or self.writes.record.given_back:
            raise NotBatched('reads allocations after it has released some')
        allocations = [
            item for key in reservation_ids for item in self.reads.allocations.get(key, ())
        ]
        held = self.writes.record.held
        allocations = [
            as_held(item) if item.reservation_id in held else item for item in allocations
        ]
        return sorted(allocations, key=lambda item: item.id or 0)

    def lock_resources(self, reservation_ids: Collection[str]) -> None:
        if not self.reads.locked.issuperset(reservation_ids):
            raise NotBatched('its resources are not locked')

    def holders(self, reservation_ids: Collection[str]) -> list[str]:
        self._check_free(reservation_ids)
        return []

    def crowded(self, reservation_ids: Collection[str]) -> bool:
        self._check_free(reservation_ids)
        return False

    def _check_free(self, reservation_ids: Collection[str]) -> None:
        """Check that no other lease holds what the reservations have.

        :raises NotBatched: if one does: a handover is decided alone
        """
        mine = self.live_of(reservation_ids)
        if self.reads.held.in_the_way(mine, reservation_ids, overdue_at=self._now):
            raise NotBatched('another lease holds its resources')

    def mark_held(self, reservation_ids: Collection[str]) -> None:
        self.writes.record.held.update(reservation_ids)

    def release(self, reservation_ids: Collection[str]) -> None:
        self.writes.record.released.update(reservation_ids)

    def give_back(self, amounts: Mapping[int, int]) -> None:
        self.writes.record.given_back.update(amounts)


@dataclasses.dataclass(eq=False)
class _BatchHoldings(Holdings):
    reads: BatchReads
    writes: DeferredWrites

    def of(self, reservation_ids: Collection[str]) -> dict[str, Holding]:
        if self.writes.record.released or self.writes.record.given_back:
            raise NotBatched('reads allocations after it has released some')
        holdings = {}
        for key in reservation_ids:
            ids = {item.resource_id for item in self.reads.allocations.get(key, ())}
            if not self.reads.resources.keys() >= ids:
                raise NotBatched('reads resources that it does not have')
            if ids:
                holdings[key] = holding(
                    HeldResource(one, self.reads.resources[one].name) for one in ids
                )
        return holdings


@dataclasses.dataclass(eq=False)
class _BatchHandovers(Handovers):
    reads: BatchReads

    def cleaned(
        self, reservation_ids: Collection[str], cleaning_time: datetime.timedelta
    ) -> list[Blocker]:
        mine = [item for key in reservation_ids for item in self.reads.allocations.get(key, ())]
        if self.reads.released(cleaning_time).in_the_way(mine, reservation_ids):
            raise NotBatched('its resources are being cleaned')
        return []


@dataclasses.dataclass(eq=False)
class _BatchResources(Resources):
    reads: BatchReads

    def with_ids(self, ids: Collection[int]) -> list[Resource]:
        if not self.reads.resources.keys() >= set(ids):
            raise NotBatched('reads resources that it does not have')
        return [self.reads.resources[key] for key in sorted(ids)]


@dataclasses.dataclass(eq=False)
class _BatchSteps(HistorySteps):
    reads: BatchReads
    writes: DeferredWrites

    def of_event(self, lease_id: str, event_id: str) -> list[HistoryStep]:
        if self.writes.writes(STEPS):
            raise NotBatched('reads its history after it has written it')
        return list(self.reads.steps.get((lease_id, event_id), ()))

    def undo(
        self,
        lease_id: str,
        reservation_ids: Collection[str],
        effects: Collection[Effect],
        event_id: str | None = None,
    ) -> None:
        self.writes.record.undone.append((lease_id, reservation_ids, effects, event_id))


@dataclasses.dataclass(eq=False)
class _BatchClaims(Claims):
    writes: DeferredWrites

    def release(self, owner: str, lease_id: str) -> None:
        self.writes.record.unclaimed.append(lease_id)


@dataclasses.dataclass(eq=False)
class _BatchTrusts(Trusts):
    writes: DeferredWrites

    def forget(self, trust_id: str) -> None:
        self.writes.record.forgotten.append(trust_id)


class UnitOfWork(Transaction):
    """The transaction of a batch, as one lease sees it.

    Updates by id are recorded without the columns that do not change. Repositories that are
    not replaced here record their inserts and updates as they are, and raise
    :class:`climate.db.statements.deferred.NotBatched` for everything else.

    :param writes: records what it changes
    :param clock: the time at which the transaction of the batch began
    :param timelines: those of the store
    """

    def __init__(
        self, reads: BatchReads, writes: DeferredWrites, clock: ManualClock, timelines: Timelines
    ) -> None:
        session = cast(sa.Connection, writes)
        super().__init__(session, clock, timelines)
        self.leases = _BatchLeases(session, self.now, reads, writes)
        self.reservations = _BatchReservations(session, self.now, reads, writes)
        self.events = _BatchEvents(session, self.now, reads, writes)
        self.allocations = _BatchAllocations(session, self.now, reads, writes)
        self.holdings = _BatchHoldings(session, self.now, reads, writes)
        self.handovers = _BatchHandovers(session, self.now, reads)
        self.resources = _BatchResources(session, self.now, reads)
        self.steps = _BatchSteps(session, self.now, reads, writes)
        self.claims = _BatchClaims(session, self.now, writes)
        self.trusts = _BatchTrusts(session, self.now, writes)
        self.book = functools.partial(_refuse_to_book)


def _refuse_to_book(*_arguments: Any, **_named: Any) -> Any:
    raise NotBatched('books resources')


class Batch:
    """Changes of many claimed leases, in one transaction.

    :param lease_ids: leases that *owner* has claimed
    :param early_types: see :class:`climate.db.batches.batch_reads.BatchReads`
    :ivar next_due: when the first of the leases that it releases is due again (aware
        UTC); None if none is
    """

    def __init__(
        self,
        tx: Transaction,
        lease_ids: Collection[str],
        owner: str,
        early_types: Collection[str] = (),
    ) -> None:
        self._owner = owner
        limit_waits(tx.session)
        self._reads = BatchReads(tx.session, tx.now, lease_ids, owner, early_types)
        self._writes = DeferredWrites(tx.session.info)
        self._unit = UnitOfWork(self._reads, self._writes, ManualClock(tx.now), tx.timelines)
        self._records: list[LeaseWrites] = []
        self.next_due: datetime.datetime | None = None

    def attempt(self, work: Callable[[Transaction], T]) -> T:
        """Have *work* change one lease, and return its result.

        If it raises, none of the changes of the lease is written.

        :raises climate.db.statements.deferred.NotBatched: if the lease has to be handled alone
        """
        record = self._writes.record = LeaseWrites()
        done = work(self._unit)
        if record.held:
            self._reads.mark_held(record.held)
        self._records.append(record)
        return done

    def write(self, until: datetime.datetime | None = None) -> None:
        """Write the changes of all leases; nothing may be attempted afterwards.

        :param until: the new end of the claims on leases that are changed and not released
            (aware UTC); None to keep the old one
        """
        session, now, records = self._reads.session, self._reads.now, self._records
        if until is not None:
            self._extend_claims(until)
        allocations = BriefLockAllocations(session, now)
        held = [key for record in records for key in record.held]
        if held:
            allocations.mark_held(held)
        released = [key for record in records for key in record.released]
        if released:
            allocations.release(released)
        given_back = {key: units for record in records for key, units in record.given_back.items()}
        if given_back:
            allocations.give_back(given_back)
        deferred.write(session, records)
        for undone in (arguments for record in records for arguments in record.undone):
            HistorySteps(session, now).undo(*undone)
        self._write_ends()
        self.next_due = min((due for due in self._dues() if due > now), default=None)

    def _extend_claims(self, until: datetime.datetime) -> None:
        for record in self._records:
            for lease_id, row in record.updates.get(LEASES, {}).items():
                if lease_id not in record.unclaimed:
                    row.setdefault('claim_until', until)

    def _dues(self) -> Iterator[datetime.datetime]:
        """Yield when leases are due after the batch."""
        for record in self._records:
            changed = record.updates.get(LEASES, {})
            for key in {*record.unclaimed, *changed}:
                row = changed.get(key, {})
                due = row['next_due'] if 'next_due' in row else self._reads.leases[key].next_due
                if due is not None:
                    yield due

    def _write_ends(self) -> None:
        """End claims, and forget trusts."""
        connection = self._reads.session
        forgotten = [key for record in self._records for key in record.forgotten]
        if forgotten:
            connection.execute(_FORGET, {'ids': forgotten})
        unclaimed = [key for record in self._records for key in record.unclaimed]
        if unclaimed:
            connection.execute(_UNCLAIM, {'ids': unclaimed, 'owner': self._owner})
