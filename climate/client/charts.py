# SPDX-License-Identifier: Apache-2.0

"""Draws availability with characters."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

from climate.client import gantt
from climate.client import times
from climate.domain.periods import Period

_BARS: Final = ' ▁▂▃▄▅▆▇█'
_NARROWEST: Final = 8


def bars(free: Sequence[int], total: Sequence[int], width: int) -> str:
    """Return a character for each bucket: the share that is free.

    A bucket is blank only if nothing is free, and full only if everything is. If there are
    more buckets than *width*, several share a character, which shows the least of them.
    """
    shares = [0.0 if not most else one / most for one, most in zip(free, total, strict=True)]
    together = max(1, -(-len(shares) // max(width, 1)))
    least = [min(shares[at : at + together]) for at in range(0, len(shares), together)]
    return ''.join(_bar(share) for share in least)


def _bar(share: float) -> str:
    if share <= 0:
        return _BARS[0]
    if share >= 1:
        return _BARS[-1]
    return _BARS[max(1, min(len(_BARS) - 2, round(share * (len(_BARS) - 1))))]


def measures(group: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[int], Sequence[int]]]:
    """Yield the name of each figure of a group, with what is free and the total."""
    yield 'whole', group['whole']['free'], group['whole']['total']
    for name, figures in sorted(group['classes'].items()):
        yield name, figures['free'], figures['total']
    if group.get('slots'):
        yield 'slots', group['slots']['free'], group['slots']['total']


def if_moved(group: Mapping[str, Any]) -> dict[str, Sequence[int]]:
    """Return what would be free if flexible leases were elsewhere, by the name of the figure.

    Services older than 1.8 do not count it.
    """
    figures = {'whole': group['whole'], **group['classes'], 'slots': group.get('slots') or {}}
    return {
        name: each['free_if_moved'] for name, each in figures.items() if 'free_if_moved' in each
    }


def draw(
    availability: Mapping[str, Any], period: Period, width: int, zone: datetime.tzinfo | None = None
) -> str:
    """Return a chart of availability: an axis, and a line for each figure.

    :param availability: as the API shows it
    :param period: from the first bucket to the last
    :param width: characters of a line
    :param zone: None for the zone of the machine
    """
    lines = [
        (_label(availability, group, name), free, total)
        for group in availability['groups']
        for name, free, total in measures(group)
    ]
    margin = max((len(label) for label, _, _ in lines), default=0)
    # The figures at the end of a line: the least and the most that is free, and the total.
    ends = [f'{min(free)}-{max(free)} of {max(total)}' for _, free, total in lines]
    room = max(_NARROWEST, width - margin - max(map(len, ends), default=0) - 4)
    first, last = (times.write(each.isoformat(), zone) for each in (period.start, period.end))
    drawn = [
        f'{label:>{margin}} ▕{bars(free, total, room)}▏ {end}'
        for (label, free, total), end in zip(lines, ends, strict=True)
    ]
    axis = gantt.axis(period, _drawn(lines, room), zone)
    scale = [' ' * (margin + 2) + axis] if axis else []
    return '\n'.join([f'{first} to {last}', *scale, *drawn])


def _drawn(lines: Sequence[tuple[str, Sequence[int], Sequence[int]]], room: int) -> int:
    """Return the characters that all buckets take."""
    return max((len(bars(free, total, room)) for _, free, total in lines), default=room)


def _label(availability: Mapping[str, Any], group: Mapping[str, Any], name: str) -> str:
    if availability.get('group_by') is None:
        return name
    value = group.get('value')
    return f'{availability["group_by"]} {"-" if value is None else value} {name}'
