# SPDX-License-Identifier: Apache-2.0

"""Makes offers that can be taken for a while, and holds the first if that is requested.

A hold is a booking like any other, but of a lease that users cannot see; see
:mod:`climate.db.booking.offers`.
"""

from __future__ import annotations

import dataclasses
import functools
import uuid
from collections.abc import Callable
from collections.abc import Iterator
from typing import Final

from climate import exceptions
from climate.booking.choosing import requirements
from climate.booking.choosing.choose import lock
from climate.booking.choosing.choose import LostRace
from climate.booking.choosing.choose import together
from climate.booking.offers import offers
from climate.booking.offers import ranked_offers
from climate.booking.offers.period_searches import offered
from climate.booking.requests import new_leases
from climate.booking.requests import prepare
from climate.booking.requests.amended_requests import amended
from climate.booking.requests.context import Context
from climate.booking.requests.new_leases import NewLease
from climate.booking.writing import commit
from climate.booking.writing.commit import AllocationRequest
from climate.db.transactions.store import Transaction
from climate.domain.offers import Offer
from climate.domain.offers import OfferPage
from climate.domain.offers import OfferQuery
from climate.domain.offers import StoredOffer
from climate.domain.offers import StoredOfferPage
from climate.domain.requests import Caller
from climate.enforcement import limits

_LOST: Final = (exceptions.BookedMeanwhile, exceptions.NotEnoughResources)


More = Callable[[Context, NewLease, OfferQuery, OfferPage], OfferPage]
"""Returns a page with further offers."""


def make(
    context: Context,
    caller: Caller,
    request: OfferQuery,
    offer_id: str | None = None,
    more: More | None = None,
) -> StoredOfferPage:
    """Find periods in which a request can be booked, and store them.

    :param offer_id: of the first offer; None for a generated one. Requests with the same
        id are tries of one request, which stores its offers once
    :param more: adds offers to those of free resources; None for none
    :raises climate.exceptions.InvalidInput: naming the field that is wrong
    :raises climate.exceptions.LeaseRefused: if a limit or a filter forbids every one
    :raises climate.exceptions.BookedMeanwhile: if other requests keep booking what is to
        be held
    """
    _check_hold(context, request)
    if offer_id is not None and (earlier := _earlier(context, caller, offer_id)) is not None:
        return earlier
    new = offers.asked(context, caller, request)
    keeping = OfferStorage(context, caller, request, new, offer_id)
    for _ in range(context.settings.booking_attempts):
        page = ranked_offers.find(context, new, request)
        if more is not None:
            page = more(context, new, request, page)
        try:
            kept = context.store.run(functools.partial(keeping.keep, page))
        except _LOST:
            # The first offer was booked since it was found: find another one.
            continue
        return StoredOfferPage(offers=kept, searched_until=page.searched_until)
    raise exceptions.BookedMeanwhile


def _check_hold(context: Context, request: OfferQuery) -> None:
    most = context.settings.max_hold
    if request.hold is None or request.hold <= most:
        return
    reason = f'at most {most.total_seconds():.0f} seconds are allowed'
    raise exceptions.MalformedParameter.of('hold', reason if most else 'this cloud holds no offers')


def _earlier(context: Context, caller: Caller, offer_id: str) -> StoredOfferPage | None:
    """Return the first offer that an earlier try has stored; None if none has."""
    with context.store.reading() as tx:
        found = tx.offers.find(offer_id, caller.project_id)
    if found is None:
        return None
    return StoredOfferPage(offers=(found,), searched_until=found.offer.period.start)


