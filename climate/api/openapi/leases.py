# SPDX-License-Identifier: Apache-2.0

"""The components that describe leases, at each microversion."""

from __future__ import annotations

from climate.api.http import json_schema
from climate.api.http.json_schema import by_name
from climate.api.http.json_schema import COUNT
from climate.api.http.json_schema import Json
from climate.api.http.json_schema import listed
from climate.api.http.json_schema import record
from climate.api.http.json_schema import ref
from climate.api.http.json_schema import TEXT
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_5
from climate.api.http.microversions import V1_7
from climate.api.http.microversions import V1_8
from climate.api.views import fields
from climate.api.views import leases


def components(version: Microversion) -> dict[str, Json]:
    """Return the components of leases at a microversion, by name."""
    lease = fields.properties(leases.LEASE, version)
    listed_lease = {**lease}
    if version >= V1_7:
        listed_lease['reservations'] = listed(ref('ListedReservation'))
    return {
        'Lease': record(lease),
        # From 1.5 on clients can choose the fields.
        'ListedLease': record(listed_lease, optional=lease if version >= V1_5 else ()),
        **_reservations(version),
        'Rehearsal': _rehearsal(version),
        'Event': record(fields.properties(leases.EVENT, version)),
        'Readiness': leases.READINESS,
    }


def _reservations(version: Microversion) -> dict[str, Json]:
    """Return the common part of reservations; each resource type adds fields."""
    optional = fields.optional(leases.RESERVATION)
    common = fields.properties(leases.RESERVATION, version)
    shown = {**common, **fields.properties(leases.HELD, version)}
    schemas = {'Reservation': record(shown, optional=optional, closed=False)}
    if version >= V1_7:
        schemas['ListedReservation'] = record(common, optional=optional, closed=False)
        schemas['HeldResource'] = leases.HELD_RESOURCE
        schemas['Instruction'] = leases.INSTRUCTION
    return schemas


def _rehearsal(version: Microversion) -> Json:
    chosen = record(
        {
            'id': json_schema.UUID,
            'resource_type': TEXT,
            'resources': COUNT,
            'classes': by_name(COUNT),
            'resource_names': listed(TEXT),
        },
        optional=('resource_names',),
    )
    shown = {
        'lease': ref('Lease'),
        'reservations': listed(chosen),
        'filters_not_asked': listed(TEXT),
    }
    if version >= V1_8:
        time = fields.properties(leases.LEASE, version)['start_date']
        moved = record({'id': json_schema.UUID, 'name': TEXT, 'start_date': time, 'end_date': time})
        shown['displaced'] = record({'leases': listed(moved), 'others': COUNT})
    return record(shown)
