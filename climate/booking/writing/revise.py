# SPDX-License-Identifier: Apache-2.0

"""Decides what each reservation of a changed lease keeps, gets and gives up."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from climate import exceptions
from climate.allocation import changes
from climate.allocation import shares as slots
from climate.booking.choosing import placements
from climate.booking.choosing.choose import Chooser
from climate.booking.choosing.requirements import Requirements
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.lifecycles import LeaseStatus
from climate.domain.periods import Period
from climate.domain.resources import Candidate
from climate.domain.resources import Share
from climate.domain.resources import Spread
from climate.plugins import contract


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Revision:
    """One reservation with its allocations before and after a change.

    :ivar dropped: allocations that were booked and are given up at once
    :ivar leaving: allocations in use, given up once the cloud has followed
    :ivar follows: whether the cloud has to follow, even if no allocation comes or goes
    """

    old: Reservation
    new: Reservation
    kept: tuple[Allocation, ...] = ()
    dropped: tuple[Allocation, ...] = ()
    leaving: tuple[Allocation, ...] = ()
    added: tuple[Allocation, ...] = ()
    follows: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RevisedCase:
    """One reservation that is changed, with everything that the choice depends on.

    :ivar lease: the lease before the change
    :ivar period: the new period of the lease
    :ivar before: the present request
    :ivar request: the new request
    :ivar current: the present allocations
    """

    lease: Lease
    period: Period
    reservation: Reservation
    plugin: contract.Plugin[Any]
    before: Any
    request: Any
    needed: Requirements
    current: tuple[Allocation, ...]

    @property
    def changed(self) -> bool:
        return bool(self.request != self.before)

    @property
    def running(self) -> bool:
        return self.lease.status is LeaseStatus.ACTIVE

    @property
    def has(self) -> dict[int, int]:
        return slots.slots(self.current, self.needed.search.demand)


def case_of(
    chooser: Chooser,
    lease: Lease,
    period: Period,
    reservation: Reservation,
    before: Any,
    request: Any,
    *,
    plugin: contract.Plugin[Any],
    current: Sequence[Allocation],
    private: bool,
    most: int | None = None,
) -> RevisedCase:
    """Return one reservation of a lease that changes.

    :param lease: the lease before the change
    :param period: the new period of the lease
    :param before: the present request
    :param request: the new request
    :param current: the allocations of the reservation, booked or held
    :param private: whether the caller may ask for private properties
    :param most: the largest number of slots, which may be less than is requested
    """
    search = plugin.search(request)
    if most is not None:
        search = search.at_most(most)
    rest = period.after(chooser.tx.now)
    # A change of dates alone requires no more than it has.
    has = sum(slots.slots(current, search.demand).values())
    changed = request != before
    return RevisedCase(
        lease=lease,
        period=period,
        reservation=reservation,
        plugin=plugin,
        before=before,
        request=request,
        needed=Requirements(
            reservation_id=reservation.id,
            search=search,
            plugin=plugin,
            request=request,
            period=rest,
            padded=rest.padded(chooser.settings.cleaning_time),
            minimum=search.minimum,
            maximum=search.maximum if changed else min(max(has, search.minimum), search.maximum),
            private=private,
            placement=reservation.placement,
        ),
        current=tuple(current),
    )


def revise(chooser: Chooser, case: RevisedCase) -> Revision:
    """Decide what one reservation of a changed lease keeps, gets and gives up.

    :raises climate.exceptions.NotEnoughResources: if too few resources are free
    """
    found = _parts(chooser, case) if case.needed.search.demand else _wholes(chooser, case)
    if case.reservation.placement is not None:
        found = _placed(chooser, case, found)
    return _finished(chooser, case, found)


def are_linked(reservations: Iterable[Reservation]) -> bool:
    """Whether placements of reservations name other reservations."""
    return any(one.placement is not None and one.placement.others for one in reservations)


def together(chooser: Chooser, cases: Sequence[RevisedCase]) -> dict[str, Revision] | None:
    """Choose again for all reservations whose placements name each other, at the same time.

    One after the other, none of them could leave the rack that they share.

    :param cases: of a lease that has not started
    :returns: the revisions by reservation id; None if there is no way
    """
    linked = [case for case in cases if are_linked([case.reservation])]
    for case in linked:
        chooser.vacate(case.current)
    found = chooser.placed([dataclasses.replace(case.needed, own=case.has) for case in linked])
    if isinstance(found, int):
        return None
    return {
        case.reservation.id: _finished(chooser, case, _chosen_again(case, added))
        for case, added in zip(linked, found, strict=True)
    }


def _chosen_again(case: RevisedCase, added: tuple[Allocation, ...]) -> Revision:
    return Revision(old=case.reservation, new=case.reservation, dropped=case.current, added=added)


def _finished(chooser: Chooser, case: RevisedCase, found: Revision) -> Revision:
    """Return a revision with the reservation as it will be."""
    new = dataclasses.replace(case.reservation, request=case.plugin.dump(case.request))
    booked = (*found.kept, *found.added)
    return dataclasses.replace(
        found,
        new=chooser.tx.reservations.with_members([new], booked)[0],
        follows=case.running
        and case.changed
        and bool(case.plugin.follows(case.before, case.request)),
    )


def _placed(chooser: Chooser, case: RevisedCase, found: Revision) -> Revision:
    """Return a revision that keeps to the placement.

    A lease that has not started gets other resources if those that it keeps do not.

    :raises climate.exceptions.NotEnoughResources: if that is not possible
    """
    has = (*found.kept, *found.added)
    # What neither comes nor goes may stay, even if there are more values to spread over now.
    if not (found.added or found.leaving or found.dropped) or placements.is_kept(
        chooser, case.needed, has
    ):
        return found
    if case.running:
        raise chooser.refusal(case.needed)
    chooser.vacate(case.current)
    chooser.vacate(found.added)
    added = chooser.choose(dataclasses.replace(case.needed, own=case.has))
    return _chosen_again(case, added)


def _wholes(chooser: Chooser, case: RevisedCase) -> Revision:
    kept = _kept(chooser, case)
    added: tuple[Allocation, ...] = ()
    if kept.missing_maximum > 0:
        needed = dataclasses.replace(
            case.needed,
            minimum=kept.missing_minimum,
            maximum=kept.missing_maximum,
            never={item.resource_id for item in case.current},
            search=_without_names(case.needed.search, kept.kept),
            leaving={item.resource_id for item in kept.dropped},
        )
        added = chooser.choose(needed)
    return Revision(
        old=case.reservation,
        new=case.reservation,
        kept=kept.kept,
        # A running lease keeps what it gives up until the cloud has followed.
        leaving=kept.dropped if case.running else (),
        dropped=() if case.running else kept.dropped,
        added=added,
    )


def _kept(chooser: Chooser, case: RevisedCase) -> changes.Kept:
    needed = case.needed
    matching = {allocation.resource_id for allocation in case.current}
    if matching and case.changed:
        matching = chooser.matching(needed, matching)
    good = set(matching)
    if good:
        padded = needed.period.padded(chooser.settings.cleaning_time)
        others = chooser.left_out
        good -= chooser.tx.allocations.clashes(good, padded, [case.reservation.id, *others])
        good -= chooser.given(padded)
        good -= _in_maintenance(chooser, case, good)
    has = {item.resource_name for item in case.current if item.resource_id in good}
    named = len(set(needed.search.names) - has)
    # Surplus may go if the plugin supports that; what must be kept may not.
    fixed = case.running and not (case.plugin.shrinks and len(good) == len(case.current))
    try:
        kept = changes.keep(
            sorted(case.current, key=lambda item: item.resource_name not in needed.search.names),
            good,
            max(needed.minimum - named, 0),
            needed.maximum - named,
            running=fixed,
        )
    except changes.WouldTakeRunning as error:
        raise _running_refusal(chooser, case, matching, good) from error
    return dataclasses.replace(
        kept,
        missing_minimum=kept.missing_minimum + named,
        missing_maximum=kept.missing_maximum + named,
    )


def _running_refusal(
    chooser: Chooser, case: RevisedCase, matching: Collection[int], good: Collection[int]
) -> exceptions.Conflict:
    """Return why a running reservation would lose resources, which it must not.

    :param matching: ids of those that it has and that fulfil the new request
    :param good: those that are also free in the new period
    """
    noun = case.needed.search.noun
    unfit = [item.resource_name for item in case.current if item.resource_id not in matching]
    if unfit:
        return exceptions.ResourcesInUse(
            f'{noun.capitalize()} of a running lease cannot be exchanged by a change, '
            f'and these do not meet the new requirements: {", ".join(unfit)}'
        )
    if len(good) < len(case.current):
        return chooser.refusal(case.needed)
    return exceptions.ResourcesInUse(
        f'{noun.capitalize()} of a running lease cannot be released: the reservation has '
        f'{len(case.current)}, more than the new maximum of {case.needed.maximum}'
    )


def _in_maintenance(chooser: Chooser, case: RevisedCase, ids: Collection[int]) -> set[int]:
    """Return those of *ids* that are in maintenance within the added time.

    :raises climate.exceptions.ResourceInMaintenance: if one of them is in use
    """
    found = chooser.tx.maintenances.within(ids, case.needed.period.beyond(case.lease.period))
    if found and case.running:
        raise exceptions.ResourceInMaintenance(
            name=found[0].resource_name,
            start=found[0].period.start.isoformat(),
            end=found[0].period.end.isoformat(),
        )
    return {item.resource_id for item in found}


def _parts(chooser: Chooser, case: RevisedCase) -> Revision:
    bare = Revision(old=case.reservation, new=case.reservation, kept=case.current)
    if not case.changed and case.period == case.lease.period:
        return bare
    chooser.vacate(case.current)
    return _running_parts(chooser, case, bare) if case.running else _booked_parts(chooser, case)


def _booked_parts(chooser: Chooser, case: RevisedCase) -> Revision:
    """Choose again, preferring the same resources: nothing is in use yet."""
    added = chooser.choose(dataclasses.replace(case.needed, own=case.has))
    chosen = slots.slots(added, case.needed.search.demand)
    same = dict(case.plugin.search(case.before).demand) == dict(case.needed.search.demand)
    if same and chosen == case.has:
        return Revision(old=case.reservation, new=case.reservation, kept=case.current)
    return _chosen_again(case, added)


def _running_parts(chooser: Chooser, case: RevisedCase, bare: Revision) -> Revision:
    """Keep what is in use where it is; only the number of slots may change."""
    if dict(case.plugin.search(case.before).demand) != dict(case.needed.search.demand):
        raise exceptions.CantUpdateParameter(param='The size of what is in use')
    has = case.has
    _in_maintenance(chooser, case, has)
    total = sum(has.values())
    stays = slots.fewer(has, max(0, total - case.needed.maximum))
    kept, leaving = slots.cut(case.current, case.needed.search.demand, stays)
    if case.needed.period.end > case.lease.period.end:
        # What leaves stays until the cloud has followed, and for longer if it
        # refuses: there has to be room for it until the new end.
        _keep(chooser, case, has)
    else:
        _keep(chooser, case, stays)
        # Until then, other reservations of the lease may not have it either.
        chooser.occupy(leaving)
    missing = case.needed.minimum - total
    if missing <= 0:
        return dataclasses.replace(bare, kept=kept, leaving=leaving)
    together = case.needed.search.spread is Spread.TOGETHER
    needed = dataclasses.replace(
        case.needed,
        minimum=missing,
        maximum=case.needed.maximum - total,
        only=list(has) if together and has else None,
        never=list(has) if case.needed.search.spread is Spread.APART else (),
    )
    added = chooser.choose(needed)
    return dataclasses.replace(bare, kept=kept, added=added)


def _keep(chooser: Chooser, case: RevisedCase, stays: Mapping[int, int]) -> None:
    """Check that what is in use can stay, for the new period and request."""
    rooms = {room.resource_id: room for room in chooser.room(case.needed, list(stays))}
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
    if len(shares) < len(stays) or not chooser.keep(case.needed, shares, rooms):
        raise chooser.refusal(case.needed)


def _without_names(search: Any, kept: tuple[Allocation, ...]) -> Any:
    has = {item.resource_name for item in kept}
    return dataclasses.replace(
        search, names=tuple(name for name in search.names if name not in has)
    )
