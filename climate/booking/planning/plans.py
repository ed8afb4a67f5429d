# SPDX-License-Identifier: Apache-2.0

"""Decides in memory where flexible leases could be instead, all of them in one pass.

The first in order that can begin earlier gets the soonest start and resources for it, what it
leaves becomes free, and so on. Nothing is written, and nothing is kept but what is free.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections import defaultdict
from collections.abc import Collection
from collections.abc import Sequence
from typing import Final

from climate import exceptions
from climate.allocation.joint import Frame
from climate.allocation.rearrangements import Rearrangement
from climate.allocation.steps import instant
from climate.allocation.steps import microseconds
from climate.booking.choosing import candidates
from climate.booking.choosing.candidates import MatchingBlocks
from climate.booking.choosing.choose import together
from climate.booking.offers.period_searches import MOST_CHOICES
from climate.booking.planning import replanning
from climate.booking.planning.allowances import Allowances
from climate.booking.planning.gains import Gains
from climate.booking.planning.places import Place
from climate.booking.planning.seekers import Seeker
from climate.booking.requests.context import Context
from climate.db.transactions.store import Transaction
from climate.domain.periods import Period

_MICROSECOND: Final = datetime.timedelta(microseconds=1)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What one pass has decided.

    :ivar steps: in the order in which they are to be written: places for leases, or leases that
        have to search themselves
    :ivar held: ids of leases that could not be looked at
    :ivar left: ids of leases that the pass has not looked at
    """

    steps: Sequence[Place | Seeker]
    held: Collection[str]
    left: Collection[str]


def decided(
    tx: Transaction,
    context: Context,
    gains: Gains,
    allowances: Allowances,
    seekers: Sequence[Seeker],
    new: Collection[str],
    most: int,
) -> Plan:
    """Return where leases could be instead.

    :param tx: a transaction of its own
    :param seekers: in the order in which they are to gain
    :param new: ids of those that may gain even if nothing has become free
    :param most: how many are decided at most
    """
    gains.follow(tx, seekers, {*new, *allowances.follow(tx, seekers)})
    tx.rearrangement = Rearrangement(context.settings.cleaning_time // _MICROSECOND)
    steps: list[Place | Seeker] = []
    held = set()
    while len(steps) < most and (one := gains.oldest()) is not None:
        if one.searches:
            steps.append(one)
            continue
        try:
            place = _Deciding(tx, context, gains, allowances, one).place()
        except exceptions.ClimateError:
            held.add(one.lease.id)
            continue
        if place is not None:
            steps.append(place)
    return Plan(steps=steps, held=held, left=gains.left)


class _Deciding:
    """Finds a place for one lease among what is free, and takes it."""

    def __init__(
        self,
        tx: Transaction,
        context: Context,
        gains: Gains,
        allowances: Allowances,
        seeker: Seeker,
    ) -> None:
        if tx.rearrangement is None:
            raise ValueError('a plan rearranges what there is')
        self._tx = tx
        self._context = context
        self._gains = gains
        self._allowances = allowances
        self._seeker = seeker
        self._one = seeker.one
        self._rearranged: Rearrangement = tx.rearrangement

    def place(self) -> Place | None:
        """Return a place; None if there is none, or if limits allow none.

        :raises climate.exceptions.ClimateError: if it cannot be looked for
        """
        self._allowances.forget(self._seeker)
        start = self._start(self._seeker.first)
        if start is None:
            return None
        for resource_type in {one.search.resource_type for one in self._one.needed}:
            self._tx.timeline(resource_type)
        self._rearranged.remove(self._one.everything)
        found = None
        try:
            found = self._found(start)
        finally:
            self._rearranged.add(self._one.everything if found is None else found.allocations)
        if found is not None:
            start = microseconds(found.period.start)
            self._allowances.decided(self._seeker, found.allocations)
            self._gains.decided(self._seeker, start, self._resources(found))
        return found

    def _start(self, since: int) -> int | None:
        """Return the soonest start that limits allow and at which there may be room."""
        since = max(since, microseconds(self._tx.now))
        while (allowed := self._allowances.start(self._seeker, since)) is not None:
            found = self._gains.start(self._seeker, allowed)
            if found is None or found == allowed:
                return found
            since = found
        return None

    def _found(self, start: int | None) -> Place | None:
        for _ in range(MOST_CHOICES):
            if start is None:
                return None
            found = self._chosen(instant(start))
            if found is not None:
                return found
            # Its reservations compete, or a limit allows fewer resources than it got. More may be
            # free, or less be in use, when something else ends.
            later = self._gains.after(self._seeker, start)
            start = None if later is None else self._start(later)
        return None

    def _chosen(self, start: datetime.datetime) -> Place | None:
        context, had = self._context, self._one.lease.period
        period = self._slice(start)
        if self._one.allocations and (period.start, had.end) >= (had.start, period.end):
            # Neither earlier nor longer.
            return None
        needed = self._one.within(period, context.settings.cleaning_time)
        try:
            choice, allocations = together(self._tx, context.settings, context.rng, needed)
        except exceptions.NotEnoughResources:
            return None
        try:
            self._allowances.check(self._seeker, period, allocations)
        except exceptions.ProjectLimit:
            return None
        return Place(one=self._one, period=period, choice=choice, allocations=allocations)

    def _slice(self, start: datetime.datetime) -> Period:
        """Return the longest period that the lease can have from a start on."""
        one, pause = self._one, self._context.settings.cleaning_time
        period = Period(start=start, end=start + one.shortest)
        if period.length >= one.lease.length:
            return period
        conditions = candidates.conditions(MatchingBlocks(self._tx), one.within(period, pause))
        frame = Frame(
            length=period.length // _MICROSECOND,
            pause=pause // _MICROSECOND,
            earliest=microseconds(start),
            latest=microseconds(start),
        )
        return replanning.longest(one, conditions, frame, start)

    def _resources(self, found: Place) -> dict[str, set[int]]:
        """Return the ids of the resources that a move concerns, by type."""
        types = self._one.types
        ids: dict[str, set[int]] = defaultdict(set)
        for item in (*self._one.everything, *found.allocations):
            ids[types[item.reservation_id]].add(item.resource_id)
        return ids
