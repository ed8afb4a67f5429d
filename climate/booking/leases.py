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

"""Leases: create, list, show, change, delete."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from collections.abc import Iterator

from climate.booking import move
from climate.booking.change import change
from climate.booking.context import Context
from climate.booking.create import create
from climate.booking.delete import delete
from climate.booking.reallocate import reallocate
from climate.clients.base import Cloud
from climate.clock import Clock
from climate.db.store import Store
from climate.domain.history import History
from climate.domain.leases import Lease
from climate.domain.leases import Readiness
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.domain.requests import LeaseDraft
from climate.domain.requests import LeasePage
from climate.domain.requests import LeaseQuery
from climate.domain.requests import Reallocation
from climate.enforcement.filters import Filters
from climate.leases import history
from climate.leases import readiness
from climate.leases.notices import Plugins
from climate.leases.settings import LeasingSettings

# The most leases in memory at once, of a list without a limit.
_BATCH = 200


class Leases:
    """The operations on leases.

    :param wake: called after a commit that gives managers something to do; it
        must return at once
    :param rng: breaks ties between equally good resources
    :param cloud_of: returns the cloud as a caller sees it, with the caller's
        own token
    :param filters: the filters that judge leases; None for none
    :param cloud: returns the cloud as Climate sees it
    """

    def __init__(
        self,
        store: Store,
        plugins: Plugins,
        clock: Clock,
        settings: LeasingSettings,
        wake: Callable[[], None],
        rng: random.Random | None = None,
        cloud_of: Callable[[Caller], Cloud] | None = None,
        filters: Filters | None = None,
        cloud: Callable[[], Cloud] | None = None,
    ) -> None:
        self._store = store
        self._wake = wake
        self._context = Context(
            store=store,
            plugins=plugins,
            clock=clock,
            settings=settings,
            filters=filters or Filters(),
            rng=rng or random.Random(),
            cloud_of=cloud_of,
            own_cloud=cloud,
        )

    def create(self, caller: Caller, draft: LeaseDraft) -> Lease:
        """Book a lease.

        :raises climate.exceptions.InvalidInput: if a field is wrong
        :raises climate.exceptions.NotEnoughResources: if the period is taken
        :raises climate.exceptions.LeaseRefused: if a limit or a filter forbids it
        """
        lease = create(self._context, caller, draft)
        self._wake()
        return lease

    def page(self, query: LeaseQuery) -> LeasePage:
        """Return the leases that *query* asks for."""
        with self._store.reading() as tx:
            leases, more = tx.leases.page(query)
        return LeasePage(leases=tuple(leases), more=more)

    def batches(self, query: LeaseQuery) -> Iterator[tuple[Lease, ...]]:
        """Yield all leases that *query* asks for in batches, in the order of their creation.

        Each batch is as it was when it was read.

        :param query: without an order and a limit
        """
        last: Lease | None = None
        more = True
        while more:
            with self._store.reading() as tx:
                leases, more = tx.leases.page(query, after=last, most=_BATCH)
            yield tuple(leases)
            last = leases[-1] if leases else None

    def get(self, lease_id: str, project_id: str | None) -> Lease:
        """Return a lease.

        :param project_id: None looks in every project
        :raises climate.exceptions.NotFound: if there is none
        """
        with self._store.reading() as tx:
            return tx.leases.get(lease_id, project_id)

    def history(self, lease_id: str, project_id: str | None) -> History:
        """Return the history of a lease in the cloud, and what it waits for.

        :param project_id: None looks in every project
        :raises climate.exceptions.NotFound: if there is none
        """
        with self._store.reading() as tx:
            return history.show(tx, lease_id, project_id)

    def update(
        self, caller: Caller, lease_id: str, project_id: str | None, wanted: LeaseChange
    ) -> Lease:
        """Change a lease, wholly or not at all.

        :raises climate.exceptions.ClimateError: if it cannot be changed; it is then as before
        """
        lease = change(self._context, caller, lease_id, project_id, wanted)
        self._wake()
        return lease

    def reallocate(self, lease_id: str, project_id: str | None, wanted: Reallocation) -> Lease:
        """Give a reservation another resource in place of one.

        :raises climate.exceptions.ClimateError: if there is none; the lease is
            then as before
        """
        context = self._context
        work = functools.partial(
            reallocate,
            plugins=context.plugins,
            settings=context.settings,
            rng=context.rng,
            lease_id=lease_id,
            project_id=project_id,
            wanted=wanted,
        )
        lease = move.run(self._store, context.settings.booking_attempts, work)
        self._wake()
        return lease

    def say(self, lease_id: str, said: Readiness) -> Lease:
        """Record the readiness of the resources of a lease, of any project.

        :raises climate.exceptions.NotFound: if there is none
        :raises climate.exceptions.InvalidState: if it is over
        """
        plugins = self._context.plugins
        lease = self._store.run(lambda tx: readiness.say(tx, plugins, lease_id, said))
        self._wake()
        return lease

    def delete(self, caller: Caller, lease_id: str, project_id: str | None) -> None:
        """Delete a lease; a manager releases its resources in the cloud.

        :raises climate.exceptions.NotFound: if there is none
        """
        context = self._context
        self._store.run(
            lambda tx: delete(tx, context.plugins, context.filters, lease_id, project_id)
        )
        self._wake()
