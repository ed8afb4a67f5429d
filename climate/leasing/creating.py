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

"""Books a new lease: check, choose, write."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import random
import uuid
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any

from climate import exceptions
from climate.allocation import shares
from climate.clients.base import Cloud
from climate.db.store import Store
from climate.db.store import Transaction
from climate.domain import events
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.periods import Period
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.domain.resources import Share
from climate.enforcement import limits
from climate.leasing import booking
from climate.leasing import dates
from climate.leasing import notices
from climate.leasing import quota
from climate.leasing import schedule
from climate.leasing import trusts
from climate.leasing import wanted
from climate.leasing.judging import Plan
from climate.leasing.making import Made
from climate.leasing.making import Making
from climate.leasing.making import NeedsMaking
from climate.leasing.searching import Searches
from climate.leasing.settings import LeasingSettings
from climate.leasing.wishes import Wish

# Orders in which the reservations of a lease are chosen for before it is
# refused: what cannot be had must not take much longer than what can.
_MOST_TRIES = 10


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class NewLease(Plan):
    """A lease that is not written yet."""

    desk: booking.Booking


class Creation:
    """One lease that somebody wants; everything about it that needs no SQL.

    :raises climate.exceptions.InvalidInput: naming the field that is wrong
    :raises climate.exceptions.LeaseRefused: if the project may not have so many reservations
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
        self._limits = settings.limits.of(caller.project_id) if draft.limited else limits.NONE
        with quota.refusing(None):
            self._limits.check('reservations_per_lease', len(draft.reservations))
        self._asked = [self._parse(body) for body in draft.reservations]
        self._things: tuple[tuple[str, str], ...] = ()
        self._trust_id: str | None = None
        self._ids = self._new_ids()
        self.made = Made()

    def inspect(self, cloud: Callable[[], Cloud]) -> None:
        """Look at what the requests name, as the caller sees the cloud.

        :raises climate.exceptions.InvalidInput: if something is not there, or
            is named twice
        """
        self._asked = wanted.seen(self._asked, self._plugins, cloud, self._caller.project_id)
        self._things = wanted.things(self._asked)
        self._ids = self._new_ids()

    @contextlib.contextmanager
    def trusted(self, cloud: Callable[[], Cloud], store: Store) -> Iterator[None]:
        """Have the caller's trust if effects need it.

        It goes if the lease is not booked, and so do resources of things.

        :param cloud: returns the cloud as we see it ourselves
        :raises climate.exceptions.ClimateError: if it is not to be had
        """
        until = trusts.expiry(self._draft.end, self._settings.trust_margin)
        with trusts.made(self._caller, self._asked, cloud, store, until) as self._trust_id:
            with wanted.kept(store, self._things):
                yield

    def plan(self, tx: Transaction, rng: random.Random) -> NewLease:
        """Choose resources; those of things that nobody had yet are written.

        :raises climate.exceptions.NotEnoughResources: if the period is taken
        :raises climate.leasing.making.NeedsMaking: if the caller has to make
            something first
        :raises climate.exceptions.LeaseRefused: if the project may not have it
        """
        bare = self._lease(tx)
        quota.look(tx, self._limits, bare)
        wanted.take_in(tx, self._things, self._caller.project_id)
        period = booking.from_now(bare.period, tx.now)
        desk, allocations = self._choose(tx, bare, period, rng)
        self._check_made()
        lead_time = tx.properties.lead_time({item.resource_id for item in allocations})
        lease = self._scheduled(tx, dataclasses.replace(bare, lead_time=lead_time))
        return NewLease(lease=lease, allocations=tuple(allocations), limits=self._limits, desk=desk)

    def write(self, tx: Transaction, plan: NewLease, charge_id: str | None) -> Lease:
        """Write the lease.

        :raises climate.leasing.booking.LostRace: if it is to be tried again
        """
        lease = plan.lease
        books = plan.desk.take(tx)
        tx.leases.insert(lease)
        if lease.trust_id is not None:
            tx.trusts.give(lease.trust_id, lease.id)
        tx.reservations.insert(lease.reservations)
        if self.made.reservation_ids:
            tx.intents.forget(self.made.reservation_ids)
        books.insert(plan.allocations)
        tx.events.insert(lease.events)
        notices.tell(tx, self._plugins, 'lease.create', lease)
        return lease

    def _check_made(self) -> None:
        """Have made what is not there yet: after the choice, for most refusals come with it."""
        missing = [
            Making(
                plugin=one.plugin,
                request=one.request,
                reservation_id=self._ids[place],
                project_id=self._caller.project_id,
                what=what,
            )
            for place, one in enumerate(self._asked)
            if (what := one.plugin.makes(one.request)) is not None
            and self.made.facts(self._ids[place], what) is None
        ]
        if missing:
            raise NeedsMaking(missing)

    def _choose(
        self, tx: Transaction, lease: Lease, period: Period, rng: random.Random
    ) -> tuple[booking.Booking, list[Allocation]]:
        """Choose for all reservations together.

        What one is given may be all that another could have used; so one that
        finds nothing is tried again before the others, with all that want the
        same. Each search is made once, however often is chosen.
        """
        wishes = [self._wish(one, period) for one in self._asked]
        together = sum(wish.maximum for wish in wishes)
        searches = Searches(tx, self._settings, rng, together)
        order = list(range(len(wishes)))
        for _ in range(_MOST_TRIES):
            desk = booking.Booking(tx, self._settings, rng, searches=searches)
            chosen = _chosen_in(order, wishes, desk)
            if not isinstance(chosen, int):
                return desk, [
                    item
                    for number, picked in chosen.items()
                    for item in shares.allocations(
                        lease.reservations[number].id, picked, wishes[number].search.demand, period
                    )
                ]
            place = chosen
            alike = [other for other in order if wishes[other] == wishes[place]]
            if order[0] in alike:
                break
            order = alike + [other for other in order if other not in alike]
        with booking.naming(lease.reservations, place):
            raise desk.refusal(wishes[place])

    def _wish(self, one: wanted.Asked, period: Period) -> Wish:
        search = one.plugin.search(one.request)
        return Wish(
            search=search,
            plugin=one.plugin,
            request=one.request,
            period=period,
            minimum=search.minimum,
            maximum=search.maximum,
            private=self._caller.all_projects,
        )

    def _parse(self, body: Any) -> wanted.Asked:
        if body.get('resource_type') in (None, ''):
            raise exceptions.MissingParameter(param='resource_type')
        plugin = booking.plugin_of(self._plugins, body['resource_type'])
        request = plugin.parse(body, strict=self._draft.strict)
        if not self._draft.limited:
            request = plugin.imposed(request)
        return wanted.Asked(plugin=plugin, request=request)

    def _lease(self, tx: Transaction) -> Lease:
        draft = self._draft
        lease_id = draft.id or str(uuid.uuid4())
        return Lease(
            id=lease_id,
            name=draft.name,
            user_id=self._caller.user_id,
            project_id=self._caller.project_id,
            period=Period(start=draft.start, end=draft.end),
            before_end_date=draft.before_end_date,
            notify_before_start=draft.notify_before_start,
            notices=draft.notices,
            trust_id=self._trust_id,
            created_at=tx.now,
            reservations=self._reservations(tx, lease_id),
        )

    def _scheduled(self, tx: Transaction, lease: Lease) -> Lease:
        timetable = schedule.initial(
            lease,
            self._draft.events,
            prepares=schedule.preparation(one.plugin for one in self._asked),
            now=tx.now,
            settings=self._settings,
        )
        return dates.replaced(
            lease,
            next_due=events.next_due(timetable),
            events=tuple(
                dataclasses.replace(event, created_at=tx.now)
                for event in sorted(timetable, key=events.order)
            ),
        )

    def _new_ids(self) -> list[str]:
        return [str(uuid.uuid4()) for _ in self._asked]

    def _reservations(self, tx: Transaction, lease_id: str) -> tuple[Reservation, ...]:
        ids = self._ids
        return tuple(
            Reservation(
                id=ids[position],
                lease_id=lease_id,
                resource_type=one.plugin.resource_type,
                request=one.plugin.dump(one.request),
                position=position,
                facts=self.made.facts(ids[position], one.plugin.makes(one.request)) or {},
                part_of=None if one.whole is None else ids[one.whole],
                created_at=tx.now,
            )
            for position, one in enumerate(self._asked)
        )


def _chosen_in(
    order: Iterable[int], wishes: Sequence[Wish], desk: booking.Booking
) -> dict[int, tuple[Share, ...]] | int:
    """Choose for wishes one after the other.

    :returns: the choice by place, or the place of the first wish that finds too little
    """
    found = {}
    for place in order:
        chosen = desk.chosen(wishes[place])
        if chosen is None:
            return place
        found[place] = chosen
    return found
