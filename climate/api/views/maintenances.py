# SPDX-License-Identifier: Apache-2.0

"""The fields of maintenances, in order."""

from __future__ import annotations

from typing import Any
from typing import Final

from climate.api.http.json_schema import or_null
from climate.api.http.json_schema import ref
from climate.api.http.json_schema import RESOURCE_ID
from climate.api.http.json_schema import TEXT
from climate.api.http.json_schema import UUID
from climate.api.http.microversions import Microversion
from climate.api.views import fields
from climate.api.views.fields import AnswerField
from climate.api.views.fields import PLAIN
from climate.domain.maintenances import Maintenance

_TIME: Final = ref('Time')

MAINTENANCE: Final = (
    AnswerField(name='id', write=PLAIN, schema=UUID),
    AnswerField(name='resource_id', write='text', schema=RESOURCE_ID),
    AnswerField(name='resource_type', write=PLAIN, schema=TEXT),
    AnswerField(name='resource_name', write=PLAIN, schema=TEXT),
    AnswerField(name='start_date', of='period.start', write='date', schema=_TIME),
    AnswerField(name='end_date', of='period.end', write='date', schema=_TIME),
    AnswerField(name='reason', write=PLAIN, schema=TEXT),
    AnswerField(name='user_id', write=PLAIN, schema=TEXT),
    AnswerField(name='created_at', write='date', schema=or_null(_TIME)),
)
"""The fields of a maintenance."""


def maintenance(value: Maintenance, version: Microversion) -> dict[str, Any]:
    """Return a maintenance."""
    return fields.shown(MAINTENANCE, version, value)
