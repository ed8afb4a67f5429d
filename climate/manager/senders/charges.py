# SPDX-License-Identifier: Apache-2.0

"""Notifies filters of the outcome of their charges, at least once and in order."""

from __future__ import annotations

import datetime
import logging
from collections.abc import Callable
from typing import ClassVar

from climate import exceptions
from climate.clock import Clock
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain import events
from climate.domain.charges import Charge
from climate.enforcement.filters import Filters
from climate.manager.senders.sender import Sender

LOG = logging.getLogger(__name__)

# The longest pause before a charge that a filter has refused is sent again, in seconds.
_LONGEST_PAUSE = 60.0
# A claim lasts as long as the filters may take, plus this time for the writes between
# two calls.
_MARGIN = datetime.timedelta(seconds=10)


class ChargeSender(Sender):
    """Sends charges in its own thread.

    It also withdraws charges that wait too long for a decision because the process that
    asked the filters has died.

    :param owner: the unique name of this manager
    :param batch: the maximum number of charges per batch
    :param max_sleep: the longest interval between two checks, in seconds
    """

    what: ClassVar[str] = 'Charges'
    unreachable: ClassVar[type[exceptions.ClimateError]] = exceptions.FilterUnavailable
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
        # As long as the filters may take for a whole batch. A slower one receives some
        # charges twice, and recognizes them by their ids.
        self._lasts = filters.longest_check * batch + _MARGIN

    def start(self) -> None:
        """Start sending, if a filter wants to be notified."""
        if self._filters.notified:
            super().start()

    def send_once(self) -> int:
        """Send one batch.

        :returns: the number of attempts
        :raises climate.exceptions.FilterUnavailable: if a filter is unavailable; its charges
            stay in the table
        """
        given_up = self._store.run(lambda tx: tx.charges.give_up())
        if given_up:
            LOG.warning(
                'Withdrew %d charges without a decision: the process that asked is gone', given_up
            )
        tried, away = 0, None
        for filter_name in self._filters.notified:
            until = self._clock.now() + self._lasts
            charges = self._store.run(self._claim(filter_name, until))
            try:
                for charge in charges:
                    tried += 1
                    self._notify(charge)
            except exceptions.FilterUnavailable as error:
                # The other filters need not wait for this one.
                self._store.run(lambda tx: tx.charges.give_back(self._owner))
                away = error
        if away is not None:
            raise away
        return tried

    def _claim(
        self, filter_name: str, until: datetime.datetime
    ) -> Callable[[Transaction], list[Charge]]:
        return lambda tx: tx.charges.claim(self._owner, until, [filter_name], self._batch)

    def _notify(self, charge: Charge) -> None:
        try:
            self._filters.notify(charge)
        except exceptions.FilterUnavailable as error:
            self._postpone(charge, error.message, self.longest_pause)
            raise
        except exceptions.Transient as error:
            LOG.warning(
                'Lease %s: %s does not take %s: %s',
                charge.lease_id,
                charge.filter_name,
                charge.state,
                error.message,
            )
            self._postpone(charge, error.message)
        except Exception as error:
            LOG.exception('Lease %s: %s failed', charge.lease_id, charge.filter_name)
            self._postpone(charge, str(error))
        else:
            self._store.run(lambda tx: tx.charges.delivered(charge))

    def _postpone(self, charge: Charge, why: str, longest: float = _LONGEST_PAUSE) -> None:
        pause = events.backoff(charge.attempts + 1, self.first_pause, longest)
        self._store.run(lambda tx: tx.charges.postpone(charge, tx.now + pause, why))
