# SPDX-License-Identifier: Apache-2.0

"""Queries of the outbox: notifications that are to be sent to the bus."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import uuid
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate.db.engine.prepared import prepared
from climate.db.leases import lease_options
from climate.db.messages.deliveries import Deliveries
from climate.db.messages.outbox_rows import OutboxRow as OutboxRow
from climate.db.schema.tables import OUTBOX
from climate.db.statements import inserts
from climate.db.statements.lists import Among
from climate.db.statements.repository import Repository
from climate.db.statements.repository import UNCLAIMED
from climate.domain import copies
from climate.domain.origins import RequestOrigin

# A key of payloads in the table only: subscribers get the ids in the context of a message.
_ORIGIN: Final = '_origin'
# Built once, see leases.py.
# PostgreSQL would return the numbers, which are not used.
# A statement with more would be too long for some servers.
_AT_ONCE: Final = 100
_INSERT = prepared(sa.insert(OUTBOX).inline())
_NOW: sa.BindParameter[Any] = sa.bindparam('now', type_=OUTBOX.c.due.type)
_MOST: sa.BindParameter[Any] = sa.bindparam('most', type_=sa.Integer())
_HEAD, _EARLIER = OUTBOX.alias('head'), OUTBOX.alias('earlier')
_HEADS = (
    sa.select(_HEAD.c.lease_id)
    .where(
        _HEAD.c.set_aside_at.is_(None),
        sa.or_(_HEAD.c.due.is_(None), _HEAD.c.due <= _NOW),
        sa.or_(
            _HEAD.c.claim_until.is_(None),
            _HEAD.c.claim_until < _NOW,
            _HEAD.c.claim_owner == sa.bindparam('owner'),
        ),
        ~sa.exists().where(
            _EARLIER.c.lease_id == _HEAD.c.lease_id,
            _EARLIER.c.seq < _HEAD.c.seq,
            _EARLIER.c.set_aside_at.is_(None),
        ),
    )
    .order_by(_HEAD.c.seq)
    .limit(_MOST)
    .with_for_update(skip_locked=True, of=_HEAD)
)
_QUEUED = (
    sa.select(OUTBOX)
    .where(Among(OUTBOX.c.lease_id, 'lease_ids'), OUTBOX.c.set_aside_at.is_(None))
    .order_by(OUTBOX.c.seq)
    .limit(_MOST)
)
_UNFANNED = (
    sa.select(OUTBOX.c.seq)
    .where(
        OUTBOX.c.fanned == 0,
        OUTBOX.c.created_at <= sa.bindparam('before', type_=OUTBOX.c.created_at.type),
    )
    .order_by(OUTBOX.c.seq)
    .limit(_MOST)
)
_LOCK_UNFANNED = (
    sa.select(OUTBOX)
    .where(Among(OUTBOX.c.seq, 'seqs'), OUTBOX.c.fanned == 0)
    .order_by(OUTBOX.c.seq)
    .with_for_update(skip_locked=True)
)
_CLAIM = sa.update(OUTBOX).where(Among(OUTBOX.c.seq, 'seqs'))
_DELETE = sa.delete(OUTBOX).where(Among(OUTBOX.c.id, 'ids'))


@dataclasses.dataclass(eq=False)
class Outbox(Repository):
    """Rows of ``outbox``."""

    _gathered: list[OutboxRow] | None = None

    @contextlib.contextmanager
    def gathered(self) -> Iterator[None]:
        """Insert what is posted meanwhile at the end, in few statements."""
        self._gathered = []
        try:
            yield
            self._flush()
        finally:
            self._gathered = None

    def _flush(self) -> None:
        if self._gathered:
            self.insert(self._gathered)
            self._gathered.clear()

    def insert(self, messages: Iterable[OutboxRow]) -> None:
        """Insert notifications, in one statement."""
        values = [
            {
                'id': message.id,
                'lease_id': message.subject,
                'event_type': message.event_type,
                'priority': message.priority,
                'payload': _payload(message),
                'created_at': message.created_at,
            }
            for message in messages
        ]
        if values:
            inserts.insert(self._session, _INSERT, values)

    def post(
        self,
        event_type: str,
        subject: str,
        payload: Mapping[str, Any],
        *,
        priority: str = 'INFO',
        origin: RequestOrigin | None = None,
    ) -> None:
        """Have a manager send a notification once the transaction is committed.

        :param subject: the id of a lease, or another key, such as ``resource 5``, of at
            most 36 characters
        """
        new = OutboxRow(
            id=str(uuid.uuid4()),
            subject=subject,
            event_type=event_type,
            payload=payload,
            created_at=self._now,
            priority=priority,
            origin=origin,
        )
        if self._gathered is None:
            self.insert([new])
            return
        self._gathered.append(new)
        if len(self._gathered) >= _AT_ONCE:
            self._flush()

    def claim(self, owner: str, until: datetime.datetime, most: int) -> list[OutboxRow]:
        """Claim the oldest notifications.

        A claim on the first notification of a lease, or of another subject, includes those
        that follow it: no other sender can overtake, and the order is kept. Notifications that
        are set aside neither wait nor delay others::

            SELECT head.lease_id FROM outbox head
            WHERE head.set_aside_at IS NULL AND (head.due IS NULL OR head.due <= :now)
              AND (head.claim_until IS NULL OR head.claim_until < :now
                   OR head.claim_owner = :owner)
              AND NOT EXISTS (SELECT 1 FROM outbox earlier
                              WHERE earlier.lease_id = head.lease_id AND earlier.seq < head.seq
                                AND earlier.set_aside_at IS NULL)
            ORDER BY head.seq LIMIT :most FOR UPDATE SKIP LOCKED

        Notifications that *owner* has claimed before and not settled, because the
        database was unavailable, are returned again: no other sender has them.

        :param owner: the claiming sender
        :param until: when the claim expires (aware UTC)
        :param most: the limit for all leases together
        """
        values = {'owner': owner, 'now': self._now, 'most': most}
        lease_ids = list(self._session.scalars(_HEADS, values))
        if not lease_ids:
            return []
        # The lock on the first one protects the others. The order is global, so that
        # the limit cuts off the end of a lease's queue, never its beginning.
        queued = self._session.execute(_QUEUED, {'lease_ids': lease_ids, 'most': most}).all()
        seqs = [row.seq for row in queued]
        self._session.execute(
            _CLAIM, {'seqs': seqs, 'claim_owner': owner, 'claim_until': until, 'fanned': 1}
        )
        rows = [_row(row) for row in queued]
        Deliveries(self._session, self._now).copy([row for row in rows if not row.fanned])
        return rows

    def copy_to_webhooks(self, before: datetime.datetime, most: int) -> int:
        """Write the deliveries of notifications to webhooks, while the bus is unavailable.

        The rows are found without locks, for a search with ``SKIP LOCKED`` on MariaDB
        keeps locks on all rows that it reads::

            SELECT seq FROM outbox WHERE fanned = 0 AND created_at <= :before
            ORDER BY seq LIMIT :most

            SELECT * FROM outbox WHERE seq IN (…) AND fanned = 0 FOR UPDATE SKIP LOCKED

        :param before: only notifications that were written until then (aware UTC)
        :returns: the number of notifications that have their copies now
        """
        seqs = list(self._session.scalars(_UNFANNED, {'before': before, 'most': most}))
        if not seqs:
            return 0
        rows = [_row(row) for row in self._session.execute(_LOCK_UNFANNED, {'seqs': seqs})]
        if rows:
            self._session.execute(_CLAIM, {'seqs': [row.seq for row in rows], 'fanned': 1})
            Deliveries(self._session, self._now).copy(rows)
        return len(rows)

    def delete(self, ids: Collection[str]) -> None:
        """Delete notifications that the bus has accepted."""
        if ids:
            self._session.execute(_DELETE, {'ids': ids})

    def give_back(self, owner: str) -> None:
        """Release the claims of *owner*."""
        self._update_rows(OUTBOX, OUTBOX.c.claim_owner == owner, **UNCLAIMED)

    def postpone(self, message_id: str, due: datetime.datetime, error: str) -> None:
        """Postpone a notification, and with it those of its lease that follow."""
        self._fail(message_id, error, due=due)

    def set_aside(self, message_id: str, error: str) -> None:
        """Set a notification aside; those of its lease that follow are sent without it."""
        self._fail(message_id, error, set_aside_at=self._now)

    def _fail(self, message_id: str, error: str, **values: Any) -> None:
        values |= {'error': error, 'attempts': OUTBOX.c.attempts + 1}
        self._update_rows(OUTBOX, OUTBOX.c.id == message_id, **UNCLAIMED, **values)

    def failing(self) -> list[OutboxRow]:
        """Return what could not be sent although the bus was available, oldest first."""
        query = sa.select(OUTBOX).where(OUTBOX.c.attempts > 0).order_by(OUTBOX.c.seq)
        return [_row(row) for row in self._session.execute(query)]

    def unsent(self) -> list[OutboxRow]:
        """Return everything that was not sent yet, oldest first."""
        query = sa.select(OUTBOX).order_by(OUTBOX.c.seq)
        return [_row(row) for row in self._session.execute(query)]

    def retry(self, ids: Collection[str] | None) -> int:
        """Return what was set aside to the queue, with all attempts left.

        :param ids: None for all of it
        :returns: the number of notifications
        """
        values = {'set_aside_at': None, 'due': None, 'error': None}
        return self._update_rows(OUTBOX, *_set_aside(ids), **values, attempts=0)

    def drop(self, ids: Collection[str] | None) -> int:
        """Delete what was set aside.

        :param ids: None for all of it
        :returns: the number of notifications
        """
        return self._delete_rows(OUTBOX, *_set_aside(ids))

    def waiting(self) -> int:
        """Return the number of notifications that the bus has not accepted."""
        return self._count_rows(OUTBOX.c.set_aside_at.is_(None))


def _set_aside(ids: Collection[str] | None) -> list[Any]:
    """Return the conditions of what was set aside, of some ids or of all."""
    aside = [OUTBOX.c.set_aside_at.is_not(None)]
    return aside if ids is None else [*aside, OUTBOX.c.id.in_(ids)]


def _payload(message: OutboxRow) -> dict[str, Any]:
    origin = lease_options.dump_origin(message.origin)
    return {**message.payload} if origin is None else {**message.payload, _ORIGIN: origin}


def _row(row: Any) -> OutboxRow:
    payload = dict(row.payload)
    origin = lease_options.load_origin(payload.pop(_ORIGIN, None))
    return copies.converted(
        OutboxRow,
        row,
        subject=row.lease_id,
        payload=payload,
        origin=origin,
        fanned=bool(row.fanned),
    )
