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

"""The thread that looks after reservations of resources that are out."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from climate import exceptions
from climate.clients.base import Cloud
from climate.leasing.rehoming import Rehoming

LOG = logging.getLogger(__name__)


class Healing:
    """Does a round every so often, and when there is reason to.

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
        self._now = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name='healing', daemon=True)

    def start(self) -> None:
        """Begin to work; returns at once."""
        self._thread.start()

    def now(self) -> None:
        """Do a round at once: a resource failed, or goes into maintenance."""
        self._now.set()

    def stop(self, timeout: float) -> None:
        """Stop; a round under way is left to itself after *timeout* seconds."""
        self._stopping.set()
        self._now.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._now.clear()
            try:
                if self._rehoming.round(self._cloud):
                    self._changed()
            except exceptions.ClimateError as error:
                LOG.warning('Reservations could not be looked after: %s', error.message)
            except Exception:
                LOG.exception('Reservations could not be looked after')
            if not self._stopping.is_set():
                self._now.wait(self._interval)
