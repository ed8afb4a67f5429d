# SPDX-License-Identifier: Apache-2.0

"""Finds other places for flexible leases whose allocations are left out of the timelines."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from collections.abc import Sequence

from climate.allocation.rearrangements import Rearrangement
from climate.booking.planning import replanning
from climate.booking.planning.replanning import FoundPlace
from climate.booking.planning.replanning import MovableLease
from climate.booking.planning.replanning import PlaceSearch
from climate.booking.requests.context import Context
from climate.booking.writing import rests
from climate.booking.writing.change import Changed
from climate.booking.writing.rests import HeldRest
from climate.db.transactions.store import Transaction
from climate.domain.leases import YieldMode


class Replanning:
    """Finds other places for flexible leases, in a transaction that leaves them out.

    :param most: how many leases may move
    :param until: when the search ends, in ticks of the clock
    :ivar rests: what will be held of leases after their present slices
    """

    def __init__(self, tx: Transaction, context: Context, most: int, until: float) -> None:
        if tx.rearrangement is None:
            raise ValueError('the allocations of the leases must be left out')
        self._tx = tx
        self._context = context
        self._most = most
        self._until = until
        self._rearranged: Rearrangement = tx.rearrangement
        self.rests: list[HeldRest] = []

    def by_size(
        self, leases: Sequence[MovableLease], left: Sequence[MovableLease] = ()
    ) -> list[Changed] | None:
        """Return where leases are that cannot stay; None if one of them has no place.

        The smallest stay first. Those that cannot get the soonest starts in their windows, in
        the order of their requests, after what is left of those that have begun.

        :param leases: the largest first
        :param left: what is left of leases after their present slices
        """
        stay = [one for one in replanning.by_last_start(left) if not self._kept(one)]
        moving = [one for one in reversed(leases) if not self._kept(one)]
        return self._moved([*stay, *replanning.by_request(moving)])

    def by_window(
        self, leases: Sequence[MovableLease], left: Sequence[MovableLease] = ()
    ) -> list[Changed] | None:
        """Return where leases are that cannot stay; None if one of them has no place.

        In the order of their last starts, each stays or gets the soonest start in its window.

        :param left: what is left of leases after their present slices
        """
        return self._moved(replanning.by_last_start([*leases, *left]), stay=True)

    def _moved(self, leases: Iterable[MovableLease], *, stay: bool = False) -> list[Changed] | None:
        found: list[Changed] = []
        for number, one in enumerate(one for one in leases if not (stay and self._kept(one))):
            places = None if number == self._most else self._places(one)
            if places is None:
                return None
            for place in places:
                self._rearranged.add(place.allocations)
            if one.whole is None:
                found.append(replanning.changed(self._tx, self._context, one, places.pop(0)))
            if places or one.rest:
                self.rests.append(
                    HeldRest(
                        lease=one.whole or found[-1].lease,
                        had=one.rest,
                        allocations=tuple(item for place in places for item in place.allocations),
                        limits=self._context.settings.limits.of(one.lease.project_id),
                    )
                )
        return found

    def _kept(self, one: MovableLease) -> bool:
        """Keep a lease where it is, if there is room."""
        if stays := self._stays(one):
            self._rearranged.add(one.everything)
        return stays

    def _stays(self, one: MovableLease) -> bool:
        if one.whole is not None and not is_held(one):
            return False
        for resource_type, allocations in one.by_type():
            self._tx.timeline(resource_type)
            if not self._rearranged.has_room(resource_type, allocations):
                return False
        return True

    def _places(self, one: MovableLease) -> list[FoundPlace] | None:
        """Return the soonest place of a lease; None if there is none, or no time to look.

        Several if it can be suspended, and ends in time only so, or has begun.
        """
        lease, settings = one.lease, self._context.settings
        if lease.earliest is None or self._context.clock.ticks() > self._until:
            return None
        latest = lease.latest or (lease.created_at or self._tx.now) + settings.plan_horizon
        first = max(lease.earliest, self._tx.now)
        parts = lease.may_hold_rest and lease.yields is YieldMode.SUSPEND
        if not (parts and one.whole is not None):
            place = PlaceSearch(self._tx, self._context, one, first).place(latest)
            if place is not None or not parts:
                return None if place is None else [place]
        return replanning.in_slices(self._tx, self._context, one, first, self._until)


def is_held(one: MovableLease) -> bool:
    """Whether all is held that is left of a lease, after its present slice."""
    periods = [period for period, _ in rests.slices(one.rest)]
    start = min((period.start for period in periods), default=None)
    lasts = sum((period.length for period in periods), datetime.timedelta(0))
    return lasts == one.lease.length and start is not None and start >= one.lease.period.start
