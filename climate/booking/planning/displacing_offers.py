# SPDX-License-Identifier: Apache-2.0

"""Offers at the earliest start for which flexible leases would move, and how they are taken."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Final

from climate import exceptions
from climate.booking.choosing import requirements
from climate.booking.offers import holds
from climate.booking.offers import taking
from climate.booking.offers.period_searches import offered
from climate.booking.offers.taking import TakenOffer
from climate.booking.planning import displacement
from climate.booking.planning.displacement import FixedLeaseWork
from climate.booking.requests.context import Context
from climate.booking.requests.new_leases import NewLease
from climate.booking.requests.prepare import Missing
from climate.booking.writing import rehearsal
from climate.booking.writing.rehearsal import Rehearsed
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
    return holds.make(context, caller, request, offer_id, _with_displacing)


def take(context: Context, caller: Caller, draft: LeaseDraft, offer: StoredOffer) -> Lease:
    """Create the lease of an offer, if necessary in the place of flexible leases.

    See :func:`climate.booking.offers.taking.take`.
    """
    return taking.take(context, caller, draft, offer, FixedTakingWork)


def rehearse(context: Context, caller: Caller, draft: LeaseDraft, offer: StoredOffer) -> Rehearsed:
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

    def free(self, tx: Transaction) -> TakenOffer | Missing:
        """Choose what is held for the offer, or else what is free."""
        return taking.TakingWork.choose(self, tx)

    def book(self, tx: Transaction, request: TakenOffer, charge_id: str | None) -> Lease:
        """Write the lease, and end the hold."""
        return taking.TakingWork.write(self, tx, request, charge_id)


def _with_displacing(
    context: Context, new: NewLease, request: OfferQuery, page: OfferPage
) -> OfferPage:
    """Return offers with one at the earliest start for which flexible leases would move."""
    start = new.draft.start
    if (
        not request.displacing
        # What is held is booked, and moves others at once.
        or request.hold is not None
        or request.extended
        or request.prefer is not OfferPreference.SOONEST
        or any(one.period.start <= start for one in page.offers)
        or not _may_displace(context, new)
    ):
        return page
    work = FixedLeaseWork(context=context, caller=new.caller, new=new)
    try:
        found = rehearsal.rehearsed(work)
    except exceptions.DatabaseUnavailable:
        raise
    except exceptions.ClimateError:
        # The later offers are the answer.
        return page
    if not found.displaced:
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


def _offer(context: Context, new: NewLease, found: Rehearsed) -> Offer:
    period = Period(start=new.draft.start, end=new.draft.end)
    padded = period.padded(context.settings.cleaning_time)
    needs = requirements.of_new_lease(new, period, padded)
    return Offer(
        period=period,
        reservations=offered(needs, found.allocations, new.asked),
        kind=OfferKind.DISPLACING,
        displaced=len(found.displaced),
    )
