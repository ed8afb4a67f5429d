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

"""Wakes the keeper on notifications of leases, and at intervals.

The content of notifications is not read: each is a reason to check. So missed
ones do no harm, and a queue that the broker deletes with its reader is enough.
"""

from __future__ import annotations

import logging
from typing import Final

from climate.messaging.listener import Listener
from climate.power.keeper import PowerController
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

    def __init__(self, keeper: PowerController) -> None:
        self._keeper = keeper
        self._listener: Listener | None = None
        self._there: bool | None = None
        self._looking = RepeatingThread(
            'keeper',
            keeper.round,
            failure='Hosts cannot be managed; trying again',
            retry=_RETRY,
        )
        self._hearing = RepeatingThread(
            'listener', self._hear, failure='Notifications cannot be read', retry=_RETRY
        )

    def start(self, listener: Listener) -> None:
        """Start; returns immediately.

        :param listener: not yet started, with :meth:`on_broker` as its ``on_broker``
        """
        self._listener = listener
        listener.start()
        self._hearing.start()
        self._looking.start()

    def stop(self, seconds: float) -> None:
        """Stop; a round under way has at most this many seconds to complete."""
        for thread in (self._looking, self._hearing):
            thread.stop(0.0)
        if self._listener is not None:
            self._listener.stop()
        self._looking.stop(seconds)
        self._hearing.stop(seconds)
        self._keeper.close()

    def on_broker(self, there: bool) -> None:
        """Handle the loss or return of the bus; a round covers lost notifications."""
        if there == self._there:
            return
        self._there = there
        if there:
            LOG.info('Listening to notifications')
            self._looking.wake()
        else:
            LOG.warning('Cannot subscribe to notifications; hosts are still polled')

    def _hear(self) -> float:
        if self._listener is not None and self._listener.get(_SLICE) is not None:
            self._looking.wake()
        return 0.0
