# SPDX-License-Identifier: Apache-2.0

"""Reads flexible leases, and searches for places in which they could be."""

from __future__ import annotations

import dataclasses
import datetime
import operator
from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Final
from typing import NamedTuple

from climate import exceptions
from climate.allocation import joint
from climate.allocation import shares
from climate.allocation.joint import Frame
from climate.allocation.joint import SlotCondition
from climate.allocation.steps import instant
from climate.allocation.steps import microseconds
from climate.booking.choosing import candidates
from climate.booking.choosing.candidates import MatchingBlocks
from climate.booking.choosing.choose import Choice
from climate.booking.choosing.choose import together
from climate.booking.choosing.requirements import Requirements
from climate.booking.offers.period_searches import PeriodSearch
from climate.booking.planning import moves
from climate.booking.planning.yield_times import Estimator
from climate.booking.requests import changed_requests
from climate.booking.requests.context import Context
from climate.booking.writing import change as changes
from climate.booking.writing import rests
from climate.booking.writing.change import Changed
from climate.booking.writing.revise import Revision
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import rest_id
from climate.domain.offers import OfferKind
from climate.domain.offers import Shortage
from climate.domain.periods import Period
from climate.domain.requests import LeaseChange
from climate.enforcement import limits

MOST_SLICES: Final = 20
"""How many slices of a lease are found at once."""

_SECOND: Final = 10**6
_NEVER: Final = datetime.datetime.max.replace(tzinfo=datetime.UTC)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class MovableLease:
    """A flexible lease that is not firm, and can be anywhere in its window.

    :ivar allocations: all that it has
    :ivar needed: what its reservations require, in its present period
    :ivar rest: what is held of it after its present slice
    :ivar sliced: whether it may be in several slices although it has to end in time
    :ivar whole: the lease, if this is what is left of it after its present slice; None for all
    """

    lease: Lease
    allocations: tuple[Allocation, ...]
    needed: tuple[Requirements, ...]
    rest: tuple[Allocation, ...] = ()
    sliced: bool = False
    whole: Lease | None = None

    @property
    def shortest(self) -> datetime.timedelta:
        """How long it needs resources at least, where it can have them in several slices."""
        lease, length = self.lease, self.lease.length
        if lease.yields is None or lease.min_duration is None:
            return length
        if lease.latest is not None and not self.sliced:
            return length
        return min(datetime.timedelta(seconds=lease.min_duration), length)

    @property
    def everything(self) -> tuple[Allocation, ...]:
        """What it has, and what is held of it."""
        return (*self.allocations, *self.rest)

    @property
    def types(self) -> dict[str, str]:
        """The resource types, by id of the reservation, and of what holds its later slices."""
        types = {one.reservation_id: one.search.resource_type for one in self.needed}
        return types | {rest_id(key): name for key, name in types.items()}

    @property
    def slots(self) -> int:
        """How many slots it has."""
        return sum(max(one.minimum, len(one.search.names)) for one in self.needed)

    @property
    def size(self) -> float:
        """What it has, in slots multiplied by seconds."""
        return self.slots * self.lease.period.length.total_seconds()

    @property
    def last_start(self) -> datetime.datetime:
        """The last start in its window; a time that never comes if any will do."""
        latest = self.lease.latest
        return _NEVER if latest is None else latest - self.lease.length

    @property
    def is_movable(self) -> bool:
        """Whether its resources can be chosen like those of a new lease.

        That is not so if they are existing objects of a project, or are placed in relation to
        others.
        """
        return not any(candidates.is_thing(one) or one.placement for one in self.needed)

    def within(self, period: Period, pause: datetime.timedelta) -> list[Requirements]:
        """Return what its reservations require in another period."""
        padded = period.padded(pause)
        return [dataclasses.replace(one, period=period, padded=padded) for one in self.needed]

    def by_type(self) -> Iterable[tuple[str, list[Allocation]]]:
        """Return its allocations by resource type, with those that are held."""
        types = self.types
        found: dict[str, list[Allocation]] = defaultdict(list)
        for item in self.everything:
            found[types[item.reservation_id]].append(item)
        return found.items()


def by_request(leases: Iterable[MovableLease]) -> list[MovableLease]:
    """Return leases in the order of their priorities, and then of their requests."""
    return sorted(leases, key=operator.attrgetter('lease.turn'))


