# SPDX-License-Identifier: Apache-2.0

"""Chooses free resources and locks them, inside one transaction."""

from __future__ import annotations

import dataclasses
import functools
import random
from collections import Counter
from collections import defaultdict
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

from climate import exceptions
from climate.allocation import shares as slots
from climate.booking.choosing import placements
from climate.booking.choosing import refusals
from climate.booking.choosing.requirements import Requirements
from climate.booking.choosing.searches import Searches
from climate.db.booking import verification
from climate.db.booking.writer import BookingWriter
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.periods import Period
from climate.domain.resources import Candidate
from climate.domain.resources import Room
from climate.domain.resources import Share
from climate.leases.settings import LeasingSettings
from climate.plugins import contract

LostRace = verification.LostRace

# The most orders of reservations to try before a lease is refused: a refusal
# must not take much longer than a booking.
_MOST_TRIES = 10


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ChosenResources:
    """The resources that were chosen for some requirements.

    :ivar bookable: whether they must be open to new bookings
    :ivar site: what their placement depends on; None if they have none
    """

    requirements: Requirements
    ids: frozenset[int]
    bookable: bool = True
    site: placements.Site | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """Everything that was chosen for one lease; the input of :func:`lock`.

    :ivar generations: of the resources, as first read
    :ivar changing: ids of the reservations that are being changed
    """

    generations: Mapping[int, int]
    chosen: tuple[ChosenResources, ...]
    changing: tuple[str, ...]

    def still_matches(self, tx: Transaction, changed: Collection[int]) -> bool:
        """Whether the resources that have changed still match what they were chosen for.

        Checking again instead of choosing again keeps a busy resource from starving a booking.
        """
        return all(
            ids
            == tx.search.matching(
                one.requirements.match,
                ids,
                demand=one.requirements.search.demand,
                bookable=one.bookable,
            )
            and (one.site is None or one.site.holds(tx, one.requirements, ids))
            for one in self.chosen
            if (ids := one.ids.intersection(changed))
        )


