# SPDX-License-Identifier: Apache-2.0

"""Moves reservations from one resource to others, within one transaction.

Resources are chosen as in a booking, for the time that is left. A lease that has
not started moves at once. An active one gets the new resource in addition to the
old one, and an event has the cloud follow; the old one is released afterwards.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Sequence
from typing import TypeVar

from climate import exceptions
from climate.allocation import shares as slots
from climate.booking.choosing import choose
from climate.booking.choosing.requirements import Requirements
from climate.booking.requests import requests
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain import events
from climate.domain.budgets import RequestBudget
from climate.domain.budgets import UNLIMITED
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.lifecycles import LEASE
from climate.domain.lifecycles import LeaseStatus
from climate.domain.lifecycles import LeaseTrigger
from climate.domain.payloads import Move
from climate.domain.resources import Spread
from climate.leases import following
from climate.leases import notices
from climate.leases import reading
from climate.leases import schedule
from climate.leases.settings import LeasingSettings

T = TypeVar('T')


class Mover:
    """Moves reservations of one lease; one for each transaction.

    :param lease: locked, and PENDING, STARTING or ACTIVE; one that is STARTING must not
        have used what it leaves
    """

    def __init__(
        self,
        tx: Transaction,
        plugins: notices.Plugins,
        settings: LeasingSettings,
        rng: random.Random,
        lease: Lease,
    ) -> None:
        self._tx = tx
        self._plugins = plugins
        self._settings = settings
        self._lease = lease
        self._ids = [reservation.id for reservation in lease.reservations]
        self._known = tx.allocations.live_of(self._ids) if self._ids else []
        self._chooser = choose.Chooser(tx, settings, rng, changing=self._ids)
        self._chooser.occupy(self._known)
        self._leaving: list[Allocation] = []
        self._added: list[Allocation] = []
        self._moves: list[Move] = []

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves found so far."""
        return tuple(self._moves)

    def has(self, reservation_id: str, resource_id: int) -> bool:
        """Whether a reservation has allocations on a resource."""
        return any(
            item.reservation_id == reservation_id and item.resource_id == resource_id
            for item in self._known
        )

    def move(
        self,
        reservation: Reservation,
        resource_id: int,
        reason: str,
        *,
        never: Collection[int] = (),
    ) -> None:
        """Find another place for everything that a reservation has on a resource.

        :param never: ids of further resources to avoid
        :raises climate.exceptions.NotEnoughResources: if there is no other place
        """
        plugin = requests.plugin_of(self._plugins, reservation.resource_type)
        request = reading.load(plugin, reservation)
        search = plugin.search(request)
        mine = [
            item
            for item in (*self._known, *self._added)
            if item.reservation_id == reservation.id and item not in self._leaving
        ]
        leaving = [item for item in mine if item.resource_id == resource_id]
        staying = [item for item in mine if item.resource_id != resource_id]
        count = slots.slots(leaving, search.demand)[resource_id]
        avoided = {resource_id, *never}
        if search.spread is not Spread.ANY or not search.demand:
            avoided |= {item.resource_id for item in staying}
        stays = {item.resource_name for item in staying}
        names = tuple(name for name in search.names if name not in stays)
        period = self._lease.period.after(self._tx.now)
        needed = Requirements(
            reservation_id=reservation.id,
            search=dataclasses.replace(search, names=names),
            plugin=plugin,
            request=request,
            period=period,
            padded=period.padded(self._settings.cleaning_time),
            minimum=count,
            maximum=count,
            private=True,  # The request was allowed when it was booked.
            never=avoided,
            placement=reservation.placement,
            leaving={resource_id, *(item.resource_id for item in self._leaving)},
        )
        added = self._chooser.choose(needed)
        # What is in use stays until the cloud has followed.
        self._chooser.vacate(() if self._lease.status is LeaseStatus.ACTIVE else leaving)
        self._leaving += leaving
        self._added += added
        self._moves.append(_as_move(leaving, added, reason))

    def write(self, lease: Lease, *, forced: bool = False) -> Lease:
        """Write the moves found; return *lease* as they change it.

        The caller has to write the lease itself.

        :param lease: the lease, perhaps with other flags
        :param forced: whether the cloud may remove what runs on the old resources
        :raises climate.booking.choosing.choose.LostRace: if the caller has to try again
        """
        if not self._moves:
            return lease
        writer = choose.lock(
            self._tx,
            self._settings,
            self._chooser.choice,
            {item.resource_id for item in self._leaving},
        )
        if lease.status is not LeaseStatus.ACTIVE:
            writer.remove([item.id for item in self._leaving if item.id is not None])
        writer.insert(self._added)
        if lease.status is not LeaseStatus.ACTIVE:
            lease = self._reannounced(lease)
            for move in self._moves:
                notify(self._tx, self._plugins, lease, move)
            return lease
        event = following.new_event(
            self._tx, lease, self._known, self._leaving, {}, moves=self.moves, forced=forced
        )
        timetable = tuple(sorted((*lease.events, event), key=events.order))
        return dataclasses.replace(
            lease,
            status=LEASE.table[lease.status, LeaseTrigger.CHANGE],
            events=timetable,
            next_due=events.next_due(timetable),
        )

    def _reannounced(self, lease: Lease) -> Lease:
        """Announce the start earlier if the new resources take longer to get ready."""
        tx = self._tx
        gone = {item.id for item in self._leaving}
        has = [*(item for item in self._known if item.id not in gone), *self._added]
        lead_time = tx.search.lead_times.longest({item.resource_id for item in has})
        new = dataclasses.replace(lease, lead_time=lead_time)
        if lead_time == lease.lead_time:
            return lease
        change = schedule.reannounced(lease, new, now=tx.now, settings=self._settings)
        tx.events.delete(change.removed)
        added = [dataclasses.replace(event, created_at=tx.now) for event in change.added]
        tx.events.insert(added)
        kept = (event for event in lease.events if event.id not in change.removed)
        timetable = tuple(sorted((*kept, *added), key=events.order))
        return dataclasses.replace(new, events=timetable, next_due=events.next_due(timetable))


