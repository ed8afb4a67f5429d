# SPDX-License-Identifier: Apache-2.0

"""Queries of claims: which manager works on which lease.

Events are due by the clock of the manager that asks. Claims expire by the clock of the
database, as far as managers know it.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from climate.db.schema.tables import LEASES
from climate.db.statements.lists import Among
from climate.db.statements.repository import Repository
from climate.db.statements.repository import UNCLAIMED

# Built once, see leases.py.
NOW: sa.BindParameter[Any] = sa.bindparam('now', type_=LEASES.c.next_due.type)
_AT: sa.BindParameter[Any] = sa.bindparam('at', type_=LEASES.c.claim_until.type)
FREE = sa.or_(LEASES.c.claim_until.is_(None), LEASES.c.claim_until < _AT)
_DUE = (
    sa.select(LEASES.c.id)
    .where(LEASES.c.next_due <= NOW, FREE)
    .order_by(LEASES.c.next_due)
    .limit(sa.bindparam('most'))
)
_LOCK_DUE = _DUE.with_for_update(skip_locked=True)
_LOCK = (
    sa.select(LEASES.c.id)
    .where(Among(LEASES.c.id, 'ids'), LEASES.c.next_due <= NOW, FREE)
    .with_for_update(skip_locked=True)
)
CLAIM = sa.update(LEASES).where(Among(LEASES.c.id, 'ids'))
_OWNED = (
    sa.select(LEASES.c.id)
    .where(Among(LEASES.c.id, 'ids'), LEASES.c.claim_owner == sa.bindparam('owner'))
    .with_for_update(skip_locked=True)
)
_NEXT_DUE = sa.select(
    sa.select(LEASES.c.next_due)
    # A claim may expire before its lease is due: the owner has died, or will release it.
    .where(LEASES.c.next_due.is_not(None), sa.or_(FREE, LEASES.c.next_due > NOW))
    .order_by(LEASES.c.next_due)
    .limit(1)
    .scalar_subquery(),
    sa.select(sa.func.min(LEASES.c.claim_until))
    .where(LEASES.c.next_due <= NOW, LEASES.c.claim_until >= _AT)
    .scalar_subquery(),
)


class Claims(Repository):
    """The claim columns of ``leases``."""

    def take(
        self, owner: str, until: datetime.datetime, limit: int, at: datetime.datetime | None = None
    ) -> list[str]:
        """Claim leases that are due, the longest overdue first.

        ::

            SELECT id FROM leases
            WHERE next_due <= :now AND (claim_until IS NULL OR claim_until < :at)
            ORDER BY next_due LIMIT :limit FOR UPDATE SKIP LOCKED

        :param owner: the claiming manager
        :param until: when the claim expires (aware UTC)
        :param at: the current time by the clock of claims; None for the local time
        """
        ids = self._locked({**self._instants(at), 'most': limit})
        if ids:
            values = {'ids': ids, 'claim_owner': owner, 'claim_until': until}
            self._session.execute(CLAIM, values)
        return ids

    def _locked(self, values: dict[str, Any]) -> list[str]:
        """Lock leases that are due, and return their ids."""
        if self._session.dialect.name not in ('mysql', 'mariadb'):
            return list(self._session.scalars(_LOCK_DUE, values))
        # InnoDB keeps a lock on each row that a locking statement reads from the index, even
        # if it does not match: on every lease that is being processed. Transactions that
        # settle those would skip them.
        ids = list(self._session.scalars(_DUE, values))
        if not ids:
            return ids
        locked = set(self._session.scalars(_LOCK, {**values, 'ids': ids}))
        return [lease_id for lease_id in ids if lease_id in locked]

    def take_one(
        self,
        owner: str,
        until: datetime.datetime,
        lease_id: str,
        at: datetime.datetime | None = None,
    ) -> bool:
        """Claim a lease, due or not; return whether no other manager has it."""
        result = self._session.execute(
            sa.update(LEASES)
            .where(LEASES.c.id == lease_id, FREE)
            .values(claim_owner=owner, claim_until=until),
            {'at': at or self._now},
        )
        return bool(getattr(result, 'rowcount', 0))

    def renew(self, owner: str, ids: Collection[str], until: datetime.datetime) -> list[str]:
        """Extend the claims that *owner* still has.

        ::

            SELECT id FROM leases WHERE id IN (:ids) AND claim_owner = :owner
            FOR UPDATE SKIP LOCKED

        It skips locked rows, which the next call renews.

        :returns: the leases whose claims were renewed
        """
        kept = list(self._session.scalars(_OWNED, {'ids': list(ids), 'owner': owner}))
        if kept:
            values = {'ids': kept, 'claim_owner': owner, 'claim_until': until}
            self._session.execute(CLAIM, values)
        return kept

    def confirm(self, owner: str, lease_id: str) -> bool:
        """Lock the row of a lease; return whether *owner* still has the claim."""
        query = sa.select(LEASES.c.claim_owner).where(LEASES.c.id == lease_id).with_for_update()
        return self._session.scalar(query) == owner

    def release(self, owner: str, lease_id: str) -> None:
        """Release the claim, so that any manager can claim the lease when it is due."""
        mine = (LEASES.c.id == lease_id, LEASES.c.claim_owner == owner)
        self._update_rows(LEASES, *mine, **UNCLAIMED)

    def next_due(self, at: datetime.datetime | None = None) -> datetime.datetime | None:
        """Return when a manager must next look for due leases; None if none is left.

        For a lease that is due, but that another manager has claimed, this is the end of its
        claim.
        """
        due, free = self._session.execute(_NEXT_DUE, self._instants(at)).one()
        if free is not None and at is not None:
            free -= at - self._now
        return min((instant for instant in (due, free) if instant is not None), default=None)

    def _instants(self, at: datetime.datetime | None) -> dict[str, datetime.datetime]:
        return {'now': self._now, 'at': at or self._now}