class Chooser:
    """Chooses among free resources for one lease; one object for each transaction.

    :param rng: breaks ties, so that concurrent bookings choose differently
    :param changing: ids of the reservations that are being changed: of their
        allocations, only those passed to :meth:`occupy` block each other
    :param searches: returns the searches; None for new ones for each reservation
    """

    def __init__(
        self,
        tx: Transaction,
        settings: LeasingSettings,
        rng: random.Random,
        changing: Collection[str] = (),
        searches: Callable[[], Searches] | None = None,
    ) -> None:
        self.tx = tx
        self.settings = settings
        self._searches = searches or functools.partial(Searches, tx, settings, rng, changing)
        self._rng = rng
        self._changing = tuple(changing)
        self._generations: dict[int, int] = {}
        self._chosen: list[ChosenResources] = []
        self._whole: set[int] = set()
        self._parts: dict[int, Counter[str]] = defaultdict(Counter)
        self._held: dict[str, list[Allocation]] = defaultdict(list)

    @property
    def choice(self) -> Choice:
        """Everything that was chosen so far."""
        return Choice(
            generations=self._generations, chosen=tuple(self._chosen), changing=self._changing
        )

    @property
    def left_out(self) -> Collection[str]:
        """Ids of reservations of other leases whose allocations do not count."""
        return () if self.tx.rearrangement is None else self.tx.rearrangement.left_out

    def given(self, period: Period) -> set[int]:
        """Return the ids of the resources that others would get at some time of a period."""
        added = () if self.tx.rearrangement is None else self.tx.rearrangement.added
        return {item.resource_id for item in added if item.period.overlaps(period)}

    def occupy(self, current: Iterable[Allocation]) -> None:
        """Count allocations that reservations of this lease have or keep."""
        for item in current:
            self._held[item.reservation_id].append(item)
            if item.resource_class is None:
                self._whole.add(item.resource_id)
            else:
                self._parts[item.resource_id][item.resource_class] += item.amount

    def vacate(self, current: Iterable[Allocation]) -> None:
        """Undo :meth:`occupy`."""
        for item in current:
            if item in self._held[item.reservation_id]:
                self._held[item.reservation_id].remove(item)
            if item.resource_class is None:
                self._whole.discard(item.resource_id)
            else:
                self._parts[item.resource_id][item.resource_class] -= item.amount

    def choose(self, needed: Requirements) -> tuple[Allocation, ...]:
        """Choose slots and return their allocations, which now count as occupied.

        :raises climate.exceptions.NotEnoughResources: with the reasons
        """
        found = self.chosen(needed)
        if found is None:
            raise self.refusal(needed)
        return found

    def chosen(self, needed: Requirements) -> tuple[Allocation, ...] | None:
        """Choose slots as :meth:`choose` does; return None if there are not enough."""
        if not needed.maximum:
            return ()
        self.tx.budget.check()
        if needed.placement is not None:
            placed = self.placed([needed])
            return None if isinstance(placed, int) else placed[0]
        for candidates in self._candidates(needed):
            snapshot = contract.Snapshot(
                search=needed.search,
                start=needed.period.start,
                end=needed.period.end,
                minimum=needed.minimum,
                maximum=needed.maximum,
                candidates=tuple(candidates),
            )
            pick = needed.plugin.choose(needed.request, snapshot, self._rng)
            if not isinstance(pick, contract.NotEnough):
                found = slots.allocations(
                    needed.reservation_id, pick.shares, needed.search.demand, needed.period
                )
                self._record(needed, pick.shares, found)
                return tuple(found)
        return None

    def each(
        self, order: Iterable[int], needed: Sequence[Requirements]
    ) -> dict[int, tuple[Allocation, ...]] | int:
        """Choose for reservations one after the other, as :meth:`choose` does.

        :param order: places in *needed*
        :returns: the choice by place, or the place of the first one that finds too little
        """
        found = {}
        for place in order:
            chosen = self.chosen(needed[place])
            if chosen is None:
                return place
            found[place] = chosen
        return found

    def placed(self, needed: Sequence[Requirements]) -> list[tuple[Allocation, ...]] | int:
        """Choose slots for reservations at the same time, as their placements require.

        :returns: the choice for each, or the place of one that cannot be placed
        """
        placings = placements.place(self, needed)
        if isinstance(placings, int):
            return placings
        found = []
        for one, placing in zip(needed, placings, strict=True):
            demand, period = one.search.demand, one.period
            mine = slots.allocations(one.reservation_id, placing.shares, demand, period)
            self._record(one, placing.shares, mine, site=placing.site)
            found.append(tuple(mine))
        return found

    def every(self, needed: Requirements) -> tuple[list[Candidate], dict[int, Mapping[str, int]]]:
        """Return all free resources, the best first, and the free units by resource id."""
        self.tx.budget.check()
        never, rooms = {*needed.never, *self._whole}, list[Room]()
        if needed.search.demand:
            rooms = self._searches().every_room(needed)
            rooms = [room for room in rooms if room.resource_id not in never]
            candidates = [self._candidate(needed, room) for room in rooms]
        else:
            never |= {key for key, parts in self._parts.items() if parts.total() > 0}
            found = self._searches().every_whole(needed)
            candidates = [item for item in found if item.resource_id not in never]
        period, whole = needed.period, not needed.search.demand
        ordered = slots.ordered(candidates, period.start, period.end, self._rng, whole=whole)
        # A room may be too small for a slot.
        fitting = {item.resource_id for item in ordered}
        return ordered, {
            room.resource_id: {
                name: units - self._occupied(room, name) for name, units in room.left.items()
            }
            for room in rooms
            if room.resource_id in fitting
        }

    def held(self, reservation_id: str) -> Sequence[Allocation]:
        """Return the allocations that a reservation of the lease has or keeps."""
        return self._held.get(reservation_id, ())

    def matching(self, needed: Requirements, ids: Collection[int]) -> set[int]:
        """Return which of *ids*, resources of the lease, match the requirements.

        They need not be open to new bookings.
        """
        self.tx.budget.check()
        self._remember(self.tx.resources.generations(ids))
        found = self.tx.search.matching(needed.match, ids)
        self._chosen.append(
            ChosenResources(requirements=needed, ids=frozenset(found), bookable=False)
        )
        return found

    def room(self, needed: Requirements, only: Collection[int]) -> list[Room]:
        """Return the free amounts of some resources, ignoring what this lease uses.

        They need not be open to new bookings.
        """
        self.tx.budget.check()
        return self._searches().rooms_of(needed, only)

    def keep(
        self, needed: Requirements, shares: Iterable[Share], rooms: Mapping[int, Room]
    ) -> bool:
        """Keep slots of a running lease, if there is room for them.

        :param rooms: free amounts by resource id, ignoring what this lease uses
        :returns: whether there is room
        """
        held = tuple(shares)
        if any(self._fit(needed, rooms[item.candidate.resource_id]) < item.slots for item in held):
            return False
        found = slots.allocations(needed.reservation_id, held, needed.search.demand, needed.period)
        self._record(needed, held, found, bookable=False)
        return True

    def refusal(self, needed: Requirements) -> exceptions.NotEnoughResources:
        """Return the refusal of requirements, with the reasons."""
        self.tx.budget.check()
        fit = functools.partial(self._fit, needed)
        reduced = [key for key, parts in self._parts.items() if parts.total()]
        reasons = self._searches().reasons(needed, fit, reduced)
        return refusals.refusal(self.tx, needed, reasons)

    def _record(
        self,
        needed: Requirements,
        shares: tuple[Share, ...],
        found: Collection[Allocation],
        *,
        bookable: bool = True,
        site: placements.Site | None = None,
    ) -> None:
        """Record chosen shares, and count their allocations as occupied."""
        seen = {share.candidate.resource_id: share.candidate.generation for share in shares}
        self._remember(seen)
        self._chosen.append(
            ChosenResources(requirements=needed, ids=frozenset(seen), bookable=bookable, site=site)
        )
        self.occupy(found)

    def _remember(self, generations: Mapping[int, int]) -> None:
        """Remember the generations that the choice is based on: those first read."""
        self._generations = {**generations, **self._generations}

    def _candidates(self, needed: Requirements) -> Iterator[list[Candidate]]:
        """Yield more and more candidates, until the caller has enough."""
        if needed.search.demand:
            never = {*needed.never, *self._whole}
            for rooms in self._searches().rooms(needed, never):
                yield [
                    self._candidate(needed, room) for room in rooms if room.resource_id not in never
                ]
            return
        taken = {*needed.never, *self._whole, *self._generations}
        taken |= {key for key, parts in self._parts.items() if parts.total() > 0}
        yield self._searches().untouched(needed, taken)

    def _candidate(self, needed: Requirements, room: Room) -> Candidate:
        used = [
            1 - (room.left[name] - self._occupied(room, name)) / room.capacity[name]
            for name in room.left
            if room.capacity[name] > 0
        ]
        return Candidate(
            resource_id=room.resource_id,
            name=room.name,
            generation=room.generation,
            slots=self._fit(needed, room),
            load=min(max(used, default=1.0), 1.0),
            own=needed.own.get(room.resource_id, 0),
        )

    def _fit(self, needed: Requirements, room: Room) -> int:
        """Return how many slots fit, in addition to those of this lease."""
        return max(
            0,
            min(
                (room.left[name] - self._occupied(room, name)) // needed.search.demand[name]
                for name in room.left
            ),
        )

    def _occupied(self, room: Room, name: str) -> int:
        return self._parts[room.resource_id][name] if room.resource_id in self._parts else 0


