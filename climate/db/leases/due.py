# SPDX-License-Identifier: Apache-2.0

"""Queries of due leases, in an order that is fair to all projects."""

from __future__ import annotations

import datetime
from collections.abc import Collection

import sqlalchemy as sa

from climate.db.leases.claims import CLAIM
from climate.db.leases.claims import FREE
from climate.db.leases.claims import NOW
from climate.db.schema.tables import LEASES
from climate.db.statements.lists import Among
from climate.db.statements.repository import Repository

# Built once, see leases.py.
_DUE = sa.and_(LEASES.c.next_due <= NOW, FREE)
_PLACES = (
    sa.select(
        LEASES.c.id,
        LEASES.c.next_due,
        sa.func.row_number()
        .over(partition_by=LEASES.c.project_id, order_by=(LEASES.c.next_due, LEASES.c.id))
        .label('place'),
    )
    .where(_DUE)
    .subquery('places')
)
_FAIR = (
    sa.select(_PLACES.c.id)
    .order_by(_PLACES.c.place, _PLACES.c.next_due, _PLACES.c.id)
    .limit(sa.bindparam('most'))
)
_LOCK = (
    sa.select(LEASES.c.id)
    .where(Among(LEASES.c.id, 'ids'), _DUE)
    .order_by(LEASES.c.id)
    .with_for_update(skip_locked=True)
)


class DueLeases(Repository):
    """Leases that no manager has claimed although they are due."""

    def fair(self, limit: int, at: datetime.datetime) -> list[str]:
        """Return ids of due leases: the first of each project, then the second of each…

        ::

            SELECT id FROM (
                SELECT id, next_due, row_number() OVER (
                    PARTITION BY project_id ORDER BY next_due, id) AS place
                FROM leases
                WHERE next_due <= :now AND (claim_until IS NULL OR claim_until < :at)
            ) places
            ORDER BY place, next_due, id LIMIT :limit

        It reads all due leases, so it is for a backlog, and for once in a while.

        :param at: the current time by the clock of claims
        """
        values = {'now': self._now, 'at': at, 'most': limit}
        return list(self._session.scalars(_FAIR, values))

    def claim(
        self, owner: str, until: datetime.datetime, ids: Collection[str], at: datetime.datetime
    ) -> list[str]:
        """Claim those of some leases that are still due and not claimed or locked.

        :param owner: the claiming manager
        :param until: when the claim expires (aware UTC)
        :param at: the current time by the clock of claims
        :returns: the ids of the claimed leases, in the order of *ids*
        """
        values = {'now': self._now, 'at': at, 'ids': list(ids)}
        free = set(self._session.scalars(_LOCK, values))
        if free:
            values = {'ids': list(free), 'claim_owner': owner, 'claim_until': until}
            self._session.execute(CLAIM, values)
        return [lease_id for lease_id in ids if lease_id in free]
