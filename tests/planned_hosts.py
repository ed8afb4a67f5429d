# SPDX-License-Identifier: Apache-2.0

"""Histories of a few hosts that leases are planned on, and a plain reference of what is free.

The reference looks at each minute of each host. It knows nothing of gaps, blocks or kinds.
"""

from __future__ import annotations

import dataclasses
import datetime
import random
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from climate.allocation import extracts
from climate.allocation.blocks import Block
from climate.allocation.blocks import BlockFacts
from climate.allocation.blocks import Bookings
from climate.allocation.rearrangements import Rearrangement
from climate.booking.choosing.requirements import Requirements
from climate.booking.planning import plans
from climate.booking.planning import seekers
from climate.booking.planning.allowances import Allowances
from climate.booking.planning.gains import Gains
from climate.booking.planning.places import Place
from climate.booking.planning.replanning import MovableLease
from climate.booking.planning.seekers import Seeker
from climate.domain.budgets import UNLIMITED
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.lifecycles import LeaseStatus
from climate.domain.periods import Period
from climate.domain.resources import Inventory
from climate.domain.resources import Spread
from climate.leases.settings import LeasingSettings
from tests.functional.manager import slots

HOSTS = 3
CPUS = 2
FIRM = 2
HORIZON = 60
# Minutes before noon, and all that can be booked.
_BEFORE, _MINUTES = 10, 250
NOON = datetime.datetime(2031, 1, 1, 12, tzinfo=datetime.UTC)
_MINUTE = datetime.timedelta(minutes=1)
_STOCK = Inventory(resource_class='VCPU', total=CPUS, max_unit=CPUS)
_IDS = np.arange(1, HOSTS + 1)

TYPE = 'physical:host'


def at(minute: int) -> datetime.datetime:
    """Return an instant."""
    return NOON + minute * _MINUTE


def minute(instant: datetime.datetime) -> int:
    """Return the minute of an instant."""
    return (instant - NOON) // _MINUTE


@dataclasses.dataclass(frozen=True)
class Part:
    """What one reservation wants: so many whole hosts, or slots of one CPU."""

    whole: bool
    count: int


@dataclasses.dataclass(eq=False)
class Booking:
    """A lease; times are minutes.

    :ivar order: of its request
    :ivar first: of a flexible one, the first start; None for one with a fixed start
    :ivar last: the last start
    :ivar start: None if it waits
    :ivar has: the host and the CPUs of each allocation by reservation; None for the whole host
    :ivar version: raised by each change
    """

    order: int
    parts: tuple[Part, ...]
    length: int
    first: int | None = None
    last: int = HORIZON
    start: int | None = None
    has: tuple[tuple[int, tuple[tuple[int, int | None], ...]], ...] = ()
    version: int = 0

    @property
    def id(self) -> str:
        """The id of the lease."""
        return f'l{self.order:03}'

    @property
    def end(self) -> int:
        """When it ends."""
        return (self.start or 0) + self.length

    def taken(self) -> Iterator[tuple[int, int | None]]:
        """Yield the host and the CPUs of each allocation."""
        for _, found in self.has:
            yield from found


Check = Callable[[Booking, Place, Collection[Booking]], None]
"""Called with each step of a plan, and the leases that the pass has moved before."""


class PlainTransaction:
    """As much of a transaction as a plan needs."""

    budget = UNLIMITED

    def __init__(self, now: datetime.datetime, blocks: list[Block]) -> None:
        self.now = now
        self.rearrangement: Rearrangement | None = None
        self._blocks = blocks

    def timeline(self, resource_type: str, until: object = None) -> list[Block]:
        """Return the hosts."""
        if self.rearrangement is None:
            return self._blocks
        return self.rearrangement.blocks(resource_type, lambda: self._blocks)


