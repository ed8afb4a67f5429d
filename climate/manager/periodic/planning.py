# SPDX-License-Identifier: Apache-2.0

"""The thread that moves flexible leases forward, one manager at a time."""

from __future__ import annotations

import datetime
import logging
from collections.abc import Callable
from typing import Final

from climate import exceptions
from climate.clock import Clock
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.metrics import catalogue
from climate.metrics import recording
from climate.threads import RepeatingThread
from climate.upkeep.planning import Planner

LOG = logging.getLogger(__name__)

_CHORE: Final = 'planning'
# Another manager plans this long after the last sign of life of the one that did. That one
# knows what is free, and has to read only what has changed.
_LASTS: Final = datetime.timedelta(seconds=30)


class Planning:
    """Plans at intervals, unless another manager does.

    :param owner: of the claim of this manager
    :param interval: seconds between two plans
    :param changed: called after a plan that has moved a lease
    """

    def __init__(
        self,
        planner: Planner,
        store: Store,
        clock: Clock,
        owner: str,
        interval: float,
        changed: Callable[[], None],
    ) -> None:
        self._planner = planner
        self._store = store
        self._clock = clock
        self._owner = owner
        self._interval = interval
        self._changed = changed
        self._lasts = max(_LASTS, 3 * datetime.timedelta(seconds=interval))
        self._has = False
        self._thread = RepeatingThread(
            'planning', self._step, failure='Flexible leases could not be planned', retry=interval
        )

    def start(self) -> None:
        """Start the thread; does not block."""
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Stop; wait at most *timeout* seconds for the current plan."""
        self._thread.stop(timeout)
        if not self._has:
            return
        try:
            self._store.run(lambda tx: tx.chores.release(_CHORE, self._owner))
        except exceptions.ClimateError as error:
            LOG.info('Another manager plans in a while: %s', error.message)

    def look(self) -> int:
        """Plan, unless another manager does; return how many leases were moved."""
        if not self._keeps():
            return 0
        started = self._clock.processor()
        try:
            moved = self._planner.round(self._goes_on)
        finally:
            recording.observe(catalogue.PLANS, self._clock.processor() - started)
        if moved:
            self._changed()
        return moved

    def _goes_on(self) -> bool:
        return not self._thread.stopping and self._keeps()

    def _keeps(self) -> bool:
        """Renew the claim of this manager, or take it; return whether it has it."""
        until = self._clock.now() + self._lasts

        def claim(tx: Transaction) -> bool:
            return tx.chores.renew(_CHORE, self._owner, until) or tx.chores.take(
                _CHORE, self._owner, until
            )

        had, self._has = self._has, self._store.run(claim)
        if had and not self._has:
            self._planner.forget()
        return self._has

    def _step(self) -> float:
        try:
            self.look()
        except exceptions.ClimateError as error:
            LOG.warning('Flexible leases could not be planned: %s', error.message)
        return self._interval
