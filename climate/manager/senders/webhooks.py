# SPDX-License-Identifier: Apache-2.0

"""Sends the events of webhooks, at least once.

The outbox is copied for webhooks by the manager that sends it, or by this thread while
the message bus is unavailable. A delivery is claimed for longer than an attempt can take,
and no attempt begins late: two managers never send the same delivery at the same time. A
manager that dies leaves its claims behind, which expire.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import itertools
import logging
import time
from collections.abc import Callable
from collections.abc import Sequence
from concurrent import futures
from typing import ClassVar
from typing import Final

from climate import exceptions
from climate.clock import Clock
from climate.conf.settings import option
from climate.conf.settings import seconds
from climate.conf.settings import Settings
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain import events
from climate.domain.webhooks import Delivery
from climate.domain.webhooks import Webhook
from climate.manager.claims import measures
from climate.manager.senders.sender import Sender
from climate.manager.senders.webhook_shares import AT_ONCE
from climate.manager.senders.webhook_shares import Attempt
from climate.manager.senders.webhook_shares import DueWebhook
from climate.manager.senders.webhook_shares import WebhookShares
from climate.metrics import catalogue
from climate.metrics import recording
from climate.webhooks.posts import NotAccepted
from climate.webhooks.sending import EventSender

LOG = logging.getLogger(__name__)

# How long an attempt may wait to begin, in seconds: for a thread, and for the name server.
_LATEST_START: Final = 30.0
# Between the latest end of an attempt and the end of its claim, in seconds.
_MARGIN: Final = 10.0
# How often to look for more while receivers take their time, in seconds.
_LOOK_AGAIN: Final = 1.0
_COPIED: Final = 200
# After which time this thread copies what no manager has sent to the bus.
_COPIES_AFTER: Final = datetime.timedelta(seconds=2)
_FORGOTTEN: Final = 500
_FORGETS_EVERY: Final = 60.0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class WebhookSenderSettings(Settings):
    """How often and how long events are sent.

    :ivar timeout: of an attempt, in seconds
    :ivar workers: how many events are sent at the same time
    :ivar attempts: before an event is a dead letter
    """

    timeout: float = option('webhooks', 'timeout')
    workers: int = option('webhooks', 'workers')
    attempts: int = option('webhooks', 'attempts')
    first_pause: float = option('webhooks', 'retry_first_pause')
    longest_pause: float = option('webhooks', 'retry_longest_pause')
    keep_delivered: datetime.timedelta = option('webhooks', 'keep_delivered', seconds)
    keep_dead: datetime.timedelta = option('webhooks', 'keep_dead', seconds)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Outcome:
    """What became of an attempt; *error* is '' if it was accepted."""

    delivery: Delivery
    status: int | None = None
    error: str = ''


class WebhookSender(Sender):
    """Sends deliveries that are due, in a pool of threads.

    :param owner: the unique name of this manager
    :param max_sleep: the longest interval between two checks, in seconds
    :param ticks: returns the seconds of the monotonic clock
    """

    what: ClassVar[str] = 'Events of webhooks'
    # Raised by nothing: each receiver fails by itself.
    unreachable: ClassVar[type[exceptions.ClimateError]] = exceptions.ServiceUnavailable
    first_pause: ClassVar[float] = 1.0
    longest_pause: ClassVar[float] = 10.0
    gathering_pause: ClassVar[float] = 0.1

    def __init__(
        self,
        store: Store,
        clock: Clock,
        sender: EventSender,
        owner: str,
        settings: WebhookSenderSettings,
        *,
        max_sleep: float,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(max_sleep=max_sleep)
        self._store = store
        self._clock = clock
        self._sender = sender
        self._owner = owner
        self._settings = settings
        self._ticks = ticks
        self._forgets_at = ticks()
        self._shares = WebhookShares(settings.workers)
        self._pool = futures.ThreadPoolExecutor(settings.workers, 'webhook')
        self._lasts = datetime.timedelta(seconds=_LATEST_START + settings.timeout + _MARGIN)

    def send_once(self) -> int:
        """Copy what the bus has not accepted for a while, and send what is due.

        Goes on until nothing is due, and claims more as soon as an attempt is over. A slow
        receiver holds the share of its project and its own, see
        :mod:`climate.manager.senders.webhook_shares`, and others are sent meanwhile.

        :returns: the number of notifications and of attempts
        """
        self._forget()
        total, running = 0, dict[futures.Future[_Outcome], Attempt]()
        while True:
            if not self._thread.stopping:
                total += self._store.run(
                    lambda tx: tx.outbox.copy_to_webhooks(tx.now - _COPIES_AFTER, _COPIED)
                )
                total += self._begin(running)
            if not running:
                return total
            done, _ = futures.wait(running, _LOOK_AGAIN, futures.FIRST_COMPLETED)
            outcomes = [future.result() for future in done]
            for future, outcome in zip(done, outcomes, strict=True):
                attempt = running.pop(future)
                self._shares.end(attempt, self._ticks(), accepted=not outcome.error)
            if outcomes:
                dead = self._store.run(functools.partial(self._settle_all, outcomes=outcomes))
                recording.count(catalogue.DEAD_LETTERS, number=dead)

    def _begin(self, running: dict[futures.Future[_Outcome], Attempt]) -> int:
        """Claim deliveries for threads that are free, and begin to send them."""
        free = self._settings.workers - len(running)
        if not free:
            return 0
        latest = self._ticks() + _LATEST_START
        until = self._clock.now() + self._lasts
        unused = dict[str, list[Attempt]]()
        begun = 0
        try:
            self._choose(free, unused)
            wanted = {webhook_id: len(attempts) for webhook_id, attempts in unused.items()}
            if not wanted:
                return 0
            for one in self._store.run(lambda tx: tx.deliveries.claim(self._owner, until, wanted)):
                attempt = unused[one.webhook_id].pop()
                running[self._pool.submit(self._attempt, attempt.webhook, one, latest)] = attempt
                begun += 1
        finally:
            for attempt in itertools.chain.from_iterable(unused.values()):
                self._shares.give_back(attempt)
        return begun

    def _choose(self, free: int, chosen: dict[str, list[Attempt]]) -> None:
        """Choose webhooks for threads that are free.

        :param chosen: gets the attempts that begin, by webhook
        """
        webhooks = dict[str, Webhook | None]()
        with self._store.reading() as tx:
            due = self._shares.ordered([DueWebhook(*row) for row in tx.deliveries.due()])
            for one in itertools.chain.from_iterable(itertools.repeat(due, AT_ONCE)):
                if not self._shares.allows(one):
                    continue
                if one.id not in webhooks:
                    webhooks[one.id] = tx.webhooks.find(one.id)
                webhook = webhooks[one.id]
                attempt = None
                if webhook is not None:
                    attempt = self._shares.begin(webhook, self._ticks())
                if attempt is not None:
                    chosen.setdefault(one.id, []).append(attempt)
                    free -= 1
                if not free:
                    return

    def stop(self, timeout: float) -> None:
        """Stop; attempts in progress end by themselves, and are repeated if need be."""
        super().stop(timeout)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _attempt(self, webhook: Webhook, delivery: Delivery, latest: float) -> _Outcome:
        begun = self._ticks()
        outcome = self._sent(webhook, delivery, latest)
        measures.attempted(self._ticks() - begun, outcome.status, outcome.error)
        return outcome

    def _sent(self, webhook: Webhook, delivery: Delivery, latest: float) -> _Outcome:
        try:
            status = self._sender.send(webhook, delivery, latest)
        except NotAccepted as error:
            return _Outcome(delivery=delivery, status=error.status, error=str(error))
        except Exception as error:
            LOG.exception('Webhook %s: event %s cannot be sent', webhook.id, delivery.id)
            return _Outcome(delivery=delivery, error=type(error).__name__)
        return _Outcome(delivery=delivery, status=status)

    def _settle_all(self, tx: Transaction, outcomes: Sequence[_Outcome]) -> int:
        """Record outcomes; return how many events are given up."""
        return sum(self._settle(tx, outcome) for outcome in outcomes)

    def _settle(self, tx: Transaction, outcome: _Outcome) -> bool:
        """Record an outcome; return whether its event is given up."""
        delivery, status = outcome.delivery, outcome.status
        if not outcome.error and status is not None:
            tx.deliveries.deliver(delivery, self._owner, status)
            return False
        tried, settings = delivery.attempts + 1, self._settings
        due = None
        if tried < settings.attempts:
            due = tx.now + events.backoff(tried, settings.first_pause, settings.longest_pause)
        else:
            LOG.warning(
                'Webhook %s: event %s (%s) is a dead letter after %d attempts: %s',
                delivery.webhook_id,
                delivery.id,
                delivery.event_type,
                tried,
                outcome.error,
            )
        tx.deliveries.fail(delivery, self._owner, error=outcome.error, status=status, due=due)
        return due is None

    def _forget(self) -> None:
        """Delete old records, at most once a minute."""
        if self._ticks() < self._forgets_at:
            return
        settings = self._settings
        count = self._store.run(
            lambda tx: (
                tx.deliveries.forget(
                    tx.now - settings.keep_delivered, tx.now - settings.keep_dead, _FORGOTTEN
                )
                + tx.deliveries.forget_surplus(_FORGOTTEN)
                + tx.feeds.forget_expired(_FORGOTTEN)
            )
        )
        if count < _FORGOTTEN:
            self._forgets_at = self._ticks() + _FORGETS_EVERY
