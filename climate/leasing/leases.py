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

"""Leases: create, list, show, update, delete."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeVar

from climate import exceptions
from climate.clock import Clock
from climate.db.store import Store
from climate.db.store import Transaction
from climate.domain.leases import Lease
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.domain.requests import LeaseDraft
from climate.domain.requests import LeasePage
from climate.domain.requests import LeaseQuery
from climate.leasing.booking import LostRace
from climate.leasing.creating import Creation
from climate.leasing.deleting import delete
from climate.leasing.notices import Plugins
from climate.leasing.settings import LeasingSettings
from climate.leasing.updating import Update

T = TypeVar('T')


class Leases:
    """What a caller can do with leases.

    :param wake: called after a commit that gives managers something to do; it
        must return at once
    :param rng: breaks ties between equally good resources
    """

    def __init__(
        self,
        store: Store,
        plugins: Plugins,
        clock: Clock,
        settings: LeasingSettings,
        wake: Callable[[], None],
        rng: random.Random | None = None,
    ) -> None:
        self._store = store
        self._plugins = plugins
        self._clock = clock
        self._settings = settings
        self._wake = wake
        self._rng = rng or random.Random()

    def create(self, caller: Caller, draft: LeaseDraft) -> Lease:
        """Book a lease.

        :raises climate.exceptions.InvalidInput: if a field is wrong
        :raises climate.exceptions.NotEnoughResources: if the period is taken
        """
        creation = Creation(caller, draft, self._plugins, self._settings, self._clock.now())
        lease = self._book(lambda tx: creation.book(tx, self._rng))
        self._wake()
        return lease

    def page(self, query: LeaseQuery) -> LeasePage:
        """Return the leases that *query* asks for."""
        with self._store.reading() as tx:
            leases, more = tx.leases.page(query)
        return LeasePage(leases=tuple(leases), more=more)

    def get(self, lease_id: str, project_id: str | None) -> Lease:
        """Return a lease.

        :param project_id: None looks in every project
        :raises climate.exceptions.NotFound: if there is none
        """
        with self._store.reading() as tx:
            return tx.leases.get(lease_id, project_id)

    def update(
        self, caller: Caller, lease_id: str, project_id: str | None, change: LeaseChange
    ) -> Lease:
        """Change a lease, wholly or not at all.

        :raises climate.exceptions.ClimateError: if it cannot be; it is then as before
        """
        update = Update(caller, lease_id, project_id, change, self._plugins, self._settings)
        lease = self._book(lambda tx: update.book(tx, self._rng))
        self._wake()
        return lease

    def delete(self, caller: Caller, lease_id: str, project_id: str | None) -> None:
        """Delete a lease; what it holds in the cloud is given back by a manager.

        :raises climate.exceptions.NotFound: if there is none
        """
        self._store.run(lambda tx: delete(tx, self._plugins, lease_id, project_id))
        self._wake()

    def _book(self, work: Callable[[Transaction], T]) -> T:
        for _ in range(self._settings.booking_attempts):
            try:
                return self._store.run(work)
            except LostRace:
                continue
        raise exceptions.BookedMeanwhile
