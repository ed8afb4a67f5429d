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

"""The claims this manager holds, and the thread that keeps them alive."""

from __future__ import annotations

import datetime
import logging
import threading

from climate import exceptions
from climate.clock import Clock
from climate.db.store import Store
from climate.db.store import Transaction

LOG = logging.getLogger(__name__)


class Claims:
    """Takes, renews and forgets claims on leases.

    :param owner: this manager's name, different from every other's
    :param seconds: how long a claim lasts
    """

    def __init__(self, store: Store, clock: Clock, owner: str, seconds: float) -> None:
        self._store = store
        self._clock = clock
        self._owner = owner
        self._lasts = datetime.timedelta(seconds=seconds)
        self._mine: set[str] = set()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._renew_for_ever, name='claims', daemon=True)

    def start(self) -> None:
        """Begin to renew."""
        self._thread.start()

    def stop(self) -> None:
        """Stop renewing; claims not yet forgotten run out by themselves."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout=2)

    def take(self, limit: int) -> list[str]:
        """Claim up to *limit* due leases and return their ids.

        :raises climate.exceptions.DatabaseUnavailable: if there is no answer
        """
        return self.take_and_look(limit)[0]

    def take_and_look(self, limit: int) -> tuple[list[str], datetime.datetime | None]:
        """Claim as :meth:`take` does, and say when something is due next.

        :returns: None as the time if nothing is, or if more may be due already
        :raises climate.exceptions.DatabaseUnavailable: if there is no answer
        """
        until = self._clock.now() + self._lasts

        def take(tx: Transaction) -> tuple[list[str], datetime.datetime | None]:
            ids = tx.claims.take(self._owner, until, limit)
            return ids, tx.claims.next_due() if len(ids) < limit else None

        ids, due = self._store.run(take)
        with self._lock:
            # A claim that could not be renewed in time comes back to us while
            # our own worker is still at it; two would tread on each other.
            new = [lease_id for lease_id in ids if lease_id not in self._mine]
            self._mine.update(new)
        return new, due

    def take_one(self, lease_id: str) -> bool:
        """Claim a lease, due or not; say whether it is ours.

        :raises climate.exceptions.DatabaseUnavailable: if there is no answer
        """
        until = self._clock.now() + self._lasts
        taken = self._store.run(lambda tx: tx.claims.take_one(self._owner, until, lease_id))
        if taken:
            with self._lock:
                self._mine.add(lease_id)
        return taken

    def forget(self, lease_id: str) -> None:
        """Stop renewing a claim: its work is done, or lost to somebody else."""
        with self._lock:
            self._mine.discard(lease_id)

    def held(self) -> set[str]:
        """Return the leases claimed at present."""
        with self._lock:
            return set(self._mine)

    def _renew_for_ever(self) -> None:
        while not self._stopping.wait(self._lasts.total_seconds() / 2):
            mine = self.held()
            if not mine:
                continue
            until = self._clock.now() + self._lasts
            try:
                self._renew(mine, until)
            except exceptions.DatabaseUnavailable:
                LOG.warning('Claims could not be renewed: the database does not answer')
            except Exception:
                LOG.exception('Claims could not be renewed')

    def _renew(self, lease_ids: set[str], until: datetime.datetime) -> None:
        self._store.run(lambda tx: tx.claims.renew(self._owner, lease_ids, until))
