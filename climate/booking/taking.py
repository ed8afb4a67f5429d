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
from climate.booking import alternatives
from climate.booking import commit
from climate.booking import create
from climate.booking import offers
from climate.booking import prepare
from climate.booking import rehearsal
from climate.booking.choose import Choice
from climate.booking.choose import LostRace
from climate.booking.context import Context
from climate.booking.create import Chosen
from climate.booking.create import NewLease
from climate.booking.rehearsal import Rehearsed
from climate.booking.requirements import Requirements
from climate.db.store import Transaction
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


def take(context: Context, caller: Caller, draft: LeaseDraft, offer: StoredOffer) -> Lease:
    """Create the lease of an offer.

    :param draft: of the lease, with the period and the reservations of the offer
    :raises climate.exceptions.OfferGone: if it has expired, or was booked meanwhile
    :raises climate.exceptions.Conflict: if it was taken
    :raises climate.exceptions.LeaseRefused: if a limit or a filter forbids the lease; the
        offer can still be taken
    """
    if draft.id is not None and (found := create.earlier(context, draft.id)) is not None:
        return found
    try:
        taking = _taking(context, caller, draft, offer, store=True)
        return create.booked(
            context,
            taking.new,
            lambda trust_id, findings: taking.steps(context, findings, trust_id),
        )
    except exceptions.NotEnoughResources as error:
        raise _gone(context, caller, draft, offer, _BOOKED, store=True) from error


def rehearse(context: Context, caller: Caller, draft: LeaseDraft, offer: StoredOffer) -> Rehearsed:
    """Return what :func:`take` would do.

    :raises climate.exceptions.ClimateError: if it would be refused
    """
    try:
        taking = _taking(context, caller, draft, offer, store=False)
        return rehearsal.rehearsed(context, caller, taking.steps)
    except exceptions.NotEnoughResources as error:
        raise _gone(context, caller, draft, offer, _BOOKED, store=False) from error


def _taking(
    context: Context, caller: Caller, draft: LeaseDraft, offer: StoredOffer, *, store: bool
) -> Taking:
    if offer.lease_id is not None:
        raise _taken(offer)
    if offer.expires_at <= context.clock.now():
        raise _gone(context, caller, draft, offer, _EXPIRED, store=store)
    return Taking(create.checked(context, caller, draft), offer.id)


class Taking:
    """Takes one offer, in one transaction or several.

    :ivar new: the lease
    """

    def __init__(self, new: NewLease, offer_id: str) -> None:
        self.new = new
        self._offer_id = offer_id

    def steps(
        self, context: Context, findings: prepare.Findings, trust_id: str | None = None
    ) -> commit.Steps[TakenOffer]:
        """Return the steps that book the lease."""
        return commit.Steps(
            choose=lambda tx: self._choose(tx, context, findings, trust_id),
            write=lambda tx, taken, _: self._write(tx, context, taken, findings),
        )

    def _choose(
        self, tx: Transaction, context: Context, findings: prepare.Findings, trust_id: str | None
    ) -> TakenOffer | prepare.Missing:
        offer = tx.offers.get(self._offer_id, self.new.caller.project_id)
        if offer.lease_id is not None:
            raise _taken(offer)
        held: Mapping[str, str] = {}
        pick = None
        if offer.is_held(tx.now):
            held = self._renamed(tx.reservations.of_leases([offer.id]))
            pick = functools.partial(_held, tx, held)
        found = create.choose(tx, context, self.new, findings, trust_id, pick)
        if isinstance(found, prepare.Missing):
            return found
        return TakenOffer(
            lease=found.lease,
            allocations=found.allocations,
            limits=found.limits,
            choice=found.choice,
            held=held,
            offer=offer,
        )

    def _write(
        self, tx: Transaction, context: Context, taken: TakenOffer, findings: prepare.Findings
    ) -> Lease:
        if not tx.offers.take(taken.offer, taken.lease.id, held=bool(taken.held)):
            # Taken or deleted by another request, or its hold has ended: look again.
            raise LostRace
        lease = create.write(tx, context, taken, findings)
        if taken.held:
            tx.offers.delete_hold(taken.offer.id)
        return lease

    def _renamed(self, old: Sequence[Reservation]) -> Mapping[str, str]:
        """Return the new ids of the reservations, by those of the hold.

        :raises climate.exceptions.Conflict: if they are not the same any more
        """
        if [_shape(one.resource_type, one.request) for one in old] != [
            _shape(one.plugin.resource_type, one.needs.stored) for one in self.new.requests
        ]:
            raise exceptions.Conflict(
                f'What offer {self._offer_id} reserves has changed since, such as a flavor; '
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
    """Return what tells whether two reservations are of the same."""
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
