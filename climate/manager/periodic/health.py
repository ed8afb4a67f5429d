# SPDX-License-Identifier: Apache-2.0

"""Monitors hosts or servers, by notifications of Nova and by polling."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Generic
from typing import Protocol
from typing import TypeVar

from climate import exceptions
from climate.cloud.base import Cloud
from climate.threads import RepeatingThread

LOG = logging.getLogger(__name__)

Report = TypeVar('Report')
Report_co = TypeVar('Report_co', covariant=True)
Report_contra = TypeVar('Report_contra', contravariant=True)

# How often a thread checks whether it has to stop, in seconds.
_SLICE = 0.5
# The pause after a failed poll, in seconds: short, because late results are worthless.
_RETRY = 5.0


class ReportListener(Protocol[Report_co]):
    """A source of reports."""

    def start(self, missed: Callable[[], None]) -> None:
        """Start listening; does not block.

        :param missed: called, from any thread, when reports may have been lost
        """

    def get(self, seconds: float) -> Report_co | None:
        """Return the next report, or None if none came in time."""

    def stop(self) -> None:
        """Stop listening, within 2 s."""


class ReportHandler(Protocol[Report_contra]):
    """Handles reports and polls; see :class:`climate.upkeep.health.HostHealth`."""

    def receive(self, report: Report_contra) -> bool:
        """Handle a report; return whether to poll."""

    def look(self, cloud: Cloud) -> bool:
        """Poll the cloud; return whether anything has changed."""


class Monitor(Generic[Report]):
    """Two threads of a manager: one receives notifications, one polls.

    They are separate so that a slow response of Nova does not delay notifications.

    :param handler: handles the monitored objects
    :param listener: None if there are no notifications
    :param polling_interval: seconds between two polls; with 0 it polls at the start,
        and after reports that call for it
    :param changed: called when something has changed
    :param what: the monitored objects, for messages
    """

    def __init__(
        self,
        handler: ReportHandler[Report],
        cloud: Cloud,
        listener: ReportListener[Report] | None,
        *,
        polling_interval: float,
        changed: Callable[[], None],
        what: str = 'Hosts',
    ) -> None:
        self._what = what
        self._handler = handler
        self._cloud = cloud
        self._listener = listener
        self._interval = polling_interval
        self._changed = changed
        failure = f'{what} could not be watched'
        self._looking = RepeatingThread('health', self._look, failure=failure, retry=_RETRY)
        self._receiving = RepeatingThread('listener', self._receive, failure=failure, retry=0.0)

    def start(self) -> None:
        """Start both threads; does not block."""
        if self._listener is not None:
            self._listener.start(self._looking.wake)
            self._receiving.start()
        self._looking.start()

    def stop(self, timeout: float) -> None:
        """Stop; wait at most *timeout* seconds for the current poll."""
        for thread in (self._looking, self._receiving):
            thread.stop(0.0)
        if self._listener is not None:
            self._listener.stop()
        self._looking.stop(timeout)
        self._receiving.stop(timeout)

    def _receive(self) -> float:
        report = None if self._listener is None else self._listener.get(_SLICE)
        # If a report could not be recorded, polling finds its cause.
        if report is not None and self._attempt(
            functools.partial(self._handler.receive, report), True
        ):
            self._changed()
            self._looking.wake()
        return 0.0

    def _look(self) -> float | None:
        pause = self._interval or None
        if self._attempt(self._looked, False):
            return pause
        return min(_RETRY, pause or _RETRY)

    def _looked(self) -> bool:
        if self._handler.look(self._cloud):
            self._changed()
        return True

    def _attempt(self, work: Callable[[], bool], otherwise: bool) -> bool:
        """Return what *work* returns, or *otherwise* if it fails."""
        try:
            return work()
        except exceptions.ClimateError as error:
            LOG.warning('%s could not be watched: %s', self._what, error.message)
        except Exception:
            LOG.exception('%s could not be watched', self._what)
        return otherwise
