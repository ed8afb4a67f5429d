# SPDX-License-Identifier: Apache-2.0

"""Allocations of resources as JSON."""

from __future__ import annotations

from typing import Any

from climate.api.http import dates
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_1
from climate.api.http.microversions import V1_4
from climate.domain.requests import ResourceCalendar


def allocation(value: ResourceCalendar, version: Microversion) -> dict[str, Any]:
    """Return one host with its reservations, in order of time."""
    shown: dict[str, Any] = {
        # The same string as the host's id: the dashboard joins the two.
        'resource_id': str(value.resource_id),
        'reservations': [
            {
                'id': busy.reservation_id,
                'lease_id': busy.lease_id,
                'start_date': dates.write(busy.start, version),
                'end_date': dates.write(busy.end, version),
            }
            for busy in sorted(value.busy, key=lambda busy: (busy.start, busy.reservation_id))
        ],
    }
    if version >= V1_1:
        shown['resource_name'] = value.resource_name
    if version >= V1_4:
        held = {busy.reservation_id: busy.held_until for busy in value.busy}
        for one in shown['reservations']:
            one['held_until'] = dates.write(held[one['id']], version)
    return shown


def amounts(value: ResourceCalendar, version: Microversion) -> dict[str, Any]:
    """Return one resource as :func:`allocation` does, with the reserved amounts.

    The amounts are by resource class, and empty where the whole resource is reserved.
    """
    shown = allocation(value, version)
    taken = {busy.reservation_id: busy.amounts for busy in value.busy}
    for busy in shown['reservations']:
        busy['resources'] = dict(taken[busy['id']])
    return shown
