# SPDX-License-Identifier: Apache-2.0

"""The thread that moves flexible leases forward."""

from __future__ import annotations

import logging
from collections.abc import Callable

from climate import exceptions
from climate.threads import RepeatingThread
from climate.upkeep.planning import Planner

LOG = logging.getLogger(__name__)


class Planning:
    """Plans at intervals.

    :param interval: seconds between two plans
    :param changed: called after a plan that has moved a lease
    """

    def __init__(self, planner: Planner, interval: float, changed: Callable[[], None]) -> None:
        self._planner = planner
        self._interval = interval
        self._changed = changed
        self._thread = RepeatingThread(
            'planning', self._round, failure='Flexible leases could not be planned', retry=interval
        )

    def start(self) -> None:
        """Start the thread; does not block."""
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Stop; wait at most *timeout* seconds for the current plan."""
        self._thread.stop(timeout)

    def _round(self) -> float:
        try:
            if self._planner.round():
                self._changed()
        except exceptions.ClimateError as error:
            LOG.warning('Flexible leases could not be planned: %s', error.message)
        return self._interval
