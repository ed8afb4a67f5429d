# SPDX-License-Identifier: Apache-2.0
"""The table of two services that were measured on the same cloud."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence

BLAZAR = 'Blazar'
CLIMATE = 'Climate'


@dataclasses.dataclass(frozen=True, kw_only=True)
class Figure:
    """One measurement of one service.

    :ivar unit: ``ms``, or '' for a number
    :ivar compared: whether a ratio of two services says anything
    """

    what: str
    value: float
    unit: str = 'ms'
    compared: bool = True


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """A measurement of both services, over all rounds.

    :ivar values: by service, in the order of the rounds
    """

    what: str
    unit: str
    compared: bool
    values: Mapping[str, Sequence[float]]

    def cells(self) -> tuple[str, str, str, str]:
        """Return the cells of the row."""
        blazar, climate = (self.values[name] for name in (BLAZAR, CLIMATE))
        ratio = ''
        if self.compared and (least := statistics.median(climate)):
            ratio = f'{statistics.median(blazar) / least:.1f}'
        return self.what, self._text(blazar), self._text(climate), ratio

    def _text(self, values: Sequence[float]) -> str:
        """Return the median of the rounds, and their range if they differ."""
        unit = f' {self.unit}' if self.unit else ''
        least, middle, most = (f'{of(values):,.0f}' for of in (min, statistics.median, max))
        return f'{middle}{unit}' if least == most else f'{middle}{unit} ({least} to {most})'


def rows(rounds: Iterable[tuple[str, Sequence[Figure]]]) -> tuple[list[Row], list[str]]:
    """Return the rows of the table, and what was not measured for both services.

    :param rounds: the name of a service with its figures, for each time that it ran
    """
    known: dict[str, Figure] = {}
    values: dict[str, dict[str, list[float]]] = {}
    for service, figures in rounds:
        for figure in figures:
            known.setdefault(figure.what, figure)
            by_service = values.setdefault(figure.what, {})
            by_service.setdefault(service, []).append(figure.value)
    complete = [what for what in known if {BLAZAR, CLIMATE} <= set(values[what])]
    found = [
        Row(what=what, unit=known[what].unit, compared=known[what].compared, values=values[what])
        for what in complete
    ]
    return found, [what for what in known if what not in complete]


def table(found: Sequence[Row], versions: Mapping[str, str]) -> str:
    """Return the rows as a simple table of reStructuredText."""
    names = (f'{name} {versions[name]}'.strip() for name in (BLAZAR, CLIMATE))
    lines = [('Measured', *names, 'Ratio'), *(row.cells() for row in found)]
    widths = [max(len(line[column]) for line in lines) for column in range(4)]
    border = '  '.join('=' * width for width in widths)
    texts = [
        '  '.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return '\n'.join([border, texts[0], border, *texts[1:], border])
