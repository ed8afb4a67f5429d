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
"""Why a wish cannot be fulfilled, for those who wish."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
from typing import Final

from climate import exceptions
from climate.db.rooms import Room
from climate.db.rooms import Window
from climate.db.store import Transaction
from climate.domain.periods import Period
from climate.domain.resources import Spread
from climate.leasing.wishes import Wish

_TOGETHER: Final[Mapping[Spread, Callable[[Collection[int]], int]]] = {
    Spread.ANY: sum,
    Spread.TOGETHER: lambda slots: max(slots, default=0),
    Spread.APART: len,
}
"""How many slots can be had in all, by how they may lie on resources."""


def of_wholes(tx: Transaction, wish: Wish, period: Period) -> exceptions.NotEnoughResources:
    """Return the refusal of whole resources.

    :param period: with the time for cleaning
    """
    matched, free, ends = tx.resources.reasons(wish.match, period)
    return exceptions.NotEnoughResources(
        wish.search.noun,
        matched=matched,
        free=free,
        first_blocker_ends=ends if matched >= wish.search.minimum else None,
    )


def of_parts(
    tx: Transaction, wish: Wish, window: Window, fit: Callable[[Room], int]
) -> exceptions.NotEnoughResources:
    """Return the refusal of parts of resources: it counts slots.

    :param fit: says how many slots there is room for
    """
    search = wish.search
    total = _TOGETHER[search.spread]
    matched = total(tx.rooms.sizes(wish.match, search.demand))
    rooms = tx.rooms.find(wish.match, search.demand, window)
    ends = None
    if matched >= search.minimum:
        ends = tx.rooms.first_end(wish.match, search.demand, window)
    return exceptions.NotEnoughResources(
        search.noun,
        matched=matched,
        free=total([slots for room in rooms if (slots := fit(room)) > 0]),
        first_blocker_ends=ends,
        too_large=not matched and tx.rooms.has(wish.match),
    )
