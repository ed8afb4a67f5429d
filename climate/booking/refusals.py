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
"""Refusals of requests that cannot be met, with the reasons for users."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

from climate import exceptions
from climate.booking.requirements import Requirements
from climate.db.rooms import Room
from climate.db.rooms import Window
from climate.db.store import Transaction
from climate.domain.resources import Spread

_TOTAL: Final[Mapping[Spread, Callable[[Collection[int]], int]]] = {
    Spread.ANY: sum,
    Spread.TOGETHER: lambda slots: max(slots, default=0),
    Spread.APART: len,
}
"""The number of usable slots, by how they may be distributed over resources."""


def of_wholes(tx: Transaction, needed: Requirements) -> exceptions.NotEnoughResources:
    """Return the refusal of a request for whole resources."""
    matched, free, ends = tx.search.reasons(needed.match, needed.padded)
    return exceptions.NotEnoughResources(
        needed.search.noun,
        matched=matched,
        free=free,
        first_blocker_ends=ends if matched >= needed.search.minimum else None,
    )


def of_parts(
    tx: Transaction, needed: Requirements, window: Window, fit: Callable[[Room], int]
) -> exceptions.NotEnoughResources:
    """Return the refusal of a request for parts of resources, which counts slots.

    :param fit: returns how many slots fit into a room
    """
    search = needed.search
    total = _TOTAL[search.spread]
    matched = total(tx.rooms.sizes(needed.match, search.demand))
    rooms = tx.rooms.find(needed.match, search.demand, window)
    ends = None
    if matched >= search.minimum:
        ends = tx.rooms.first_end(needed.match, search.demand, window)
    return exceptions.NotEnoughResources(
        search.noun,
        matched=matched,
        free=total([slots for room in rooms if (slots := fit(room)) > 0]),
        first_blocker_ends=ends,
        too_large=not matched and tx.rooms.has(needed.match),
    )


@contextlib.contextmanager
def naming(resource_types: Sequence[str], place: int) -> Iterator[None]:
    """Have a refusal name the reservation of a lease that cannot be booked.

    If there is only one, the text stays as clients know it.

    :param resource_types: of the reservations of the lease
    """
    try:
        yield
    except exceptions.NotEnoughResources as error:
        error.resource_type = resource_types[place]
        if len(resource_types) > 1:
            error.place = place
        raise
