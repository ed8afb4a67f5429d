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
"""What becomes of each reservation of a lease that is changed: choices only."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.allocation import changes
from climate.allocation import shares as slots
from climate.db.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.lifecycles import LeaseStatus
from climate.domain.periods import Period
from climate.domain.resources import Candidate
from climate.domain.resources import Share
from climate.domain.resources import Spread
from climate.leasing import booking
from climate.leasing.booking import Booking
from climate.leasing.settings import LeasingSettings
from climate.leasing.wishes import Wish


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One reservation and what becomes of it.

    :ivar dropped: what was booked, but is not any more
    :ivar leaving: what is in use and given back once the cloud has followed
    :ivar follows: whether the cloud has to follow, also if nothing comes or goes
    """

    old: Reservation
    new: Reservation
    kept: tuple[Allocation, ...] = ()
    dropped: tuple[Allocation, ...] = ()
    leaving: tuple[Allocation, ...] = ()
    added: tuple[Allocation, ...] = ()
    follows: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Case:
    """One reservation that is changed, with all that the choice depends on.

    :ivar current: what it has
    :ivar changed: whether the request is another one than before
    """

    lease: Lease
    reservation: Reservation
    plugin: Any
    before: Any
    request: Any
    wish: Wish
    current: tuple[Allocation, ...]

    @property
    def changed(self) -> bool:
        return bool(self.request != self.before)

    @property
    def running(self) -> bool:
        return self.lease.status is LeaseStatus.ACTIVE

    @property
    def has(self) -> dict[int, int]:
        return slots.slots(self.current, self.wish.search.demand)


