# SPDX-License-Identifier: Apache-2.0

"""Checks hosts at intervals, and at once on notifications of leases.

The content of a notification is not read: each is only a reason to check. So
missed ones do no harm, and a queue that the broker deletes with its reader is
enough.
"""

from __future__ import annotations

import logging
from typing import Final

from climate.messaging.listener import Listener
from climate.power.controller import PowerController
from climate.threads import RepeatingThread

LOG = logging.getLogger(__name__)

EVENT_TYPES: Final = frozenset(
    {
        'lease.create',
        'lease.update',
        'lease.delete',
        'lease.rehomed',
        'lease.event.before_start_lease',
        'lease.event.start_lease',
        'lease.event.end_lease',
    }
)
_SLICE: Final = 0.5
_RETRY: Final = 5.0


class PowerService:
    """Two threads: one receives notifications, one runs rounds."""

    def __init__(self, controller: PowerController) -> None:
        self._controller = controller
        self._listener: Listener | None = None
        self._is_connected: bool | None = None
        self._rounds = RepeatingThread(
            'rounds',
            controller.round,
            failure='Hosts cannot be managed; trying again',
            retry=_RETRY,
        )
        self._notifications = RepeatingThread(
            'listener', self._receive, failure='Notifications cannot be read', retry=_RETRY
        )

    def start(self, listener: Listener) -> None:
        """Start; returns immediately.

        :param listener: not yet started, with :meth:`on_broker` as its ``on_broker``
        """
        self._listener = listener
        listener.start()
        self._notifications.start()
        self._rounds.start()

    def stop(self, seconds: float) -> None:
        """Stop; a round under way has at most this many seconds to complete."""
        for thread in (self._rounds, self._notifications):
            thread.stop(0.0)
        if self._listener is not None:
            self._listener.stop()
        self._rounds.stop(seconds)
        self._notifications.stop(seconds)
        self._controller.close()

    def on_broker(self, is_connected: bool) -> None:
        """Handle the loss or return of the bus; a round makes up for lost notifications."""
        if is_connected == self._is_connected:
            return
        self._is_connected = is_connected
        if is_connected:
            LOG.info('Listening to notifications')
            self._rounds.wake()
        else:
            LOG.warning('Cannot subscribe to notifications; hosts are still polled')

    def _receive(self) -> float:
        if self._listener is not None and self._listener.get(_SLICE) is not None:
            self._rounds.wake()
        return 0.0
