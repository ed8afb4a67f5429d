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


"""Stores the alternatives to a lease that was refused, so that they can be taken."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from collections.abc import Sequence

from climate.booking.amended_requests import of_alternative
from climate.booking.context import Context
from climate.db.store import Transaction
from climate.domain.offers import Offer
from climate.domain.offers import StoredOffer
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft


def store(
    context: Context, caller: Caller, draft: LeaseDraft, found: Sequence[Offer]
) -> tuple[Offer | StoredOffer, ...]:
    """Store alternatives; return them, those that cannot be stored as they are.

    Refusals store at most half as many offers as a project may have: a client that repeats
    a refused request does not keep the project from requesting offers.

    :param draft: the lease that was refused
    """
    most = context.settings.limits.of(caller.project_id).offers

    def stored(tx: Transaction) -> tuple[Offer | StoredOffer, ...]:
        if most and tx.offers.count(caller.project_id) + len(found) > most // 2:
            return tuple(found)
        kept = tuple(_stored(tx, context, caller, draft, found))
        tx.offers.insert(one for one in kept if isinstance(one, StoredOffer))
        return kept

    return context.store.run(stored)


def _stored(
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
