# SPDX-License-Identifier: Apache-2.0

"""What one reservation requires of resources, and the search for free ones."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import itertools
import random
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from climate.allocation.matches import Match
from climate.booking.requests.new_leases import NewLease
from climate.db.search.rooms import Window
from climate.db.transactions.store import Transaction
from climate.domain.periods import Period
from climate.domain.placements import MemberPlacement
from climate.domain.resources import Candidate
from climate.domain.resources import Room
from climate.domain.resources import Spread
from climate.leases.settings import LeasingSettings
from climate.plugins import contract

# More than any cloud has; some engines need a number.
_ALL = 2**31 - 1
# Resources to choose from at random, so that concurrent bookings choose differently even if
# their samples begin at the same place.
_TIES = 16


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Requirements:
    """What one reservation requires.

    :ivar reservation_id: the reservation that gets the allocations; two
        reservations that require the same compare equal
    :ivar period: of the allocations
    :ivar padded: the period with the time for cleaning on both sides
    :ivar minimum: how many slots at least, beyond what it keeps
    :ivar maximum: how many slots at most, beyond what it keeps
    :ivar private: whether the caller may ask for private properties
    :ivar own: slots by resource id that it has and gives up if others are
        chosen; the same ones are preferred
    :ivar only: ids of the only suitable resources; None for any
    :ivar never: ids of unsuitable resources
    :ivar placement: how the slots are placed; None if anywhere
    :ivar leaving: ids of resources that the reservation has and gives up
    """

    reservation_id: str = dataclasses.field(default='', compare=False)
    search: contract.Search
    plugin: contract.Plugin[Any]
    request: Any
    period: Period
    padded: Period
    minimum: int
    maximum: int
    private: bool
    own: Mapping[int, int] = dataclasses.field(default_factory=dict)
    only: Collection[int] | None = None
    never: Collection[int] = ()
    placement: MemberPlacement | None = None
    leaving: Collection[int] = ()

    @property
    def match(self) -> Match:
        """The conditions on a resource."""
        return Match(
            resource_type=self.search.resource_type,
            requirement=self.search.requirement,
            required_traits=self.search.required_traits,
            forbidden_traits=self.search.forbidden_traits,
            private=self.private,
        )


def of_new_lease(new: NewLease, period: Period, padded: Period) -> list[Requirements]:
    """Return what the reservations of a new lease require in a period."""
    return [
        Requirements(
            reservation_id=reservation_id,
            search=one.needs.search,
            plugin=one.plugin,
            request=one.request,
            period=period,
            padded=padded,
            minimum=one.needs.search.minimum,
            maximum=one.needs.search.maximum,
            private=new.caller.all_projects,
            placement=one.placement,
        )
        for reservation_id, one in zip(new.ids, new.requests, strict=True)
    ]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Reasons:
    """Why requirements cannot be met.

    :ivar matched: how many slots there would be without any booking
    :ivar free: how many are free
    :ivar first_end: when the first allocation in the way ends; None if unknown
    :ivar too_large: whether one slot is larger than any resource that matches
    """

    matched: int
    free: int
    first_end: datetime.datetime | None
    too_large: bool = False


class Searches:
    """Finds free resources for requirements; one object as long as nothing is written.

    Equal requirements get the same answer, which runs its SQL statements only once.
    Answers include what the lease itself has taken meanwhile: callers leave that out,
    so choosing again runs no statement.

    :param rng: picks the place in the list of resources where a sample begins
    :param together: how many resources all requirements together may take; each
        answer has that many more, because callers may leave some out
    """

    def __init__(
        self, tx: Transaction, settings: LeasingSettings, rng: random.Random, together: int = 0
    ) -> None:
        self._tx = tx
        self._settings = settings
        self._together = together
        self._pivot = functools.partial(_pivot, tx, rng, {})
        self._whole: list[tuple[Any, list[Candidate]]] = []
        self._parts: list[tuple[Any, Iterator[list[Room]]]] = []

    def _limit(self, needed: Requirements, taken: Collection[int]) -> int:
        """Return how many resources to read, with those that callers may leave out."""
        spare = max(self._together - needed.maximum, len(taken))
        return needed.maximum + self._settings.sample_size + spare

    def untouched(self, needed: Requirements, taken: Collection[int]) -> list[Candidate]:
        """Return whole resources: those named, and a sample of the others.

        :param taken: ids to leave out
        """
        key = (needed.match, needed.search.names, needed.only, needed.padded)
        found = _known(self._whole, key)
        if found is None:
            # The caller leaves out what is taken, now or when it asks again.
            limit = self._limit(needed, taken)
            found = self._named(needed) + self._sampled(needed, limit)
            self._whole.append((key, found))
        return [item for item in found if item.resource_id not in taken] if taken else found

    def every_whole(self, needed: Requirements) -> list[Candidate]:
        """Return all free whole resources that match."""
        found = self._tx.search.free(needed.match, needed.padded, limit=_ALL)
        return (
            found
            if needed.only is None
            else [item for item in found if item.resource_id in needed.only]
        )

    def every_room(self, needed: Requirements, window: Window) -> list[Room]:
        """Return the free amounts of all resources that match."""
        demand, only = needed.search.demand, needed.only
        return self._tx.rooms.find(needed.match, demand, window, only_ids=only)

    def _named(self, needed: Requirements) -> list[Candidate]:
        names = needed.search.names
        if not names:
            return []
        match = dataclasses.replace(needed.match, names=names)
        return self._tx.search.free(match, needed.padded, limit=len(names))

    def _sampled(self, needed: Requirements, limit: int) -> list[Candidate]:
        return self._tx.search.sample(
            needed.match,
            needed.padded,
            only_ids=needed.only,
            first_id=self._pivot(needed.search.resource_type),
            limit=limit,
            best=limit - self._settings.sample_size + _TIES,
        )

    def reasons(
        self,
        needed: Requirements,
        window: Window,
        fit: Callable[[Room], int],
        reduced: Collection[int],
    ) -> Reasons:
        """Explain why there are too few slots.

        :param fit: returns how many slots fit into a room
        :param reduced: ids of the resources where that differs from what is free, because
            other reservations of the lease take some of it
        """
        search = needed.search
        if not search.demand:
            matched, free, end = self._tx.search.reasons(needed.match, needed.padded)
            return Reasons(matched=matched, free=free, first_end=end)
        rooms = self._tx.rooms.find(needed.match, search.demand, window)
        matched = total(search.spread, self._tx.rooms.sizes(needed.match, search.demand))
        return Reasons(
            matched=matched,
            free=total(search.spread, [slots for room in rooms if (slots := fit(room)) > 0]),
            first_end=self._tx.rooms.first_end(needed.match, search.demand, window)
            if matched >= search.minimum
            else None,
            too_large=not matched and self._tx.rooms.has(needed.match),
        )

    def rooms(
        self, needed: Requirements, window: Window, never: Collection[int]
    ) -> Iterator[list[Room]]:
        """Yield more and more resources with their free amounts.

        First those that the reservation has, then those in use, then a sample
        of the others, then all.

        :param never: ids to leave out
        """
        search = needed.search
        key = (
            needed.match,
            search.demand,
            needed.only,
            tuple(needed.own),
            needed.maximum,
            window,
        )
        found = _known(self._parts, key)
        if found is None:
            # The generator has no reference to this object, so that both are freed as
            # soon as nothing needs them.
            found = _growing(self._tx, self._pivot, needed, window, self._limit(needed, never))
        else:
            self._parts = [item for item in self._parts if item[0] != key]
        # Two readers of one source: what one has read is kept for the other.
        kept, found = itertools.tee(found)
        self._parts.append((key, kept))
        return found


def total(spread: Spread, slots: Collection[int]) -> int:
    """Return the number of usable slots, of those that fit on each resource."""
    match spread:
        case Spread.TOGETHER:
            return max(slots, default=0)
        case Spread.APART:
            return sum(count > 0 for count in slots)
        case Spread.ANY:
            return sum(slots)


def _growing(
    tx: Transaction,
    pivot: Callable[[str], int],
    needed: Requirements,
    window: Window,
    limit: int,
) -> Iterator[list[Room]]:
    seen: dict[int, Room] = {}

    def read(**options: Any) -> None:
        only = options.pop('only', needed.only)
        found = tx.rooms.find(needed.match, needed.search.demand, window, only_ids=only, **options)
        seen.update((room.resource_id, room) for room in found)

    if needed.own:
        read(only=list(needed.own))
        yield list(seen.values())
    first = pivot(needed.search.resource_type)
    for loaded in (True, False):
        before = len(seen)
        read(loaded=loaded, first_id=first, limit=limit)
        if len(seen) - before < limit:
            read(loaded=loaded, before_id=first, limit=limit)
        yield list(seen.values())
    # Resources outside the samples may have room, and so may those that other
    # leases began or ceased to use between the queries.
    read()
    yield list(seen.values())


def _pivot(tx: Transaction, rng: random.Random, known: dict[str, int], resource_type: str) -> int:
    """Return where a sample of resources begins, the same place each time."""
    if resource_type not in known:
        known[resource_type] = tx.search.pivot(resource_type, rng.random())
    return known[resource_type]


def _known(answers: Iterable[tuple[Any, Any]], key: Any) -> Any:
    """Return the answer to an earlier question; None for a new one."""
    return next((answer for asked, answer in answers if asked == key), None)
