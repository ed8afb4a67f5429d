# SPDX-License-Identifier: Apache-2.0

"""Takes an offer: creates the lease, of exactly the resources that are held for it.

If they are not held, or no longer, taking is like creating the lease without an offer.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

from climate import exceptions
from climate.booking.choosing.choose import Choice
from climate.booking.choosing.choose import LostRace
from climate.booking.choosing.requirements import Requirements
from climate.booking.offers import alternatives
from climate.booking.offers import offers
from climate.booking.requests import new_leases
from climate.booking.requests import prepare
from climate.booking.requests.context import Context
from climate.booking.writing import create
from climate.booking.writing import rehearsal
from climate.booking.writing.create import Chosen
from climate.booking.writing.rehearsal import DryRun
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.offers import StoredOffer
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft

_EXPIRED: Final = 'has expired'
_BOOKED: Final = 'cannot be taken any more: others have booked its resources'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class TakenOffer(Chosen):
    """The lease of an offer that is not written yet.

    :ivar offer: as it was when its resources were chosen
    """

    offer: StoredOffer


def take(
    context: Context,
    caller: Caller,
    draft: LeaseDraft,
    offer: StoredOffer,
    work: type[TakingWork] | None = None,
) -> Lease:
    """Create the lease of an offer.

    :param draft: of the lease, with the period and the reservations of the offer
    :param work: what books it; None for :class:`TakingWork`
    :raises climate.exceptions.OfferGone: if it has expired, or was booked meanwhile
    :raises climate.exceptions.Conflict: if it was taken
    :raises climate.exceptions.LeaseRefused: if a limit or a filter forbids the lease; the
        offer can still be taken
    """
    if draft.id is not None and (found := create.earlier(context, draft.id)) is not None:
        return found
    try:
        return create.booked(_work(context, caller, draft, offer, work, store=True))
    except exceptions.NotEnoughResources as error:
        raise _gone(context, caller, draft, offer, _BOOKED, store=True) from error


def rehearse(
    context: Context,
    caller: Caller,
    draft: LeaseDraft,
    offer: StoredOffer,
    work: type[TakingWork] | None = None,
) -> DryRun:
    """Return what :func:`take` would do.

    :raises climate.exceptions.ClimateError: if it would be refused
    """
    try:
        return rehearsal.rehearse(_work(context, caller, draft, offer, work, store=False))
    except exceptions.NotEnoughResources as error:
        raise _gone(context, caller, draft, offer, _BOOKED, store=False) from error


def _work(
    context: Context,
    caller: Caller,
    draft: LeaseDraft,
    offer: StoredOffer,
    work: type[TakingWork] | None,
    *,
    store: bool,
) -> TakingWork:
    if offer.lease_id is not None:
        raise _taken(offer)
    if offer.expires_at <= context.clock.now():
        raise _gone(context, caller, draft, offer, _EXPIRED, store=store)
    new = new_leases.checked(context, caller, draft)
    return (work or TakingWork)(context=context, caller=caller, new=new, offer_id=offer.id)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TakingWork(create.LeaseWork[TakenOffer]):
    """Takes one offer, in one transaction or several."""

    offer_id: str

    def choose(self, tx: Transaction) -> TakenOffer | prepare.Missing:
        """Choose what is held for the offer, or else what is free."""
        offer = tx.offers.get(self.offer_id, self.caller.project_id)
        if offer.lease_id is not None:
            raise _taken(offer)
        held: Mapping[str, str] = {}
        pick = None
        if offer.is_held(tx.now):
            held = self._renamed(tx.reservations.of_leases([offer.id]))
            pick = functools.partial(_held, tx, held)
        chosen = self.chosen(tx, pick)
        if isinstance(chosen, prepare.Missing):
            return chosen
        return TakenOffer(
            lease=chosen.lease,
            allocations=chosen.allocations,
            limits=chosen.limits,
            choice=chosen.choice,
            held=held,
            offer=offer,
        )

    def write(self, tx: Transaction, request: TakenOffer, charge_id: str | None = None) -> Lease:
        """Write the lease, and end the hold.

        :raises climate.booking.choosing.choose.LostRace: if the choice is out of date
        """
        if not tx.offers.take(request.offer, request.lease.id, held=bool(request.held)):
            # Taken or deleted by another request, or its hold has ended: look again.
            raise LostRace
        lease = super().write(tx, request, charge_id)
        if request.held:
            tx.offers.delete_hold(request.offer.id)
        return lease

    def _renamed(self, old: Sequence[Reservation]) -> Mapping[str, str]:
        """Return the new ids of the reservations, by those of the hold.

        :raises climate.exceptions.Conflict: if they are not the same any more
        """
        if [_shape(one.resource_type, one.request) for one in old] != [
            _shape(one.plugin.resource_type, one.needs.stored) for one in self.new.requests
        ]:
            raise exceptions.Conflict(
                f'What offer {self.offer_id} reserves has changed since, such as a flavor; '
                'please ask for new offers'
            )
        return {one.id: new_id for one, new_id in zip(old, self.new.ids, strict=True)}


def _held(
    tx: Transaction, held: Mapping[str, str], _: Sequence[Requirements]
) -> tuple[Choice, tuple[Allocation, ...]]:
    """Choose what is held.

    Also a resource that has failed since, or that an operator has disabled: managers move
    the lease off it, as any other that was booked before.

    :param held: the new ids of the reservations, by those of the hold
    """
    current = tx.allocations.live_of(list(held))
    generations = tx.resources.generations({item.resource_id for item in current})
    return Choice(generations=generations, chosen=(), changing=()), tuple(
        dataclasses.replace(item, reservation_id=held[item.reservation_id]) for item in current
    )


def _shape(resource_type: str, request: Mapping[str, Any]) -> tuple[str, str]:
    """Return a key that is equal for equal reservations."""
    return resource_type, json.dumps(request, sort_keys=True)


def _taken(offer: StoredOffer) -> exceptions.Conflict:
    return exceptions.Conflict(f'Offer {offer.id} was taken already, by lease {offer.lease_id}')


def _gone(
    context: Context,
    caller: Caller,
    draft: LeaseDraft,
    offer: StoredOffer,
    why: str,
    *,
    store: bool,
) -> exceptions.OfferGone:
    """Return the error for an offer that is gone, with alternatives.

    :param store: whether the caller can take them
    """
    error = exceptions.OfferGone(offer_id=offer.id, why=why)
    start = offers.takeable(draft.start, context.clock.now())
    later = dataclasses.replace(draft, start=start, end=start + offer.offer.period.length)
    alternatives.add(context, caller, later, error, store=store)
    return error
