# SPDX-License-Identifier: Apache-2.0

"""Bodies of maintenances."""

from __future__ import annotations

import datetime
from typing import Any

from climate import exceptions
from climate.api.http import dates
from climate.api.http.json_schema import form
from climate.api.http.json_schema import some_of
from climate.api.http.json_schema import TEXT
from climate.api.http.microversions import Microversion
from climate.api.http.validation import Validator
from climate.domain.maintenances import MaintenanceChange
from climate.domain.maintenances import MaintenanceDraft
from climate.domain.periods import Period

LARGEST_ID = 2**31 - 1
RESOURCE_ID: dict[str, Any] = {
    'type': ['integer', 'string'],
    'minimum': 1,
    'maximum': LARGEST_ID,
    'pattern': '^[0-9]{1,10}$',
}
NAME: dict[str, Any] = {'type': 'string', 'minLength': 1, 'maxLength': 255}
REASON: dict[str, Any] = {'type': 'string', 'maxLength': 1000}

CREATE = form(
    'start_date',
    'end_date',
    resource_id=RESOURCE_ID,
    resource_type={'type': 'string', 'minLength': 1, 'maxLength': 64},
    resource_name=NAME,
    start_date=TEXT,
    end_date=TEXT,
    reason=REASON,
)
UPDATE = some_of(start_date=TEXT, end_date=TEXT, reason=REASON)
_CREATE = Validator(CREATE)
_UPDATE = Validator(UPDATE)


def read_new(
    body: dict[str, Any],
    now: datetime.datetime,
    version: Microversion,
    maintenance_id: str | None = None,
) -> MaintenanceDraft:
    """Return the draft of a new maintenance.

    :param now: the instant that ``now`` means (aware UTC)
    :param maintenance_id: None for a generated one
    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    _CREATE.check(body)
    if 'resource_id' in body:
        others = [key for key in ('resource_type', 'resource_name') if key in body]
        if others:
            raise exceptions.InvalidInput.of(
                others[0], 'resource_id already identifies the resource'
            )
    else:
        for key in ('resource_name', 'resource_type'):
            if key not in body:
                raise exceptions.MissingParameter(param=key)
    start = dates.parse('start_date', body['start_date'], now, version)
    end = dates.parse('end_date', body['end_date'], now, version)
    if end <= start:
        raise exceptions.InvalidPeriod(f'{exceptions.InvalidPeriod.template} (end_date)')
    return MaintenanceDraft(
        id=maintenance_id,
        resource_id=read_id(body.get('resource_id')),
        resource_type=body.get('resource_type', ''),
        resource_name=body.get('resource_name', ''),
        period=Period(start=start, end=end),
        reason=body.get('reason', ''),
    )


def read_change(
    body: dict[str, Any], now: datetime.datetime, version: Microversion
) -> MaintenanceChange:
    """Return the change of a maintenance.

    :param now: the instant that ``now`` means (aware UTC)
    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    _UPDATE.check(body)
    times = {
        key: dates.parse(key, body[key], now, version)
        for key in ('start_date', 'end_date')
        if key in body
    }
    return MaintenanceChange(
        start=times.get('start_date'), end=times.get('end_date'), reason=body.get('reason')
    )


def read_id(value: Any) -> int | None:
    """Return the id of a resource, which may be a string.

    :raises climate.exceptions.MalformedParameter: if it is out of range
    """
    if value is None:
        return None
    number = int(value)
    if not 1 <= number <= LARGEST_ID:
        raise exceptions.MalformedParameter.of('resource_id', f'from 1 to {LARGEST_ID} is required')
    return number
