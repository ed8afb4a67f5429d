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

"""Asks the database what is free for a wish."""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any

from climate.db.rooms import Room
from climate.db.rooms import Window
from climate.db.store import Transaction
from climate.domain.periods import Period
from climate.domain.resources import Candidate
from climate.leasing.settings import LeasingSettings
from climate.leasing.wishes import Wish


class Searches:
    """What is free for wishes; one object for as long as nothing is written.

    Wishes that ask for the same get the same answer, which is asked for once.
    What the lease itself has taken meanwhile is in the answers and has to be
    left out by the reader, so that choosing again costs no statement.

    :param rng: says where in the list of resources a sample begins
    :param together: how many resources all wishes together may take; what is
        not for a wish itself may be left out by its readers, and so many more
        are in its answer
    """

    def __init__(
        self, tx: Transaction, settings: LeasingSettings, rng: random.Random, together: int = 0
    ) -> None:
        self._tx = tx
        self._settings = settings
        self._rng = rng
        self._together = together
        self._pivots: dict[str, int] = {}
        self._whole: list[tuple[Any, list[Candidate]]] = []
        self._parts: list[tuple[Any, Iterator[list[Room]]]] = []

    def sample(self, wish: Wish) -> int:
        """Return how many resources are weighed."""
        return wish.maximum + self._settings.sample_size

    def _spare(self, wish: Wish, taken: Collection[int]) -> int:
        """Return how many resources of an answer the readers may leave out."""
        return max(self._together - wish.maximum, len(taken))

    def untouched(self, wish: Wish, padded: Period, taken: Collection[int]) -> list[Candidate]:
        """Return whole resources: those named, and a sample of the others.

        :param padded: the period with the time for cleaning
        :param taken: ids of what will not do
        """
        found = _kept(self._whole, (wish.match, wish.search.names, wish.only, padded))
        if found is None:
            # The reader leaves out what is taken, now or when it is read again.
            spare = self._spare(wish, taken)
            found = self._named(wish, padded) + self._sampled(wish, padded, spare)
            self._whole.append(((wish.match, wish.search.names, wish.only, padded), found))
        return [item for item in found if item.resource_id not in taken]

    def _named(self, wish: Wish, padded: Period) -> list[Candidate]:
        if not wish.search.names:
            return []
        match = wish.match_named(wish.search.names)
        return self._tx.resources.free(match, padded, limit=len(wish.search.names))

    def _sampled(self, wish: Wish, padded: Period, spare: int) -> list[Candidate]:
        limit = self.sample(wish) + spare
        options: dict[str, Any] = {'only_ids': wish.only}
        first = self._pivot(wish.search.resource_type)
        free = self._tx.resources.free
        found = free(wish.match, padded, first_id=first, limit=limit, **options)
        if len(found) < limit:
            # The end of the list came before enough was found: go on at its
            # beginning.
            limit -= len(found)
            found += free(wish.match, padded, before_id=first, limit=limit, **options)
        return found

    def rooms(self, wish: Wish, window: Window, never: Collection[int]) -> Iterator[list[Room]]:
        """Yield ever more resources with what is left of them.

        First what the wish has, then what is in use already, then a sample of
        the rest, then all.

        :param never: ids of what will not do
        """
        key = (wish.match, wish.search.demand, wish.only, tuple(wish.own), wish.maximum, window)
        found = _kept(self._parts, key)
        if found is None:
            spare = self._spare(wish, never)
            found = self._looks(wish, window, self.sample(wish) + spare)
        else:
            self._parts = [item for item in self._parts if item[0] != key]
        # Two readers of one source: what one has read is kept for the other.
        kept, found = itertools.tee(found)
        self._parts.append((key, kept))
        return found

    def _looks(self, wish: Wish, window: Window, limit: int) -> Iterator[list[Room]]:
        seen: dict[int, Room] = {}

        def look(**options: Any) -> None:
            only = options.pop('only', wish.only)
            found = self._tx.rooms.find(
                wish.match, wish.search.demand, window, only_ids=only, **options
            )
            seen.update((room.resource_id, room) for room in found)

        if wish.own:
            look(only=list(wish.own))
            yield list(seen.values())
        first = self._pivot(wish.search.resource_type)
        for loaded in (True, False):
            before = len(seen)
            look(loaded=loaded, first_id=first, limit=limit)
            if len(seen) - before < limit:
                look(loaded=loaded, before_id=first, limit=limit)
            yield list(seen.values())
        # What was not in the samples may have room, and so may what others
        # began or ceased to use between the looks.
        look()
        yield list(seen.values())

    def _pivot(self, resource_type: str) -> int:
        if resource_type not in self._pivots:
            found = self._tx.resources.pivot(resource_type, self._rng.random())
            self._pivots[resource_type] = found
        return self._pivots[resource_type]


def _kept(answers: Iterable[tuple[Any, Any]], key: Any) -> Any:
    """Return the answer to a question; None if it was not asked yet."""
    return next((answer for asked, answer in answers if asked == key), None)
