# SPDX-License-Identifier: Apache-2.0

"""Offers that make others move, or give them other resources, and how these are taken."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection
from typing import Final

from climate import exceptions
from climate.booking.choosing import requirements
from climate.booking.offers import holds
from climate.booking.offers import taking
from climate.booking.offers.period_searches import offered
from climate.booking.offers.taking import TakenOffer
from climate.booking.planning import displacement
from climate.booking.planning import late_binding
from climate.booking.planning.displacement import FixedLeaseWork
from climate.booking.planning.preemption import Preempting
from climate.booking.planning.repacking import RoomRequest
from climate.booking.requests.context import Context
from climate.booking.requests.new_leases import NewLease
from climate.booking.requests.prepare import Missing
from climate.booking.writing import rehearsal
from climate.booking.writing.rehearsal import DryRun
from climate.conf.planner import Displace
from climate.db.transactions.store import Transaction
from climate.domain.leases import Lease
from climate.domain.offers import Offer
from climate.domain.offers import OfferKind
from climate.domain.offers import OfferPage
from climate.domain.offers import OfferPreference
from climate.domain.offers import OfferQuery
from climate.domain.offers import StoredOffer
from climate.domain.offers import StoredOfferPage
from climate.domain.periods import Period
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft

_ONE: Final = 1


def make(
    context: Context, caller: Caller, request: OfferQuery, offer_id: str | None = None
) -> StoredOfferPage:
    """Find periods in which a request can be booked, and store them.

    If nothing is free at the earliest start, but would be if flexible leases moved, that is the
    first offer. See :func:`climate.booking.offers.holds.make`.
    """
    return holds.make(context, caller, request, offer_id, _with_others)


def take(context: Context, caller: Caller, draft: LeaseDraft, offer: StoredOffer) -> Lease:
    """Create the lease of an offer, if necessary in the place of flexible leases.

    See :func:`climate.booking.offers.taking.take`.
    """
    return taking.take(context, caller, draft, offer, FixedTakingWork)


def rehearse(context: Context, caller: Caller, draft: LeaseDraft, offer: StoredOffer) -> DryRun:
    """Return what :func:`take` would do.

    :raises climate.exceptions.ClimateError: if it would be refused
    """
    return taking.rehearse(context, caller, draft, offer, FixedTakingWork)


@dataclasses.dataclass(frozen=True, kw_only=True)
class FixedTakingWork(displacement.Displacing[TakenOffer], taking.TakingWork):
    """Takes one offer, if necessary in the place of flexible leases."""

    def fixed(self, tx: Transaction) -> tuple[Period, Collection[str]]:
        """Return the period and the resource types that are needed."""
        return displacement.needed(self.new, tx.now)

    def preempts(self, tx: Transaction) -> Preempting:
        """Return whose leases may be preempted."""
        return displacement.preempting(self.new)

    def room_requests(self, tx: Transaction) -> list[RoomRequest]:
        """Return what the lease needs."""
        return displacement.new_room_requests(self.context, self.new, tx.now)

    def free(self, tx: Transaction) -> TakenOffer | Missing:
        """Choose what is held for the offer, or else what is free."""
        return taking.TakingWork.choose(self, tx)

    def book(self, tx: Transaction, request: TakenOffer, charge_id: str | None) -> Lease:
        """Write the lease, and end the hold."""
        return taking.TakingWork.write(self, tx, request, charge_id)


def _with_others(
    context: Context, new: NewLease, request: OfferQuery, page: OfferPage
) -> OfferPage:
    """Return offers with those for which others get other resources, or move."""
    # What is held is booked, and moves others at once.
    if request.hold or request.extended or request.prefer is not OfferPreference.SOONEST:
        return page
    return _with_displacing(context, new, request, _with_rebinding(context, new, request, page))


def _with_rebinding(
    context: Context, new: NewLease, request: OfferQuery, page: OfferPage
) -> OfferPage:
    """Return offers with an earlier one, for which other leases get other resources."""
    draft, settings = new.draft, context.settings
    length = draft.end - draft.start
    # The last start in the window counts, too.
    last = request.latest - length + datetime.timedelta.resolution
    before = min((one.period.start for one in page.offers), default=last)
    if not settings.rebind or before <= draft.start:
        return page
    padded = Period(start=draft.start, end=draft.end).padded(settings.cleaning_time)
    needs = requirements.of_new_lease(new, Period(start=draft.start, end=draft.end), padded)
    with context.store.reading(new.caller.budget) as tx:
        periods = list(late_binding.periods(tx, needs, draft.start, before))
    never = dataclasses.replace(settings, displace=Displace.NEVER)
    for period in periods:
        there = dataclasses.replace(draft, start=period.start, end=period.end)
        moved = dataclasses.replace(new, draft=there)
        found = _dry_run(dataclasses.replace(context, settings=never), moved)
        if found is not None:
            first = dataclasses.replace(_offer(context, moved, found), kind=OfferKind.SOONEST)
            later = [
                dataclasses.replace(one, kind=OfferKind.NEXT)
                for one in page.offers
                if one.period.start >= period.end
            ]
            return dataclasses.replace(page, offers=(first, *later)[: request.limit])
    return page


def _dry_run(context: Context, new: NewLease) -> DryRun | None:
    """Return how a lease would be booked at the start of its draft; None if it would not."""
    work = FixedLeaseWork(context=context, caller=new.caller, new=new)
    try:
        return rehearsal.rehearse(work)
    except exceptions.DatabaseUnavailable:
        raise
    except exceptions.ClimateError:
        # The later offers are the answer.
        return None


def _with_displacing(
    context: Context, new: NewLease, request: OfferQuery, page: OfferPage
) -> OfferPage:
    """Return offers with one at the earliest start for which flexible leases would move."""
    start = new.draft.start
    if (
        not request.displacing
        or any(one.period.start <= start for one in page.offers)
        or not _may_displace(context, new)
    ):
        return page
    found = _dry_run(context, new)
    if found is None or not found.displaced:
        return page
    return dataclasses.replace(
        page, offers=(_offer(context, new, found), *page.offers)[: request.limit]
    )


def _may_displace(context: Context, new: NewLease) -> bool:
    """Whether there is a lease in the period that may still move."""
    if context.settings.displace is not Displace.WINDOW:
        return False
    with context.store.reading(new.caller.budget) as tx:
        period, resource_types = displacement.needed(new, tx.now)
        padded = period.padded(context.settings.cleaning_time)
        return bool(tx.leases.displaceable(resource_types, padded, _ONE))


def _offer(context: Context, new: NewLease, dry_run: DryRun) -> Offer:
    period = Period(start=new.draft.start, end=new.draft.end)
    padded = period.padded(context.settings.cleaning_time)
    needs = requirements.of_new_lease(new, period, padded)
    return Offer(
        period=period,
        reservations=offered(needs, dry_run.allocations, new.asked),
        kind=OfferKind.DISPLACING,
        displaced=len(dry_run.displaced),
    )
