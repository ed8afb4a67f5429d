# SPDX-License-Identifier: Apache-2.0

"""The placement of a reservation, with its members, as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from climate.domain.leases import Reservation
from climate.domain.placements import dumped
from climate.domain.placements import MemberPlacement
from climate.leases import reading
from climate.leases.reading import Describer


def placement(
    value: MemberPlacement, reservation: Reservation, describer: Describer | None
) -> dict[str, Any]:
    """Return a placement with the table of its members.

    :param describer: the plugin of the type; None if the type is no longer served
    """
    rows = _members(reservation, describer)
    return {**dumped(value), 'members': [{'member': i, **row} for i, row in enumerate(rows)]}


def _members(reservation: Reservation, describer: Describer | None) -> Iterator[dict[str, Any]]:
    """Yield a row for each member, those that were placed first first."""
    demand = reading.demand(describer, reservation) if describer else {}
    for one in reservation.placed:
        counts = [one.amounts.get(name, 0) // units for name, units in demand.items() if units]
        for _ in range(min(counts, default=1)):
            yield {
                'resource_id': str(one.resource_id),
                'resource_name': one.resource_name,
                'properties': dict(one.properties),
            }
