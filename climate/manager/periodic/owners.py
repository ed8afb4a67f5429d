# SPDX-License-Identifier: Apache-2.0

"""Checks the owners of webhooks, feeds and trusts at intervals, one manager at a time."""

from __future__ import annotations

import datetime
from typing import Final

from climate import exceptions
from climate.clock import Clock
from climate.db.transactions.store import Store
from climate.threads import RepeatingThread
from climate.upkeep.owners import OwnerCheck

_CHORE: Final = 'owners'
# A manager that dies in a check delays the next one at most by this.
_LASTS: Final = datetime.timedelta(minutes=5)
_AWAY_PAUSE: Final = 10.0
# How often to look whether a check is due, in seconds.
_LONGEST_PAUSE: Final = 60.0


class OwnerThread:
    """Checks at an interval, unless another manager has done so.

    :param check: None without authentication, which knows no roles
    :param interval: seconds between two checks; 0 for never
    """

    def __init__(
        self, check: OwnerCheck | None, store: Store, clock: Clock, owner: str, interval: float
    ) -> None:
        self._check = check
        self._store = store
        self._clock = clock
        self._owner = owner
        self._interval = interval
        self._thread = RepeatingThread(
            'owners',
            self._step,
            failure='The owners of webhooks, feeds and trusts were not checked; trying again',
            retry=_LONGEST_PAUSE,
        )

    def start(self) -> None:
        """Start the thread."""
        if self._check is not None and self._interval:
            self._thread.start()

    def stop(self, timeout: float) -> None:
        """Stop; wait at most *timeout* seconds for the check in progress."""
        self._thread.stop(timeout)

    def look(self) -> int:
        """Check if it is due; return how many webhooks, feeds and trusts were stopped or lost."""
        assert self._check is not None
        now = self._clock.now()
        since, until = now - datetime.timedelta(seconds=self._interval), now + _LASTS
        if not self._store.run(
            lambda tx: tx.chores.take(_CHORE, self._owner, until, not_since=since)
        ):
            return 0
        try:
            return self._check.run()
        finally:
            self._store.run(lambda tx: tx.chores.release(_CHORE, self._owner))

    def _step(self) -> float:
        try:
            self.look()
        except exceptions.DatabaseUnavailable:
            return _AWAY_PAUSE
        return min(self._interval, _LONGEST_PAUSE)
