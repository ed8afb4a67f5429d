# SPDX-License-Identifier: Apache-2.0

"""Bodies of calendar feeds."""

from __future__ import annotations

import datetime
import functools
import zoneinfo
from typing import Any

from climate import exceptions
from climate.api.http import bodies
from climate.api.http import dates
from climate.api.http.json_schema import form
from climate.api.http.validation import Validator
from climate.api.schemas.maintenances import read_id
from climate.api.schemas.maintenances import RESOURCE_ID
from climate.domain.feeds import FeedDraft

NAME: dict[str, Any] = {'type': 'string', 'maxLength': 255}
_MOST_ALARMS = 5
_FOUR_WEEKS = 28 * 86400
ALARMS: dict[str, Any] = {
    'type': 'array',
    'maxItems': _MOST_ALARMS,
    'uniqueItems': True,
    'items': {'type': 'integer', 'minimum': 0, 'maximum': _FOUR_WEEKS},
}
# An hour before the end is soon enough to extend; calendars show both by themselves.
_BEFORE_START = (900,)
_BEFORE_END = (3600,)

CREATE = form(
    name=NAME,
    lease_id={'type': 'string', 'minLength': 1, 'maxLength': 36},
    resource_id=RESOURCE_ID,
    time_zone={'type': 'string', 'minLength': 1, 'maxLength': 64},
    alarms_before_start=ALARMS,
    alarms_before_end=ALARMS,
    lifetime={'type': ['integer', 'string'], 'minimum': 60, 'maxLength': 64},
)

_CREATE = Validator(CREATE)


def read_new(body: dict[str, Any], feed_id: str | None = None) -> FeedDraft:
    """Return the draft of a new feed.

    :param feed_id: None for a generated one
    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    _CREATE.check(body)
    if 'lease_id' in body and 'resource_id' in body:
        raise exceptions.MalformedParameter.of(
            'resource_id', 'a feed shows either a lease or a resource'
        )
    lease_id = body.get('lease_id')
    return FeedDraft(
        id=feed_id,
        name=bodies.name('name', body.get('name', '')),
        lease_id=None if lease_id is None else lease_id.lower(),
        resource_id=read_id(body.get('resource_id')),
        time_zone=_zone(body.get('time_zone', 'UTC')),
        before_start=tuple(body.get('alarms_before_start', _BEFORE_START)),
        before_end=tuple(body.get('alarms_before_end', _BEFORE_END)),
        lasts=_lifetime(body.get('lifetime')),
    )


def _zone(name: str) -> str:
    # The library would open a file of any name.
    if name not in _zones():
        raise exceptions.MalformedParameter.of(
            'time_zone', 'the name of a zone, such as Europe/Berlin, is required'
        )
    return name


@functools.cache
def _zones() -> frozenset[str]:
    """Return the names of zones; reading the directory takes some milliseconds."""
    places = {name for name in zoneinfo.available_timezones() if '/' in name}
    return frozenset({'UTC', *places})


def _lifetime(value: int | str | None) -> datetime.timedelta | None:
    return None if value is None else dates.parse_duration('lifetime', value)
