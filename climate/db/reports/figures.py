# SPDX-License-Identifier: Apache-2.0

"""Figures about the whole cloud, for metrics: numbers of leases, lags, capacity."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import CHARGES
from climate.db.schema.tables import INVENTORIES
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import OUTBOX
from climate.db.schema.tables import RESOURCES
from climate.db.schema.tables import WEBHOOK_DELIVERIES
from climate.db.schema.tables import WEBHOOKS
from climate.db.search.search import OPEN
from climate.db.statements.repository import Repository
from climate.domain.charges import ChargeState
from climate.domain.lifecycles import LeaseStatus
from climate.domain.webhooks import DeliveryState

# Ended leases keep their rows, so counting them takes longer each day.
_OPEN: Final = [
    status for status in LeaseStatus if status not in (LeaseStatus.TERMINATED, LeaseStatus.DELETED)
]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Backlog:
    """Rows that wait for a manager.

    :ivar number: how many
    :ivar seconds: how long the oldest has waited; 0 if there is none
    :ivar set_aside: how many more were set aside
    """

    number: int
    seconds: float
    set_aside: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Amount:
    """An amount of a resource class of all available resources of a type."""

    resource_type: str
    resource_class: str
    amount: float


class Figures(Repository):
    """Queries about all rows of a table; each is one statement."""

    def leases(self) -> dict[str, int]:
        """Return the number of leases of each status, without those that have ended.

        ::

            SELECT status, COUNT(*) FROM leases
            WHERE status IN (:open) AND deleted_at IS NULL GROUP BY status
        """
        rows = self._session.execute(
            sa.select(LEASES.c.status, sa.func.count())
            .where(LEASES.c.status.in_(_OPEN), LEASES.c.deleted_at.is_(None))
            .group_by(LEASES.c.status)
        )
        return dict.fromkeys(_OPEN, 0) | {row.status: row[1] for row in rows}

    def overdue(self) -> Backlog:
        """Return the leases that are due.

        ::

            SELECT COUNT(*), MIN(next_due) FROM leases WHERE next_due <= :now
        """
        due = sa.select(sa.func.count(), sa.func.min(LEASES.c.next_due))
        query = due.where(LEASES.c.next_due <= self._now)
        return self._backlog(*self._session.execute(query).one())

    def waiting(self) -> Backlog:
        """Return the leases that wait for room.

        ::

            SELECT COUNT(*), MIN(created_at) FROM leases
            WHERE status = 'WAITING' AND deleted_at IS NULL
        """
        waits = sa.select(sa.func.count(), sa.func.min(LEASES.c.created_at))
        query = waits.where(LEASES.c.status == LeaseStatus.WAITING, LEASES.c.deleted_at.is_(None))
        return self._backlog(*self._session.execute(query).one())

    def outbox(self) -> Backlog:
        """Return the notifications that were not sent yet.

        ::

            SELECT COUNT(*) - COUNT(set_aside_at),
                   MIN(CASE WHEN set_aside_at IS NULL THEN created_at END),
                   COUNT(set_aside_at)
            FROM outbox
        """
        aside = sa.func.count(OUTBOX.c.set_aside_at)
        waiting = sa.case((OUTBOX.c.set_aside_at.is_(None), OUTBOX.c.created_at))
        query = sa.select(sa.func.count() - aside, sa.func.min(waiting), aside)
        return self._backlog(*self._session.execute(query.select_from(OUTBOX)).one())

    def webhooks(self) -> Backlog:
        """Return the events that webhooks which are enabled have not accepted.

        An event that is sent again later does not wait for a manager until then::

            SELECT state, COUNT(*), MIN(due) FROM webhook_deliveries
            JOIN webhooks ON webhooks.id = webhook_id AND webhooks.enabled
            WHERE state IN ('waiting', 'dead') GROUP BY state
        """
        rows = self._session.execute(
            sa.select(
                WEBHOOK_DELIVERIES.c.state, sa.func.count(), sa.func.min(WEBHOOK_DELIVERIES.c.due)
            )
            .join(WEBHOOKS, WEBHOOKS.c.id == WEBHOOK_DELIVERIES.c.webhook_id)
            .where(
                WEBHOOKS.c.enabled == sa.true(),
                WEBHOOK_DELIVERIES.c.state.in_((DeliveryState.WAITING, DeliveryState.DEAD)),
            )
            .group_by(WEBHOOK_DELIVERIES.c.state)
        )
        backlogs = {row.state: (row[1], row[2]) for row in rows}
        number, due = backlogs.get(DeliveryState.WAITING, (0, None))
        return self._backlog(number, due, backlogs.get(DeliveryState.DEAD, (0, None))[0])

    def charges(self) -> Backlog:
        """Return the reports that filters have not accepted yet.

        ::

            SELECT COUNT(*), MIN(created_at) FROM charges WHERE state IN (:decided)
        """
        decided = [state for state in ChargeState if state is not ChargeState.ASKED]
        charges = sa.select(sa.func.count(), sa.func.min(CHARGES.c.created_at))
        query = charges.where(CHARGES.c.state.in_(decided))
        return self._backlog(*self._session.execute(query).one())

    def resources(self) -> Iterator[tuple[str, str, int]]:
        """Yield the type, state and number of resources, without those of projects.

        ::

            SELECT resource_type, CASE WHEN failed_at IS NOT NULL THEN 'failed'
                   WHEN disabled OR NOT reservable THEN 'disabled'
                   ELSE 'available' END AS state, COUNT(*)
            FROM resources WHERE deleted = 0 AND project_id IS NULL
            GROUP BY resource_type, state
        """
        state = sa.case(
            (RESOURCES.c.failed_at.is_not(None), _text('failed')),
            (
                sa.or_(RESOURCES.c.disabled.is_(True), RESOURCES.c.reservable.is_(False)),
                _text('disabled'),
            ),
            else_=_text('available'),
        ).label('state')
        rows = self._session.execute(
            sa.select(RESOURCES.c.resource_type, state, sa.func.count())
            .where(RESOURCES.c.deleted == 0, RESOURCES.c.project_id.is_(None))
            .group_by(RESOURCES.c.resource_type, sa.text('state'))
        )
        yield from (tuple(row) for row in rows)

    def degraded(self) -> dict[str, int]:
        """Return the number of resources, by type, that the cloud has changed.

        ::

            SELECT resource_type, COUNT(*) FROM resources
            WHERE degraded IS NOT NULL AND deleted = 0 GROUP BY resource_type
        """
        rows = self._session.execute(
            sa.select(RESOURCES.c.resource_type, sa.func.count())
            .where(RESOURCES.c.degraded.is_not(None), RESOURCES.c.deleted == 0)
            .group_by(RESOURCES.c.resource_type)
        )
        return {row[0]: row[1] for row in rows}

    def reserved(self) -> dict[str, int]:
        """Return the number of resources, by type, of which a lease has a part now.

        ::

            SELECT r.resource_type, COUNT(DISTINCT r.id) FROM resources r
            JOIN allocations a ON a.resource_id = r.id
            WHERE <r is available> AND a.live = 1 AND a.start_date <= :now
            GROUP BY r.resource_type
        """
        rows = self._session.execute(
            sa.select(RESOURCES.c.resource_type, sa.func.count(RESOURCES.c.id.distinct()))
            .join(ALLOCATIONS, self._had_now())
            .where(*_AVAILABLE)
            .group_by(RESOURCES.c.resource_type)
        )
        return {row.resource_type: row[1] for row in rows}

    def capacity(self) -> Iterator[Amount]:
        """Yield what the available resources have.

        ::

            SELECT r.resource_type, i.resource_class,
                   SUM((i.total - i.reserved) * i.allocation_ratio)
            FROM resources r JOIN inventories i ON i.resource_id = r.id
            WHERE <r is available> GROUP BY r.resource_type, i.resource_class
        """
        yield from self._amounts(
            sa.select(RESOURCES.c.resource_type, INVENTORIES.c.resource_class, sa.func.sum(_ROOM))
            .join(INVENTORIES, INVENTORIES.c.resource_id == RESOURCES.c.id)
            .where(*_AVAILABLE)
            .group_by(RESOURCES.c.resource_type, INVENTORIES.c.resource_class)
        )

    def allocated(self) -> Iterator[Amount]:
        """Yield what leases have of the available resources now.

        A lease that has a whole resource has all that is in it::

            SELECT resource_type, resource_class, SUM(LEAST(amount, room)) FROM (
                SELECT r.resource_type, i.resource_class,
                       (i.total - i.reserved) * i.allocation_ratio AS room,
                       SUM(CASE WHEN a.resource_class IS NULL
                           THEN (i.total - i.reserved) * i.allocation_ratio
                           ELSE a.amount END) AS amount
                FROM resources r
                JOIN allocations a ON a.resource_id = r.id AND a.live = 1
                 AND a.start_date <= :now
                JOIN inventories i ON i.resource_id = r.id
                 AND (a.resource_class IS NULL OR a.resource_class = i.resource_class)
                WHERE <r is available> GROUP BY r.id, …) held
            GROUP BY resource_type, resource_class

        Allocations that should have ended, but that no manager has released yet, count.
        The next lease of the resource may have begun, so both together count as at most
        what there is.
        """
        whole = ALLOCATIONS.c.resource_class.is_(None)
        part = ALLOCATIONS.c.resource_class == INVENTORIES.c.resource_class
        key = (RESOURCES.c.resource_type, INVENTORIES.c.resource_class)
        held = (
            sa.select(
                *key,
                _ROOM.label('room'),
                sa.func.sum(sa.case((whole, _ROOM), else_=ALLOCATIONS.c.amount)).label('amount'),
            )
            .select_from(RESOURCES)
            .join(ALLOCATIONS, self._had_now())
            .join(
                INVENTORIES,
                sa.and_(INVENTORIES.c.resource_id == RESOURCES.c.id, sa.or_(whole, part)),
            )
            .where(*_AVAILABLE)
            .group_by(RESOURCES.c.id, *key, _ROOM)
            .subquery('held')
        )
        least = sa.case((held.c.amount > held.c.room, held.c.room), else_=held.c.amount)
        yield from self._amounts(
            sa.select(held.c.resource_type, held.c.resource_class, sa.func.sum(least)).group_by(
                held.c.resource_type, held.c.resource_class
            )
        )

    def _had_now(self) -> Any:
        return sa.and_(
            ALLOCATIONS.c.resource_id == RESOURCES.c.id,
            ALLOCATIONS.c.live == 1,
            ALLOCATIONS.c.start_date <= self._now,
        )

    def _amounts(self, query: Any) -> Iterator[Amount]:
        for resource_type, resource_class, amount in self._session.execute(query):
            yield Amount(
                resource_type=resource_type, resource_class=resource_class, amount=float(amount)
            )

    def _backlog(self, number: int, oldest: Any, set_aside: int = 0) -> Backlog:
        age = 0.0 if oldest is None else (self._now - oldest).total_seconds()
        return Backlog(number=number, seconds=max(age, 0.0), set_aside=set_aside)


def _text(word: str) -> Any:
    # A parameter would make the two occurrences of the expression differ.
    return sa.literal_column(f"'{word}'")


_AVAILABLE: Final = (*OPEN, RESOURCES.c.deleted == 0, RESOURCES.c.project_id.is_(None))
_ROOM: Final = (INVENTORIES.c.total - INVENTORIES.c.reserved) * INVENTORIES.c.allocation_ratio
