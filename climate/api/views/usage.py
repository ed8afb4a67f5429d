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
    keys: dict[str, Any] = {}
    if by is UsageKey.PROJECT:
        keys['project_id'] = value.project_id
    if by is not UsageKey.CLASS:
        keys['resource_type'] = value.resource_type
    return {
        **keys,
        'resource_class': value.resource_class,
        'leases': value.leases,
        'booked': value.booked,
        'used': value.used,
        'unused': value.unused,
        'ahead': value.ahead,
        'refusals': value.refusals,
        'refused': value.refused,
    }
