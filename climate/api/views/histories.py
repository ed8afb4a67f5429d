# SPDX-License-Identifier: Apache-2.0

"""What was done for leases, as JSON."""

from __future__ import annotations

from typing import Any
from typing import Final

from climate.api.http.json_schema import choice
from climate.api.http.json_schema import COUNT
from climate.api.http.json_schema import listed
from climate.api.http.json_schema import or_null
from climate.api.http.json_schema import record
from climate.api.http.json_schema import ref
from climate.api.http.json_schema import TEXT
from climate.api.http.microversions import Microversion
from climate.api.views import fields
from climate.api.views.fields import AnswerField
from climate.api.views.fields import PLAIN
from climate.domain.history import Effect
from climate.domain.history import History
from climate.domain.history import StepState

_TIME_OR_NULL: Final = or_null(ref('Time'))
_LINE: Final = record({'at': ref('Time'), 'text': TEXT})
STEP: Final = (
    AnswerField(name='event_id', write=PLAIN, schema=TEXT),
    AnswerField(name='reservation_id', write=PLAIN, schema=or_null(TEXT)),
    AnswerField(name='resource_type', write=PLAIN, schema=or_null(TEXT)),
    AnswerField(name='effect', write=PLAIN, schema=choice(Effect)),
    AnswerField(name='state', write=PLAIN, schema=choice(StepState)),
    AnswerField(name='attempts', write=PLAIN, schema=COUNT),
    AnswerField(name='first_at', write='date', schema=_TIME_OR_NULL),
    AnswerField(name='last_at', write='date', schema=_TIME_OR_NULL),
    AnswerField(name='waiting_for', write=PLAIN, schema=or_null(TEXT)),
    AnswerField(name='error', write=PLAIN, schema=or_null(TEXT)),
    AnswerField(name='lines', write='lines', schema=listed(_LINE)),
)
"""The fields of a step."""
AWAITED: Final = (
    AnswerField(name='event_id', of='id', write=PLAIN, schema=TEXT),
    AnswerField(name='event_type', of='kind', write=PLAIN, schema=TEXT),
    AnswerField(name='time', write='date', schema=ref('Time')),
    AnswerField(name='due', write='date', schema=_TIME_OR_NULL),
    AnswerField(name='failures', of='attempts', write=PLAIN, schema=COUNT),
    AnswerField(name='why', of='error', write=PLAIN, schema=or_null(TEXT)),
)
"""The fields of an event that a lease awaits."""


def history(value: History, version: Microversion) -> dict[str, Any]:
    """Return the history of a lease as it is shown at *version*."""
    return {
        'lease_id': value.lease.id,
        'steps': [fields.shown(STEP, version, step) for step in value.steps],
        'awaited': [fields.shown(AWAITED, version, event) for event in value.awaited],
    }
