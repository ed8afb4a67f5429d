# SPDX-License-Identifier: Apache-2.0
"""Shares of resources: which to take, and the allocations that hold them.

A share is a number of slots on a resource. A slot is either a whole resource, which
is one allocation without a class, or the units of a demand. Those are one allocation
for each class, which covers all slots of the reservation on the resource.
"""

from __future__ import annotations

import dataclasses
import datetime
import random
from collections import Counter
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence

from climate.domain.leases import Allocation
from climate.domain.periods import Period
from climate.domain.resources import Candidate
from climate.domain.resources import Share
from climate.domain.resources import Spread

_NOTHING = datetime.timedelta(0)


class TooFew(ValueError):
    """Fewer resources are free than the minimum.

    :ivar free: how many there are
    :ivar minimum: how many are needed
    """

    def __init__(self, free: int, minimum: int) -> None:
        super().__init__(f'{free} free, at least {minimum} needed')
        self.free = free
        self.minimum = minimum


def choose(
    candidates: Sequence[Candidate],
    start: datetime.datetime,
    end: datetime.datetime,
    minimum: int,
    maximum: int,
    rng: random.Random,
    *,
    spread: Spread = Spread.ANY,
    whole: bool = True,
    first: Collection[str] = (),
) -> tuple[Share, ...]:
    """Take as many slots as there are, up to *maximum*, the best first.

    The best whole resource leaves the smallest holes. A booking cuts the free time
    around it into a hole before and a hole after, and long free stretches should
    stay whole for the bookings that need them. In this order:

    1. resources busy on both sides, by the sum of the two holes: 0 is a perfect fit;
    2. resources busy on one side only, by the hole on that side;
    3. resources that are never used, which are kept for last.

    The best part leaves other resources empty: it is on the resource with the
    highest ``load``. Among equals, it is on the one with the fewest slots left, so
    that a resource with room for many keeps it.

    In both cases, candidates that the reservation already has come first. Equally
    good ones are taken in random order, so that processes that book at the same
    time rarely choose the same. The same input with an *rng* in the same state
    gives the same choice. A candidate without room is skipped, and one that is
    listed twice is taken once.

    :param start: start of the wanted period (aware UTC)
    :param end: end of the wanted period (aware UTC)
    :param spread: how to distribute the slots over resources
    :param whole: whether a slot is a whole resource
    :param first: names of resources that must be among those chosen
    :returns: between *minimum* and *maximum* slots
    :raises TooFew: if there are fewer than *minimum*, or one of *first* is not free
    :raises ValueError: if not ``0 <= minimum <= maximum``
    """
    if not 0 <= minimum <= maximum:
        raise ValueError('a choice needs 0 <= minimum <= maximum')
    usable = ordered(candidates, start, end, rng, whole=whole)
    usable.sort(key=lambda item: item.name not in first)
    named = {item.name for item in usable}
    if len(named & set(first)) < len(set(first)):
        raise TooFew(min(len(usable), max(minimum - 1, 0)), minimum)
    shares = _TAKE[spread](usable, minimum, maximum)
    found = sum(share.slots for share in shares)
    if found < minimum:
        raise TooFew(found, minimum)
    return shares


def ordered(
    candidates: Iterable[Candidate],
    start: datetime.datetime,
    end: datetime.datetime,
    rng: random.Random,
    *,
    whole: bool,
) -> list[Candidate]:
    """Return the candidates with room, each once, the best first: see :func:`choose`."""
    usable = list(
        {
            item.resource_id: item
            for item in candidates
            if item.slots > 0 and (not whole or _is_free(item, start, end))
        }.values()
    )
    # The sorts are stable: equals keep the random order of the shuffle.
    rng.shuffle(usable)
    usable.sort(key=lambda item: _waste(item, start, end) if whole else _room(item))
    usable.sort(key=lambda item: not item.own)
    return usable


def _take_any(usable: Sequence[Candidate], _minimum: int, maximum: int) -> tuple[Share, ...]:
    shares: list[Share] = []
    missing = maximum
    for candidate in usable:
        if missing > 0:
            shares.append(Share(candidate=candidate, slots=min(candidate.slots, missing)))
            missing -= shares[-1].slots
    return tuple(shares)


def _take_together(usable: Sequence[Candidate], _minimum: int, maximum: int) -> tuple[Share, ...]:
    """Take one that has room for all, else the one with the most room."""
    enough = [item for item in usable if item.slots >= maximum]
    best = enough[:1] or sorted(usable, key=lambda item: -item.slots)[:1]
    return tuple(Share(candidate=item, slots=min(item.slots, maximum)) for item in best if maximum)


def _take_apart(usable: Sequence[Candidate], _minimum: int, maximum: int) -> tuple[Share, ...]:
    return tuple(Share(candidate=item) for item in usable[:maximum])


