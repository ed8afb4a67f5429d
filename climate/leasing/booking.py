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

"""Finds free resources and takes them, inside one transaction."""

from __future__ import annotations

import dataclasses
import datetime
import random
from collections.abc import Collection
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.db.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.periods import Period
from climate.domain.resources import Candidate
from climate.leasing.settings import LeasingSettings
from climate.plugins import base


class LostRace(Exception):
    """Somebody else booked a chosen resource; choose again, in a new transaction."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """What one reservation needs beyond what it has.

    :ivar minimum: how many more at least
    :ivar maximum: how many more at most
    :ivar private: whether the caller may ask for private properties
    """

    plugin: base.Plugin[Any]
    request: Any
    period: Period
    minimum: int
    maximum: int
    private: bool


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Choice:
    """What was chosen for a wish, to be looked at again if somebody interferes."""

    search: base.Search
    wish: Wish
    period: Period
    ids: frozenset[int]


class Booking:
    """Chooses among what is free; one for each transaction.

    :param rng: breaks ties, so that equal searchers choose differently
    """

    def __init__(self, tx: Transaction, settings: LeasingSettings, rng: random.Random) -> None:
        self._tx = tx
        self._settings = settings
        self._rng = rng
        self._generations: dict[int, int] = {}
        self._kept: dict[int, Period] = {}
        self._chosen: list[_Choice] = []

    def choose(self, wish: Wish, *, taken: Collection[int] = ()) -> tuple[Candidate, ...]:
        """Choose resources for a wish.

        :param taken: ids of resources that the lease has already
        :raises climate.exceptions.NotEnoughResources: with the reasons
        """
        search = wish.plugin.search(wish.request)
        period = wish.period.padded(self._settings.cleaning_time)
        candidates = self._candidates(search, wish, period, {*taken, *self._generations})
        snapshot = base.Snapshot(
            start=wish.period.start,
            end=wish.period.end,
            minimum=wish.minimum,
            maximum=wish.maximum,
            candidates=tuple(candidates),
        )
        pick = wish.plugin.choose(wish.request, snapshot, self._rng)
        if isinstance(pick, base.NotEnough):
            raise self._refusal(search, wish, period)
        ids = {item.resource_id: item.generation for item in pick.candidates}
        self._generations.update(ids)
        self._chosen.append(_Choice(search=search, wish=wish, period=period, ids=frozenset(ids)))
        return pick.candidates

    def keep(self, generations: Mapping[int, int], period: Period) -> None:
        """Remember on which state of resources the lease has already the decision rests.

        :param generations: resource id -> generation, read before the decision
        """
        self._generations.update(generations)
        self._kept.update(dict.fromkeys(generations, period.padded(self._settings.cleaning_time)))

    def take(self, own_reservations: Collection[str]) -> None:
        """Take the right to book what was chosen; from here on nobody else can.

        :param own_reservations: whose allocations are not in the way
        :raises LostRace: if somebody else has it by now
        """
        if not self._generations or self._tx.resources.claim_generations(self._generations):
            return
        # Something about one of them has changed: another booking, perhaps for
        # another time, or the resource itself. The rows are locked by now, so
        # what is looked up here cannot change any more; looking again instead
        # of choosing again keeps a busy resource from starving anybody.
        if not self._still_good(own_reservations):
            raise LostRace
        current = self._tx.resources.generations(self._generations)
        if set(current) != set(self._generations):
            raise LostRace
        if not self._tx.resources.claim_generations(current):
            raise LostRace

    def _still_good(self, own_reservations: Collection[str]) -> bool:
        for choice in self._chosen:
            again = self._tx.resources.free(
                choice.search.resource_type,
                choice.period,
                requirement=choice.search.requirement,
                private=choice.wish.private,
                only_ids=choice.ids,
                limit=len(choice.ids),
            )
            if len(again) < len(choice.ids):
                return False
        return not any(
            self._tx.allocations.clashes([resource_id], period, own_reservations)
            for resource_id, period in self._kept.items()
        )

    def _candidates(
        self, search: base.Search, wish: Wish, period: Period, taken: Collection[int]
    ) -> list[Candidate]:
        resources = self._tx.resources
        limit = wish.maximum + self._settings.sample_size
        options: dict[str, Any] = {
            'requirement': search.requirement,
            'private': wish.private,
            'except_ids': taken,
            'limit': limit,
        }
        first = resources.pivot(search.resource_type, self._rng.random())
        found = resources.free(search.resource_type, period, first_id=first, **options)
        if len(found) < limit:
            # The end of the list came before enough was found: go on at its
            # beginning.
            options['limit'] = limit - len(found)
            found += resources.free(search.resource_type, period, before_id=first, **options)
        return found

    def _refusal(
        self, search: base.Search, wish: Wish, period: Period
    ) -> exceptions.NotEnoughResources:
        matched, free, ends = self._tx.resources.reasons(
            search.resource_type, period, search.requirement, private=wish.private
        )
        return exceptions.NotEnoughResources(
            search.noun, matched=matched, free=free, first_blocker_ends=ends
        )


def allocations(
    reservation_id: str, candidates: Collection[Candidate], period: Period
) -> list[Allocation]:
    """Return whole-resource allocations of what was chosen."""
    return [
        Allocation(
            reservation_id=reservation_id,
            resource_id=candidate.resource_id,
            resource_name=candidate.name,
            period=period,
        )
        for candidate in candidates
    ]


def from_now(period: Period, now: datetime.datetime) -> Period:
    """Return the part of *period* that is not over yet.

    A lease that starts "now" says the beginning of the minute; what others
    had until a moment ago must not be in its way.
    """
    return Period(start=min(max(period.start, now), period.end - _SHORTEST), end=period.end)


_SHORTEST = datetime.timedelta(microseconds=1)


def plugin_of(plugins: Mapping[str, base.Plugin[Any]], resource_type: Any) -> base.Plugin[Any]:
    """Return the plugin of a type.

    :raises climate.exceptions.UnsupportedResourceType: if there is none
    """
    plugin = plugins.get(resource_type) if isinstance(resource_type, str) else None
    if plugin is None:
        shown = resource_type if isinstance(resource_type, str) else repr(resource_type)
        raise exceptions.UnsupportedResourceType(resource_type=shown[:100])
    return plugin
