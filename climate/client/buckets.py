# SPDX-License-Identifier: Apache-2.0

"""Rows of a table of availability, which begin at round local times."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final
from typing import NamedTuple

from dateutil import tz

_HOUR: Final = datetime.timedelta(hours=1)
_DAY: Final = datetime.timedelta(days=1)
_STEPS: Final = (*(_HOUR * each for each in (1, 3, 6, 12)), _DAY, 7 * _DAY, 28 * _DAY)
# A week in steps of six hours, and a month in days.
_USUAL: Final = 31
MOST: Final = 1000
"""The largest number of buckets in an answer of the API."""


class BucketRun(NamedTuple):
    """Buckets of one length, which one request asks for.

    :ivar start: aware UTC
    :ivar end: aware UTC
    """

    start: datetime.datetime
    end: datetime.datetime
    step: datetime.timedelta


def step_for(length: datetime.timedelta) -> datetime.timedelta:
    """Return the step with which a table of a period is short enough to read."""
    return next((each for each in _STEPS if length <= _USUAL * each), _STEPS[-1])


def floored(now: datetime.datetime, step: datetime.timedelta) -> datetime.datetime:
    """Return the beginning of the present bucket: steps are counted from local midnight.

    :param now: in the zone of the user
    """
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    if step >= _DAY:
        return midnight
    naive = now.replace(tzinfo=None)
    return midnight + (naive - midnight.replace(tzinfo=None)) // step * step


def runs(
    start: datetime.datetime, end: datetime.datetime, step: datetime.timedelta
) -> list[BucketRun]:
    """Return the buckets of a period, those of the same length together.

    Buckets of an hour and more begin at the same local times on every day, so that those in
    which clocks change are longer or shorter than the others. The last one can end later than
    the period.

    :param start: in the zone of the user
    :raises ValueError: if there would be more than :data:`MOST` buckets
    """
    if (end - start) // step >= MOST:
        raise ValueError(f'more than {MOST} rows; use a shorter period, or a longer step')
    instants = list(_instants(start, end, step))
    buckets: list[BucketRun] = []
    for first, after in itertools.pairwise(instants):
        if buckets and buckets[-1].end == first and buckets[-1].step == after - first:
            buckets[-1] = buckets[-1]._replace(end=after)
        else:
            buckets.append(BucketRun(first, after, after - first))
    return buckets


def _instants(
    start: datetime.datetime, end: datetime.datetime, step: datetime.timedelta
) -> Iterator[datetime.datetime]:
    instant = last = start.astimezone(datetime.UTC)
    yield last
    naive = start.replace(tzinfo=None)
    while last < end:
        if step % _HOUR:
            instant += step
        else:
            naive += step
            local = tz.resolve_imaginary(naive.replace(tzinfo=start.tzinfo))
            instant = local.astimezone(datetime.UTC)
        # An hour that clocks skip is no bucket.
        if instant > last:
            last = instant
            yield last


def joined(answers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the groups of several answers of the API, with the buckets of all.

    :param answers: in the order of their periods, each with ``groups`` and ``buckets``
    """
    values = dict.fromkeys(group.get('value') for each in answers for group in each['groups'])
    return [_group(value, answers) for value in values]


def _group(value: Any, answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    parts: list[tuple[int, Mapping[str, Any]]] = [
        (each['buckets'], next((one for one in each['groups'] if one.get('value') == value), {}))
        for each in answers
    ]
    classes = dict.fromkeys(name for _, part in parts for name in part.get('classes', ()))
    group: dict[str, Any] = {
        'value': value,
        'whole': _figures([(count, part.get('whole')) for count, part in parts]),
        'classes': {
            name: _figures([(count, part.get('classes', {}).get(name)) for count, part in parts])
            for name in classes
        },
    }
    if any(part.get('slots') for _, part in parts):
        group['slots'] = _figures([(count, part.get('slots')) for count, part in parts])
    return group


def _figures(parts: Sequence[tuple[int, Mapping[str, Any] | None]]) -> dict[str, list[int]]:
    """Return the figures of all buckets; zeros where there are none."""
    names = ['free', 'total']
    # Services older than 1.8 do not count it.
    if any(part and 'free_if_moved' in part for _, part in parts):
        names.append('free_if_moved')
    return {
        name: [figure for count, part in parts for figure in (part[name] if part else [0] * count)]
        for name in names
    }
