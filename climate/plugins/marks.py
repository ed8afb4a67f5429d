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
"""The marks by which Climate finds what a reservation has in Neutron.

Everything made for a reservation gets two tags, which existing tools use:
``blazar`` and ``reservation:<id>``. Neutron sets tags only on existing objects,
and a manager may die in between; so the second one is also the description with
which a thing is made. The owner of a thing can change both,
so its id is remembered with the reservation as well.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Protocol

from climate.plugins import contract

SERVICE_TAG = 'blazar'
_PREFIX = 'reservation:'


class Marked(Protocol):
    """What bears marks: a network or a floating IP."""

    @property
    def id(self) -> str:
        """Neutron's id of it."""
        ...

    @property
    def tags(self) -> frozenset[str]:
        """Its tags."""
        ...

    @property
    def description(self) -> str:
        """What is said about it."""
        ...


def of(reservation_id: str) -> str:
    """Return the tag that belongs to one reservation."""
    return f'{_PREFIX}{reservation_id}'


def tags(reservation_id: str) -> frozenset[str]:
    """Return all tags that what a reservation has bears."""
    return frozenset({SERVICE_TAG, of(reservation_id)})


def reservations(present: AbstractSet[str]) -> frozenset[str]:
    """Return the ids of the reservations that *present* tags name."""
    return frozenset(tag.removeprefix(_PREFIX) for tag in present if tag.startswith(_PREFIX))


def is_of(work: contract.Work, found: Marked, known_id: str | None) -> bool:
    """Whether what was *found* was made for the reservation of *work*.

    :param known_id: what the reservation remembers; None if nothing
    """
    mine = of(work.reservation.id)
    if found.id == known_id or mine in found.tags:
        return True
    return not reservations(found.tags) and found.description == mine


def over(found: Marked, records: contract.Records) -> str | None:
    """Return the reservation that is over and has left what was *found*.

    A manager that hung can have made it when the lease was over, and cannot
    have set tags on it then: it bears its description only.

    :returns: None if it is not known to be of one, or also of one that is not over
    """
    named = reservations(found.tags)
    if not named:
        named = reservations(frozenset({found.description}))
    elif SERVICE_TAG not in found.tags:
        return None
    if named & records.alive:
        return None
    return min(named & records.ended, default=None)
