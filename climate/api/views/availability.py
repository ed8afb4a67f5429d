# SPDX-License-Identifier: Apache-2.0

"""Availability as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from climate.api.http import dates
from climate.api.http.microversions import Microversion
from climate.domain.availability import AvailabilityGroup
from climate.domain.availability import AvailabilityQuery
from climate.domain.availability import BucketAmounts


def availability(
    query: AvailabilityQuery, groups: Sequence[AvailabilityGroup], version: Microversion
) -> dict[str, Any]:
    """Return the answer to a query; the n-th figure of a list is that of the n-th bucket."""
    return {
        'resource_type': query.resource_type,
        'start': dates.write(query.period.start, version),
        'end': dates.write(query.period.end, version),
        'step': int(query.step.total_seconds()),
        'buckets': query.number,
        'resources': dict(query.demand),
        'group_by': query.group_by,
        'groups': [_group(one) for one in groups],
    }


def _group(value: AvailabilityGroup) -> dict[str, Any]:
    return {
        'value': value.value,
        'whole': _amounts(value.whole),
        'classes': {name: _amounts(value.classes[name]) for name in sorted(value.classes)},
        'slots': None if value.slots is None else _amounts(value.slots),
    }


def _amounts(value: BucketAmounts) -> dict[str, list[int]]:
    shown = {'free': list(value.free), 'total': list(value.total)}
    if value.free_if_moved is not None:
        shown['free_if_moved'] = list(value.free_if_moved)
    return shown