class OfferStorage:
    """Stores the offers for one request.

    :param new: the lease that is requested
    :param first_id: of the first offer; None for a generated one
    """

    def __init__(
        self,
        context: Context,
        caller: Caller,
        request: OfferQuery,
        new: NewLease,
        first_id: str | None,
    ) -> None:
        self._context = dataclasses.replace(context, filters=context.filters.local)
        self._caller = caller
        self._request = request
        self._new = new
        self._keyed = first_id is not None
        self._first_id = first_id or str(uuid.uuid4())

    def keep(self, page: OfferPage, tx: Transaction) -> tuple[StoredOffer, ...]:
        """Store offers, and hold the first one if that is requested.

        :raises climate.exceptions.LeaseRefused: if a limit or a filter forbids it
        :raises climate.exceptions.NotEnoughResources: if it was booked meanwhile
        :raises climate.booking.choosing.choose.LostRace: likewise
        :raises climate.exceptions.IdempotencyKeyInUse: if another try has stored offers
        """
        if self._keyed and tx.offers.find(self._first_id, self._caller.project_id) is not None:
            # The next try finds them, see _earlier().
            raise exceptions.IdempotencyKeyInUse(retry_after=1)
        kept = tuple(self._stored(tx, page))
        self._limit(tx, kept)
        if kept and self._request.hold is not None:
            kept = (self._hold(tx, kept[0]), *kept[1:])
        tx.offers.insert(kept)
        return kept

    def _stored(self, tx: Transaction, page: OfferPage) -> Iterator[StoredOffer]:
        for number, offer in enumerate(page.offers):
            expires_at = tx.now + self._context.settings.offer_lifetime
            if number == 0 and self._request.hold is not None:
                expires_at = max(expires_at, tx.now + self._request.hold)
            yield StoredOffer(
                id=str(uuid.uuid4()) if number else self._first_id,
                project_id=self._caller.project_id,
                user_id=self._caller.user_id,
                offer=offer,
                reservations=amended(self._request.stated, offer.requirements),
                created_at=tx.now,
                expires_at=min(expires_at, offer.period.start),
            )

    def _hold(self, tx: Transaction, one: StoredOffer) -> StoredOffer:
        """Book what an offer needs, for a lease that users cannot see."""
        assert self._request.hold is not None
        held_until = min(tx.now + self._request.hold, one.offer.period.start)
        if held_until <= tx.now:
            raise LostRace
        new, context = self._in(one.offer), self._context
        lease = new_leases.proposed(tx, new, prepare.NOTHING, None)
        for resource_type, name in new.things:
            tx.things.ensure(resource_type, name, one.project_id)
        needed = requirements.of_new_lease(
            new, lease.period, lease.period.padded(context.settings.cleaning_time)
        )
        choice, allocations = together(tx, context.settings, context.rng, needed)
        request = AllocationRequest(lease=lease, allocations=allocations, limits=new.limits)
        commit.check_filters(tx, context, self._caller, request)
        # The hold is no lease of the project, but has resources of it.
        allowed = dataclasses.replace(new.limits, leases=0)
        with limits.held(tx, allowed, lease, None, allocations, ()):
            writer = lock(tx, context.settings, choice)
            tx.leases.insert(dataclasses.replace(lease, deleted_at=held_until))
            tx.reservations.insert(lease.reservations)
            writer.insert(allocations)
        got = offered(needed, allocations, new.asked)
        offer: Offer = dataclasses.replace(one.offer, reservations=got)
        return dataclasses.replace(one, offer=offer, held_until=held_until)

    def _limit(self, tx: Transaction, kept: tuple[StoredOffer, ...]) -> None:
        """Check how many offers of the project are stored, and held.

        :raises climate.exceptions.LeaseRefused: if that would be too many
        """
        allowed, project_id = self._new.limits, self._caller.project_id
        holds = bool(kept) and self._request.hold is not None
        if (allowed.offers and kept) or (allowed.holds and holds):
            tx.projects.lock(project_id)
            with limits.refusing(None):
                allowed.check('offers', tx.offers.count(project_id) + len(kept))
                allowed.check('holds', tx.offers.count_held(project_id) + holds)

    def _in(self, offer: Offer) -> NewLease:
        """Return the lease of an offer."""
        draft = dataclasses.replace(
            self._new.draft,
            id=self._first_id,
            start=offer.period.start,
            end=offer.period.end,
            reservations=amended(self._new.draft.reservations, offer.requirements),
        )
        if offer.requirements:
            return new_leases.checked(self._context, self._caller, draft)
        return dataclasses.replace(self._new, draft=draft)