def run(
    store: Store, attempts: int, work: Callable[[Transaction], T], budget: RequestBudget = UNLIMITED
) -> T:
    """Run *work*, which moves something; run it again when other bookings are faster.

    :param budget: what is left for the request that it serves
    :raises climate.exceptions.BookedMeanwhile: if they are faster every time
    """
    for _ in range(attempts):
        try:
            return store.run(work, budget=budget)
        except (choose.LostRace, exceptions.BookedMeanwhile):
            continue
    raise exceptions.BookedMeanwhile


def _as_move(leaving: Sequence[Allocation], added: Iterable[Allocation], reason: str) -> Move:
    return Move(
        reservation_id=leaving[0].reservation_id,
        left=leaving[0].resource_name,
        came=tuple(dict.fromkeys(item.resource_name for item in added)),
        reason=reason,
    )


def moves_of(event: Event) -> tuple[Move, ...]:
    """Return the moves that an event has the cloud follow; empty if there are none."""
    return event.change.moves if event.change else ()


def notify(tx: Transaction, plugins: notices.Plugins, lease: Lease, move: Move) -> None:
    """Send a notification that a reservation has another resource now."""
    notices.notify(
        tx,
        plugins,
        'lease.rehomed',
        lease,
        reason=move.reason,
        moved={'reservation_id': move.reservation_id, 'from': [move.left], 'to': list(move.came)},
    )


def flagged(lease: Lease, missing: Collection[str]) -> Lease:
    """Return *lease* with the flags that say that these reservations lack resources.

    A lease whose last check failed stays degraded, whatever else is repaired.
    """
    failing = lease.degraded and any(
        event.open and event.kind is EventKind.CHECK and event.error for event in lease.events
    )
    return dataclasses.replace(
        lease,
        degraded=bool(missing) or failing,
        reservations=tuple(
            dataclasses.replace(item, missing_resources=item.id in missing)
            for item in lease.reservations
        ),
    )


def moved(tx: Transaction, plugins: notices.Plugins, lease: Lease, event: Event) -> Lease:
    """Return *lease* after the cloud has followed a move, and send a notification."""
    if not moves_of(event):
        return lease
    ids = [item.id for item in lease.reservations]
    has = {(item.reservation_id, item.resource_name) for item in tx.allocations.live_of(ids)}
    # An effect may have given up other resources than it was asked to.
    moves = [move for move in moves_of(event) if (move.reservation_id, move.left) not in has]
    if not moves:
        return lease
    changed = {move.reservation_id for move in moves}
    lease = dataclasses.replace(
        lease,
        reservations=tuple(
            dataclasses.replace(item, resources_changed=True) if item.id in changed else item
            for item in lease.reservations
        ),
    )
    marked = [item.id for item in lease.reservations if item.missing_resources]
    if marked:
        left = tx.affected_leases.of(marked, None)
        lease = flagged(lease, {trouble.reservation_id for trouble in left})
    for move in moves:
        notify(tx, plugins, lease, move)
    return lease
