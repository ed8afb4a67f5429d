# SPDX-License-Identifier: Apache-2.0

"""Queries of chores: periodic work that one manager at a time does."""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy as sa

from climate.db.schema.tables import CHORES
from climate.db.statements.repository import Repository
from climate.db.statements.repository import UNCLAIMED


class Chores(Repository):
    """Rows of ``chores``."""

    def take(
        self,
        name: str,
        owner: str,
        until: datetime.datetime,
        *,
        not_since: datetime.datetime | None = None,
    ) -> bool:
        """Claim a chore; return whether *owner* has it now.

        ::

            UPDATE chores SET claim_owner = :owner, claim_until = :until, begun_at = :now
            WHERE name = :name AND (claim_until IS NULL OR claim_until < :now)
              AND begun_at <= :not_since

        An unknown chore counts as begun now.

        :param until: when the claim expires (aware UTC)
        :param not_since: claim the chore only if it was not begun after this instant
            (aware UTC)
        """
        self._ensure(name)
        conditions = [
            CHORES.c.name == name,
            sa.or_(CHORES.c.claim_until.is_(None), CHORES.c.claim_until < self._now),
        ]
        if not_since is not None:
            conditions.append(CHORES.c.begun_at <= not_since)
        values = {'claim_owner': owner, 'claim_until': until, 'begun_at': self._now}
        return bool(self._update_rows(CHORES, *conditions, **values))

    def renew(self, name: str, owner: str, until: datetime.datetime) -> bool:
        """Extend a claim; return whether *owner* still had it."""
        return bool(self._update_rows(CHORES, *_claimed(name, owner), claim_until=until))

    def release(self, name: str, owner: str) -> None:
        """Release the claim on a chore."""
        self._update_rows(CHORES, *_claimed(name, owner), **UNCLAIMED)

    def heard_of(self, name: str) -> datetime.datetime:
        """Return when a chore was last begun; record an unknown one as begun now."""
        self._ensure(name)
        begun: datetime.datetime | None = self.begun_at(name)
        return self._now if begun is None else begun

    def advance(self, name: str, instant: datetime.datetime) -> None:
        """Record a chore as done up to *instant*, unless a later one is recorded."""
        older = (CHORES.c.name == name, CHORES.c.begun_at < instant)
        self._update_rows(CHORES, *older, begun_at=instant)

    def forget(self, name: str, owner: str) -> None:
        """Delete a chore that *owner* has claimed, and that will not be done again."""
        self._delete_rows(CHORES, *_claimed(name, owner))

    def begun_at(self, name: str) -> datetime.datetime | None:
        """Return when a chore was last begun; None if it is unknown."""
        return self._session.scalar(sa.select(CHORES.c.begun_at).where(CHORES.c.name == name))

    def _ensure(self, name: str) -> None:
        """Insert a chore; if another manager is first, the transaction is repeated."""
        if self.begun_at(name) is None:
            self._insert_row(CHORES, name=name, begun_at=self._now)


def _claimed(name: str, owner: str) -> tuple[Any, Any]:
    return CHORES.c.name == name, CHORES.c.claim_owner == owner
