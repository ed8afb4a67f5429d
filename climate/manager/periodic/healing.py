# SPDX-License-Identifier: Apache-2.0

"""The thread that moves reservations off resources that failed or are in maintenance."""

from __future__ import annotations

import logging
from collections.abc import Callable

from climate import exceptions
from climate.cloud.base import Cloud
from climate.threads import RepeatingThread
from climate.upkeep.rehoming import Rehoming

LOG = logging.getLogger(__name__)


class Healing:
    """Runs a round at intervals, and on request.

    :param interval: seconds between two rounds
    :param changed: called after a round that has changed something
    """

    def __init__(
        self, rehoming: Rehoming, cloud: Cloud, interval: float, changed: Callable[[], None]
    ) -> None:
        self._rehoming = rehoming
        self._cloud = cloud
        self._interval = interval
        self._changed = changed
        self._thread = RepeatingThread(
            'healing',
            self._round,
            failure='Reservations could not be checked for failed resources',
            retry=interval,
        )

    def start(self) -> None:
        """Start the thread; does not block."""
        self._thread.start()

    def now(self) -> None:
        """Run a round at once, because a resource has failed or enters maintenance."""
        self._thread.wake()

    def stop(self, timeout: float) -> None:
        """Stop; wait at most *timeout* seconds for the current round."""
        self._thread.stop(timeout)

    def _round(self) -> float:
        try:
            if self._rehoming.round(self._cloud):
                self._changed()
        except exceptions.ClimateError as error:
            LOG.warning('Reservations could not be checked for failed resources: %s', error.message)
        return self._interval
