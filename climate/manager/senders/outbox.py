# SPDX-License-Identifier: Apache-2.0

"""Sends the committed notifications of the outbox, at least once and in order."""

from __future__ import annotations

import dataclasses
import datetime
import logging
from collections.abc import Callable
from typing import ClassVar

from climate import exceptions
from climate.clock import Clock
from climate.context import WorkContext
from climate.context import Working
from climate.db.messages.outbox import OutboxRow
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain import copies
from climate.domain import events
from climate.manager.senders.sender import Sender
from climate.messaging.publisher import BrokerUnavailable
from climate.messaging.publisher import OutboxMessage
from climate.messaging.publisher import Publisher
from climate.tracing import spans
from climate.tracing.spans import SpanKind

LOG = logging.getLogger(__name__)

# The longest pause between two attempts to send a notification, in seconds.
_LONGEST_PAUSE = 60.0
_LONGEST_REASON = 500


class OutboxSender(Sender):
    """Moves notifications from the outbox to the bus.

    :param owner: the unique name of this manager
    :param batch: the maximum number of notifications per batch
    :param attempts: after how many attempts a notification that the bus does not
        accept, although it accepts others, is set aside
    :param max_sleep: the longest interval between two checks, in seconds
    :param claim_seconds: after this time another manager takes over from a sender that
        has died. A slow sender then sends some notifications twice, but in order
    :param claimed: called after notifications were claimed and copied for webhooks
    """

    what: ClassVar[str] = 'Notifications'
    unreachable: ClassVar[type[exceptions.ClimateError]] = BrokerUnavailable
    first_pause: ClassVar[float] = 0.5
    longest_pause: ClassVar[float] = 10.0
    gathering_pause: ClassVar[float] = 0.05

    def __init__(
        self,
        store: Store,
        clock: Clock,
        publisher: Publisher,
        owner: str,
        *,
        batch: int,
        max_sleep: float,
        attempts: int,
        claim_seconds: float,
        claimed: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(max_sleep=max_sleep)
        self._store = store
        self._clock = clock
        self._publisher = publisher
        self._owner = owner
        self._batch = batch
        self._attempts = attempts
        self._lasts = datetime.timedelta(seconds=claim_seconds)
        self._claimed = claimed

    def send_once(self) -> int:
        """Send one batch; return the number of notifications in it.

        A notification that cannot be sent delays only later ones of its subject, and is
        finally set aside.

        :raises climate.messaging.publisher.BrokerUnavailable: if the bus is
            unavailable; notifications that it did not accept stay in the outbox
        """
        until = self._clock.now() + self._lasts
        rows = self._store.run(lambda tx: tx.outbox.claim(self._owner, until, self._batch))
        if not rows:
            return 0
        self._claimed()
        batch = _Batch()
        try:
            for row in rows:
                self._send(row, batch)
        except BrokerUnavailable:
            self._store.run(lambda tx: self._settle(tx, batch, give_back=True))
            raise
        self._store.run(lambda tx: self._settle(tx, batch, give_back=bool(batch.late)))
        return len(rows)

    def _send(self, row: OutboxRow, batch: _Batch) -> None:
        if row.subject in batch.late:
            # An earlier notification of the same subject has to be sent first.
            return
        try:
            with (
                Working(WorkContext(row.lease_id, origin=row.origin)),
                spans.span(
                    f'publish {row.event_type}',
                    SpanKind.PRODUCER,
                    None if row.origin is None else row.origin.traceparent,
                    {'messaging.message.id': row.id, 'climate.lease_id': row.lease_id},
                ),
            ):
                self._publisher.publish([_message(row)])
        except BrokerUnavailable:
            raise
        except Exception as error:
            reason = f'{type(error).__name__}: {error}'[:_LONGEST_REASON]
            again = row.attempts + 1 < self._attempts
            batch.failed.append((row, reason, again))
            if again:
                batch.late.add(row.subject)
                LOG.warning('Notification %s cannot be sent yet: %s', _name(row), reason)
            else:
                LOG.error(
                    'Notification %s is set aside after %d failed attempts: %s',
                    _name(row),
                    row.attempts + 1,
                    reason,
                )
        else:
            batch.accepted.append(row.id)

    def _settle(self, tx: Transaction, batch: _Batch, *, give_back: bool) -> None:
        tx.outbox.delete(batch.accepted)
        for row, reason, again in batch.failed:
            if again:
                pause = events.backoff(row.attempts + 1, self.first_pause, _LONGEST_PAUSE)
                tx.outbox.postpone(row.id, tx.now + pause, reason)
            else:
                tx.outbox.set_aside(row.id, reason)
        if give_back:
            tx.outbox.give_back(self._owner)


@dataclasses.dataclass(kw_only=True, slots=True)
class _Batch:
    """The outcome of a batch of notifications.

    :ivar accepted: the ids of those that were sent
    :ivar failed: those that were not, with the reason and whether to retry
    :ivar late: the subjects whose notifications have to wait for a retry
    """

    accepted: list[str] = dataclasses.field(default_factory=list)
    failed: list[tuple[OutboxRow, str, bool]] = dataclasses.field(default_factory=list)
    late: set[str] = dataclasses.field(default_factory=set)


def _name(row: OutboxRow) -> str:
    about = f'lease {row.lease_id}' if row.lease_id else row.subject or 'an unknown lease'
    return f'{row.id} ({row.event_type} of {about})'


def _message(row: OutboxRow) -> OutboxMessage:
    return copies.converted(OutboxMessage, row, context=_ids(row))


def _ids(row: OutboxRow) -> dict[str, str]:
    """Return the ids of the request that a notification goes back to."""
    if row.origin is None:
        return {}
    ids = {
        'request_id': row.origin.request_id,
        'global_request_id': row.origin.global_request_id,
        # Of the span in which it is sent, if it is recorded.
        'traceparent': spans.traceparent(),
    }
    return {name: value for name, value in ids.items() if value is not None}
