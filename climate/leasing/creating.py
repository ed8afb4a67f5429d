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

"""Books a new lease: check, choose, write, in one transaction."""

from __future__ import annotations

import dataclasses
import datetime
import random
import uuid
from typing import Any

from climate import exceptions
from climate.db.store import Transaction
from climate.domain import events
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.periods import Period
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.leasing import booking
from climate.leasing import dates
from climate.leasing import notices
from climate.leasing import schedule
from climate.leasing.settings import LeasingSettings


class Creation:
    """One lease that somebody wants; everything about it that needs no SQL.

    :raises climate.exceptions.InvalidInput: naming the field that is wrong
    """

    def __init__(
        self,
        caller: Caller,
        draft: LeaseDraft,
        plugins: notices.Plugins,
        settings: LeasingSettings,
        now: datetime.datetime,
    ) -> None:
        dates.check_new(draft, now)
        self._caller = caller
        self._draft = draft
        self._plugins = plugins
        self._settings = settings
        self._requests = [self._parse(body) for body in draft.reservations]

    def book(self, tx: Transaction, rng: random.Random) -> Lease:
        """Choose resources and write the lease.

        :raises climate.exceptions.NotEnoughResources: if the period is taken
        :raises climate.leasing.booking.LostRace: if it is to be tried again
        """
        lease = self._lease(tx)
        desk = booking.Booking(tx, self._settings, rng)
        period = booking.from_now(lease.period, tx.now)
        allocations: list[Allocation] = []
        for reservation, (plugin, request) in zip(lease.reservations, self._requests, strict=True):
            search = plugin.search(request)
            wish = booking.Wish(
                plugin=plugin,
                request=request,
                period=period,
                minimum=search.minimum,
                maximum=search.maximum,
                private=self._caller.all_projects,
            )
            chosen = desk.choose(wish)
            allocations += booking.allocations(reservation.id, chosen, period)
        desk.take([])
        tx.leases.insert(lease)
        tx.reservations.insert(lease.reservations)
        tx.allocations.insert(allocations)
        tx.events.insert(lease.events)
        notices.tell(tx, self._plugins, 'lease.create', lease)
        return lease

    def _parse(self, body: Any) -> tuple[Any, Any]:
        if body.get('resource_type') in (None, ''):
            raise exceptions.MissingParameter(param='resource_type')
        plugin = booking.plugin_of(self._plugins, body['resource_type'])
        return plugin, plugin.parse(body, strict=self._draft.strict)

    def _lease(self, tx: Transaction) -> Lease:
        draft = self._draft
        lease_id = str(uuid.uuid4())
        bare = Lease(
            id=lease_id,
            name=draft.name,
            user_id=self._caller.user_id,
            project_id=self._caller.project_id,
            period=Period(start=draft.start, end=draft.end),
            before_end_date=draft.before_end_date,
            notify_before_start=draft.notify_before_start,
            created_at=tx.now,
        )
        timetable = schedule.initial(
            bare,
            draft.events,
            prepares=any(plugin.prepares for plugin, _ in self._requests),
            now=tx.now,
            settings=self._settings,
        )
        return dates.replaced(
            bare,
            next_due=events.next_due(timetable),
            events=tuple(
                dataclasses.replace(event, created_at=tx.now)
                for event in sorted(timetable, key=events.order)
            ),
            reservations=tuple(
                Reservation(
                    id=str(uuid.uuid4()),
                    lease_id=lease_id,
                    resource_type=plugin.resource_type,
                    request=plugin.dump(request),
                    position=position,
                    created_at=tx.now,
                )
                for position, (plugin, request) in enumerate(self._requests)
            ),
        )