def by_size(leases: Iterable[MovableLease]) -> list[MovableLease]:
    """Return leases, those of the lowest priority first, and of them the largest.

    Of equal ones, those that were requested last come first.
    """
    ordered = sorted(by_request(leases), key=operator.attrgetter('size'))
    return sorted(ordered, key=lambda one: -one.lease.rank)[::-1]


def leaving(leases: Sequence[MovableLease], slots: int) -> int:
    """Return how many of the first *leases* leave a number of slots together, at least 1."""
    left = 0
    for number, one in enumerate(leases, 1):
        left += one.slots
        if left >= slots:
            return number
    return len(leases)


def by_last_start(leases: Iterable[MovableLease]) -> list[MovableLease]:
    """Return leases in the order of their last starts, and then of their requests."""
    return sorted(by_request(leases), key=operator.attrgetter('last_start'))


def movable(tx: Transaction, context: Context, leases: Sequence[Lease]) -> list[MovableLease]:
    """Return those of *leases* whose resources can be chosen like those of a new lease."""
    return [one for one in read(tx, context, leases) if one.is_movable]


def read(tx: Transaction, context: Context, leases: Sequence[Lease]) -> list[MovableLease]:
    """Return leases with what they have and require, in the same order."""
    found, held = allocations(tx, leases), rests.held(tx, leases)
    pairs = zip(leases, found, strict=True)
    return [of(context, lease, has, held.get(lease.id, ())) for lease, has in pairs]


def allocations(tx: Transaction, leases: Sequence[Lease]) -> list[tuple[Allocation, ...]]:
    """Return what leases have, in the same order."""
    ids = [one.id for lease in leases for one in lease.reservations]
    has: dict[str, list[Allocation]] = defaultdict(list)
    for item in tx.allocations.live_of(ids) if ids else ():
        has[item.reservation_id].append(item)
    return [tuple(item for one in lease.reservations for item in has[one.id]) for lease in leases]


def of(
    context: Context, lease: Lease, has: tuple[Allocation, ...], rest: tuple[Allocation, ...] = ()
) -> MovableLease:
    """Return a lease with what it requires.

    :param has: its allocations
    :param rest: what is held of it after its present slice
    """
    needed = _needed(context, lease, has)
    return MovableLease(lease=lease, allocations=has, needed=needed, rest=rest)


def _needed(context: Context, lease: Lease, has: Sequence[Allocation]) -> tuple[Requirements, ...]:
    owner = moves.owner(lease)
    padded = lease.period.padded(context.settings.cleaning_time)
    found = []
    for one in changed_requests.read(context.plugins, lease, LeaseChange(), owner.budget):
        search = one.plugin.search(one.request)
        mine = [item for item in has if item.reservation_id == one.reservation.id]
        slots = sum(shares.slots(mine, search.demand).values())
        # It requires no more than it has.
        search = search.at_most(max(slots, search.minimum))
        found.append(
            Requirements(
                reservation_id=one.reservation.id,
                search=search,
                plugin=one.plugin,
                request=one.request,
                period=lease.period,
                padded=padded,
                minimum=search.minimum,
                maximum=search.maximum,
                private=owner.all_projects,
                placement=one.reservation.placement,
            )
        )
    return tuple(found)


class FoundPlace(NamedTuple):
    """A period with the resources that a lease can have in it."""

    period: Period
    choice: Choice
    allocations: tuple[Allocation, ...]


