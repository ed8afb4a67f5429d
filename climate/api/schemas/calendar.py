# SPDX-License-Identifier: Apache-2.0

"""Query parameters of the calendar."""

from __future__ import annotations

import datetime
import re
from typing import Final

from climate import exceptions
from climate.api.http import queries
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_7
from climate.api.http.microversions import V1_8
from climate.api.schemas.availability import check_length
from climate.domain import periods
from climate.domain.calendar import CalendarPageQuery
from climate.domain.calendar import MOST_RESOURCES
from climate.domain.periods import Period
from climate.domain.requests import Caller

PARAMETERS: Final = frozenset(
    {
        *('resource_type', 'start', 'end', 'limit', 'marker', 'offset', 'search'),
        *('group_by', 'mine', 'lease_id'),
    }
)

_malformed = exceptions.MalformedParameter.of
_USUAL: Final = datetime.timedelta(days=7)
_USUAL_LIMIT: Final = 100
_HOUR: Final = datetime.timedelta(hours=1)
_NUMBER: Final = re.compile('[0-9]{1,9}', re.ASCII)


def read(
    parameters: queries.Parameters,
    version: Microversion,
    now: datetime.datetime,
    caller: Caller,
    *,
    sees_private: bool,
) -> CalendarPageQuery:
    """Return the query that parameters describe.

    :param now: the instant that ``now`` means (aware UTC)
    :param sees_private: whether private properties exist for the caller
    :raises climate.exceptions.InvalidInput: naming the parameter and why
    """
    marker, offset = _number(parameters, 'marker'), _number(parameters, 'offset')
    if marker is not None and offset is not None:
        raise _malformed('offset', 'it cannot be combined with marker')
    return CalendarPageQuery(
        resource_type=queries.short(parameters, 'resource_type')
        or queries.required(parameters, 'resource_type'),
        period=_period(parameters, version, now),
        project_id=caller.project_id,
        all_projects=caller.all_projects,
        sees_private=sees_private,
        limit=_limit(parameters),
        marker=marker,
        offset=offset,
        search=(queries.short(parameters, 'search') or '').strip(),
        natural=version >= V1_7,
        group_by=queries.short(parameters, 'group_by'),
        mine=queries.flag(parameters, 'mine'),
        lease_id=(queries.short(parameters, 'lease_id') or '').lower() or None,
        flexible=version >= V1_8,
    )


def _number(parameters: queries.Parameters, key: str) -> int | None:
    text = queries.one(parameters, key)
    if text is None:
        return None
    if _NUMBER.fullmatch(text) is None:
        wanted = 'the id of a resource' if key == 'marker' else 'an integer from 0 to 999999999'
        raise _malformed(key, f'{wanted} is required')
    return int(text)


def _limit(parameters: queries.Parameters) -> int:
    limit = _number(parameters, 'limit')
    if limit is None:
        return _USUAL_LIMIT
    if not 0 < limit <= MOST_RESOURCES:
        raise _malformed('limit', f'an integer from 1 to {MOST_RESOURCES} is required')
    return limit


def _period(
    parameters: queries.Parameters, version: Microversion, now: datetime.datetime
) -> Period:
    start = queries.instant('start', parameters, version, now) or periods.floored(now, _HOUR)
    until = queries.instant('end', parameters, version, now) or start + _USUAL
    check_length(start, until)
    return Period(start=start, end=until)
