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

"""The components that describe leases, at each microversion."""

from __future__ import annotations

from typing import Final

from climate.api.microversions import Microversion
from climate.api.microversions import V1_1
from climate.api.microversions import V1_3
from climate.api.microversions import V1_4
from climate.api.microversions import V1_5
from climate.api.microversions import V1_7
from climate.api.openapi import schemas
from climate.api.openapi.schemas import BOOLEAN
from climate.api.openapi.schemas import by_name
from climate.api.openapi.schemas import COUNT
from climate.api.openapi.schemas import Json
from climate.api.openapi.schemas import listed
from climate.api.openapi.schemas import or_null
from climate.api.openapi.schemas import record
from climate.api.openapi.schemas import ref
from climate.api.openapi.schemas import TEXT
from climate.api.openapi.schemas import WHOLE
from climate.domain.holdings import MOST_SHOWN
from climate.domain.leases import NOTICES
from climate.domain.lifecycles import LeaseStatus

_TIME: Final = ref('Time')
_TIME_OR_NULL: Final = or_null(_TIME)
_RECORD_TIME: Final = or_null(ref('RecordTime'))
_CREATED: Final[Json] = {'created_at': _RECORD_TIME, 'updated_at': _RECORD_TIME}


def components(version: Microversion) -> dict[str, Json]:
    """Return the components of leases at a microversion, by name."""
    lease: Json = {
        'id': schemas.UUID,
        'name': TEXT,
        'user_id': TEXT,
        'project_id': TEXT,
        'start_date': _TIME,
        'end_date': _TIME,
        'trust_id': schemas.NULL,
        'status': {**TEXT, 'enum': [one.value for one in LeaseStatus]},
        'degraded': BOOLEAN,
        **_CREATED,
        'reservations': listed(ref('Reservation')),
        'events': listed(ref('Event')),
    }
    if version >= V1_1:
        lease['before_end_date'] = _TIME_OR_NULL
        lease['notify_before_start'] = or_null(listed(WHOLE))
    if version >= V1_3:
        lease['notices'] = or_null(listed({**TEXT, 'enum': list(NOTICES)}))
        lease['readiness'] = or_null(ref('Readiness'))
    if version >= V1_5:
        lease['end_reason'] = or_null(TEXT)
    if version >= V1_7:
        lease |= {'user_name': or_null(TEXT), 'project_name': or_null(TEXT)}
    listed_lease = {**lease}
    if version >= V1_7:
        listed_lease['reservations'] = listed(ref('ListedReservation'))
    return {
        'Lease': record(lease),
        # From 1.5 on clients can choose the fields.
        'ListedLease': record(listed_lease, optional=lease if version >= V1_5 else ()),
        **_reservations(version),
        'Rehearsal': _rehearsal(),
        **_parts(),
    }


def _parts() -> dict[str, Json]:
    event: Json = {
        'id': schemas.UUID,
        'lease_id': schemas.UUID,
        'event_type': TEXT,
        'time': _TIME,
        'status': TEXT,
        **_CREATED,
    }
    readiness: Json = {
        'ready': listed(TEXT),
        'waiting': listed(TEXT),
        'by': TEXT,
        'detail': TEXT,
        'said_at': _TIME,
    }
    return {'Event': record(event), 'Readiness': record(readiness)}


def _reservations(version: Microversion) -> dict[str, Json]:
    """Return the common part of reservations; each resource type adds fields."""
    found: Json = {
        'id': schemas.UUID,
        'lease_id': schemas.UUID,
        'resource_id': TEXT,
        'resource_type': TEXT,
        'status': TEXT,
        'missing_resources': BOOLEAN,
        'resources_changed': BOOLEAN,
        **_CREATED,
    }
    if version >= V1_3:
        found['part_of'] = or_null(TEXT)
    if version >= V1_4:
        found['placement'] = {'type': 'object'}
    common = record(found, optional=('placement',), closed=False)
    if version < V1_7:
        return {'Reservation': common}
    resource = record({'id': schemas.RESOURCE_ID, 'name': TEXT})
    instruction = record({'name': TEXT, 'title': TEXT, 'command': TEXT, 'value': TEXT})
    held: Json = {
        **found,
        'resources': {**listed(ref('HeldResource')), 'maxItems': MOST_SHOWN},
        'resources_count': COUNT,
        'instructions': listed(ref('Instruction')),
    }
    return {
        'HeldResource': resource,
        'Instruction': instruction,
        'ListedReservation': common,
        'Reservation': record(held, optional=('placement',), closed=False),
    }


def _rehearsal() -> Json:
    chosen = record(
        {
            'id': schemas.UUID,
            'resource_type': TEXT,
            'resources': COUNT,
            'classes': by_name(COUNT),
            'resource_names': listed(TEXT),
        },
        optional=('resource_names',),
    )
    return record(
        {
            'lease': ref('Lease'),
            'reservations': listed(chosen),
            'filters_not_asked': listed(TEXT),
        }
    )
