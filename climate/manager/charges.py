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

"""Notifies filters of the outcome of their charges, at least once and in order."""

from __future__ import annotations

import datetime
import logging
from collections.abc import Callable
from typing import ClassVar

from climate import exceptions
from climate.clock import Clock
from climate.db.store import Store
from climate.db.store import Transaction
from climate.domain import events
from climate.domain.charges import Charge
from climate.enforcement.filters import Filters
from climate.manager.sender import Sender

LOG = logging.getLogger(__name__)

# The longest pause before a charge that a filter refused is sent again, in seconds.
_LONGEST_PAUSE = 60.0
# A claim lasts as long as the judges may take, and so much longer, for what is
# written between two calls.
_MARGIN = datetime.timedelta(seconds=10)


class ChargeSender(Sender):
    """Works the charges off, in a thread of its own.

    A charge that waits too long for its decision, since the process that asked has
    died, is released here.

    :param owner: this manager's name, different from every other's
    :param batch: how many are taken at one go
    :param max_sleep: the longest sleep between two looks, in seconds
    """

    what: ClassVar[str] = 'Charges'
    unreachable: ClassVar[type[exceptions.ClimateError]] = exceptions.JudgeAway
    first_pause: ClassVar[float] = 1.0
    longest_pause: ClassVar[float] = 10.0

    def __init__(
        self,
        store: Store,
        clock: Clock,
        filters: Filters,
        owner: str,
        *,
        batch: int = 5,
        max_sleep: float,
    ) -> None:
        super().__init__(max_sleep=max_sleep)
        self._store = store
        self._clock = clock
        self._filters = filters
        self._owner = owner
        self._batch = batch
        # As long as the judges may take for all of a batch; one that is slower
        # receives some twice, and knows them by their ids.
        self._lasts = filters.longest_check * batch + _MARGIN

    def start(self) -> None:
        """Begin to send, if a filter wants to be notified."""
        if self._filters.told:
            super().start()

    def send_once(self) -> int:
        """Tell one batch.

        :returns: how many were tried
        :raises climate.exceptions.JudgeAway: if a judge could not be reached;
            its charges stay
        """
        given_up = self._store.run(lambda tx: tx.charges.give_up())
        if given_up:
            LOG.warning('%d questions came to nothing: whoever asked is gone', given_up)
        tried, away = 0, None
        for judge in self._filters.told:
            until = self._clock.now() + self._lasts
            charges = self._store.run(self._claim(judge, until))
            try:
                for charge in charges:
                    tried += 1
                    self._tell(charge)
            except exceptions.JudgeAway as error:
                # The others need not wait for this one.
                self._store.run(lambda tx: tx.charges.give_back(self._owner))
                away = error
        if away is not None:
            raise away
        return tried

    def _claim(self, judge: str, until: datetime.datetime) -> Callable[[Transaction], list[Charge]]:
        return lambda tx: tx.charges.claim(self._owner, until, [judge], self._batch)

    def _tell(self, charge: Charge) -> None:
        try:
            self._filters.tell(charge)
        except exceptions.JudgeAway as error:
            self._postpone(charge, error.message, self.longest_pause)
            raise
        except exceptions.Transient as error:
            LOG.warning(
                'Lease %s: %s does not take %s: %s',
                charge.lease_id,
                charge.judge,
                charge.state,
                error.message,
            )
            self._postpone(charge, error.message)
        except Exception as error:
            LOG.exception('Lease %s: %s failed', charge.lease_id, charge.judge)
            self._postpone(charge, str(error))
        else:
            self._store.run(lambda tx: tx.charges.told(charge))

    def _postpone(self, charge: Charge, why: str, longest: float = _LONGEST_PAUSE) -> None:
        pause = events.backoff(charge.attempts + 1, self.first_pause, longest)
        self._store.run(lambda tx: tx.charges.postpone(charge, tx.now + pause, why))