class HostBookings:
    """Some hosts with leases, as the database would have them.

    :param pause: minutes between two allocations of a host, if either is of the whole
    """

    def __init__(self, pause: int = 0) -> None:
        self.now = 0
        self.pause = pause
        self.leases: list[Booking] = []
        self.open = np.ones(HOSTS, dtype=np.bool_)
        self._generations = [1] * HOSTS
        self._block: Block | None = None
        self._planner = HostPlanner(self)

    # -- the plain reference

    def levels(self, without: Booking | None = None) -> tuple[Any, Any]:
        """Return how often each host is taken as a whole, and how many CPUs are, by minute."""
        wholes, cpus = np.zeros((2, HOSTS, _MINUTES), dtype=np.int64)
        for one in self.leases:
            if one is not without and one.start is not None:
                for host, amount in one.taken():
                    found = wholes if amount is None else cpus
                    found[host, one.start + _BEFORE : one.end + _BEFORE] += amount or 1
        return wholes, cpus

    def overbooked(self) -> bool:
        """Whether there is more at any minute than a host has."""
        wholes, cpus = self.levels()
        return bool(((wholes > 1) | (cpus > CPUS) | ((wholes > 0) & (cpus > 0))).any())

    def starts(self, one: Booking, first: int, before: int) -> Iterator[int]:
        """Yield the starts at which there is room for a lease, if it gives up what it has."""
        wholes, cpus = self.levels(one)
        wanted = sum(part.count for part in one.parts if part.whole)
        parts = sum(part.count for part in one.parts if not part.whole)
        for start in range(first, before):
            within = slice(start + _BEFORE, start + _BEFORE + one.length)
            wide = slice(within.start - self.pause, within.stop + self.pause)
            unused = self.open & ~wholes[:, wide].any(axis=1)
            whole = unused & ~cpus[:, wide].any(axis=1)
            left = (unused * (CPUS - cpus[:, within].max(axis=1))).sum()
            # A host that is free as a whole has all its CPUs.
            if whole.sum() >= wanted and left - wanted * CPUS >= parts:
                yield start

    def soonest(self, one: Booking) -> int | None:
        """Return the soonest start of a flexible lease that is better than what it has."""
        before = one.last + 1 if one.start is None else one.start
        return next(self.starts(one, max(one.first or 0, self.now), before), None)

    def movable(self) -> list[Booking]:
        """Return the leases that planners look at, in the order of their requests."""
        return [
            one
            for one in self.leases
            if one.first is not None and (one.start is None or one.start - FIRM > self.now)
        ]

    # -- what happens

    def request(self, parts: Sequence[Part], length: int, first: int, window: int | None) -> None:
        """Request a flexible lease, which waits at first."""
        first += self.now
        last = HORIZON if window is None else first + window
        order = max((one.order for one in self.leases), default=0) + 1
        self.leases.append(
            Booking(order=order, parts=tuple(parts), length=length, first=first, last=last)
        )

    def fix(self, host: int, ahead: int, length: int) -> None:
        """Book a host, if it is free."""
        order = max((one.order for one in self.leases), default=0) + 1
        one = Booking(order=order, parts=(Part(True, 1),), length=length)
        start = self.now + ahead
        wholes, cpus = self.levels()
        wide = slice(start + _BEFORE - self.pause, start + _BEFORE + length + self.pause)
        if not (wholes + cpus)[host, wide].any():
            one.start, one.has = start, ((0, ((host, None),)),)
            self.leases.append(one)
            self._touch([host])

    def end(self, number: int) -> None:
        """Have a lease end now, or delete it."""
        if not self.leases:
            return
        one = self.leases[number % len(self.leases)]
        self._touch(host for host, _ in one.taken())
        if one.start is None or one.start >= self.now:
            self.leases.remove(one)
        elif one.end > self.now:
            one.length, one.first = self.now - one.start, None

    def switch(self, host: int) -> None:
        """Close a host to bookings, or open it."""
        self.open[host] = not self.open[host]
        self._touch([host])

    def wait(self, minutes: int) -> None:
        """Let time pass."""
        self.now += minutes
        for one in [*self.leases]:
            if one.start is None and one.last < self.now:
                self.leases.remove(one)

    def _touch(self, hosts: Iterable[int]) -> None:
        for host in hosts:
            self._generations[host] += 1
        self._block = None

    def plan(self, fails: Callable[[], bool], check: Check) -> None:
        """Plan until nothing gains.

        :param fails: returns whether a write fails
        :param check: called with each step before it is written
        """
        self._planner.round(fails, check)

    def write(self, one: Booking, place: Place) -> None:
        """Write a step of a plan."""
        self._touch(host for host, _ in one.taken())
        one.start = minute(place.period.start)
        one.has = tuple(
            (
                number,
                tuple(
                    (item.resource_id - 1, None if item.resource_class is None else item.amount)
                    for item in place.allocations
                    if item.reservation_id == f'{one.id}-{number}'
                ),
            )
            for number in range(len(one.parts))
        )
        one.version += 1
        self._touch(host for host, _ in one.taken())

    # -- as planners read it

    def transaction(self) -> Any:
        """Return a transaction that reads the hosts."""
        if self._block is None:
            self._block = self._read()
        return PlainTransaction(at(self.now), [self._block])

    def _read(self) -> Block:
        booked = [one for one in self.leases if one.start is not None]
        every = extracts.bookings(item for one in booked for item in allocations(one))
        nothing = Bookings(**dict.fromkeys(('resource_ids', 'starts', 'ends', 'amounts'), _IDS[:0]))
        return Block.of(
            BlockFacts(
                ids=_IDS,
                names=[f'h{number}' for number in _IDS],
                generations=np.array(self._generations),
                bookable=self.open.copy(),
                returned=_IDS * 0,
                returned_whole=_IDS * 0,
                inventories={'VCPU': dict.fromkeys(_IDS.tolist(), _STOCK)},
                whole=every.get('', nothing),
                parts={'VCPU': every.get('VCPU', nothing)},
                out=nothing,
            )
        )


