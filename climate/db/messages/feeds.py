# SPDX-License-Identifier: Apache-2.0

"""Queries of calendar feeds, and of what they show."""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import FEEDS
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import MAINTENANCES
from climate.db.schema.tables import RESERVATIONS
from climate.db.schema.tables import RESOURCES
from climate.db.statements.repository import Repository
from climate.domain import copies
from climate.domain.feeds import CalendarEntry
from climate.domain.feeds import Feed
from climate.domain.feeds import FeedKind
from climate.domain.lifecycles import LeaseStatus
from climate.domain.owners import Owner
from climate.domain.owners import StoppedSubscription
from climate.domain.requests import Reach

# What is held for an offer looks like a deleted lease that has not started.
# One that waits has no period yet.
_HELD = sa.or_(
    sa.and_(LEASES.c.deleted_at.is_not(None), LEASES.c.status == LeaseStatus.PENDING),
    LEASES.c.status == LeaseStatus.WAITING,
)
_LEASE = (
    *LEASES.c['id', 'name', 'project_id', 'start_date', 'end_date', 'status'],
    *LEASES.c['deleted_at', 'created_at', 'updated_at', 'firm_at'],
)


class FeedRows(Repository):
    """Rows of ``feeds``."""

    def insert(self, feed: Feed, digest: str) -> None:
        """Insert a feed, with the digest of its secret."""
        self._insert_row(
            FEEDS,
            **copies.picked(feed, 'id', 'project_id', 'user_id', 'name', 'kind'),
            **copies.picked(feed, 'lease_id', 'resource_id', 'expires_at'),
            secret_digest=digest,
            options={
                'time_zone': feed.time_zone,
                'before_start': list(feed.before_start),
                'before_end': list(feed.before_end),
            },
            created_at=self._now,
        )

    def get(self, feed_id: str, reach: Reach) -> Feed:
        """Return a feed.

        :param reach: search only these
        :raises climate.exceptions.NotFound: if it does not exist
        """
        query = _within(reach).where(FEEDS.c.id == feed_id)
        row = self._session.execute(query).one_or_none()
        if row is None:
            raise exceptions.NotFound(object={'feed_id': feed_id})
        return _feed(row)

    def of_digest(self, digest: str) -> Feed | None:
        """Return the feed of a secret; None if there is none, or it has expired or stopped."""
        query = sa.select(FEEDS).where(
            FEEDS.c.secret_digest == digest,
            FEEDS.c.expires_at > self._now,
            FEEDS.c.stopped_reason.is_(None),
        )
        row = self._session.execute(query).one_or_none()
        return None if row is None else _feed(row)

    def owners(self) -> list[Owner]:
        """Return the owners of feeds that work."""
        columns = (FEEDS.c.project_id, FEEDS.c.user_id, FEEDS.c.kind == FeedKind.RESOURCE)
        query = sa.select(*columns).where(*self._working()).distinct()
        return [
            Owner(project_id=project_id, user_id=user_id, privileged=bool(privileged))
            for project_id, user_id, privileged in self._session.execute(query)
        ]

    def stop(self, owner: Owner, reason: str) -> list[StoppedSubscription]:
        """Stop the feeds of an owner; return them."""
        kind = FEEDS.c.kind == FeedKind.RESOURCE
        mine = (
            FEEDS.c.project_id == owner.project_id,
            FEEDS.c.user_id == owner.user_id,
            kind if owner.privileged else sa.not_(kind),
            *self._working(),
        )
        query = sa.select(FEEDS.c.id, FEEDS.c.name).where(*mine).with_for_update()
        stopped = [
            StoppedSubscription(id=row.id, name=row.name or '')
            for row in self._session.execute(query)
        ]
        ids = [one.id for one in stopped]
        if ids:
            self._update_rows(FEEDS, FEEDS.c.id.in_(ids), stopped_reason=reason)
        return stopped

    def _working(self) -> tuple[sa.ColumnElement[bool], ...]:
        return FEEDS.c.expires_at > self._now, FEEDS.c.stopped_reason.is_(None)

    def page(self, reach: Reach, marker: str | None, limit: int) -> list[Feed]:
        """Return the feeds after *marker*, ordered by id, at most *limit*."""
        query = _within(reach).order_by(FEEDS.c.id).limit(limit)
        if marker is not None:
            query = query.where(FEEDS.c.id > marker)
        return [_feed(row) for row in self._session.execute(query)]

    def count(self, project_id: str) -> int:
        """Return how many feeds of a project have not expired."""
        return self._count_rows(FEEDS.c.project_id == project_id, FEEDS.c.expires_at > self._now)

    def delete(self, feed_id: str) -> None:
        """Delete a feed, whose link then shows nothing."""
        self._delete_rows(FEEDS, FEEDS.c.id == feed_id)

    def forget_expired(self, most: int) -> int:
        """Delete at most *most* feeds that have expired; return their number."""
        query = sa.select(FEEDS.c.id).where(FEEDS.c.expires_at <= self._now).limit(most)
        ids = list(self._session.scalars(query))
        if ids:
            self._delete_rows(FEEDS, FEEDS.c.id.in_(ids))
        return len(ids)

    def leases(
        self, project_id: str, lease_id: str | None, since: datetime.datetime, most: int
    ) -> list[CalendarEntry]:
        """Return the leases of a project that end after *since*, the latest ones first.

        ::

            SELECT … FROM leases
            WHERE project_id = :project_id AND end_date > :since
              AND NOT (deleted_at IS NOT NULL AND status = 'PENDING')
            ORDER BY start_date DESC, id LIMIT :most

        :param lease_id: the only lease to return, whenever it ends; None for all
        """
        query = sa.select(*_LEASE).where(LEASES.c.project_id == project_id, sa.not_(_HELD))
        if lease_id is None:
            query = query.where(LEASES.c.end_date > since)
        else:
            query = query.where(LEASES.c.id == lease_id)
        query = query.order_by(LEASES.c.start_date.desc(), LEASES.c.id).limit(most)
        rows = self._session.execute(query).all()
        return [self._entry(row, row.id, row.start_date, row.end_date, project_id) for row in rows]

    def uses(
        self, resource_id: int, project_id: str, since: datetime.datetime, most: int
    ) -> list[CalendarEntry]:
        """Return when a resource is reserved or out of service, the latest ones first.

        ::

            SELECT leases.…, min(allocations.start_date), max(allocations.end_date)
            FROM allocations JOIN reservations ON … JOIN leases ON …
            WHERE allocations.resource_id = :resource_id AND allocations.end_date > :since
              AND NOT (deleted_at IS NOT NULL AND status = 'PENDING')
              AND (live = 1 OR allocations.end_date <= :now OR deleted_at IS NOT NULL)
            GROUP BY leases.… ORDER BY min(allocations.start_date) DESC LIMIT :most

        :param project_id: the project whose leases are returned with their names
        """
        start = sa.func.min(ALLOCATIONS.c.start_date).label('first')
        end = sa.func.max(ALLOCATIONS.c.end_date).label('last')
        # A reservation that has moved to another resource has released this one.
        still = sa.or_(
            ALLOCATIONS.c.live == 1,
            ALLOCATIONS.c.end_date <= self._now,
            LEASES.c.deleted_at.is_not(None),
        )
        query = (
            sa.select(*_LEASE, start, end)
            .select_from(ALLOCATIONS)
            .join(RESERVATIONS, RESERVATIONS.c.id == ALLOCATIONS.c.reservation_id)
            .join(LEASES, LEASES.c.id == RESERVATIONS.c.lease_id)
            .where(
                ALLOCATIONS.c.resource_id == resource_id,
                ALLOCATIONS.c.end_date > since,
                sa.not_(_HELD),
                still,
            )
            .group_by(*_LEASE)
            .order_by(start.desc(), LEASES.c.id)
            .limit(most)
        )
        entries = [
            self._entry(row, f'{row.id}.{resource_id}', row.first, row.last, project_id)
            for row in self._session.execute(query)
        ]
        closed = (
            sa.select(MAINTENANCES)
            .where(MAINTENANCES.c.resource_id == resource_id, MAINTENANCES.c.end_date > since)
            .order_by(MAINTENANCES.c.start_date.desc(), MAINTENANCES.c.id)
            .limit(most)
        )
        entries += [_maintenance(row) for row in self._session.execute(closed)]
        return sorted(entries, key=lambda entry: (entry.start, entry.uid), reverse=True)[:most]

    def _entry(
        self, row: Any, uid: str, start: datetime.datetime, end: datetime.datetime, project_id: str
    ) -> CalendarEntry:
        own = row.project_id == project_id
        changed_at = row.deleted_at or row.updated_at or row.created_at
        firm = row.firm_at is None or row.firm_at <= self._now
        if firm and row.firm_at is not None and row.deleted_at is None:
            # Being firm changes the entry, and not the lease.
            changed_at = max(changed_at, row.firm_at)
        return CalendarEntry(
            uid=uid,
            title=row.name if own else '',
            start=start,
            end=end,
            status=row.status,
            lease_id=row.id if own else None,
            held=(),
            # Users also delete leases that are over.
            cancelled=row.deleted_at is not None and row.deleted_at < end,
            moves=not firm and row.status == LeaseStatus.PENDING,
            created_at=row.created_at,
            changed_at=changed_at,
        )

    def resource_name(self, resource_id: int) -> str:
        """Return the name of a resource.

        :raises climate.exceptions.NotFound: if it does not exist
        """
        query = sa.select(RESOURCES.c.name).where(
            RESOURCES.c.id == resource_id, RESOURCES.c.deleted == 0
        )
        name: str | None = self._session.scalar(query)
        if name is None:
            raise exceptions.NotFound(object={'resource_id': str(resource_id)})
        return name


def _within(reach: Reach) -> sa.Select[Any]:
    """Return the query of the feeds that a caller can use."""
    query = sa.select(FEEDS)
    if reach.project_id is not None:
        query = query.where(FEEDS.c.project_id == reach.project_id)
    return query if reach.privileged else query.where(FEEDS.c.kind != FeedKind.RESOURCE)


def _maintenance(row: Any) -> CalendarEntry:
    return CalendarEntry(
        uid=row.id,
        title=row.reason,
        start=row.start_date,
        end=row.end_date,
        status='',
        lease_id=None,
        held=(),
        cancelled=False,
        moves=False,
        created_at=row.created_at,
        changed_at=row.updated_at or row.created_at,
    )


def _feed(row: Any) -> Feed:
    return copies.converted(
        Feed,
        row,
        kind=FeedKind(row.kind),
        time_zone=row.options['time_zone'],
        before_start=tuple(row.options['before_start']),
        before_end=tuple(row.options['before_end']),
    )
