# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.
"""Figures: what was measured, and how it is shown."""

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


@dataclasses.dataclass(frozen=True, kw_only=True)
class Figure:
    """One thing that was measured.

    :ivar aim: what it should be at most (at least, for what is counted per
        second); None if nothing is asked of it
    """

    engine: str
    what: str
    value: float
    unit: str = 'ms'
    aim: float | None = None

    @property
    def missed(self) -> bool:
        """Whether it is worse than it should be."""
        return self.aim is not None and self.value > self.aim


def quantile(values: Iterable[float], share: float) -> float:
    """Return the smallest value that is not exceeded by *share* (0 to 1) of all."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def timed(work: Callable[[], Any], times: int) -> list[float]:
    """Run *work* so often and return how long each took, in milliseconds.

    Run once more before, for what is only slow the first time.
    """
    work()
    found = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        found.append((time.perf_counter() - began) * 1000)
    return found


def gathered(figures: Iterable[Figure]) -> Iterator[Figure]:
    """Yield the figures, and tell of each as soon as it is there."""
    for figure in figures:
        sys.stderr.write(f'{figure.engine}: {figure.what}: {figure.value:.1f} {figure.unit}\n')
        yield figure


def show(figures: Sequence[Figure], *, as_json: bool) -> None:
    """Print the figures as JSON, or as a table with the machine that they are of."""
    if as_json:
        print(json.dumps([dataclasses.asdict(figure) for figure in figures], indent=2))
    else:
        print(f'{os.cpu_count()} CPUs, Python {platform.python_version()}, {platform.machine()}')
        print(table(figures))


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as a table: a row for each thing, a column for each engine."""
    engines = list(dict.fromkeys(figure.engine for figure in figures))
    rows = list(dict.fromkeys((figure.what, figure.unit, figure.aim) for figure in figures))
    found = {(figure.what, figure.engine): figure for figure in figures}
    width = max((len(what) for what, _, _ in rows), default=0)
    lines = [
        f'{"":{width}}  {"":4}' + ''.join(f'{engine:>13}' for engine in engines) + f'{"aim":>10}'
    ]
    for what, unit, aim in rows:
        cells = ''.join(_cell(found.get((what, engine))) for engine in engines)
        lines.append(f'{what:{width}}  {unit:4}{cells}' + (f'{aim:>10g}' if aim else ''))
    return '\n'.join(lines)


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return f'{"-":>13}'
    return f'{figure.value:>12.1f}' + ('!' if figure.missed else ' ')
