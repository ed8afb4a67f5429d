# SPDX-License-Identifier: Apache-2.0

"""Counts what is refused for lack of resources, and writes it off the path of requests.

A storm of refusals is one statement a second for each row, however many there are. The
counts of the last second are lost if the process is killed.
"""

from __future__ import annotations

import threading
from typing import Final

from climate import exceptions
from climate.clock import Clock
from climate.db.transactions.store import Store
from climate.domain.usage import MOST_REFUSED
from climate.domain.usage import RefusedAmount
from climate.domain.usage import RefusedKey
from climate.threads import RepeatingThread

_PAUSE: Final = 1.0
_RETRY: Final = 30.0
# As many keys as a process keeps while the database is down.
_MOST: Final = 10_000


class RefusedDemand:
    """The counts of one process; for many threads."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: dict[RefusedKey, RefusedAmount] = {}
        self._thread: RepeatingThread | None = None

    def start(self) -> None:
        """Write what is added about a second later, until the process ends."""
        self._thread = RepeatingThread(
            'refusals', self._step, failure='Refusals cannot be counted now', retry=_RETRY
        )
        self._thread.start()

    def add(self, project_id: str, error: exceptions.NotEnoughResources) -> None:
        """Count the refusal of a lease; does not block, and never raises."""
        day = self._clock.now().date()
        found = {
            RefusedKey(
                day=day,
                project_id=project_id,
                resource_type=error.resource_type or '',
                resource_class=name,
            ): RefusedAmount(requests=1, amount=min(amount, MOST_REFUSED))
            for name, amount in error.demanded.items()
        }
        self._merge(found)
        if self._thread is not None:
            with self._lock:
                # Threads do not survive the fork of a server.
                if not self._thread.is_alive():
                    self.start()
            self._thread.wake()

    def flush(self) -> None:
        """Write what was added.

        :raises climate.exceptions.ClimateError: if the database does not answer; the counts
            are kept
        """
        with self._lock:
            found, self._counts = self._counts, {}
        if not found:
            return
        try:
            self._store.run(lambda tx: tx.refusals.add(found))
        except Exception:
            self._merge(found)
            raise

    def _step(self) -> None:
        # Those of the next second are written with the first.
        if self._thread is not None:
            self._thread.rest(_PAUSE)
        self.flush()

    def _merge(self, found: dict[RefusedKey, RefusedAmount]) -> None:
        with self._lock:
            for key, amount in found.items():
                known = self._counts.get(key)
                if known is not None:
                    self._counts[key] = known.plus(amount)
                elif len(self._counts) < _MOST:
                    self._counts[key] = amount
