# SPDX-License-Identifier: Apache-2.0

"""Queries of the trusts of users that are not deleted yet.

A trust is announced before it is created, recorded before its lease is booked, and its
row is deleted after Keystone has deleted the trust, so that no crash in between loses
one. Several services may share a user, and Keystone does not know for which of them a
trust was created, and keeps no description. So a trust whose answer was lost is
recognized by its user and project, and by the second at which it expires, which is
chosen at random. No other trusts are ever deleted.
"""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Collection
from typing import Final

import sqlalchemy as sa

from climate.db.leases.inconsistencies import OVER
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import TRUSTS
from climate.db.statements.repository import Repository
from climate.domain import copies
from climate.domain.owners import TrustOwner

_ANNOUNCED: Final = 'announced:'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LeftTrust:
    """A trust that is no longer needed.

    :ivar lease_id: the lease that it was for, which has ended; None if there never
        was one
    :ivar made_at: when it was created (aware UTC)
    """

    id: str
    lease_id: str | None
    made_at: datetime.datetime


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class AnnouncedTrust:
    """A trust that may have been created, although the answer of Keystone was lost.

    :ivar key: of its record
    :ivar made_at: when its creation was announced (aware UTC)
    :ivar expires_at: no other trust of the user expires at this second, except by chance
    """

    key: str
    user_id: str
    project_id: str
    made_at: datetime.datetime
    expires_at: datetime.datetime


class Trusts(Repository):
    """Rows of ``trusts``."""

    def announce(self, user_id: str, project_id: str, expires_at: datetime.datetime) -> str:
        """Record that a trust is about to be created; return the key of the record.

        :param expires_at: aware UTC
        """
        key = f'{_ANNOUNCED}{uuid.uuid4().hex}'
        values = {'made_at': self._now, 'expires_at': expires_at}
        self._insert_row(TRUSTS, id=key, **values, user_id=user_id, project_id=project_id)
        return key

    def confirm(self, key: str, trust_id: str) -> None:
        """Record the id of a trust that was announced."""
        if not self._update_rows(TRUSTS, TRUSTS.c.id == key, id=trust_id):
            # The answer took so long that a repair has forgotten the announcement.
            self.add(trust_id)

    def announced(self, before: datetime.datetime) -> list[AnnouncedTrust]:
        """Return the trusts that were announced before *before* and never confirmed."""
        query = sa.select(TRUSTS).where(
            TRUSTS.c.id.startswith(_ANNOUNCED, autoescape=True), TRUSTS.c.made_at < before
        )
        rows = self._session.execute(query.order_by(TRUSTS.c.made_at, TRUSTS.c.id))
        return [copies.converted(AnnouncedTrust, row, key=row.id) for row in rows]

    def recorded(self, ids: Collection[str]) -> frozenset[str]:
        """Return those of some ids of trusts that are recorded."""
        query = sa.select(TRUSTS.c.id).where(TRUSTS.c.id.in_(list(ids)))
        return frozenset(self._session.scalars(query))

    def add(self, trust_id: str, expires_at: datetime.datetime | None = None) -> None:
        """Record a trust.

        :param expires_at: aware UTC; None if it lasts until it is deleted
        """
        self._insert_row(TRUSTS, id=trust_id, made_at=self._now, expires_at=expires_at)

    def expiry(self, lease_id: str) -> datetime.datetime | None:
        """Return when the trust of a lease expires; None without one, or if never."""
        query = sa.select(TRUSTS.c.expires_at).where(
            TRUSTS.c.id
            == sa.select(LEASES.c.trust_id).where(LEASES.c.id == lease_id).scalar_subquery()
        )
        return self._session.scalar(query)

    def give(self, trust_id: str, lease_id: str) -> None:
        """Record the lease of a trust."""
        self._update_rows(TRUSTS, TRUSTS.c.id == trust_id, lease_id=lease_id)

    def owners(self) -> list[TrustOwner]:
        """Return who has given the trusts of leases that are not over.

        ::

            SELECT … FROM leases JOIN trusts ON trusts.id = leases.trust_id
            WHERE leases.deleted_at IS NULL AND leases.status <> 'TERMINATED'
        """
        query = (
            sa.select(
                LEASES.c.project_id,
                LEASES.c.user_id,
                TRUSTS.c.id.label('trust_id'),
                LEASES.c.id.label('lease_id'),
                TRUSTS.c.lost_reason,
            )
            .join_from(LEASES, TRUSTS, TRUSTS.c.id == LEASES.c.trust_id)
            .where(sa.not_(OVER))
            .order_by(LEASES.c.project_id, LEASES.c.user_id, LEASES.c.id)
        )
        return [TrustOwner(**row._mapping) for row in self._session.execute(query)]

    def mark_lost(self, trust_id: str, reason: str | None) -> bool:
        """Record why a trust is of no use; return whether that was not known before.

        :param reason: None if it is of use again
        """
        query = sa.select(TRUSTS.c.lost_reason).where(TRUSTS.c.id == trust_id).with_for_update()
        known = self._session.execute(query).one_or_none()
        if known is None or known.lost_reason == reason:
            return False
        self._update_rows(TRUSTS, TRUSTS.c.id == trust_id, lost_reason=reason)
        return True

    def forget(self, trust_id: str) -> None:
        """Delete the record of a deleted trust."""
        self._delete_rows(TRUSTS, TRUSTS.c.id == trust_id)

    def left(self, before: datetime.datetime, lease_id: str | None = None) -> list[LeftTrust]:
        """Return the trusts that are no longer needed.

        ::

            SELECT … FROM trusts LEFT OUTER JOIN leases ON leases.id = trusts.lease_id
            WHERE (leases.id IS NULL AND trusts.made_at < :before)
               OR leases.deleted_at IS NOT NULL OR leases.status = 'TERMINATED'

        :param before: a trust without a lease counts if it was created before this
            (aware UTC); a later one may be about to be used
        :param lease_id: only the trust of this lease
        """
        unused = sa.and_(LEASES.c.id.is_(None), TRUSTS.c.made_at < before)
        query = (
            sa.select(TRUSTS.c.id, TRUSTS.c.lease_id, TRUSTS.c.made_at)
            .select_from(TRUSTS.outerjoin(LEASES, LEASES.c.id == TRUSTS.c.lease_id))
            .where(sa.or_(unused, OVER))
            .where(~TRUSTS.c.id.startswith(_ANNOUNCED, autoescape=True))
            .order_by(TRUSTS.c.made_at, TRUSTS.c.id)
        )
        if lease_id is not None:
            query = query.where(TRUSTS.c.lease_id == lease_id)
        return [LeftTrust(**row) for row in self._session.execute(query).mappings()]
