# SPDX-License-Identifier: Apache-2.0

"""Queries of leases."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.db.engine.prepared import prepared
from climate.db.leases import lease_options
from climate.db.leases.events import Events
from climate.db.leases.reservations import Reservations
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import RESERVATIONS
from climate.db.schema.tables import RESOURCES
from climate.db.statements import inserts
from climate.db.statements.lists import Among
from climate.db.statements.repository import Repository
from climate.db.statements.repository import UNCLAIMED
from climate.domain.events import Event
from climate.domain.leases import Lease
from climate.domain.leases import MOST_PRIORITY
from climate.domain.leases import OPTIONS
from climate.domain.leases import Reservation
from climate.domain.lifecycles import LeaseStatus
from climate.domain.periods import Period

# Statements are built once: for those that run for each event, that takes longer than
# running them. Rows are unpacked: one looks up a name more slowly than it yields all values.
COLUMNS = (
    *LEASES.c['id', 'name', 'user_id', 'project_id', 'start_date', 'end_date', 'status'],
    *LEASES.c['degraded', 'before_end_date', 'options', 'trust_id', 'next_due'],
    *LEASES.c['created_at', 'updated_at', 'deleted_at'],
)
_GIVEN_UP = (LEASES.c.status == LeaseStatus.DELETED) & (LEASES.c.deleted_at < LEASES.c.start_date)
_AMONG = Among(LEASES.c.id, 'ids')
_HELD = LEASES.c.deleted_at.is_not(None) & (LEASES.c.status == LeaseStatus.PENDING)
_INSERT = prepared(sa.insert(LEASES))
_UPDATE = sa.update(LEASES).where(LEASES.c.id == sa.bindparam('row_id'))
# Faster than calls of the enumeration, in long lists.
_STATUSES = {status.value: status for status in LeaseStatus}
_KNOWN = sa.select(*COLUMNS).where(
    LEASES.c.id == sa.bindparam('lease_id'), LEASES.c.deleted_at.is_(None)
)
_STATUS = _KNOWN.with_only_columns(LEASES.c.status)
_OF_PROJECT = _KNOWN.where(LEASES.c.project_id == sa.bindparam('project_id'))
_CLAIMED = (
    sa.select(*COLUMNS)
    .where(
        LEASES.c.id == sa.bindparam('lease_id'),
        LEASES.c.claim_owner == sa.bindparam('owner'),
        LEASES.c.deleted_at.is_(None),
    )
    .with_for_update()
)


class Leases(Repository):
    """Rows of ``leases``, with their reservations and events."""

    def insert(self, lease: Lease) -> None:
        """Insert a lease, without its reservations and events."""
        values = {
            'id': lease.id,
            'user_id': lease.user_id,
            'project_id': lease.project_id,
            'created_at': self._now,
            **_changeable(lease),
        }
        inserts.insert(self._session, _INSERT, [values])

    def update(self, lease: Lease, *, unclaim: bool = False) -> None:
        """Update the columns of *lease* that may change, without its parts.

        :param unclaim: release the claim, so that any manager can claim it when due
        """
        self._update(lease, _changeable(lease), unclaim)

    def update_from(self, old: Lease, lease: Lease, *, unclaim: bool = False) -> None:
        """Update only the columns in which *lease* differs from *old*, which is stored.

        :param unclaim: as of :meth:`update`
        """
        before = _as_is(old)
        values = {key: value for key, value in _as_is(lease).items() if value != before[key]}
        if any(getattr(lease, name) != getattr(old, name) for name in OPTIONS):
            values['options'] = lease_options.dumped(lease)
        self._update(lease, values, unclaim)

    def _update(self, lease: Lease, values: dict[str, Any], unclaim: bool) -> None:
        if unclaim:
            values |= UNCLAIMED
        self._session.execute(_UPDATE, {'row_id': lease.id, 'updated_at': self._now, **values})

    def get(self, lease_id: str, project_id: str | None = None, *, lock: bool = False) -> Lease:
        """Return a lease with its reservations and events.

        :param project_id: search only this project; None searches all
        :param lock: lock the row until the transaction ends
        :raises climate.exceptions.NotFound: if it does not exist or was deleted
        """
        query = _KNOWN if project_id is None else _OF_PROJECT
        values = {'lease_id': lease_id}
        if project_id is not None:
            values['project_id'] = project_id
        rows = self._session.execute(query.with_for_update() if lock else query, values).all()
        if not rows:
            raise exceptions.NotFound(object={'lease_id': lease_id})
        return self.of_rows(rows)[0]

    def find(self, lease_id: str) -> Lease | None:
        """Return a lease, for a manager; None if it was deleted."""
        leases = self.of_rows(self._session.execute(_KNOWN, {'lease_id': lease_id}).all())
        return leases[0] if leases else None

    def with_reservation(self, reservation_id: str) -> Lease | None:
        """Return the lease of a reservation, even a deleted one; None if there is none."""
        mine = sa.select(RESERVATIONS.c.lease_id).where(RESERVATIONS.c.id == reservation_id)
        query = sa.select(*COLUMNS).where(LEASES.c.id.in_(mine))
        leases = self.of_rows(self._session.execute(query).all())
        return leases[0] if leases else None

    def project_of(self, lease_id: str) -> str | None:
        """Return the project of a lease, even if it was deleted; None if unknown."""
        query = sa.select(LEASES.c.project_id).where(LEASES.c.id == lease_id)
        project_id: str | None = self._session.scalar(query)
        return project_id

    def status(self, lease_id: str) -> LeaseStatus | None:
        """Return the status of a lease; None if it was deleted, or is unknown."""
        value = self._session.scalar(_STATUS, {'lease_id': lease_id})
        return None if value is None else LeaseStatus(value)

    def planned(self) -> dict[str, tuple[Any, ...]]:
        """Return what differs after any change of a lease, of those that planners look at, by id.

        Those are the flexible leases that are not firm, and those that wait for a booking, in the
        order of their priorities and requests::

            SELECT id, status, start_date, end_date, firm_at, updated_at FROM leases
            WHERE firm_at > :now AND status = 'PENDING' AND deleted_at IS NULL
               OR status = 'WAITING' AND deleted_at IS NULL AND next_due IS NULL
            ORDER BY priority DESC, created_at, id
        """
        state = LEASES.c['status', 'start_date', 'end_date', 'firm_at', 'updated_at']
        moves = (LEASES.c.firm_at > self._now) & (LEASES.c.status == LeaseStatus.PENDING)
        # Those that are due have waited for too long.
        waits = (LEASES.c.status == LeaseStatus.WAITING) & LEASES.c.next_due.is_(None)
        query = (
            sa.select(LEASES.c.id, *state)
            .where(moves | waits, LEASES.c.deleted_at.is_(None))
            .order_by(LEASES.c.priority.desc(), LEASES.c.created_at, LEASES.c.id)
        )
        return {row[0]: tuple(row[1:]) for row in self._session.execute(query)}

    def displaceable(
        self, resource_types: Collection[str], period: Period, limit: int, most: int = MOST_PRIORITY
    ) -> list[Lease]:
        """Return flexible leases that are not firm and have resources in a period.

        Those of the lowest priority come first, and then those that were requested last.

        :param resource_types: of which they have some
        :param most: the highest priority that they may have
        """
        query = (
            sa.select(*COLUMNS)
            .where(
                LEASES.c.firm_at > self._now,
                LEASES.c.status == LeaseStatus.PENDING,
                LEASES.c.deleted_at.is_(None),
                LEASES.c.priority <= most,
                LEASES.c.start_date < period.end,
                LEASES.c.end_date > period.start,
                _has(resource_types),
            )
            .order_by(LEASES.c.priority, LEASES.c.created_at.desc(), LEASES.c.id.desc())
            .limit(limit)
        )
        return self.of_rows(self._session.execute(query).all())

    def preemptible(
        self, resource_types: Collection[str], period: Period, limit: int, most: int = MOST_PRIORITY
    ) -> list[Lease]:
        """Return preemptible leases that are firm or run and have resources in a period.

        Those of the lowest priority come first, and then those that were requested last.

        :param resource_types: of which they have some
        :param most: the highest priority that they may have
        """
        firm = sa.and_(LEASES.c.status == LeaseStatus.PENDING, LEASES.c.firm_at <= self._now)
        query = (
            sa.select(*COLUMNS)
            .where(
                LEASES.c.firm_at.is_not(None),
                sa.or_(firm, LEASES.c.status == LeaseStatus.ACTIVE),
                # It is among the options of few leases.
                sa.cast(LEASES.c.options, sa.Text).contains('"yields"'),
                LEASES.c.deleted_at.is_(None),
                LEASES.c.priority <= most,
                LEASES.c.start_date < period.end,
                LEASES.c.end_date > period.start,
                _has(resource_types),
            )
            .order_by(LEASES.c.priority, LEASES.c.created_at.desc(), LEASES.c.id.desc())
            .limit(limit)
        )
        return self.of_rows(self._session.execute(query).all())

    def pending(
        self,
        resource_types: Collection[str],
        limit: int,
        since: datetime.datetime | None = None,
        until: datetime.datetime | None = None,
    ) -> list[Lease]:
        """Return leases with resources that have not begun, those that begin first.

        :param resource_types: of which they have some
        :param since: each ends after this; None for any end
        :param until: each starts before this; None for any start
        """
        has = sa.select(RESERVATIONS.c.id).where(
            RESERVATIONS.c.lease_id == LEASES.c.id, RESERVATIONS.c.resource_type.in_(resource_types)
        )
        query = (
            sa.select(*COLUMNS)
            .where(
                LEASES.c.status == LeaseStatus.PENDING,
                LEASES.c.deleted_at.is_(None),
                LEASES.c.start_date > self._now,
                has.exists(),
            )
            .order_by(LEASES.c.start_date, LEASES.c.id)
            .limit(limit)
        )
        if since is not None:
            query = query.where(LEASES.c.end_date > since)
        if until is not None:
            query = query.where(LEASES.c.start_date < until)
        return self.of_rows(self._session.execute(query).all())

    def with_ids(self, ids: Sequence[str], *, lock: bool = False) -> list[Lease]:
        """Return the leases with some ids that are not deleted, in the order of *ids*.

        :param lock: lock the rows until the transaction ends
        """
        query = sa.select(*COLUMNS).where(_AMONG, LEASES.c.deleted_at.is_(None))
        if lock:
            query = query.order_by(LEASES.c.id).with_for_update()
        rows = {row.id: row for row in self._session.execute(query, {'ids': list(ids)})}
        return self.of_rows([rows[lease_id] for lease_id in ids if lease_id in rows])

    def given_up(self, lease_id: str) -> bool:
        """Whether a lease was deleted before it started."""
        query = sa.select(LEASES.c.id).where(LEASES.c.id == lease_id, _GIVEN_UP)
        return self._session.scalar(query) is not None

    def requests_given_up(
        self, resource_type: str, since: datetime.datetime
    ) -> list[Mapping[str, Any]]:
        """Return the requests of a type whose leases were deleted before they started.

        :param since: only of leases that were deleted then or later (aware UTC)
        """
        query = (
            sa.select(RESERVATIONS.c.request)
            .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
            .where(RESERVATIONS.c.resource_type == resource_type)
            .where(LEASES.c.deleted_at >= since, _GIVEN_UP)
        )
        return [dict(request) for request in self._session.scalars(query)]

    def ids_with(self, resource_type: str, name: str, *, live: bool = False) -> list[str]:
        """Return the ids of the leases that have or had a resource, newest first.

        ::

            SELECT DISTINCT leases.id, leases.created_at FROM leases
            JOIN reservations ON … JOIN allocations ON … JOIN resources ON …
            WHERE resources.resource_type = :type AND resources.name = :name
            ORDER BY leases.created_at DESC

        :param live: only those that still have it; otherwise also deleted ones
        """
        query = (
            sa.select(LEASES.c.id, LEASES.c.created_at)
            .distinct()
            .join(RESERVATIONS, RESERVATIONS.c.lease_id == LEASES.c.id)
            .join(ALLOCATIONS, ALLOCATIONS.c.reservation_id == RESERVATIONS.c.id)
            .join(RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
            .where(RESOURCES.c.resource_type == resource_type, RESOURCES.c.name == name, ~_HELD)
            .order_by(LEASES.c.created_at.desc(), LEASES.c.id)
        )
        statement = query.where(ALLOCATIONS.c.live == 1) if live else query
        return [row.id for row in self._session.execute(statement)]

    def claimed(self, lease_id: str, owner: str) -> Lease | None:
        """Lock a lease that *owner* has claimed, and return it.

        :returns: None if another process has claimed it meanwhile, or it was deleted
        """
        values = {'lease_id': lease_id, 'owner': owner}
        leases = self.of_rows(self._session.execute(_CLAIMED, values).all())
        return leases[0] if leases else None

    def of_rows(self, rows: Sequence[Any]) -> list[Lease]:
        """Return the leases of rows of :data:`COLUMNS`, with their parts, in two statements."""
        if not rows:
            return []
        ids = [row[0] for row in rows]
        parts: dict[str, list[Reservation]] = defaultdict(list)
        events: dict[str, list[Event]] = defaultdict(list)
        for reservation in Reservations(self._session, self._now).of_leases(ids):
            parts[reservation.lease_id].append(reservation)
        for event in Events(self._session, self._now).of_leases(ids):
            events[event.lease_id].append(event)
        return [_lease(row, parts[row[0]], events[row[0]]) for row in rows]


def _has(resource_types: Collection[str]) -> sa.ColumnElement[bool]:
    """Return the condition that a lease has resources of some types, booked or held."""
    mine = (
        sa.select(ALLOCATIONS.c.id)
        .join(RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
        .join(RESOURCES, RESOURCES.c.id == ALLOCATIONS.c.resource_id)
        .where(
            RESERVATIONS.c.lease_id == LEASES.c.id,
            ALLOCATIONS.c.live == 1,
            RESOURCES.c.resource_type.in_(resource_types),
        )
    )
    return mine.exists()


def _changeable(lease: Lease) -> dict[str, Any]:
    return {**_as_is(lease), 'options': lease_options.dumped(lease)}


def _as_is(lease: Lease) -> dict[str, Any]:
    """Return the columns that may change and that are stored as they are."""
    return {
        'name': lease.name,
        'start_date': lease.period.start,
        'end_date': lease.period.end,
        'status': lease.status,
        'degraded': lease.degraded,
        'before_end_date': lease.before_end_date,
        'firm_at': lease.firm_at,
        'priority': lease.priority or 0,
        'trust_id': lease.trust_id,
        'next_due': lease.next_due,
        'deleted_at': lease.deleted_at,
    }


def _lease(row: Any, reservations: Sequence[Reservation], events: Sequence[Event]) -> Lease:
    (
        lease_id,
        name,
        user_id,
        project_id,
        start_date,
        end_date,
        status,
        degraded,
        before_end_date,
        options,
        trust_id,
        next_due,
        created_at,
        updated_at,
        deleted_at,
    ) = row
    return Lease(
        id=lease_id,
        name=name,
        user_id=user_id,
        project_id=project_id,
        period=Period(start=start_date, end=end_date),
        status=_STATUSES[status],
        degraded=bool(degraded),
        before_end_date=before_end_date,
        **lease_options.loaded(options),
        trust_id=trust_id,
        next_due=next_due,
        reservations=tuple(reservations),
        events=tuple(events),
        created_at=created_at,
        updated_at=updated_at,
        deleted_at=deleted_at,
    )
