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
from typing import ClassVar

from climate import exceptions
from climate.clock import Clock
from climate.db.outbox import OutboxRow
from climate.db.store import Store
from climate.db.store import Transaction
from climate.manager.sender import Sender
from climate.messaging.publisher import BrokerUnavailable
from climate.messaging.publisher import OutboxMessage
from climate.messaging.publisher import Publisher


class OutboxSender(Sender):
    """Moves notifications from the outbox to the bus.

    :param owner: this manager's name, different from every other's
    :param batch: how many leases' notifications are sent at one go
    :param max_sleep: the longest sleep between two looks, in seconds
    :param claim_seconds: after this long a sender that died is replaced. One
        that is slow sends some twice then, but none out of order
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
        claim_seconds: float = 10.0,
    ) -> None:
        super().__init__(max_sleep=max_sleep)
        self._store = store
        self._clock = clock
        self._publisher = publisher
        self._owner = owner
        self._batch = batch
        self._lasts = datetime.timedelta(seconds=claim_seconds)

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
