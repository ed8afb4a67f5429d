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

"""Moves reservations from one resource to others, within one transaction.

The choice is that of a booking, for the time that is left. What has not begun
is moved at once; what is in use gets the new resource beside the old one, and
an event has the cloud follow: the old one is given back afterwards.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import TypeVar

from climate import exceptions
from climate.allocation import shares as slots
from climate.db.store import Store
from climate.db.store import Transaction
from climate.domain import events
from climate.domain.events import Event
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.lifecycles import LEASE
from climate.domain.lifecycles import LeaseStatus
from climate.domain.lifecycles import LeaseTrigger
from climate.domain.resources import Spread
from climate.leasing import booking
from climate.leasing import following
from climate.leasing import notices
from climate.leasing import reading
from climate.leasing import schedule
from climate.leasing.settings import LeasingSettings

T = TypeVar('T')

_MOVES = 'moves'
_FORCED = 'forced'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Move:
    """What one reservation gives up on a resource, and has in its place.

    :ivar left: name of the resource that it leaves
    :ivar came: names of those that it comes to
    :ivar reason: for people
    """

    reservation_id: str
    left: str
    came: tuple[str, ...]
    reason: str


class Mover:
    """Moves reservations of one lease; one for each transaction.

    :param lease: locked, and PENDING or ACTIVE
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
        self._desk = booking.Booking(tx, settings, rng, changing=self._ids)
        self._desk.occupy(self._known)
        self._leaving: list[Allocation] = []
        self._added: list[Allocation] = []
        self._moves: list[Move] = []

    @property
    def moves(self) -> tuple[Move, ...]:
        """What was found so far."""
        return tuple(self._moves)

    def has(self, reservation_id: str, resource_id: int) -> bool:
        """Whether a reservation has anything of a resource."""
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
        """Find another place for all that a reservation has on a resource.

        :param never: ids of further resources that are no other place
        :raises climate.exceptions.NotEnoughResources: if there is none
        """
        plugin = booking.plugin_of(self._plugins, reservation.resource_type)
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
        wish = booking.Wish(
            search=dataclasses.replace(
                search, names=tuple(name for name in search.names if name not in stays)
            ),
            plugin=plugin,
            request=request,
            period=booking.from_now(self._lease.period, self._tx.now),
            minimum=count,
            maximum=count,
            private=True,  # It was allowed to ask for it.
            never=avoided,
        )
        shares = self._desk.choose(wish)
        # What is in use is there until the cloud has followed.
        self._desk.vacate(() if self._lease.status is LeaseStatus.ACTIVE else leaving)
        self._leaving += leaving
        self._added += slots.allocations(reservation.id, shares, search.demand, wish.period)
        self._moves.append(
            Move(
                reservation_id=reservation.id,
                left=leaving[0].resource_name,
                came=tuple(share.candidate.name for share in shares),
                reason=reason,
            )
        )

    def write(self, lease: Lease, *, forced: bool = False) -> Lease:
        """Write what was found; return *lease* with what it means for it.

        The lease itself is left to the caller to write.

        :param lease: the lease, perhaps with other flags
        :param forced: whether what runs on resources in use may be taken away
        :raises climate.leasing.booking.LostRace: if it is to be tried again
        """
        if not self._moves:
            return lease
        books = self._desk.take(self._tx, {item.resource_id for item in self._leaving})
        if lease.status is LeaseStatus.PENDING:
            books.remove([item.id for item in self._leaving if item.id is not None])
        books.insert(self._added)
        if lease.status is LeaseStatus.PENDING:
            lease = self._reannounced(lease)
            for move in self._moves:
                tell(self._tx, self._plugins, lease, move)
            return lease
        event = following.new_event(
            self._tx,
            lease,
            self._known,
            self._leaving,
            {},
            more={_MOVES: [dataclasses.asdict(move) for move in self._moves], _FORCED: forced},
        )
        timetable = (*lease.events, event)
        return dataclasses.replace(
            lease,
            status=LEASE.after(lease.status, LeaseTrigger.CHANGE),
            events=timetable,
            next_due=events.next_due(timetable),
        )

    def _reannounced(self, lease: Lease) -> Lease:
        """Tell earlier of the start if what came needs longer to get ready."""
        tx = self._tx
        gone = {item.id for item in self._leaving}
        has = [*(item for item in self._known if item.id not in gone), *self._added]
        lead_time = tx.properties.lead_time({item.resource_id for item in has})
        new = dataclasses.replace(lease, lead_time=lead_time)
        if lead_time == lease.lead_time:
            return lease
        change = schedule.reannounced(lease, new, now=tx.now, settings=self._settings)
        tx.events.delete(change.removed)
        tx.events.insert(change.added)
        kept = (event for event in lease.events if event.id not in change.removed)
        timetable = tuple(sorted((*kept, *change.added), key=events.order))
        return dataclasses.replace(new, events=timetable, next_due=events.next_due(timetable))


def run(store: Store, attempts: int, work: Callable[[Transaction], T]) -> T:
    """Do *work* that moves something, again while others are faster.

    :raises climate.exceptions.BookedMeanwhile: if they are so every time
    """
    for _ in range(attempts):
        try:
            return store.run(work)
        except (booking.LostRace, exceptions.BookedMeanwhile):
            continue
    raise exceptions.BookedMeanwhile


def moves_of(event: Event) -> tuple[Move, ...]:
    """Return what an event has the cloud follow; empty if it is no move."""
    stored: Iterable[Mapping[str, Any]] = event.payload.get(_MOVES) or ()
    return tuple(Move(**{**one, 'came': tuple(one['came'])}) for one in stored)


def forced(event: Event) -> bool:
    """Whether what runs on the resources that are left may be taken away."""
    return bool(event.payload.get(_FORCED))


def tell(tx: Transaction, plugins: notices.Plugins, lease: Lease, move: Move) -> None:
    """Tell that a reservation has another resource now."""
    notices.tell(
        tx,
        plugins,
        'lease.rehomed',
        lease,
        reason=move.reason,
        moved={
            'reservation_id': move.reservation_id,
            'from': [move.left],
            'to': list(move.came),
        },
    )