class Lines:
    """Decides what the reservations of a lease keep, get and give up.

    :param period: the new period of the lease
    :param private: whether the caller may ask for private properties
    """

    def __init__(
        self,
        tx: Transaction,
        desk: Booking,
        settings: LeasingSettings,
        lease: Lease,
        period: Period,
        *,
        private: bool,
    ) -> None:
        self._tx = tx
        self._desk = desk
        self._settings = settings
        self._lease = lease
        self._period = booking.from_now(period, tx.now)
        self._moved = period != lease.period
        self._new_time = self._period.beyond(lease.period)
        self._private = private

    def line(
        self,
        plugin: Any,
        reservation: Reservation,
        before: Any,
        request: Any,
        current: list[Allocation],
    ) -> Line:
        """Decide about one reservation.

        :param before: the request as it was
        :param request: the request as it is to be
        :param current: what the reservation has, booked or held
        :raises climate.exceptions.NotEnoughResources: if it cannot be
        """
        search = plugin.search(request)
        # New dates alone ask for no more than it has.
        has = sum(slots.slots(current, search.demand).values())
        changed = request != before
        wish = Wish(
            search=search,
            plugin=plugin,
            request=request,
            period=self._period,
            minimum=search.minimum,
            maximum=search.maximum if changed else min(max(has, search.minimum), search.maximum),
            private=self._private,
        )
        case = _Case(
            lease=self._lease,
            reservation=reservation,
            plugin=plugin,
            before=before,
            request=request,
            wish=wish,
            current=tuple(current),
        )
        line = self._parts(case) if search.demand else self._wholes(case)
        running = case.running and changed
        return dataclasses.replace(
            line,
            new=dataclasses.replace(reservation, request=plugin.dump(request)),
            follows=running and bool(plugin.follows(before, request)),
        )

    # -- whole resources

    def _wholes(self, case: _Case) -> Line:
        kept = self._kept(case)
        added: tuple[Allocation, ...] = ()
        if kept.missing_maximum > 0:
            wish = dataclasses.replace(
                case.wish,
                minimum=kept.missing_minimum,
                maximum=kept.missing_maximum,
                never={item.resource_id for item in case.current},
                search=_without_names(case.wish.search, kept.kept),
            )
            added = self._added(case, self._desk.choose(wish))
        return Line(
            old=case.reservation,
            new=case.reservation,
            kept=kept.kept,
            # What a running lease gives up is its own until the cloud has followed.
            leaving=kept.dropped if case.running else (),
            dropped=() if case.running else kept.dropped,
            added=added,
        )

    def _kept(self, case: _Case) -> changes.Kept:
        wish = case.wish
        good = {allocation.resource_id for allocation in case.current}
        if good and case.changed:
            good = self._desk.matching(wish, good)
        if good:
            padded = wish.period.padded(self._settings.cleaning_time)
            good -= self._tx.allocations.clashes(good, padded, [case.reservation.id])
            good -= self._in_maintenance(case, good)
        has = {item.resource_name for item in case.current if item.resource_id in good}
        named = len(set(wish.search.names) - has)
        # Surplus can go where the plugin sees to it; nothing that it must keep can.
        fixed = case.running and not (case.plugin.shrinks and len(good) == len(case.current))
        try:
            kept = changes.keep(
                sorted(case.current, key=lambda item: item.resource_name not in wish.search.names),
                good,
                max(wish.minimum - named, 0),
                wish.maximum - named,
                running=fixed,
            )
        except changes.WouldTakeRunning as error:
            raise self._desk.refusal(wish) from error
        return dataclasses.replace(
            kept,
            missing_minimum=kept.missing_minimum + named,
            missing_maximum=kept.missing_maximum + named,
        )

    def _in_maintenance(self, case: _Case, ids: Collection[int]) -> set[int]:
        """Return those of *ids* that are out at some instant of the time that is new.

        :raises climate.exceptions.ResourceInMaintenance: if there are any, and
            they cannot be left because they are in use
        """
        found = self._tx.maintenances.within(ids, self._new_time)
        if found and case.running:
            raise exceptions.ResourceInMaintenance(
                name=found[0].resource_name,
                start=found[0].period.start.isoformat(),
                end=found[0].period.end.isoformat(),
            )
        return {item.resource_id for item in found}

    # -- parts of resources

    def _parts(self, case: _Case) -> Line:
        bare = Line(old=case.reservation, new=case.reservation, kept=case.current)
        if not case.changed and not self._moved:
            return bare
        self._desk.vacate(case.current)
        return self._running_parts(case, bare) if case.running else self._booked_parts(case)

    def _booked_parts(self, case: _Case) -> Line:
        """Nothing is in use yet: choose anew, the same again where possible."""
        shares = self._desk.choose(dataclasses.replace(case.wish, own=case.has))
        chosen = {share.candidate.resource_id: share.slots for share in shares}
        same = dict(case.plugin.search(case.before).demand) == dict(case.wish.search.demand)
        if same and chosen == case.has:
            return Line(old=case.reservation, new=case.reservation, kept=case.current)
        return Line(
            old=case.reservation,
            new=case.reservation,
            dropped=case.current,
            added=self._added(case, shares),
        )

    def _running_parts(self, case: _Case, bare: Line) -> Line:
        """What is in use stays where it is; only the number may change."""
        if dict(case.plugin.search(case.before).demand) != dict(case.wish.search.demand):
            raise exceptions.CantUpdateParameter(param='The size of what is in use')
        has = case.has
        self._in_maintenance(case, has)
        total = sum(has.values())
        stays = slots.fewer(has, max(0, total - case.wish.maximum))
        kept, leaving = slots.cut(case.current, case.wish.search.demand, stays)
        if self._period.end > case.lease.period.end:
            # What leaves is there until the cloud has followed, and stays if
            # it refuses: there has to be room for it until the new end.
            self._hold(case, has)
        else:
            self._hold(case, stays)
            # Nor may other reservations of the lease have it before.
            self._desk.occupy(leaving)
        missing = case.wish.minimum - total
        if missing <= 0:
            return dataclasses.replace(bare, kept=kept, leaving=leaving)
        together = case.wish.search.spread is Spread.TOGETHER
        wish = dataclasses.replace(
            case.wish,
            minimum=missing,
            maximum=case.wish.maximum - total,
            only=list(has) if together and has else None,
            never=list(has) if case.wish.search.spread is Spread.APART else (),
        )
        added = self._added(case, self._desk.choose(wish))
        return dataclasses.replace(bare, kept=kept, added=added)

    def _hold(self, case: _Case, stays: Mapping[int, int]) -> None:
        """Check that what is in use can stay, for the new period and request."""
        rooms = {room.resource_id: room for room in self._desk.room(case.wish, list(stays))}
        shares = [
            Share(
                candidate=Candidate(
                    resource_id=resource_id,
                    name=rooms[resource_id].name,
                    generation=rooms[resource_id].generation,
                ),
                slots=count,
            )
            for resource_id, count in stays.items()
            if resource_id in rooms
        ]
        if len(shares) < len(stays) or not self._desk.hold(case.wish, shares, rooms):
            raise self._desk.refusal(case.wish)

    def _added(self, case: _Case, shares: tuple[Share, ...]) -> tuple[Allocation, ...]:
        return tuple(
            slots.allocations(
                case.reservation.id, shares, case.wish.search.demand, case.wish.period
            )
        )


def _without_names(search: Any, kept: tuple[Allocation, ...]) -> Any:
    has = {item.resource_name for item in kept}
    return dataclasses.replace(
        search, names=tuple(name for name in search.names if name not in has)
    )
