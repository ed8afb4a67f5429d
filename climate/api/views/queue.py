# SPDX-License-Identifier: Apache-2.0

"""The queue of flexible leases as JSON."""

from __future__ import annotations

from typing import Any
from typing import Final

from climate.api.http.json_schema import by_name
from climate.api.http.json_schema import choice
from climate.api.http.json_schema import COUNT
from climate.api.http.json_schema import listed
from climate.api.http.json_schema import or_null
from climate.api.http.json_schema import record
from climate.api.http.json_schema import ref
from climate.api.http.json_schema import TEXT
from climate.api.http.json_schema import UUID
from climate.api.http.json_schema import WHOLE
from climate.api.http.microversions import Microversion
from climate.api.views import fields
from climate.api.views import offers
from climate.api.views.fields import AnswerField
from climate.api.views.fields import PLAIN
from climate.domain.lifecycles import LeaseStatus
from climate.domain.queue import QueuedLease

_TIME_OR_NULL: Final = or_null(ref('Time'))
QUEUED: Final = (
    AnswerField(name='lease_id', of='id', write=PLAIN, schema=UUID),
    AnswerField(name='name', of='lease.name', write=PLAIN, schema=TEXT),
    AnswerField(name='project_id', of='lease.project_id', write=PLAIN, schema=TEXT),
    AnswerField(name='status', of='lease.status', write=PLAIN, schema=choice(LeaseStatus)),
    AnswerField(name='priority', of='lease.rank', write=PLAIN, schema=WHOLE),
    AnswerField(name='place', write=PLAIN, schema=COUNT),
    AnswerField(name='forecast', of='forecast.start', write='date', schema=_TIME_OR_NULL),
    AnswerField(name='room_at', of='forecast.room_at', write='date', schema=_TIME_OR_NULL),
)
"""The fields of a lease in the queue that are written one by one."""
SCHEMA: Final = {
    'ahead': record({'leases': COUNT, 'amounts': by_name(COUNT)}),
    'waits_for': listed(ref('Shortage')),
}
"""The schemas of its other fields."""


def queued(value: QueuedLease, version: Microversion) -> dict[str, Any]:
    """Return one lease of the queue."""
    return {
        **fields.shown(QUEUED, version, value),
        'ahead': {'leases': value.ahead.leases, 'amounts': dict(value.ahead.amounts)},
        'waits_for': [offers.shortage(one, version) for one in value.forecast.waits_for],
    }
