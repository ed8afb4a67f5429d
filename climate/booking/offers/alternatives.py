# SPDX-License-Identifier: Apache-2.0

"""Offers that resemble a lease that was refused for lack of resources."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import logging
import uuid
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Final

from climate import exceptions
from climate.allocation import amounts
from climate.allocation import joint
from climate.allocation.joint import Frame
from climate.allocation.steps import instant
from climate.allocation.steps import microseconds
from climate.booking.choosing.requirements import Requirements
from climate.booking.offers import change_searches
from climate.booking.offers import offers
from climate.booking.offers import other_properties
from climate.booking.offers.period_searches import PeriodSearch
from climate.booking.requests import new_leases
from climate.booking.requests.amended_requests import of_alternative
from climate.booking.requests.context import Context
from climate.booking.writing.change import ChangeRequest
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.offers import Offer
from climate.domain.offers import OfferKind
from climate.domain.offers import StoredOffer
from climate.domain.periods import Period
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.domain.requests import LeaseDraft

LOG = logging.getLogger(__name__)

_AHEAD: Final = datetime.timedelta(days=14)
_LAST: Final = datetime.datetime.max.replace(tzinfo=datetime.UTC) - _AHEAD
_MOST_CHOICES: Final = 40
_SHORTEST: Final = datetime.timedelta(minutes=1)


def add(
    context: Context,
    caller: Caller,
    draft: LeaseDraft,
    error: exceptions.NotEnoughResources | exceptions.OfferGone,
    *,
    store: bool,
) -> None:
    """Add alternatives to the refusal of a new lease: :attr:`NotEnoughResources.alternatives`.

    That is the soonest start of the same, as much as there is at the requested time, the
    longest period from the requested start, and resources with other properties.

    :param store: whether to store them, so that the caller can take them
    """
    with _unless_failing('a lease'):
        error.alternatives = found = find(context, caller, draft)
        if found and store:
            error.alternatives = _stored(context, caller, draft, found)


def add_of_change(
    context: Context,
    caller: Caller,
    lease_id: str,
    project_id: str | None,
    change: LeaseChange,
    error: exceptions.NotEnoughResources,
) -> None:
    """Add alternatives to the refusal of a change: :attr:`NotEnoughResources.alternatives`.

    That is the soonest start of the same for a lease that has not begun, as much as there
    is of what is to grow, and the longest period from the requested start.

    :param project_id: None looks in every project
    """
    new = ChangeRequest(caller=caller, lease_id=lease_id, project_id=project_id, change=change)
    with _unless_failing('a change'):
        error.alternatives = find_for_change(context, new)


@contextlib.contextmanager
def _unless_failing(what: str) -> Iterator[None]:
    try:
        yield
    except exceptions.ClimateError as failure:
        # The refusal is what the caller has to know.
        LOG.info('There are no alternatives to %s that was refused: %s', what, failure.message)


def find(context: Context, caller: Caller, draft: LeaseDraft) -> tuple[Offer, ...]:
    """Return alternatives to a new lease.

    :raises climate.exceptions.ClimateError: if they cannot be searched for
    """
    start = offers.takeable(draft.start, context.clock.now())
    if start >= draft.end:
        return ()
    asked = dataclasses.replace(draft, start=start, events=(), before_end_date=None)
    new = new_leases.checked(context, caller, asked)
    period = Period(start=start, end=draft.end)
    with offers.searching(context, new) as search:
        least = [min(one.minimum, 1) for one in search.needed]
        return (
            *_allowed(_soonest(search, period, draft.end - draft.start)),
            *_allowed(_most(search, period, least)),
            *_allowed(_longest(search, period)),
            *_allowed(other_properties.find(search, period)),
        )


def find_for_change(context: Context, new: ChangeRequest) -> tuple[Offer, ...]:
    """Return alternatives to a change of a lease.

    :raises climate.exceptions.ClimateError: if they cannot be searched for
    """
    with change_searches.searching(context, new) as search:
        period = search.period
        return (
            *(() if search.running else _allowed(_soonest(search, period, period.length))),
            *(_allowed(_most(search, period, search.least())) if search.grows else ()),
            *(one for one in _allowed(_longest(search, period)) if search.changes(one)),
        )


def _stored(
    context: Context, caller: Caller, draft: LeaseDraft, found: Sequence[Offer]
) -> tuple[Offer | StoredOffer, ...]:
    """Store alternatives, so that they can be taken; return those that cannot as they are.

    Refusals store at most half as many offers as a project may have: a client that repeats
    a refused request does not keep the project from requesting offers.

    :param draft: the lease that was refused
    """
    most = context.settings.limits.of(caller.project_id).offers

    def store(tx: Transaction) -> tuple[Offer | StoredOffer, ...]:
        if most and tx.offers.count(caller.project_id) + len(found) > most // 2:
            return tuple(found)
        kept = tuple(_to_store(tx, context, caller, draft, found))
        tx.offers.insert(one for one in kept if isinstance(one, StoredOffer))
        return kept

    return context.store.run(store)


def _to_store(
    tx: Transaction, context: Context, caller: Caller, draft: LeaseDraft, found: Sequence[Offer]
) -> Iterator[Offer | StoredOffer]:
    for offer in found:
        bodies = of_alternative(draft, offer)
        if bodies is None:
            yield offer
            continue
        yield StoredOffer(
            id=str(uuid.uuid4()),
            project_id=caller.project_id,
            user_id=caller.user_id,
            offer=offer,
            reservations=bodies,
            created_at=tx.now,
            expires_at=min(tx.now + context.settings.offer_lifetime, offer.period.start),
        )


def _allowed(ways: Iterator[Offer]) -> Iterator[Offer]:
    """Yield the offers that no limit and no filter forbids."""
    try:
        yield from ways
    except exceptions.ClimateError as error:
        LOG.debug('An alternative would be refused: %s', error.message)


def _soonest(search: PeriodSearch, period: Period, length: datetime.timedelta) -> Iterator[Offer]:
    """Yield the soonest period of the requested length.

    :param length: more than that of *period* if the requested start is too soon to take
    """
    frame = search.frame(min(period.end, _LAST) + _AHEAD, length)
    first = microseconds(offers.takeable(period.start, search.tx.now))
    found = search.next(dataclasses.replace(frame, earliest=first), OfferKind.SOONEST)
    if found is not None:
        yield found


def _most(search: PeriodSearch, period: Period, least: Sequence[int]) -> Iterator[Offer]:
    """Yield as much of each reservation as there is, if there is some of each.

    :param least: the smallest number of slots of each
    """
    limits = [one.maximum for one in search.needed]
    bounds = search.frame(period.end).bounds(microseconds(period.start))
    for one in search.conditions:
        free = one.slots(bounds)
        if free < one.count:
            lacking = max(search.needed[one.place].minimum - one.count, 0)
            limits[one.place] = min(limits[one.place], lacking + free)
    if any(limit < low for low, limit in zip(least, limits, strict=True)):
        return

    def attempt(numbers: tuple[int, ...]) -> tuple[Allocation, ...] | None:
        return search.choice(period, [*map(_limited, search.needed, numbers)])

    search.renew(_MOST_CHOICES)
    chosen = amounts.most(least, limits, attempt)
    if chosen is not None:
        yield search.offer(period, chosen, OfferKind.MOST)


def _limited(needed: Requirements, slots: int) -> Requirements:
    """Return requirements of no more than a number of slots."""
    most = min(needed.maximum, slots)
    return dataclasses.replace(needed, minimum=min(needed.minimum, most), maximum=most)


def _longest(search: PeriodSearch, period: Period) -> Iterator[Offer]:
    """Yield the longest period from the requested start, if all is free for a while."""
    frame: Frame = search.frame(period.end, _SHORTEST)
    start = microseconds(period.start)
    if not all(one.fits(frame.bounds(start)) for one in search.conditions):
        return
    end = joint.longest(search.conditions, frame, start, microseconds(period.end))
    until = Period(start=period.start, end=instant(end))
    chosen = search.choice(until, search.needed)
    if chosen is not None:
        yield search.offer(until, chosen, OfferKind.LONGEST)