def allocations(one: Booking) -> list[Allocation]:
    """Return the allocations of a lease."""
    period = Period(start=at(one.start or 0), end=at(one.end))
    return [
        Allocation(
            reservation_id=f'{one.id}-{number}',
            resource_id=host + 1,
            resource_name=f'h{host + 1}',
            resource_class=None if cpus is None else 'VCPU',
            amount=cpus or 1,
            period=period,
        )
        for number, found in one.has
        for host, cpus in found
    ]


class HostPlanner:
    """Plans as :class:`climate.upkeep.planning.Planner` does, but writes to these hosts."""

    _PLUGIN = slots.Slots()

    def __init__(self, bookings: HostBookings) -> None:
        self._bookings = bookings
        self._pause = bookings.pause * _MINUTE
        settings = dataclasses.replace(LeasingSettings(), cleaning_time=self._pause)
        self._context: Any = SimpleNamespace(settings=settings, rng=random.Random(7))
        self._gains = Gains(self._pause // datetime.timedelta(microseconds=1))
        self._allowances = Allowances(settings.limits)
        self._known: dict[str, tuple[int, Seeker]] = {}
        self._again: set[str] = set()

    def round(self, fails: Callable[[], bool], check: Check) -> None:
        """Plan until nothing gains."""
        progress = True
        while progress:
            by_id = {one.id: one for one in self._bookings.movable()}
            new = {one.id for one in by_id.values() if not self._knows(one)}
            self._known = {
                key: self._known[key] if key not in new else (one.version, self._seeker(one))
                for key, one in by_id.items()
            }
            tx, found = self._bookings.transaction(), [one for _, one in self._known.values()]
            new |= self._again
            plan = plans.decided(tx, self._context, self._gains, self._allowances, found, new, 3)
            self._again = {*plan.left, *plan.held}
            done = set[Booking]()
            for step in plan.steps:
                assert not isinstance(step, Seeker)
                one, place = by_id[step.lease.id], step
                check(one, place, done)
                done.add(one)
                if fails():
                    # Whatever has overtaken it: what follows may have relied on it.
                    self._again.update(each.lease.id for each in plan.steps)
                    break
                self._bookings.write(one, place)
            progress = bool(plan.steps or plan.left)

    def _knows(self, one: Booking) -> bool:
        return one.id in self._known and self._known[one.id][0] == one.version

    def _seeker(self, one: Booking) -> Seeker:
        start = one.start if one.start is not None else one.first or 0
        period = Period(start=at(start), end=at(start + one.length))
        ids = [f'{one.id}-{number}' for number in range(len(one.parts))]
        lease = Lease(
            id=one.id,
            name='a',
            user_id='u',
            project_id='p',
            period=period,
            status=LeaseStatus.WAITING if one.start is None else LeaseStatus.PENDING,
            earliest=at(one.first or 0),
            latest=at(one.last + one.length),
            reservations=tuple(
                Reservation(id=each, lease_id=one.id, resource_type=TYPE, request={})
                for each in ids
            ),
        )
        needed = [
            self._requirements(each, part, period)
            for each, part in zip(ids, one.parts, strict=True)
        ]
        has = () if one.start is None else tuple(allocations(one))
        return seekers.of(
            self._context, MovableLease(lease=lease, allocations=has, needed=tuple(needed))
        )

    def _requirements(self, reservation_id: str, part: Part, period: Period) -> Requirements:
        request = slots.SlotRequest(
            minimum=part.count,
            maximum=part.count,
            demand={} if part.whole else {'VCPU': 1},
            spread=Spread.ANY,
            contrary=False,
        )
        return Requirements(
            reservation_id=reservation_id,
            search=self._PLUGIN.search(request),
            plugin=self._PLUGIN,
            request=request,
            period=period,
            padded=period.padded(self._pause),
            minimum=part.count,
            maximum=part.count,
            private=True,
        )
