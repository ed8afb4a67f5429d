# SPDX-License-Identifier: Apache-2.0

"""Usage reports as the API shows them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from climate.api.http import dates
from climate.api.http.microversions import Microversion
from climate.domain.usage import UsageKey
from climate.domain.usage import UsageQuery
from climate.domain.usage import UsageRow


def report(query: UsageQuery, rows: Iterable[UsageRow], version: Microversion) -> dict[str, Any]:
    """Return a report as it is shown at *version*."""
    return {
        'start': dates.write(query.period.start, version),
        'end': dates.write(query.period.end, version),
        'by': query.by.value,
        'rows': [_row(query.by, row) for row in rows],
    }


def _row(by: UsageKey, value: UsageRow) -> dict[str, Any]:
    keys = [] if by is UsageKey.CLASS else ['resource_type']
    if by is UsageKey.PROJECT:
        keys.insert(0, 'project_id')
    figures = ('leases', 'booked', 'used', 'unused', 'ahead', 'refusals', 'refused')
    return {name: getattr(value, name) for name in (*keys, 'resource_class', *figures)}
