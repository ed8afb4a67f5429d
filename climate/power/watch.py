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

"""Wakes the keeper when Climate tells of a lease, and now and then.

What is told is not even read: it is a reason to look. So it does no harm that
something was missed while the bus, or this process, was away, and a queue that
the broker deletes with its reader is enough.
"""

from __future__ import annotations

import logging
import threading
from typing import Final

from climate.messaging.listener import Listener
from climate.power.keeper import Keeper

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


class Watch:
    """Two threads: one hears, one looks."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._ears: Listener | None = None
        self._there: bool | None = None
        self._news = threading.Event()
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._look_on, name='keeper', daemon=True)]

    def start(self, ears: Listener) -> None:
        """Begin; returns at once.

        :param ears: not yet started, with :meth:`on_broker` as its ``on_broker``
        """
        self._ears = ears
        ears.start()
        hearing = threading.Thread(target=self._hear_on, args=(ears,), name='ears', daemon=True)
        self._threads.append(hearing)
        for thread in self._threads:
            thread.start()

    def stop(self, seconds: float) -> None:
        """End; a look that is under way has so many seconds."""
        self._stopping.set()
        self._news.set()
        if self._ears is not None:
            self._ears.stop()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(seconds)
        self._keeper.close()

    def on_broker(self, there: bool) -> None:
        """Hear that the bus is there or away; what was missed is seen by a look."""
        if there == self._there:
            return
        self._there = there
        if there:
            LOG.info('Listening to notifications')
            self._news.set()
        else:
            LOG.warning('Cannot subscribe to notifications; hosts are looked at all the same')

    def _hear_on(self, ears: Listener) -> None:
        while not self._stopping.is_set():
            if ears.get(_SLICE) is not None:
                self._news.set()

    def _look_on(self) -> None:
        while not self._stopping.is_set():
            self._news.clear()
            try:
                pause = self._keeper.round()
            except Exception:
                LOG.exception('Hosts cannot be looked after; trying again')
                pause = _RETRY
            self._news.wait(pause)
