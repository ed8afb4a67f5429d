# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Sends the outbox: what was committed is told, at least once and in order."""

from __future__ import annotations

import datetime
import logging
import threading

from climate import exceptions
from climate.clock import Clock
from climate.db.outbox import OutboxRow
from climate.db.store import Store
from climate.db.store import Transaction
from climate.messaging.publisher import BrokerUnavailable
from climate.messaging.publisher import OutboxMessage
from climate.messaging.publisher import Publisher

LOG = logging.getLogger(__name__)

# While the bus is away it is tried again after pauses between these, in seconds.
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 10.0
# After a batch, in seconds: what is written meanwhile goes in one.
_GATHERING_PAUSE = 0.05


class OutboxSender:
    """Moves notifications from the outbox to the bus.

    :param owner: this manager's name, different from every other's
    :param batch: how many leases' notifications are sent at one go
    :param max_sleep: the longest sleep between two looks, in seconds
    :param claim_seconds: after this long a sender that died is replaced. One
        that is slow sends some twice then, but none out of order
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        publisher: Publisher,
        owner: str,
        *,
        batch: int,
        max_sleep: float,
        claim_seconds: float = 10.0,
    ) -> None:
        self._store = store
        self._clock = clock
        self._publisher = publisher
        self._owner = owner
        self._batch = batch
        self._max_sleep = max_sleep
        self._lasts = datetime.timedelta(seconds=claim_seconds)
        self._away = 0
        self._awake = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name='outbox', daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Stop; what was not sent is sent by another manager or the next start."""
        self._stopping = True
        self._awake.set()
        if self._thread.is_alive():
            self._thread.join(timeout=timeout)

    def wake(self) -> None:
        """Look at once: something was written."""
        self._awake.set()

    def _run(self) -> None:
        while not self._stopping:
            self._awake.clear()
            pause = self._look()
            # While the bus is away, new notifications do not bring it back; and
            # those that come while some are sent had better be gathered.
            if self._away or pause == _GATHERING_PAUSE:
                self._sleep_through(pause)
            else:
                self._awake.wait(pause)

    def _sleep_through(self, pause: float) -> None:
        while pause > 0 and not self._stopping:
            step = min(pause, 0.2)
            threading.Event().wait(step)
            pause -= step

    def _look(self) -> float:
        """Send what waits; return how long to sleep, in seconds."""
        try:
            sent = self.send_once()
        except BrokerUnavailable as error:
            self._away += 1
            if self._away == 1:
                LOG.warning('Notifications wait, the bus does not take them: %s', error.message)
            return min(_FIRST_PAUSE * 2 ** min(self._away - 1, 10), _LONGEST_PAUSE)
        except exceptions.DatabaseUnavailable:
            return 1.0
        except Exception:
            LOG.exception('The outbox could not be sent; trying again')
            return 1.0
        if self._away:
            LOG.info('The bus takes notifications again')
            self._away = 0
        return _GATHERING_PAUSE if sent else self._max_sleep

    def send_once(self) -> int:
        """Send one batch and return how many notifications were in it.

        :raises climate.messaging.publisher.BrokerUnavailable: if the bus did
            not take one; it and those after it stay in the outbox
        """
        until = self._clock.now() + self._lasts
        rows = self._store.run(lambda tx: tx.outbox.claim(self._owner, until, self._batch))
        if not rows:
            return 0
        try:
            self._publisher.publish([_message(row) for row in rows])
        except BrokerUnavailable as error:
            accepted = rows[: error.published]
            self._store.run(lambda tx: self._settle(tx, accepted, give_back=True))
            raise
        self._store.run(lambda tx: self._settle(tx, rows, give_back=False))
        return len(rows)

    def _settle(self, tx: Transaction, accepted: list[OutboxRow], *, give_back: bool) -> None:
        tx.outbox.delete([row.id for row in accepted])
        if give_back:
            tx.outbox.give_back(self._owner)


def _message(row: OutboxRow) -> OutboxMessage:
    return OutboxMessage(
        id=row.id,
        event_type=row.event_type,
        payload=row.payload,
        priority=row.priority,
        created_at=row.created_at,
    )
