# SPDX-License-Identifier: Apache-2.0

"""The rows of stored offers, and what is held for them.

A hold is a lease that users cannot see, see ``hidden_leases``. Its row has the id of the offer.

Holds need no process to end them. A request that is refused for lack of resources, or asks
what is free, first releases those that have expired; see
:mod:`climate.db.transactions.expired_holds`.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate import exceptions
from climate.db.booking import offer_contents
from climate.db.booking.hidden_leases import HiddenLeases
from climate.db.schema.tables import OFFERS
from climate.domain import copies
from climate.domain.copies import picked
from climate.domain.offers import StoredOffer

KEPT: Final = datetime.timedelta(hours=1)
"""How long the row of an offer is kept after it has expired."""

# Built once, see leases.py.
_NOW: sa.BindParameter[Any] = sa.bindparam('now', type_=OFFERS.c.held_until.type)
_EXPIRED = sa.select(OFFERS.c.id).where(OFFERS.c.held_until <= _NOW)
_ANY_EXPIRED = _EXPIRED.limit(1)
_ENDED_SINCE = sa.select(
    _ANY_EXPIRED.exists(),
    sa.select(OFFERS.c.id).where(OFFERS.c.released_at >= sa.bindparam('since')).exists(),
)
_KNOWN = sa.select(OFFERS).where(OFFERS.c.id == sa.bindparam('offer_id'))


class Offers(HiddenLeases):
    """Rows of ``offers``."""

    def insert(self, new: Iterable[StoredOffer]) -> None:
        """Insert offers, in one statement."""
        values = [
            {
                **picked(one, 'id', 'project_id', 'user_id'),
                'request': self._vault.seal_text(json.dumps(one.reservations)),
                'content': offer_contents.written(one.offer),
                **picked(one, 'created_at', 'expires_at', 'held_until'),
            }
            for one in new
        ]
        self._insert_rows(OFFERS, values)

    def get(self, offer_id: str, project_id: str | None, *, lock: bool = False) -> StoredOffer:
        """Return an offer.

        :param project_id: search only this project; None searches all
        :param lock: lock the row until the transaction ends
        :raises climate.exceptions.NotFound: if there is none, or no key decrypts it
        """
        query = _KNOWN.with_for_update() if lock else _KNOWN
        row = self._session.execute(query, {'offer_id': offer_id}).one_or_none()
        request = None if row is None else self._vault.open_text(row.request)
        if row is None or request is None or project_id not in (None, row.project_id):
            raise exceptions.NotFound(object={'offer_id': offer_id})
        return _offer(row, request)

    def find(self, offer_id: str, project_id: str) -> StoredOffer | None:
        """Return an offer of a project; None if there is none."""
        try:
            return self.get(offer_id, project_id)
        except exceptions.NotFound:
            return None

    def held(self) -> list[StoredOffer]:
        """Return the offers of all projects whose resources are held, by the end of the hold."""
        query = sa.select(OFFERS).where(OFFERS.c.held_until > self._now)
        rows = self._session.execute(query.order_by(OFFERS.c.held_until, OFFERS.c.id)).all()
        return [_offer(row, '[]') for row in rows]

    def count_held(self, project_id: str) -> int:
        """Return how many offers of a project are held."""
        return self._count_rows(OFFERS.c.project_id == project_id, OFFERS.c.held_until > self._now)

    def count(self, project_id: str) -> int:
        """Return how many offers of a project are stored, expired ones included."""
        return self._count_rows(OFFERS.c.project_id == project_id)

    def take(self, offer: StoredOffer, lease_id: str, *, held: bool) -> bool:
        """Record the lease that takes an offer.

        :param held: whether it takes the held resources; :meth:`delete_hold` then deletes
            the rest of the hold
        :returns: False if the offer was taken or deleted meanwhile, or its hold has ended
        """
        until = OFFERS.c.held_until
        same = until.is_(None) if offer.held_until is None else until == offer.held_until
        values = {'lease_id': lease_id, **({'held_until': None} if held else {})}
        free = (OFFERS.c.id == offer.id, OFFERS.c.lease_id.is_(None), same)
        return bool(self._update_rows(OFFERS, *free, **values))

    def delete(self, offer_id: str) -> None:
        """Delete an offer whose row is locked, and release what is held for it."""
        self._release([offer_id])
        self._delete_rows(OFFERS, OFFERS.c.id == offer_id)

    def has_expired_holds(self) -> bool:
        """Whether a hold has expired whose resources are not released yet."""
        return self._session.scalar(_ANY_EXPIRED, {'now': self._now}) is not None

    def ended_since(self, instant: datetime.datetime) -> tuple[bool, bool]:
        """Whether a hold has expired and is not released yet, and whether one was released.

        :param instant: since when (aware UTC)
        """
        row = self._session.execute(_ENDED_SINCE, {'now': self._now, 'since': instant}).one()
        return bool(row[0]), bool(row[1])

    def release_expired(self, most: int) -> int:
        """Release at most *most* expired holds; return their number."""
        query = _EXPIRED.order_by(OFFERS.c.id).limit(most).with_for_update()
        ids = list(self._session.scalars(query, {'now': self._now}))
        if ids:
            self._release(ids)
            self._update_rows(OFFERS, OFFERS.c.id.in_(ids), held_until=None, released_at=self._now)
        return len(ids)

    def forget_expired(self, most: int) -> int:
        """Delete the rows of at most *most* offers that expired a while ago.

        :returns: their number
        """
        query = (
            sa.select(OFFERS.c.id)
            .where(OFFERS.c.expires_at <= self._now - KEPT, OFFERS.c.held_until.is_(None))
            .order_by(OFFERS.c.expires_at)
            .limit(most)
        )
        ids = list(self._session.scalars(query))
        if ids:
            self._delete_rows(OFFERS, OFFERS.c.id.in_(ids))
        return len(ids)

    def delete_hold(self, offer_id: str) -> None:
        """Delete the invisible lease of an offer, whose allocations have a new one."""
        self._delete_leases([offer_id])


def _offer(row: Any, request: str) -> StoredOffer:
    return copies.converted(
        StoredOffer,
        row,
        offer=offer_contents.read(row.content),
        reservations=tuple(json.loads(request)),
    )
