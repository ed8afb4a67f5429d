# SPDX-License-Identifier: Apache-2.0

"""The fields of leases, their events and reservations, in order.

:class:`climate.api.views.lease_writer.LeaseWriter` writes them, from what
:mod:`climate.domain.listed` has. There, ``lease`` is the lease itself, and ``whole`` the
reservation as an object.
"""

from __future__ import annotations

from typing import Final

from climate.api.http.json_schema import BOOLEAN
from climate.api.http.json_schema import choice
from climate.api.http.json_schema import COUNT
from climate.api.http.json_schema import Json
from climate.api.http.json_schema import listed
from climate.api.http.json_schema import NULL
from climate.api.http.json_schema import or_null
from climate.api.http.json_schema import record
from climate.api.http.json_schema import ref
from climate.api.http.json_schema import RESOURCE_ID
from climate.api.http.json_schema import TEXT
from climate.api.http.json_schema import UUID
from climate.api.http.json_schema import WHOLE
from climate.api.http.microversions import V1_1
from climate.api.http.microversions import V1_3
from climate.api.http.microversions import V1_4
from climate.api.http.microversions import V1_5
from climate.api.http.microversions import V1_7
from climate.api.http.microversions import V1_8
from climate.api.views.fields import AnswerField
from climate.api.views.fields import PLAIN
from climate.domain.holdings import MOST_SHOWN
from climate.domain.leases import LEAST_PRIORITY
from climate.domain.leases import MOST_PRIORITY
from climate.domain.leases import NOTICES
from climate.domain.leases import YieldMode
from climate.domain.lifecycles import LeaseStatus

_TIME: Final = ref('Time')
_TIME_OR_NULL: Final = or_null(_TIME)
_RECORD_TIME: Final = or_null(ref('RecordTime'))
_STATUS: Final = choice(LeaseStatus)
_YIELD: Final = choice(YieldMode)
_PRIORITY: Final = {'type': 'integer', 'minimum': LEAST_PRIORITY, 'maximum': MOST_PRIORITY}
_NOTICES: Final = or_null(listed({**TEXT, 'enum': list(NOTICES)}))
_RESOURCES: Final[Json] = {**listed(ref('HeldResource')), 'maxItems': MOST_SHOWN}
_CREATED: Final = (
    AnswerField(name='created_at', write='record', schema=_RECORD_TIME),
    AnswerField(name='updated_at', write='record', schema=_RECORD_TIME),
)

LEASE: Final = (
    AnswerField(name='id', write=PLAIN, schema=UUID),
    AnswerField(name='name', write='quoted', schema=TEXT),
    AnswerField(name='user_id', write='quoted', schema=TEXT),
    AnswerField(name='project_id', write='quoted', schema=TEXT),
    AnswerField(name='start_date', of='start', write='date', schema=_TIME),
    AnswerField(name='end_date', of='end', write='date', schema=_TIME),
    # Clients read the key of the trust; its value is internal.
    AnswerField(name='trust_id', write='null', schema=NULL),
    AnswerField(name='status', write='status', schema=_STATUS),
    AnswerField(name='degraded', write='boolean', schema=BOOLEAN),
    *_CREATED,
    AnswerField(
        name='reservations', of='lease', write='reservations', schema=listed(ref('Reservation'))
    ),
    AnswerField(name='events', of='lease', write='events', schema=listed(ref('Event'))),
    AnswerField(name='before_end_date', since=V1_1, write='date', schema=_TIME_OR_NULL),
    AnswerField(
        name='notify_before_start', since=V1_1, write='json', schema=or_null(listed(WHOLE))
    ),
    AnswerField(name='notices', since=V1_3, write='json', schema=_NOTICES),
    AnswerField(name='readiness', since=V1_3, write='readiness', schema=or_null(ref('Readiness'))),
    AnswerField(name='end_reason', since=V1_5, write='json', schema=or_null(TEXT)),
    AnswerField(name='user_name', since=V1_7, write='json', schema=or_null(TEXT)),
    AnswerField(name='project_name', since=V1_7, write='json', schema=or_null(TEXT)),
    AnswerField(name='earliest', since=V1_8, write='stored_date', schema=_TIME_OR_NULL),
    AnswerField(name='latest', since=V1_8, write='stored_date', schema=_TIME_OR_NULL),
    AnswerField(name='firm_before', since=V1_8, write='json', schema=or_null(WHOLE)),
    AnswerField(name='wait_until', since=V1_8, write='stored_date', schema=_TIME_OR_NULL),
    AnswerField(name='priority', since=V1_8, write='number', schema=_PRIORITY),
    AnswerField(name='preemptible', of='yields', since=V1_8, write='given', schema=BOOLEAN),
    AnswerField(name='yield', of='yields', since=V1_8, write='json', schema=or_null(_YIELD)),
    AnswerField(name='min_duration', since=V1_8, write='json', schema=or_null(WHOLE)),
    AnswerField(name='time_left', since=V1_8, write='json', schema=or_null(WHOLE)),
    AnswerField(name='firm_at', of='lease', since=V1_8, write='firm_at', schema=_TIME_OR_NULL),
)
"""The fields of a lease."""

EVENT: Final = (
    AnswerField(name='id', write=PLAIN, schema=UUID),
    AnswerField(name='lease_id', write=PLAIN, schema=UUID),
    AnswerField(name='event_type', of='kind', write=PLAIN, schema=TEXT),
    AnswerField(name='time', write='date', schema=_TIME),
    AnswerField(name='status', of='state', write=PLAIN, schema=TEXT),
    *_CREATED,
)
"""The fields of an event."""

RESERVATION: Final = (
    AnswerField(name='id', write=PLAIN, schema=UUID),
    AnswerField(name='lease_id', write=PLAIN, schema=UUID),
    # Clients expect the id of the record of the type, which is this one.
    AnswerField(name='resource_id', of='id', write=PLAIN, schema=TEXT),
    AnswerField(name='resource_type', write='quoted', schema=TEXT),
    AnswerField(name='status', write=PLAIN, schema=TEXT),
    AnswerField(name='missing_resources', write='boolean', schema=BOOLEAN),
    AnswerField(name='resources_changed', write='boolean', schema=BOOLEAN),
    *_CREATED,
    AnswerField(name='part_of', since=V1_3, write='json', schema=or_null(TEXT)),
    AnswerField(
        name='placement',
        since=V1_4,
        of='whole',
        write='placement',
        schema={'type': 'object'},
        optional=True,
    ),
)
"""The fields of a reservation of every type."""

HELD: Final = (
    AnswerField(name='resources', since=V1_7, of='holding', write='resources', schema=_RESOURCES),
    AnswerField(
        name='resources_count', since=V1_7, of='holding', write='resources_count', schema=COUNT
    ),
    AnswerField(
        name='instructions',
        since=V1_7,
        of='whole',
        write='instructions',
        schema=listed(ref('Instruction')),
    ),
)
"""The further fields of a reservation that is shown with what it holds."""

READINESS: Final = record(
    {'ready': listed(TEXT), 'waiting': listed(TEXT), 'by': TEXT, 'detail': TEXT, 'said_at': _TIME}
)
"""The schema of ``readiness``."""

HELD_RESOURCE: Final = record({'id': RESOURCE_ID, 'name': TEXT})
"""The schema of one of ``resources``."""

INSTRUCTION: Final = record({'name': TEXT, 'title': TEXT, 'command': TEXT, 'value': TEXT})
"""The schema of one of ``instructions``."""
