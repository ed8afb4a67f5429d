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

"""Watches over hosts or servers: hears what Nova tells of them, and asks for the rest."""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable
from typing import Generic
from typing import Protocol
from typing import TypeVar

from climate import exceptions
from climate.clients.base import Cloud

LOG = logging.getLogger(__name__)

News = TypeVar('News')
Told_co = TypeVar('Told_co', covariant=True)
Heard_contra = TypeVar('Heard_contra', contravariant=True)

# How long a thread sleeps before it sees that it is to stop, in seconds.
_SLICE = 0.5
# After a look that failed, in seconds: a look is worth nothing when it is late.
_RETRY = 5.0


class Ears(Protocol[Told_co]):
    """Who hears of something."""

    def start(self, missed: Callable[[], None]) -> None:
        """Begin to listen; returns at once.

        :param missed: called, from any thread, when something may have been
            missed before
        """
        ...

    def get(self, seconds: float) -> Told_co | None:
        """Return the next news, or None if none came in time."""
        ...

    def stop(self) -> None:
        """Listen no more; takes 2 s at most."""
        ...


class Keeper(Protocol[Heard_contra]):
    """Who writes down what is heard and seen; see :class:`climate.leasing.health.Health`."""

    def hear(self, news: Heard_contra) -> bool:
        """Take news; return whether they are worth a look."""
        ...

    def look(self, cloud: Cloud) -> bool:
        """Look at the cloud; return whether anything has changed."""
        ...


class Watch(Generic[News]):
    """Two threads of a manager: one hears, one looks.

    They are apart so that a Nova that takes its time to answer does not hold
    up what was told.

    :param keeper: of what is watched
    :param ears: None if there is nobody to listen to
    :param polling_interval: seconds between two looks; 0 looks at the start,
        and when there is reason to
    :param changed: called when something has changed
    :param what: what is watched, for people
    """

    def __init__(
        self,
        keeper: Keeper[News],
        cloud: Cloud,
        ears: Ears[News] | None,
        *,
        polling_interval: float,
        changed: Callable[[], None],
        what: str = 'Hosts',
    ) -> None:
        self._what = what
        self._keeper = keeper
        self._cloud = cloud
        self._ears = ears
        self._interval = polling_interval
        self._changed = changed
        self._look_now = threading.Event()
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._look_on, name='health', daemon=True)]
        if ears is not None:
            hearing = threading.Thread(target=self._hear_on, args=(ears,), name='ears', daemon=True)
            self._threads.append(hearing)

    def start(self) -> None:
        """Begin to watch; returns at once."""
        if self._ears is not None:
            self._ears.start(self._look_now.set)
        for thread in self._threads:
            thread.start()

    def stop(self, timeout: float) -> None:
        """Watch no more; a look under way is left to itself after *timeout* seconds."""
        self._stopping.set()
        self._look_now.set()
        if self._ears is not None:
            self._ears.stop()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout)

    def _hear_on(self, ears: Ears[News]) -> None:
        while not self._stopping.is_set():
            news = ears.get(_SLICE)
            if news is None:
                continue
            # What could not be written down is found by a look.
            if self._attempt(functools.partial(self._keeper.hear, news), True):
                self._changed()
                self._look_now.set()

    def _look_on(self) -> None:
        while not self._stopping.is_set():
            self._look_now.clear()
            seen = self._attempt(self._look, False)
            pause = self._interval or None
            if not seen:
                pause = min(_RETRY, pause or _RETRY)
            if not self._stopping.is_set():
                self._look_now.wait(pause)

    def _look(self) -> bool:
        if self._keeper.look(self._cloud):
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
