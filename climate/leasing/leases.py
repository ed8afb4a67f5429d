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

import functools
import random
from collections.abc import Callable
from collections.abc import Iterator

from climate import exceptions
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
from climate.enforcement.gate import Gate
from climate.leasing import asking
from climate.leasing import history
from climate.leasing import making
from climate.leasing import moving
from climate.leasing import readiness
from climate.leasing import trusts
from climate.leasing.creating import Creation
from climate.leasing.deleting import delete
from climate.leasing.judging import Court
from climate.leasing.notices import Plugins
from climate.leasing.reallocating import reallocate
from climate.leasing.settings import LeasingSettings
from climate.leasing.updating import NeedsLook
from climate.leasing.updating import Update

# Leases that are in memory at once, of a list without a limit.
_BATCH = 200


class Leases:
    """What a caller can do with leases.

    :param wake: called after a commit that gives managers something to do; it
        must return at once
    :param rng: breaks ties between equally good resources
    :param cloud_of: returns the cloud as a caller sees it, with the caller's
        own token
    :param gate: the filters that judge leases; None for none
    :param cloud: returns the cloud as we see it ourselves
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
        gate: Gate | None = None,
        cloud: Callable[[], Cloud] | None = None,
    ) -> None:
        self._store = store
        self._plugins = plugins
        self._clock = clock
        self._settings = settings
        self._wake = wake
        self._cloud_of = cloud_of
        self._own_cloud = cloud
        self._gate = gate or Gate()
        self._rng = rng or random.Random()
        self._court = Court(store, plugins, self._gate, self._rng, settings.booking_attempts)

    def create(self, caller: Caller, draft: LeaseDraft) -> Lease:
        """Book a lease.

        :raises climate.exceptions.InvalidInput: if a field is wrong
        :raises climate.exceptions.NotEnoughResources: if the period is taken
        :raises climate.exceptions.LeaseRefused: if a filter refuses it
        """
        creation = Creation(caller, draft, self._plugins, self._settings, self._clock.now())
        asking.answered(lambda: creation.inspect(functools.partial(self._cloud, caller)))
        with creation.trusted(self._service_cloud, self._store):
            lease = self._booked(caller, lambda: self._court.book(caller, creation), creation.made)
        self._wake()
        return lease

    def page(self, query: LeaseQuery) -> LeasePage:
        """Return the leases that *query* asks for."""
        with self._store.reading() as tx:
            leases, more = tx.leases.page(query)
        return LeasePage(leases=tuple(leases), more=more)

    def batches(self, query: LeaseQuery) -> Iterator[tuple[Lease, ...]]:
        """Yield all leases that *query* asks for, some at a time, in the order they were made.

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
        """Return what happened to a lease in the cloud, and what is awaited.

        :param project_id: None looks in every project
        :raises climate.exceptions.NotFound: if there is none
        """
        with self._store.reading() as tx:
            return history.show(tx, lease_id, project_id)

    def update(
        self, caller: Caller, lease_id: str, project_id: str | None, change: LeaseChange
    ) -> Lease:
        """Change a lease, wholly or not at all.

        :raises climate.exceptions.ClimateError: if it cannot be; it is then as before
        """
        update = Update(caller, lease_id, project_id, change, self._plugins, self._settings)
        with trusts.renewed(
            caller,
            lease_id,
            change.end,
            self._plugins,
            self._service_cloud,
            self._store,
            self._settings.trust_margin,
        ) as update.trust_id:
            lease = self._booked(caller, lambda: self._court.book(caller, update), update.made)
        self._wake()
        return lease

    def reallocate(self, lease_id: str, project_id: str | None, wanted: Reallocation) -> Lease:
        """Give a reservation another resource in place of one.

        :raises climate.exceptions.ClimateError: if it cannot be; the lease is
            then as before
        """
        lease = moving.run(
            self._store,
            self._settings.booking_attempts,
            lambda tx: reallocate(
                tx, self._plugins, self._settings, self._rng, lease_id, project_id, wanted
            ),
        )
        self._wake()
        return lease

    def say(self, lease_id: str, said: Readiness) -> Lease:
        """Keep what was said of the resources of a lease of whatever project.

        :raises climate.exceptions.NotFound: if there is none
        :raises climate.exceptions.InvalidState: if it is over
        """
        lease = self._store.run(lambda tx: readiness.say(tx, self._plugins, lease_id, said))
        self._wake()
        return lease

    def delete(self, caller: Caller, lease_id: str, project_id: str | None) -> None:
        """Delete a lease; what it holds in the cloud is given back by a manager.

        :raises climate.exceptions.NotFound: if there is none
        """
        self._store.run(lambda tx: delete(tx, self._plugins, self._gate, lease_id, project_id))
        self._wake()

    def _booked(self, caller: Caller, book: Callable[[], Lease], made: making.Made) -> Lease:
        """Book what a caller wants; the cloud is called while no transaction is open.

        :param book: books it, if nothing is to be asked or made before
        :param made: is told what was made
        """
        cloud = functools.partial(self._cloud, caller)
        try:
            return book()
        except NeedsLook as look:
            inspect = functools.partial(look.plugin.inspect, look.request, cloud, look.project_id)
            look.update.saw(look, asking.answered(inspect))
        except making.NeedsMaking as needed:
            with making.made(self._store, needed.makings, cloud) as facts:
                made.add(needed.makings, facts)
                return self._booked(caller, book, made)
        return self._booked(caller, book, made)

    def _cloud(self, caller: Caller) -> Cloud:
        if self._cloud_of is None:
            raise _no_cloud()
        return self._cloud_of(caller)

    def _service_cloud(self) -> Cloud:
        if self._own_cloud is None:
            raise _no_cloud()
        return self._own_cloud()


def _no_cloud() -> exceptions.CloudUnavailable:
    return exceptions.CloudUnavailable(service='The cloud', reason='it is not configured')
