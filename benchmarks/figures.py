# SPDX-License-Identifier: Apache-2.0
"""Figures: the results of measurements, and their output."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import platform
import sys
import time
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any

from rich import box
from rich import console
from rich.table import Table
from rich.text import Text

# The width of a table in a file or a pipe, in columns.
_WIDE = 160


@dataclasses.dataclass(frozen=True, kw_only=True)
class Figure:
    """The result of a measurement.

    :ivar aim: the target, a maximum; None if there is none
    :ivar samples: the measured values, for a histogram; empty for most figures
    """

    engine: str
    what: str
    value: float
    unit: str = 'ms'
    aim: float | None = None
    samples: tuple[float, ...] = ()

    @property
    def missed(self) -> bool:
        """Whether the value misses its target."""
        return self.aim is not None and self.value > self.aim


def quantile(values: Iterable[float], share: float) -> float:
    """Return the smallest value that is not exceeded by *share* (0 to 1) of all."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def timed(
    work: Callable[[], Any], times: int, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Run *work* a number of times; return the duration of each run, in milliseconds.

    A first run, which may be slower, is not counted.

    :param clock: returns seconds
    """
    work()
    found = []
    for _ in range(times):
        began = clock()
        work()
        found.append((clock() - began) * 1000)
    return found


def gathered(figures: Iterable[Figure]) -> Iterator[Figure]:
    """Yield the figures, and print each to the standard error as soon as it is available."""
    progress = console.Console(stderr=True, highlight=False, soft_wrap=True)
    with progress.status('measuring'):
        for figure in figures:
            progress.print(
                f'{figure.engine}: {figure.what}: {figure.value:.1f} {figure.unit}', markup=False
            )
            yield figure


def show(figures: Sequence[Figure], *, as_json: bool) -> None:
    """Print the figures as JSON or as a table, with a description of the machine."""
    machine = (
        f'{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()},'
        f' {platform.machine()}'
    )
    if as_json:
        print(json.dumps({'machine': machine, 'figures': [_plain(each) for each in figures]}))
    else:
        print(machine)
        console.Console(width=None if sys.stdout.isatty() else _WIDE).print(table(figures))


def _plain(figure: Figure) -> dict[str, Any]:
    samples = [round(sample, 1) for sample in figure.samples]
    return {**dataclasses.asdict(figure), 'samples': samples}


def table(figures: Sequence[Figure]) -> Table:
    """Return the figures as a table: a row for each measurement, a column for each engine.

    A figure that misses its target is red, and marked with ``!`` for output without colors.
    """
    engines = list(dict.fromkeys(figure.engine for figure in figures))
    rows = list(dict.fromkeys((figure.what, figure.unit, figure.aim) for figure in figures))
    found = {(figure.what, figure.engine): figure for figure in figures}
    made = Table(box=box.SIMPLE_HEAD)
    made.add_column('')
    made.add_column('')
    for engine in engines:
        made.add_column(engine, justify='right', no_wrap=True)
    made.add_column('aim', justify='right', no_wrap=True)
    for what, unit, aim in rows:
        cells = [_cell(found.get((what, engine))) for engine in engines]
        made.add_row(Text(what), unit, *cells, f'{aim:g}' if aim else '')
    return made


def _cell(figure: Figure | None) -> Text:
    if figure is None:
        return Text('-')
    if figure.missed:
        return Text(f'{figure.value:.1f}!', style='bold red')
    return Text(f'{figure.value:.1f} ')
