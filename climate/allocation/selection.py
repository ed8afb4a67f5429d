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

"""Which of the free resources to take: those that leave the smallest holes."""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence

from climate.domain.resources import Candidate

_NOTHING = datetime.timedelta(0)


class TooFew(ValueError):
    """Fewer resources are free than are needed at least.

    :ivar free: how many there are
    :ivar minimum: how many are needed
    """

    def __init__(self, free: int, minimum: int) -> None:
        super().__init__(f'{free} free, at least {minimum} needed')
        self.free = free
        self.minimum = minimum


def choose(
    candidates: Sequence[Candidate],
    start: datetime.datetime,
    end: datetime.datetime,
    minimum: int,
    maximum: int,
    rng: random.Random,
) -> tuple[Candidate, ...]:
    """Take as many candidates as there are, up to *maximum*, the tightest first.

    A booking cuts the free time around it into a hole before and a hole after.
    Best is the candidate where both are smallest together, so that long free
    stretches stay whole for those who need them:

    1. what is busy on both sides, by the sum of the two holes: 0 is a perfect fit;
    2. what is busy on one side only, by the hole on that side;
    3. what is never used, which is kept for last.

    Equally good ones are taken in random order, so that processes which book
    at the same time seldom want the same. The same input with an *rng* in the
    same state gives the same choice. A candidate that is busy within the period
    after all is passed over, and one that is listed twice is taken once.

    :param start: start of the wanted period (aware UTC)
    :param end: end of the wanted period (aware UTC)
    :returns: between *minimum* and *maximum* candidates, the best first
    :raises TooFew: if there are fewer than *minimum*
    :raises ValueError: if not ``0 <= minimum <= maximum``
    """
    if not 0 <= minimum <= maximum:
        raise ValueError('a choice needs 0 <= minimum <= maximum')
    usable = list({c.resource_id: c for c in candidates if _is_free(c, start, end)}.values())
    if len(usable) < minimum:
        raise TooFew(len(usable), minimum)
    # The sort keeps the order of equals, which the shuffle has made random.
    rng.shuffle(usable)
    usable.sort(key=lambda candidate: _waste(candidate, start, end))
    return tuple(usable[:maximum])


def _is_free(candidate: Candidate, start: datetime.datetime, end: datetime.datetime) -> bool:
    before, after = candidate.busy_until, candidate.busy_from
    return (before is None or before <= start) and (after is None or end <= after)


def _waste(
    candidate: Candidate, start: datetime.datetime, end: datetime.datetime
) -> tuple[int, datetime.timedelta]:
    """Return how many holes have no bound, and how long the others are together."""
    holes = (
        None if candidate.busy_until is None else start - candidate.busy_until,
        None if candidate.busy_from is None else candidate.busy_from - end,
    )
    bounded = [hole for hole in holes if hole is not None]
    return len(holes) - len(bounded), sum(bounded, _NOTHING)
