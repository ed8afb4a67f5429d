# SPDX-License-Identifier: Apache-2.0
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

    @property
    def tags(self) -> frozenset[str]:
        """Its tags."""

    @property
    def description(self) -> str:
        """Its description."""


def of(reservation_id: str) -> str:
    """Return the tag of a reservation."""
    return f'{_PREFIX}{reservation_id}'


def tags(reservation_id: str) -> frozenset[str]:
    """Return all tags of the objects of a reservation."""
    return frozenset({SERVICE_TAG, of(reservation_id)})


def reservations(present: AbstractSet[str]) -> frozenset[str]:
    """Return the ids of the reservations that *present* tags name."""
    return frozenset(tag.removeprefix(_PREFIX) for tag in present if tag.startswith(_PREFIX))


def is_of(work: contract.Work, item: Marked, known_id: str | None) -> bool:
    """Whether the object *item* was created for the reservation of *work*.

    :param known_id: the id in the facts of the reservation; None if there is none
    """
    mine = of(work.reservation.id)
    if item.id == known_id or mine in item.tags:
        return True
    return not reservations(item.tags) and item.description == mine


def over(item: Marked, records: contract.Records) -> str | None:
    """Return the ended reservation that has left the object *item*.

    A manager that hung can have created the object after the end of the lease.
    It could not set tags then, so the object has only the description.

    :returns: None if no ended reservation names it, or also one that has not ended
    """
    named = reservations(item.tags)
    if not named:
        named = reservations(frozenset({item.description}))
    elif SERVICE_TAG not in item.tags:
        return None
    if named & records.alive:
        return None
    return min(named & records.ended, default=None)


def strange(item: Marked) -> bool:
    """Whether nothing says that the object *item* was created for a reservation."""
    return not reservations(item.tags | {item.description})
