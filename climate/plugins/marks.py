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
"""The marks by which Climate finds the objects of a reservation in Neutron.

Every object created for a reservation gets two tags, which existing tools use:
``blazar`` and ``reservation:<id>``. Neutron sets tags only on existing objects,
and a manager may die after creating one. So the description with which an object
is created repeats the second tag. The owner can change both, so the facts of the
reservation record the id of the object as well.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Protocol

from climate.plugins import contract

SERVICE_TAG = 'blazar'
_PREFIX = 'reservation:'


class Marked(Protocol):
    """An object that can be marked: a network or a floating IP."""

    @property
    def id(self) -> str:
        """Its id in Neutron."""
        ...

    @property
    def tags(self) -> frozenset[str]:
        """Its tags."""
        ...

    @property
    def description(self) -> str:
        """Its description."""
        ...


def of(reservation_id: str) -> str:
    """Return the tag of a reservation."""
    return f'{_PREFIX}{reservation_id}'


def tags(reservation_id: str) -> frozenset[str]:
    """Return all tags of the objects of a reservation."""
    return frozenset({SERVICE_TAG, of(reservation_id)})


def reservations(present: AbstractSet[str]) -> frozenset[str]:
    """Return the ids of the reservations that *present* tags name."""
    return frozenset(tag.removeprefix(_PREFIX) for tag in present if tag.startswith(_PREFIX))


def is_of(work: contract.Work, found: Marked, known_id: str | None) -> bool:
    """Whether the object *found* was created for the reservation of *work*.

    :param known_id: the id in the facts of the reservation; None if there is none
    """
    mine = of(work.reservation.id)
    if found.id == known_id or mine in found.tags:
        return True
    return not reservations(found.tags) and found.description == mine


def over(found: Marked, records: contract.Records) -> str | None:
    """Return the ended reservation that has left the object *found*.

    A manager that hung can have created the object after the end of the lease.
    It could not set tags then, so the object has only the description.

    :returns: None if no ended reservation names it, or also one that has not ended
    """
    named = reservations(found.tags)
    if not named:
        named = reservations(frozenset({found.description}))
    elif SERVICE_TAG not in found.tags:
        return None
    if named & records.alive:
        return None
    return min(named & records.ended, default=None)


def strange(found: Marked) -> bool:
    """Whether nothing says that the object *found* was created for a reservation."""
    return not reservations(found.tags | {found.description})
