# SPDX-License-Identifier: Apache-2.0

"""Query parameters of usage reports."""

from __future__ import annotations

import datetime
from typing import Final

from climate import exceptions
from climate.api.http import queries
from climate.api.http.microversions import Microversion
from climate.api.schemas.availability import check_length
from climate.domain.periods import Period
from climate.domain.usage import UsageKey
from climate.domain.usage import UsageQuery

PARAMETERS: Final = frozenset({'start', 'end', 'by', 'project_id', 'resource_type'})

_malformed = exceptions.MalformedParameter.of
_USUAL: Final = datetime.timedelta(days=30)


def read(
    parameters: queries.Parameters, version: Microversion, now: datetime.datetime
) -> UsageQuery:
    """Return the query that parameters describe.

    :param now: the instant that ``now`` means (aware UTC)
    :raises climate.exceptions.InvalidInput: naming the parameter and why
    """
    end = queries.instant('end', parameters, version, now) or now
    start = queries.instant('start', parameters, version, now) or end - _USUAL
    check_length(start, end)
    by = queries.one(parameters, 'by') or UsageKey.TYPE.value
    if by not in set(UsageKey):
        raise _malformed('by', f'one of {", ".join(UsageKey)} is required')
    return UsageQuery(
        period=Period(start=start, end=end),
        by=UsageKey(by),
        project_id=queries.short(parameters, 'project_id'),
        resource_type=queries.short(parameters, 'resource_type'),
    )
