# SPDX-License-Identifier: Apache-2.0

"""What owners have, and how they use it, from the reservations of a notification."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

from climate.domain import wording

_MOST_USES: Final = 20

Reservations = Sequence[Mapping[str, Any]]


def lines(reservations: Reservations) -> tuple[str, ...]:
    """Return a line for each reservation: what it holds, and its id.

    :raises KeyError: if they are not as Climate sends them; TypeError and ValueError likewise
    """
    return tuple(_line(one) for one in reservations if not one.get('part_of'))


def uses(reservations: Reservations) -> tuple[tuple[str, str], ...]:
    """Return what the owner can do with them: titles, and texts to copy.

    :raises KeyError: if they are not as Climate sends them; TypeError and ValueError likewise
    """
    ways = [
        (str(one['title']), str(one['command'] or one['value']))
        for reservation in reservations
        for one in reservation.get('instructions') or ()
    ]
    return tuple(ways[:_MOST_USES])


def _line(reservation: Mapping[str, Any]) -> str:
    if 'noun' not in reservation:
        # Notifications that do not say what is held.
        return f'{reservation["resource_type"]}, {reservation["status"]}'
    held = wording.phrase(
        reservation.get('request') or {},
        str(reservation['noun_one']),
        str(reservation['noun']),
        [str(one['name']) for one in reservation['resources']],
        int(reservation['resources_count']),
    )
    return f'{held} (reservation {reservation["id"]})'