_TAKE = {Spread.ANY: _take_any, Spread.TOGETHER: _take_together, Spread.APART: _take_apart}


def _room(candidate: Candidate) -> tuple[float, int]:
    return -candidate.load, candidate.slots


def _is_free(candidate: Candidate, start: datetime.datetime, end: datetime.datetime) -> bool:
    before, after = candidate.busy_until, candidate.busy_from
    return (before is None or before <= start) and (after is None or end <= after)


def _waste(
    candidate: Candidate, start: datetime.datetime, end: datetime.datetime
) -> tuple[int, datetime.timedelta]:
    """Return the number of unbounded holes, and the total length of the others."""
    holes = (
        None if candidate.busy_until is None else start - candidate.busy_until,
        None if candidate.busy_from is None else candidate.busy_from - end,
    )
    bounded = [hole for hole in holes if hole is not None]
    return len(holes) - len(bounded), sum(bounded, _NOTHING)


def allocations(
    reservation_id: str, shares: Iterable[Share], demand: Mapping[str, int], period: Period
) -> list[Allocation]:
    """Return the allocations to write for shares.

    :param demand: units by resource class of one slot; empty for whole resources
    """
    classes: list[tuple[str | None, int]] = sorted(_wanted(demand).items()) or [(None, 1)]
    return [
        Allocation(
            reservation_id=reservation_id,
            resource_id=share.candidate.resource_id,
            resource_name=share.candidate.name,
            resource_class=name,
            amount=units * share.slots,
            period=period,
        )
        for share in shares
        for name, units in classes
    ]


def slots(current: Iterable[Allocation], demand: Mapping[str, int]) -> dict[int, int]:
    """Return the number of slots on each resource, by resource id.

    :param demand: units by resource class of one slot; empty for whole resources
    """
    wanted = _wanted(demand)
    if not wanted:
        return {item.resource_id: 1 for item in current}
    name = min(wanted)
    units: Counter[int] = Counter()
    for item in current:
        if item.resource_class == name:
            units[item.resource_id] += item.amount
    return {resource_id: amount // wanted[name] for resource_id, amount in units.items()}


def fewer(has: Mapping[int, int], surplus: int) -> dict[int, int]:
    """Return the slots that stay if *surplus* slots go.

    Slots on the resources with the fewest go first, so that resources become
    empty; among equals, those on the resource with the highest id.

    :param has: slots by resource id
    :raises ValueError: if there are fewer than *surplus*
    """
    if surplus > sum(has.values()):
        raise ValueError('more is to go than there is')
    left = dict(has)
    for resource_id in sorted(has, key=lambda item: (has[item], -item)):
        goes = min(left[resource_id], surplus)
        left[resource_id] -= goes
        surplus -= goes
    return {resource_id: count for resource_id, count in left.items() if count}


def cut(
    current: Sequence[Allocation], demand: Mapping[str, int], keep: Mapping[int, int]
) -> tuple[tuple[Allocation, ...], tuple[Allocation, ...]]:
    """Divide allocations into what stays and what goes.

    An allocation of several slots may be in both, each time with its part of
    the amount.

    :param keep: slots that stay, by resource id; all others go
    :returns: what stays, what goes
    """
    wanted: dict[str | None, int] = dict(_wanted(demand).items()) or {None: 1}
    stays: list[Allocation] = []
    goes: list[Allocation] = []
    room = {
        (resource_id, name): count * units
        for resource_id, count in keep.items()
        for name, units in wanted.items()
    }
    for item in current:
        key = (item.resource_id, item.resource_class)
        part = min(room.get(key, 0), item.amount)
        if part:
            room[key] -= part
            stays.append(dataclasses.replace(item, amount=part))
        if part < item.amount:
            goes.append(dataclasses.replace(item, amount=item.amount - part))
    return tuple(stays), tuple(goes)


def without(
    current: Iterable[Allocation], gone: Mapping[int, int]
) -> tuple[tuple[Allocation, ...], tuple[Allocation, ...]]:
    """Divide allocations by the amounts that are recorded to go.

    :param gone: amounts by allocation id
    :returns: what stays, what goes
    """
    stays: list[Allocation] = []
    goes: list[Allocation] = []
    for item in current:
        part = min(gone.get(item.id, 0), item.amount) if item.id is not None else 0
        if part < item.amount:
            stays.append(dataclasses.replace(item, amount=item.amount - part))
        if part:
            goes.append(dataclasses.replace(item, amount=part))
    return tuple(stays), tuple(goes)


def total(current: Iterable[Allocation]) -> dict[str | None, int]:
    """Return the total amount of each resource class."""
    units: Counter[str | None] = Counter()
    for item in current:
        units[item.resource_class] += item.amount
    return dict(units)


def _wanted(demand: Mapping[str, int]) -> dict[str, int]:
    return {name: units for name, units in demand.items() if units > 0}
