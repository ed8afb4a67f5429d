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

"""Allocations of resources as JSON."""

from __future__ import annotations

from typing import Any

from climate.api import dates
from climate.api.microversions import Microversion
from climate.api.microversions import V1_1
from climate.api.microversions import V1_4
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
