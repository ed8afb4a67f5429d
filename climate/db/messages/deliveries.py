# SPDX-License-Identifier: Apache-2.0

"""Queries of deliveries: notifications on their way to webhooks.

A notification is copied for its webhooks in a transaction that marks its row in the
outbox, so each webhook gets each notification, whatever process dies when. Only marked
rows leave the outbox. If two managers copy the same notification, the unique key of the
webhook and the notification makes the later one repeat its transaction.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate import exceptions
from climate.db.messages.outbox_rows import OutboxRow
from climate.db.messages.webhooks import WebhookRows
from climate.db.schema.tables import WEBHOOK_DELIVERIES
from climate.db.schema.tables import WEBHOOKS
from climate.db.statements.repository import Repository
from climate.db.statements.repository import UNCLAIMED
from climate.domain import copies
from climate.domain.webhooks import Delivery
from climate.domain.webhooks import DeliveryState
from climate.domain.webhooks import TEST_EVENT

MOST_WAITING: Final = 10_000
"""How many deliveries wait for one webhook; further ones are dead at once, and tests refused."""
MOST_FINISHED: Final = 10_000
"""How many finished deliveries of one webhook are kept, the newest ones."""

_ROWS = WEBHOOK_DELIVERIES
_TOO_MANY: Final = f'More than {MOST_WAITING} notifications are waiting'
# Not changed by an earlier owner, whose claim has expired.
_MINE = sa.and_(
    _ROWS.c.seq == sa.bindparam('row_seq'), _ROWS.c.claim_owner == sa.bindparam('row_owner')
)
_SETTLE = sa.update(_ROWS).where(_MINE)


class Deliveries(Repository):
    """Rows of ``webhook_deliveries``."""

    def copy(self, messages: Collection[OutboxRow]) -> int:
        """Write the deliveries of notifications to the webhooks that want them.

        :returns: the number of deliveries
        """
        projects = {str(message.payload.get('project_id')) for message in messages}
        webhooks = WebhookRows(self._session, self._now).enabled(projects) if projects else []
        if not webhooks:
            return 0
        room = {webhook.id: MOST_WAITING for webhook in webhooks}
        for webhook_id, number in self._waiting(list(room)):
            room[webhook_id] -= number
        values = []
        for message in messages:
            project_id = str(message.payload.get('project_id'))
            for webhook in webhooks:
                if webhook.wants(message.event_type, project_id):
                    room[webhook.id] -= 1
                    values.append(self._values(webhook.id, message, room[webhook.id] >= 0))
        self._insert_rows(_ROWS, values)
        return len(values)

    def add_test(self, webhook_id: str, payload: dict[str, Any]) -> str:
        """Write a delivery that only tests a webhook; return its id.

        :raises climate.exceptions.TooManyRequests: if too many wait for the webhook already
        """
        if sum(number for _, number in self._waiting([webhook_id])) >= MOST_WAITING:
            raise exceptions.TooManyRequests(
                kind='webhook', limit=f'{MOST_WAITING} waiting notifications', retry_after=60
            )
        message = OutboxRow(
            id=str(uuid.uuid4()),
            subject='',
            event_type=TEST_EVENT,
            payload=payload,
            created_at=self._now,
        )
        values = self._values(webhook_id, message, True)
        self._insert_rows(_ROWS, [values])
        return str(values['id'])

    def due(self) -> list[tuple[str, str]]:
        """Return the enabled webhooks with deliveries that are due, and their projects.

        All of them, in no order: a long backlog of some must not hide others. ::

            SELECT DISTINCT webhook_id, project_id FROM webhook_deliveries
            JOIN webhooks ON webhooks.id = webhook_id AND webhooks.enabled
            WHERE state = 'waiting' AND due <= :now
              AND (claim_until IS NULL OR claim_until < :now)
        """
        query = (
            sa.select(_ROWS.c.webhook_id, WEBHOOKS.c.project_id)
            .join(WEBHOOKS, WEBHOOKS.c.id == _ROWS.c.webhook_id)
            .where(*self._free(), WEBHOOKS.c.enabled == sa.true())
            .distinct()
        )
        return [(row.webhook_id, row.project_id) for row in self._session.execute(query)]

    def claim(
        self, owner: str, until: datetime.datetime, wanted: Mapping[str, int]
    ) -> list[Delivery]:
        """Claim deliveries that are due, of each webhook the oldest ones.

        ::

            SELECT seq FROM webhook_deliveries
            WHERE webhook_id = :webhook_id AND state = 'waiting' AND due <= :now
              AND (claim_until IS NULL OR claim_until < :now)
            ORDER BY seq LIMIT :number FOR UPDATE SKIP LOCKED

        :param owner: the claiming sender
        :param until: when the claim expires (aware UTC)
        :param wanted: how many of each webhook, at most
        """
        seqs: list[int] = []
        for webhook_id, number in wanted.items():
            query = (
                sa.select(_ROWS.c.seq)
                .where(_ROWS.c.webhook_id == webhook_id, *self._free())
                .order_by(_ROWS.c.seq)
                .limit(number)
                .with_for_update(skip_locked=True)
            )
            seqs += self._session.scalars(query)
        if not seqs:
            return []
        mine = _ROWS.c.seq.in_(seqs)
        self._update_rows(_ROWS, mine, claim_owner=owner, claim_until=until)
        rows = self._session.execute(sa.select(_ROWS).where(mine).order_by(_ROWS.c.seq))
        return [_delivery(row) for row in rows]

    def _free(self) -> tuple[sa.ColumnElement[bool], ...]:
        """Return the conditions of deliveries that are due and not claimed."""
        return (
            _ROWS.c.state == DeliveryState.WAITING,
            _ROWS.c.due <= self._now,
            sa.or_(_ROWS.c.claim_until.is_(None), _ROWS.c.claim_until < self._now),
        )

    def deliver(self, delivery: Delivery, owner: str, status: int) -> None:
        """Record that the receiver has accepted a delivery."""
        outcome = {'state': DeliveryState.DELIVERED, 'finished_at': self._now}
        self._settle(delivery, owner, error=None, status=status, **outcome)

    def fail(
        self,
        delivery: Delivery,
        owner: str,
        *,
        error: str,
        status: int | None,
        due: datetime.datetime | None,
    ) -> None:
        """Record a failed attempt.

        :param due: when it is sent again (aware UTC); None gives it up
        """
        if due is None:
            outcome: dict[str, Any] = {'state': DeliveryState.DEAD, 'finished_at': self._now}
        else:
            outcome = {'due': due}
        self._settle(delivery, owner, error=error, status=status, **outcome)

    def _settle(self, delivery: Delivery, owner: str, **values: Any) -> None:
        self._session.execute(
            _SETTLE.values(attempts=_ROWS.c.attempts + 1, **UNCLAIMED, **values),
            {'row_seq': delivery.seq, 'row_owner': owner},
        )

    def give_back(self, owner: str) -> None:
        """Release the claims of *owner*."""
        mine = (_ROWS.c.claim_owner == owner, _ROWS.c.state == DeliveryState.WAITING)
        self._update_rows(_ROWS, *mine, **UNCLAIMED)

    def page(
        self, webhook_id: str, state: DeliveryState | None, marker: str | None, limit: int
    ) -> list[Delivery]:
        """Return deliveries to a webhook, newest first, at most *limit*.

        :param marker: the id of the last one of the page before; None for the first page
        """
        query = sa.select(_ROWS).where(_ROWS.c.webhook_id == webhook_id)
        if state is not None:
            query = query.where(_ROWS.c.state == state)
        if marker is not None:
            last = sa.select(_ROWS.c.seq).where(_ROWS.c.id == marker).scalar_subquery()
            query = query.where(_ROWS.c.seq < last)
        query = query.order_by(_ROWS.c.seq.desc()).limit(limit)
        return [_delivery(row) for row in self._session.execute(query)]

    def retry(self, webhook_id: str, ids: Sequence[str] | None) -> int:
        """Send dead deliveries again, with all attempts left.

        :param ids: None for all of the webhook
        :returns: the number of deliveries
        """
        dead = [_ROWS.c.webhook_id == webhook_id, _ROWS.c.state == DeliveryState.DEAD]
        if ids is not None:
            dead.append(_ROWS.c.id.in_(ids))
        values = {'state': DeliveryState.WAITING, 'attempts': 0, 'due': self._now}
        return self._update_rows(_ROWS, *dead, **values, finished_at=None)

    def forget(
        self, delivered_before: datetime.datetime, dead_before: datetime.datetime, most: int
    ) -> int:
        """Delete finished deliveries, and those of webhooks that were deleted.

        :param most: the limit of one call
        :returns: the number of deliveries
        """
        old = sa.or_(
            sa.and_(
                _ROWS.c.state == DeliveryState.DELIVERED, _ROWS.c.finished_at < delivered_before
            ),
            sa.and_(_ROWS.c.state == DeliveryState.DEAD, _ROWS.c.finished_at < dead_before),
        )
        orphans = (
            sa.select(_ROWS.c.seq)
            .outerjoin(WEBHOOKS, WEBHOOKS.c.id == _ROWS.c.webhook_id)
            .where(WEBHOOKS.c.id.is_(None), _ROWS.c.created_at < delivered_before)
            .limit(most)
        )
        seqs = list(self._session.scalars(sa.select(_ROWS.c.seq).where(old).limit(most)))
        seqs += self._session.scalars(orphans)
        if seqs:
            self._delete_rows(_ROWS, _ROWS.c.seq.in_(seqs))
        return len(seqs)

    def forget_surplus(self, most: int) -> int:
        """Delete the oldest finished deliveries of a webhook that has more than are kept.

        The index has all that is read, and a webhook rarely has so many. ::

            SELECT webhook_id FROM webhook_deliveries WHERE state IN ('delivered', 'dead')
            GROUP BY webhook_id HAVING count(*) > :kept LIMIT 1

        :param most: the limit of one call
        :returns: the number of deliveries
        """
        finished = _ROWS.c.state.in_((DeliveryState.DELIVERED, DeliveryState.DEAD))
        query = sa.select(_ROWS.c.webhook_id).where(finished).group_by(_ROWS.c.webhook_id)
        webhook_id = self._session.scalar(query.having(sa.func.count() > MOST_FINISHED).limit(1))
        if webhook_id is None:
            return 0
        theirs = sa.select(_ROWS.c.seq).where(_ROWS.c.webhook_id == webhook_id, finished)
        older = theirs.order_by(_ROWS.c.seq.desc()).offset(MOST_FINISHED).limit(most)
        seqs = list(self._session.scalars(older))
        self._delete_rows(_ROWS, _ROWS.c.seq.in_(seqs))
        return len(seqs)

    def _waiting(self, webhook_ids: Collection[str]) -> list[tuple[str, int]]:
        query = (
            sa.select(_ROWS.c.webhook_id, sa.func.count())
            .where(_ROWS.c.webhook_id.in_(webhook_ids), _ROWS.c.state == DeliveryState.WAITING)
            .group_by(_ROWS.c.webhook_id)
        )
        return [(webhook_id, int(number)) for webhook_id, number in self._session.execute(query)]

    def _values(self, webhook_id: str, message: OutboxRow, fits: bool) -> dict[str, Any]:
        return {
            'id': str(uuid.uuid4()),
            'webhook_id': webhook_id,
            'message_id': message.id,
            'sequence': message.seq,
            'lease_id': message.lease_id or None,
            'event_type': message.event_type,
            'payload': dict(message.payload),
            'state': DeliveryState.WAITING if fits else DeliveryState.DEAD,
            'attempts': 0,
            'due': self._now,
            'error': None if fits else _TOO_MANY,
            'created_at': message.created_at,
            'finished_at': None if fits else self._now,
        }


def _delivery(row: Any) -> Delivery:
    return copies.converted(Delivery, row, state=DeliveryState(row.state))
