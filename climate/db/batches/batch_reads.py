# SPDX-License-Identifier: Apache-2.0

"""What the leases of a batch need to know, read for all of them at once.

Everything but the leases themselves is read when one of them asks for it first.
"""

from __future__ import annotations

import datetime
import functools
from collections import defaultdict
from collections.abc import Collection
from collections.abc import Mapping

import sqlalchemy as sa

from climate.db.batches import batch_shares
from climate.db.batches.batch_shares import Shares
from climate.db.batches.brief_locks import BriefLockAllocations
from climate.db.leases.leases import COLUMNS
from climate.db.leases.leases import Leases
from climate.db.leases.steps import HistorySteps
from climate.db.resources.allocations import Allocations
from climate.db.resources.resources import Resources
from climate.db.schema.tables import LEASES
from climate.db.statements.lists import Among
from climate.domain.copies import with_changes
from climate.domain.events import EventKind
from climate.domain.history import HistoryStep
from climate.domain.leases import Allocation
from climate.domain.leases import AllocationState
from climate.domain.leases import Lease
from climate.domain.resources import Resource

# Built once, see leases.py.
_CLAIMED = (
    sa.select(*COLUMNS)
    .where(
        Among(LEASES.c.id, 'lease_ids'),
        LEASES.c.claim_owner == sa.bindparam('owner'),
        LEASES.c.deleted_at.is_(None),
    )
    .order_by(LEASES.c.id)
    .with_for_update(skip_locked=True)
)
# The events before which a lease looks at what other leases hold.
_GIVES = frozenset({EventKind.START, EventKind.UPDATE})


class _ClaimedLeases(Leases):
    def all_claimed(self, lease_ids: Collection[str], owner: str) -> dict[str, Lease]:
        """Lock the leases that *owner* has claimed, and return them by id.

        Leases that another transaction has locked are left out: a change by a user must
        not hold up the whole batch.
        """
        values = {'lease_ids': list(lease_ids), 'owner': owner}
        leases = self.of_rows(self._session.execute(_CLAIMED, values).all())
        return {lease.id: lease for lease in leases}


class BatchReads:
    """The rows of the leases of a batch, and of their resources.

    :param session: of the transaction of the batch
    :param now: the instant at which that began (aware UTC)
    :param early_types: resource types whose leases may touch what previous leases have
        when they are prepared already
    :ivar leases: the locked leases, by id
    """

    def __init__(
        self,
        session: sa.Connection,
        now: datetime.datetime,
        lease_ids: Collection[str],
        owner: str,
        early_types: Collection[str] = (),
    ) -> None:
        self.session = session
        self.now = now
        self.leases = _ClaimedLeases(session, now).all_claimed(lease_ids, owner)
        self._early_types = early_types
        self._released: dict[datetime.timedelta, Shares] = {}

    @functools.cached_property
    def allocations(self) -> Mapping[str, list[Allocation]]:
        """The live allocations of all leases, by reservation id, in id order."""
        by_reservation: dict[str, list[Allocation]] = defaultdict(list)
        for item in Allocations(self.session, self.now).live_of(_reservations(self.leases)):
            by_reservation[item.reservation_id].append(item)
        return by_reservation

    @functools.cached_property
    def resources(self) -> Mapping[int, Resource]:
        """The resources that the leases have, by id."""
        listed = Resources(self.session, self.now).with_ids(self._resource_ids)
        return {resource.id: resource for resource in listed if resource.id is not None}

    @functools.cached_property
    def steps(self) -> Mapping[tuple[str, str], list[HistoryStep]]:
        """The history of the leases, by the ids of lease and event."""
        by_event: dict[tuple[str, str], list[HistoryStep]] = defaultdict(list)
        for step in HistorySteps(self.session, self.now).of_leases(list(self.leases)):
            by_event[step.lease_id, step.event_id].append(step)
        return by_event

    @functools.cached_property
    def locked(self) -> frozenset[str]:
        """The ids of the reservations whose resources are locked, from the first use on.

        Those of all leases that may hold them, in one statement: bookings lock
        resources in id order, too.
        """
        touching = {key: lease for key, lease in self.leases.items() if self._touches(lease)}
        ids = _reservations(touching)
        if ids:
            BriefLockAllocations(self.session, self.now).lock_resources(ids)
        return frozenset(ids)

    def lock(self) -> None:
        """Lock resources as :attr:`locked` does: what is held must not change once read."""
        _ = self.locked

    @functools.cached_property
    def held(self) -> Shares:
        """What leases hold of the resources."""
        self.lock()
        return batch_shares.held(self.session, self._resource_ids)

    def released(self, within: datetime.timedelta) -> Shares:
        """Return what leases have released of the resources within the last time."""
        if within not in self._released:
            since = self.now - within
            shares = batch_shares.released(self.session, self._resource_ids, since, self.now)
            self._released[within] = shares
        return self._released[within]

    def mark_held(self, reservation_ids: Collection[str]) -> None:
        """Note that reservations hold their allocations from now on."""
        for reservation_id in reservation_ids:
            mine = self.allocations.get(reservation_id, [])
            new = [item for item in mine if item.state is AllocationState.BOOKED]
            self.held.add(new)
            mine[:] = [as_held(item) for item in mine]

    @property
    def _resource_ids(self) -> set[int]:
        return {item.resource_id for mine in self.allocations.values() for item in mine}

    def _touches(self, lease: Lease) -> bool:
        due = {event.kind for event in lease.events if event.open and event.due <= self.now}
        early = EventKind.PREPARE in due and any(
            item.resource_type in self._early_types for item in lease.reservations
        )
        return early or not due.isdisjoint(_GIVES)


def as_held(item: Allocation) -> Allocation:
    """Return an allocation as it is once its lease holds it."""
    if item.state is AllocationState.BOOKED:
        return with_changes(item, state=AllocationState.HELD)
    return item


def _reservations(leases: Mapping[str, Lease]) -> list[str]:
    return [item.id for lease in leases.values() for item in lease.reservations]
