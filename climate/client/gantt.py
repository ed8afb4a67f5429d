# SPDX-License-Identifier: Apache-2.0

"""Draws periods as bars over time, with characters."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Final

from climate.domain.periods import Period

_HOUR: Final = datetime.timedelta(hours=1)
_STEPS: Final = tuple(_HOUR * hours for hours in (1, 2, 3, 6, 12, 24, 48, 168, 336, 672, 1344))
_NARROWEST: Final = 20
# A label such as "Mon 24 Nov", and a blank.
_LABEL: Final = 11


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """A period of a row.

    :ivar sign: the character of its cells
    :ivar text: what is written into it, if there is room
    """

    period: Period
    sign: str
    text: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """What happens to one thing."""

    name: str
    bars: Sequence[Bar]


def draw(
    rows: Sequence[Row], period: Period, width: int, zone: datetime.tzinfo | None = None
) -> list[str]:
    """Return the lines of a chart: an axis, and a line for each row.

    A bar has at least one cell, so that even the shortest is seen. Of several bars in one
    cell, the last is drawn.

    :param period: what the chart shows
    :param width: characters of a line
    :param zone: of the axis; None for that of the machine
    """
    margin = min(max((len(row.name) for row in rows), default=0), max(width // 3, 8))
    room = max(_NARROWEST, width - margin - 3)
    lines = [' ' * (margin + 2) + axis(period, room, zone)]
    for row in rows:
        name = row.name if len(row.name) <= margin else f'{row.name[: margin - 1]}…'
        lines.append(f'{name:<{margin}} ▕{_cells(row.bars, period, room)}▏')
    return lines


def _cells(bars: Iterable[Bar], period: Period, room: int) -> str:
    cells = [' '] * room
    whole = period.end - period.start
    for bar in bars:
        if not bar.period.overlaps(period):
            continue
        first = max(0, int((bar.period.start - period.start) / whole * room))
        # Rounded up, so that two bars that meet leave no gap.
        after = min(room, -int(-((bar.period.end - period.start) / whole * room) // 1))
        length = max(1, after - first)
        text = bar.sign * length
        if bar.text and len(bar.text) + 2 <= length:
            text = bar.sign + bar.text + bar.sign * (length - 1 - len(bar.text))
        cells[first : first + length] = text
    return ''.join(cells[:room])


def axis(period: Period, room: int, zone: datetime.tzinfo | None) -> str:
    """Return the labels of a scale: as many as there is room for.

    :param period: what the scale shows
    :param room: characters of the scale
    :param zone: of the labels; None for that of the machine
    """
    whole = period.end - period.start
    step = next((each for each in _STEPS if each / whole * room >= _LABEL), _STEPS[-1])
    line = [' '] * (room + _LABEL)
    for moment in _ticks(period, step, zone):
        place = int((moment - period.start) / whole * room)
        day = step >= 24 * _HOUR or not moment.hour
        label = moment.strftime('|%a %d %b' if day else '|%H:%M')
        if place + len(label) <= room:
            line[place : place + len(label)] = label
    return ''.join(line).rstrip()


def _ticks(
    period: Period, step: datetime.timedelta, zone: datetime.tzinfo | None
) -> Iterator[datetime.datetime]:
    """Yield instants of a scale in local time, where days begin at midnight."""
    local = period.start.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    moment = local
    while moment < period.end:
        if moment >= period.start:
            yield moment
        # Local time is added to, so that the change to summer time moves no midnight.
        naive = moment.replace(tzinfo=None) + step
        moment = naive.replace(tzinfo=zone) if zone else naive.astimezone()
