# SPDX-License-Identifier: Apache-2.0

"""Leases that look for an earlier start, or for any, as a plan sees them."""

from __future__ import annotations

import dataclasses
import datetime
import functools
from collections import Counter
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

from climate.allocation import extracts
from climate.allocation.blocks import Bookings
from climate.allocation.matches import Match
from climate.allocation.steps import microseconds
from climate.booking.choosing.requirements import Requirements
from climate.booking.planning import waiting
from climate.booking.planning.replanning import MovableLease
from climate.booking.requests.context import Context
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.resources import Spread
from climate.domain.resources import used_classes

_MICROSECOND: Final = datetime.timedelta(microseconds=1)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SlotKind:
    """What kind of slots a condition counts.

    :ivar demand: units by resource class, in the order of their names; empty for whole resources
    """

    resource_type: str
    demand: tuple[tuple[str, int], ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    """How many slots have to be free for a lease, of which resources.

    :ivar name: of *match*: equal ones have the same name
    :ivar count: at least 1
    """

    kind: SlotKind
    match: Match
    name: str
    count: int
    spread: Spread


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Seeker:
    """A lease that looks for an earlier start; times in microseconds since 1970.

    :ivar one: the lease with what it has, and what it requires
    :ivar conditions: that each of its reservations sets on its own
    :ivar searches: whether only a search finds another place for it
    :ivar first: the first start
    :ivar before: it has to begin before this
    """

    one: MovableLease
    conditions: tuple[Condition, ...]
    searches: bool
    first: int
    before: int

    @property
    def lease(self) -> Lease:
        """The lease."""
        return self.one.lease

    @property
    def length(self) -> int:
        """Its length, or that of its shortest slice."""
        return self.one.shortest // _MICROSECOND

    @property
    def until(self) -> int:
        """When a gap has to begin to be of use: those behind a slice may make it longer."""
        period = self.lease.period
        longer = self.one.allocations and period.length < self.lease.length
        return microseconds(period.end) + 1 if longer else self.before

    @functools.cached_property
    def own(self) -> frozenset[int]:
        """Ids of the resources that it has."""
        return frozenset(item.resource_id for item in self.one.everything)

    @functools.cached_property
    def slices(self) -> Mapping[tuple[int, int], int]:
        """How many resources it has, by start and end: also in slices that are held."""
        found = {(item.resource_id, item.period) for item in self.one.everything}
        periods = (period for _, period in found)
        return Counter((microseconds(one.start), microseconds(one.end)) for one in periods)

    def bookings(self, resource_type: str) -> Mapping[str, Bookings]:
        """Return what it has of a type, by resource class."""
        return self._bookings.get(resource_type, {})

    @functools.cached_property
    def _bookings(self) -> Mapping[str, Mapping[str, Bookings]]:
        return {name: extracts.bookings(items) for name, items in self.one.by_type()}


def of(context: Context, one: MovableLease) -> Seeker:
    """Return a lease, which may move or waits, as a seeker."""
    lease = one.lease
    waits = lease.status is LeaseStatus.WAITING
    # The last start that a lease can get is one of those that it looks for.
    last = waiting.last_start(context, lease) if waits else lease.period.start
    # A slice may become longer at the start that it has.
    if waits or lease.period.length < lease.length:
        last += _MICROSECOND
    return Seeker(
        one=one,
        conditions=tuple(_conditions(one.needed)),
        searches=not one.is_movable,
        first=microseconds(lease.earliest or lease.period.start),
        before=microseconds(last),
    )


def _conditions(needed: Sequence[Requirements]) -> Iterator[Condition]:
    """Yield the conditions of reservations, those of equal ones together."""
    found: dict[tuple[SlotKind, str, Spread], Condition] = {}
    for condition in (each for one in needed for each in _each(one)):
        key = condition.kind, condition.name, condition.spread
        known = found.get(key)
        if condition.spread is not Spread.ANY:
            yield condition
        elif known is not None:
            found[key] = dataclasses.replace(known, count=known.count + condition.count)
        else:
            found[key] = condition
    yield from found.values()


def _each(needed: Requirements) -> Iterator[Condition]:
    search, match = needed.search, needed.match
    if search.names:
        named = dataclasses.replace(match, names=search.names)
        kind = SlotKind(resource_type=search.resource_type, demand=())
        yield _condition(kind, named, len(search.names), Spread.ANY)
    if search.minimum > len(search.names):
        demand = tuple(sorted(used_classes(search.demand).items()))
        kind = SlotKind(resource_type=search.resource_type, demand=demand)
        yield _condition(kind, match, search.minimum, search.spread)


def _condition(kind: SlotKind, match: Match, count: int, spread: Spread) -> Condition:
    name = '' if match.is_any else repr(match)
    return Condition(kind=kind, match=match, name=name, count=count, spread=spread)