def longest(
    one: MovableLease, conditions: Sequence[SlotCondition], frame: Frame, start: datetime.datetime
) -> Period:
    """Return the longest slice that a lease can have, in whole seconds.

    :param frame: of its shortest one, which is free at the start
    """
    begin = microseconds(start)
    last = start + one.lease.length
    if one.lease.latest is not None:
        last = min(last, one.lease.latest)
    end = joint.longest(conditions, frame, begin, microseconds(last))
    length = max((end - begin) // _SECOND * _SECOND, frame.length)
    return Period(start=start, end=instant(begin + length))


class PlaceSearch(PeriodSearch):
    """Searches for the period and the resources of a movable lease, in one transaction.

    :param first: the first start
    :ivar chosen: the resources of the last period that was found
    :ivar limit: of the project, which has forbidden a period; None if none has
    """

    def __init__(
        self, tx: Transaction, context: Context, one: MovableLease, first: datetime.datetime
    ) -> None:
        period = Period(start=first, end=first + one.lease.length)
        needed = one.within(period, context.settings.cleaning_time)
        conditions = candidates.conditions(MatchingBlocks(tx), needed)
        super().__init__(tx, context, period, needed, conditions)
        self._one = one
        self._limits = context.settings.limits.of(one.lease.project_id)
        self.chosen: tuple[Choice, tuple[Allocation, ...]] | None = None
        self.limit: exceptions.ProjectLimit | None = None

    def place(self, latest: datetime.datetime) -> FoundPlace | None:
        """Return the soonest place; None if there is none.

        A lease that can be in several slices gets the soonest one that is long enough, for as
        long as there is room.

        :param latest: the last end
        """
        frame = self.frame(latest, self._one.shortest)
        offer = self.next(frame, OfferKind.SOONEST) if frame.earliest <= frame.latest else None
        if offer is None or self.chosen is None:
            return None
        found = FoundPlace(offer.period, *self.chosen)
        longer = longest(self._one, self.conditions, frame, offer.period.start)
        if longer.end <= offer.period.end or self.choice(longer, self.needed) is None:
            return found
        return FoundPlace(longer, *self.chosen)

    def _chosen(self, period: Period, needed: Sequence[Requirements]) -> tuple[Allocation, ...]:
        pause = self.context.settings.cleaning_time
        there = self._one.within(period, pause)
        self.chosen = together(self.tx, self.context.settings, self.context.rng, there)
        lease = dataclasses.replace(self._one.lease, period=period)
        try:
            limits.check_place(self.tx, self._limits, lease, self._one.lease, self.chosen[1])
        except exceptions.ProjectLimit as error:
            # There may be less at a later start.
            self.limit = error
            raise exceptions.NotEnoughResources from error
        return self.chosen[1]

    def _blocked(self, frame: Frame, start: int) -> tuple[Shortage, ...]:
        """Return nothing: why a lease does not begin sooner is not of interest."""
        return ()

    def asked(self, place: int) -> int:
        """Return the place of a reservation in the lease."""
        return place


def in_slices(
    tx: Transaction, context: Context, one: MovableLease, first: datetime.datetime, until: float
) -> list[FoundPlace] | None:
    """Return the soonest slices in which a lease ends in time; None if there are none.

    :param one: that can be suspended, and has to end in time
    :param first: the first start
    :param until: when the search ends, in ticks of the clock
    """
    lease, found = one.lease, list[FoundPlace]()
    assert lease.latest is not None
    pause, left = between(tx, context, lease), lease.length
    while left and len(found) < MOST_SLICES and context.clock.ticks() <= until:
        rest = dataclasses.replace(
            lease, period=Period(start=first, end=first + left), time_left=int(left.total_seconds())
        )
        part = dataclasses.replace(one, lease=rest, sliced=True)
        place = PlaceSearch(tx, context, part, first).place(lease.latest)
        if place is None:
            return None
        found.append(place)
        left -= place.period.length
        first = place.period.end + pause
    return None if left else found


def between(tx: Transaction, context: Context, lease: Lease) -> datetime.timedelta:
    """Return how long it takes from one slice of a lease to the next at least."""
    return Estimator(tx, context).of_lease(lease) + context.settings.cleaning_time


def changed(tx: Transaction, context: Context, one: MovableLease, place: FoundPlace) -> Changed:
    """Return the change of a lease that gets another place."""
    old = one.lease
    revisions = []
    for reservation in old.reservations:
        mine = [item for item in place.allocations if item.reservation_id == reservation.id]
        (new,) = tx.reservations.with_members([reservation], mine)
        dropped = [item for item in one.allocations if item.reservation_id == reservation.id]
        revisions.append(
            Revision(old=reservation, new=new, dropped=tuple(dropped), added=tuple(mine))
        )
    moved = moves.to(old, place.period)
    work = changes.ChangeWork(context=context, caller=moved.caller, new=moved)
    return work.changed(tx, old, one.allocations, revisions, place.choice)