def together(
    tx: Transaction, settings: LeasingSettings, rng: random.Random, needed: Sequence[Requirements]
) -> tuple[Choice, tuple[Allocation, ...]]:
    """Choose for all reservations of a new lease together.

    One reservation may get everything that another could have used. So one that
    finds too little is tried again before the others, with all that require the
    same. Each search runs once, however often its result is chosen from.

    :raises climate.exceptions.NotEnoughResources: with the reasons
    """
    maximum = sum(one.maximum for one in needed)
    searches = functools.cache(functools.partial(Searches, tx, settings, rng, (), maximum))
    if any(one.placement is not None for one in needed):
        chooser = Chooser(tx, settings, rng, searches=searches)
        chosen = placements.together(chooser, needed)
        return chooser.choice, chosen
    order = list(range(len(needed)))
    for _ in range(_MOST_TRIES):
        chooser = Chooser(tx, settings, rng, searches=searches)
        found = chooser.each(order, needed)
        if not isinstance(found, int):
            return chooser.choice, tuple(item for each in found.values() for item in each)
        place = found
        alike = [other for other in order if needed[other] == needed[place]]
        if order[0] in alike:
            break
        order = alike + [other for other in order if other not in alike]
    with refusals.naming([one.plugin.resource_type for one in needed], place):
        raise chooser.refusal(needed[place])


def lock(
    tx: Transaction, settings: LeasingSettings, choice: Choice, resource_ids: Collection[int] = ()
) -> BookingWriter:
    """Lock what was chosen, and return the exclusive right to book it.

    Whether the resources have room for the allocations is checked when those are
    written. This function checks what allocations do not show: whether a resource
    that has changed since it was chosen still matches the requirements.

    :param tx: the transaction that books: that of the choice, or a later one
    :param resource_ids: further resources that the lease keeps or gives up
    :raises LostRace: if something chosen is no longer suitable
    """
    ids = {*choice.generations, *resource_ids}
    writer = tx.book(
        ids, pause=settings.cleaning_time, own=choice.changing, known=choice.generations
    )
    found = writer.generations
    changed = dict(choice.generations.items() - found.items())
    if not ids <= found.keys() or (changed and not choice.still_matches(tx, changed)):
        raise LostRace
    return writer
