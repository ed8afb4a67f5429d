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

"""Finds what is free and takes it, inside one transaction."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import random
from collections import Counter
from collections import defaultdict
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from climate import exceptions
from climate.allocation import shares as slots
from climate.db import judgement
from climate.db.books import Books
from climate.db.rooms import Room
from climate.db.rooms import Window
from climate.db.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.leases import Reservation
from climate.domain.periods import Period
from climate.domain.resources import Candidate
from climate.domain.resources import Share
from climate.leasing import catalog
from climate.leasing import refusals
from climate.leasing.searching import Searches
from climate.leasing.settings import LeasingSettings
from climate.leasing.wishes import Wish
from climate.plugins import base

LostRace = judgement.LostRace


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Choice:
    """The resources that were chosen for a wish.

    :ivar bookable: whether they must be open to new bookings
    """

    wish: Wish
    ids: frozenset[int]
    bookable: bool = True


class Booking:
    """Chooses among what is free; one for each transaction.

    :param rng: breaks ties, so that equal searchers choose differently
    :param changing: ids of the reservations that are being changed: what they
        have of resources is in nobody's way but each other's; it is told with
        :meth:`occupy` what they keep
    :param searches: what was found already in this transaction; None to ask
        the database for each wish
    """

    def __init__(
        self,
        tx: Transaction,
        settings: LeasingSettings,
        rng: random.Random,
        changing: Collection[str] = (),
        searches: Searches | None = None,
    ) -> None:
        self._tx = tx
        self._searches = searches
        self._settings = settings
        self._rng = rng
        self._changing = tuple(changing)
        self._generations: dict[int, int] = {}
        self._chosen: list[_Choice] = []
        self._whole: set[int] = set()
        self._parts: dict[int, Counter[str]] = defaultdict(Counter)

    def occupy(self, current: Iterable[Allocation]) -> None:
        """Say that reservations of this lease have or keep something."""
        for item in current:
            if item.resource_class is None:
                self._whole.add(item.resource_id)
            else:
                self._parts[item.resource_id][item.resource_class] += item.amount

    def vacate(self, current: Iterable[Allocation]) -> None:
        """Take back what :meth:`occupy` said."""
        for item in current:
            if item.resource_class is None:
                self._whole.discard(item.resource_id)
            else:
                self._parts[item.resource_id][item.resource_class] -= item.amount

    def choose(self, wish: Wish) -> tuple[Share, ...]:
        """Choose slots for a wish; they count as occupied from then on.

        :raises climate.exceptions.NotEnoughResources: with the reasons
        """
        shares = self.chosen(wish)
        if shares is None:
            raise self.refusal(wish)
        return shares

    def chosen(self, wish: Wish) -> tuple[Share, ...] | None:
        """Choose slots as :meth:`choose` does; return None if there are not enough."""
        if not wish.maximum:
            return ()
        for candidates in self._candidates(wish):
            snapshot = base.Snapshot(
                search=wish.search,
                start=wish.period.start,
                end=wish.period.end,
                minimum=wish.minimum,
                maximum=wish.maximum,
                candidates=tuple(candidates),
            )
            pick = wish.plugin.choose(wish.request, snapshot, self._rng)
            if not isinstance(pick, base.NotEnough):
                return self._took(wish, pick.shares)
        return None

    def matching(self, wish: Wish, ids: Collection[int]) -> set[int]:
        """Return those of *ids*, which the lease has, that match a wish.

        Open to new bookings they need not be.
        """
        self._see(self._tx.resources.generations(ids))
        found = self._tx.resources.matching(wish.match, ids)
        self._chosen.append(_Choice(wish=wish, ids=frozenset(found), bookable=False))
        return found

    def room(self, wish: Wish, only: Collection[int]) -> list[Room]:
        """Return what is left of some resources for a wish, beside this lease.

        Open to new bookings they need not be.
        """
        return self._tx.rooms.find(
            wish.match,
            wish.search.demand,
            self._window(wish.period),
            only_ids=only,
            bookable=False,
        )

    def hold(self, wish: Wish, shares: Iterable[Share], rooms: Mapping[int, Room]) -> bool:
        """Keep slots that a running lease has, if there is room for them.

        :param rooms: what is left beside this lease, by resource id
        :returns: whether there is
        """
        held = tuple(shares)
        if any(self._fit(wish, rooms[item.candidate.resource_id]) < item.slots for item in held):
            return False
        self._took(wish, held, bookable=False)
        return True

    def take(self, tx: Transaction, resource_ids: Collection[int] = ()) -> Books:
        """Return the right to book what was chosen; from here on no other transaction can.

        Whether the resources bear it is judged when it is written. What cannot
        be seen from the bookings is looked at here: whether a resource that
        has changed since it was chosen is still what is wanted.

        :param tx: in which it is booked: that of the choice, or a later one
        :param resource_ids: of what is changed besides, such as what is kept
        :raises LostRace: if something that was chosen will not do any more
        """
        self._tx = tx
        ids = {*self._generations, *resource_ids}
        books = tx.book(ids, pause=self._settings.cleaning_time, own=self._changing)
        found = books.generations
        changed = {key for key, seen in self._generations.items() if found.get(key) != seen}
        if not ids <= found.keys() or not self._still_match(changed):
            raise LostRace
        return books

    def refusal(self, wish: Wish) -> exceptions.NotEnoughResources:
        """Return the refusal of a wish, with the reasons."""
        if not wish.search.demand:
            return refusals.of_wholes(self._tx, wish, self._padded(wish.period))
        window = self._window(wish.period)
        return refusals.of_parts(self._tx, wish, window, lambda room: self._fit(wish, room))

    # -- what is chosen from

    def _took(
        self, wish: Wish, shares: tuple[Share, ...], *, bookable: bool = True
    ) -> tuple[Share, ...]:
        seen = {share.candidate.resource_id: share.candidate.generation for share in shares}
        self._see(seen)
        self._chosen.append(_Choice(wish=wish, ids=frozenset(seen), bookable=bookable))
        self.occupy(slots.allocations('', shares, wish.search.demand, wish.period))
        return shares

    def _see(self, generations: Mapping[int, int]) -> None:
        """Remember on which state of resources a choice rests: the first one that was seen."""
        self._generations = {**generations, **self._generations}

    def _candidates(self, wish: Wish) -> Iterator[list[Candidate]]:
        """Yield ever more candidates, until enough of them are good."""
        searches = self._searches or Searches(self._tx, self._settings, self._rng)
        if wish.search.demand:
            never = {*wish.never, *self._whole}
            for rooms in searches.rooms(wish, self._window(wish.period), never):
                yield [
                    self._candidate(wish, room) for room in rooms if room.resource_id not in never
                ]
            return
        taken = {*wish.never, *self._whole, *self._generations}
        taken |= {key for key, parts in self._parts.items() if parts.total() > 0}
        yield searches.untouched(wish, self._padded(wish.period), taken)

    def _candidate(self, wish: Wish, room: Room) -> Candidate:
        used = [
            1 - (room.left[name] - self._beside(room, name)) / room.capacity[name]
            for name in room.left
            if room.capacity[name] > 0
        ]
        return Candidate(
            resource_id=room.resource_id,
            name=room.name,
            generation=room.generation,
            slots=self._fit(wish, room),
            load=min(max(used, default=1.0), 1.0),
            own=wish.own.get(room.resource_id, 0),
        )

    def _fit(self, wish: Wish, room: Room) -> int:
        """Return how many slots there is room for, beside what this lease has."""
        return max(
            0,
            min(
                (room.left[name] - self._beside(room, name)) // wish.search.demand[name]
                for name in room.left
            ),
        )

    def _beside(self, room: Room, name: str) -> int:
        return self._parts[room.resource_id][name] if room.resource_id in self._parts else 0

    # -- what is looked at again

    def _still_match(self, changed: Collection[int]) -> bool:
        """Whether what was chosen is still what is wanted, of resources that have changed.

        Looking again instead of choosing again keeps a busy resource from
        starving a booking.
        """
        return all(
            ids
            == self._tx.resources.matching(
                choice.wish.match, ids, demand=choice.wish.search.demand, bookable=choice.bookable
            )
            for choice in self._chosen
            if (ids := choice.ids.intersection(changed))
        )

    def _padded(self, period: Period) -> Period:
        return period.padded(self._settings.cleaning_time)

    def _window(self, period: Period) -> Window:
        return Window(
            period=period, padded=self._padded(period), except_reservations=self._changing
        )


@contextlib.contextmanager
def naming(reservations: Sequence[Reservation], place: int) -> Iterator[None]:
    """Have a refusal say which reservation of a lease is not to be had.

    The text stays as clients know it where there is only one.
    """
    try:
        yield
    except exceptions.NotEnoughResources as error:
        error.resource_type = reservations[place].resource_type
        if len(reservations) > 1:
            error.place = place
        raise


def from_now(period: Period, now: datetime.datetime) -> Period:
    """Return the part of *period* that is not over yet.

    A lease that starts "now" says the beginning of the minute; what others
    had until a moment ago must not be in its way.
    """
    return Period(start=min(max(period.start, now), period.end - _SHORTEST), end=period.end)


_SHORTEST = datetime.timedelta(microseconds=1)


def plugin_of(plugins: Mapping[str, base.Plugin[Any]], resource_type: Any) -> base.Plugin[Any]:
    """Return the plugin of a type.

    :raises climate.exceptions.UnsupportedResourceType: if there is none
    """
    plugin = catalog.current(plugins, resource_type) if isinstance(resource_type, str) else None
    if plugin is None:
        shown = resource_type if isinstance(resource_type, str) else repr(resource_type)
        raise exceptions.UnsupportedResourceType(resource_type=shown[:100])
    return plugin
