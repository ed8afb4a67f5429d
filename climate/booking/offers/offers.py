# SPDX-License-Identifier: Apache-2.0

"""Finds periods in which a request for a lease can be booked; writes nothing."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import datetime
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Final

from climate import exceptions
from climate.allocation import joint
from climate.allocation.joint import Frame
from climate.allocation.steps import instant
from climate.allocation.steps import microseconds
from climate.booking.choosing import candidates
from climate.booking.choosing import placements
from climate.booking.choosing import requirements
from climate.booking.choosing.choose import together
from climate.booking.choosing.requirements import Requirements
from climate.booking.offers.period_searches import PeriodSearch
from climate.booking.requests import new_leases
from climate.booking.requests import prepare
from climate.booking.requests.context import Context
from climate.booking.requests.new_leases import NewLease
from climate.booking.writing import commit
from climate.booking.writing.commit import AllocationRequest
from climate.db.transactions import expired_holds
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.offers import Offer
from climate.domain.offers import OfferKind
from climate.domain.offers import OfferPage
from climate.domain.offers import OfferQuery
from climate.domain.periods import Period
from climate.domain.periods import SECOND
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.enforcement import limits

_CHOICES_OF_PART: Final = 3
_TO_TAKE: Final = datetime.timedelta(minutes=1)


def asked(context: Context, caller: Caller, request: OfferQuery) -> NewLease:
    """Return the lease that is requested, in the first period in which it can be offered.

    :raises climate.exceptions.InvalidInput: naming the field that is wrong
    :raises climate.exceptions.LeaseRefused: if it has too many reservations
    """
    start = takeable(request.earliest, request.asked_at, request.hold)
    draft = LeaseDraft(
        name='',
        start=start,
        end=start + request.duration,
        reservations=request.reservations,
        placements=request.placements,
        strict=True,
        traits=request.traits,
        grain=SECOND,
        asked_at=request.asked_at,
    )
    return new_leases.checked(context, caller, draft)


def takeable(
    start: datetime.datetime, now: datetime.datetime, hold: datetime.timedelta | None = None
) -> datetime.datetime:
    """Return a start that is at least a minute away: callers need time to take an offer.

    :param hold: how long the offer is held, which ends before it starts
    """
    first = now + max(_TO_TAKE, hold or _TO_TAKE)
    return start if start >= first else instant(joint.rounded(microseconds(first)))


@contextlib.contextmanager
def searching(context: Context, new: NewLease) -> Iterator[OfferSearch]:
    """Open a search for periods of a request, in a transaction that only reads."""
    expired_holds.release(context.store)
    with context.store.reading(new.caller.budget) as tx:
        yield OfferSearch(tx, context, new)


class OfferSearch(PeriodSearch):
    """Searches for periods of a new lease, in one transaction.

    :param new: the request
    :ivar matching: the resources that match requirements
    """

    def __init__(self, tx: Transaction, context: Context, new: NewLease) -> None:
        period = Period(start=new.draft.start, end=new.draft.end)
        padded = period.padded(context.settings.cleaning_time)
        needed = requirements.of_new_lease(new, period, padded)
        placements.check_properties(tx, needed)
        self.matching = candidates.MatchingBlocks(tx)
        conditions = candidates.conditions(self.matching, needed)
        super().__init__(tx, context, period, needed, conditions)
        self._new = new

    def limited_to(self, needed: Sequence[Requirements]) -> OfferSearch:
        """Return the search for other requirements, within the same bounds of its cost."""
        found = copy.copy(self)
        found.needed = list(needed)
        found.conditions = candidates.conditions(self.matching, needed)
        found.renew(_CHOICES_OF_PART)
        return found

    def offers(self, request: OfferQuery) -> OfferPage:
        """Return the offers for a request.

        :raises climate.exceptions.LeaseRefused: if a limit or a filter forbids the first
        """
        frame, found = self.frame(request.latest), list[Offer]()
        while len(found) < request.limit:
            try:
                one = self.next(frame, OfferKind.NEXT if found else OfferKind.SOONEST)
            except exceptions.LeaseRefused:
                if not found:
                    raise
                break
            if one is None:
                break
            if request.extended:
                one = self.extended(one, frame, request.latest)
            found.append(one)
            frame = dataclasses.replace(frame, earliest=joint.rounded(microseconds(one.period.end)))
        return OfferPage(offers=tuple(found), searched_until=instant(self.reached))

    def extended(self, one: Offer, frame: Frame, latest: datetime.datetime) -> Offer:
        """Return an offer with the last end until which all is free, at most *latest*."""
        start = microseconds(one.period.start)
        end = joint.longest(self.conditions, frame, start, microseconds(latest))
        period = Period(start=one.period.start, end=instant(end))
        chosen = None if period == one.period else self.choice(period, self.needed)
        if chosen is None:
            return one
        return dataclasses.replace(
            self.offer(period, chosen, one.kind), blocked_before=one.blocked_before
        )

    def _chosen(self, period: Period, needed: Sequence[Requirements]) -> tuple[Allocation, ...]:
        padded = period.padded(self.context.settings.cleaning_time)
        there = [
            dataclasses.replace(one, period=period, padded=padded)
            for one in needed
            # Objects of the project may have no row yet. Nothing competes for them.
            if not candidates.is_thing(one)
        ]
        _, chosen = together(self.tx, self.context.settings, self.context.rng, there)
        self._check(period, chosen)
        return chosen

    def _check(self, period: Period, chosen: tuple[Allocation, ...]) -> None:
        """Check the limits of the project, and the filters that need no other service."""
        lease = new_leases.proposed(self.tx, self._new, prepare.NOTHING, None)
        lease = dataclasses.replace(lease, period=period)
        allowed = self._new.limits
        has = self.tx.projects.leases(lease.project_id) if allowed.leases else 0
        limits.check_new(allowed, lease, has, self.tx.now)
        limits.check_resources(self.tx, allowed, lease, None, chosen)
        request = AllocationRequest(lease=lease, allocations=chosen, limits=allowed)
        commit.check_filters(self.tx, self.context, self._new.caller, request)

    def asked(self, place: int) -> int:
        """Return the place of a requested reservation that the one at *place* is a part of."""
        return self._new.asked(place)
