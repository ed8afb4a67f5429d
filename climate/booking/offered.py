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

"""What the reservations of a request would get of chosen resources."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence

from climate.allocation import shares
from climate.booking import candidates
from climate.booking.create import NewLease
from climate.booking.requirements import Requirements
from climate.domain.leases import Allocation
from climate.domain.offers import OfferedReservation


def reservations(
    needed: Sequence[Requirements], chosen: Sequence[Allocation], asked: Callable[[int], int]
) -> tuple[OfferedReservation, ...]:
    """Return what each reservation would get.

    :param needed: the requirements of the reservations
    :param chosen: the allocations of all of them
    :param asked: returns the place of a reservation as the caller counts them
    """
    return tuple(_offered(needed, chosen, asked))


def place(new: NewLease, position: int) -> int:
    """Return the place of a requested reservation that the one at *position* is a part of."""
    whole = new.requests[position].whole
    last = position if whole is None else whole
    return sum(one.whole is None for one in new.requests[:last])


def _offered(
    needed: Sequence[Requirements], chosen: Sequence[Allocation], asked: Callable[[int], int]
) -> Iterator[OfferedReservation]:
    for position, one in enumerate(needed):
        mine = [item for item in chosen if item.reservation_id == one.reservation_id]
        amount = sum(shares.slots(mine, one.search.demand).values())
        if candidates.is_thing(one):
            amount = one.search.minimum
        if amount:
            yield OfferedReservation(
                place=asked(position),
                resource_type=one.plugin.resource_type,
                amount=amount,
                classes={name: units for name, units in shares.total(mine).items() if name},
            )
