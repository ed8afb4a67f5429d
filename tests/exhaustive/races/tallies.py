# SPDX-License-Identifier: Apache-2.0

"""The results of races."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from collections.abc import Iterator

SEED = int(os.environ.get('CLIMATE_RACE_SEED', '7'))
_HEAD = ('race', 'engine', 'defences', 'processes', 'rounds', 'met', 'overbooked', 'wrong')


def rounds(usual: int) -> int:
    """Return how many rounds to run: ``CLIMATE_RACE_ROUNDS``, or *usual*."""
    return int(os.environ.get('CLIMATE_RACE_ROUNDS', usual))


def asked() -> bool:
    """Whether the environment sets the number of rounds."""
    return 'CLIMATE_RACE_ROUNDS' in os.environ


@dataclasses.dataclass(kw_only=True)
class Tally:
    """The results of the rounds of one race.

    :ivar defences: the safeguards against double booking
    :ivar met: the number of rounds in which transactions of two processes overlapped
    :ivar overbooked: the number of rounds after which more is booked than exists
    :ivar wrong: the number of rounds in which a response and the records disagree
    :ivar failures: descriptions of all failures, with the seed
    """

    race: str
    engine: str
    defences: str
    processes: int
    rounds: int = 0
    met: int = 0
    overbooked: int = 0
    wrong: int = 0
    failures: list[str] = dataclasses.field(default_factory=list)

    def add(self, *, met: bool, overbooked: Iterable[str], wrong: Iterable[str], how: str) -> None:
        """Count a round.

        :param how: how to reproduce it
        """
        over, other = list(overbooked), list(wrong)
        self.rounds += 1
        self.met += met
        self.overbooked += bool(over)
        self.wrong += bool(other)
        self.failures += [
            f'{self.race} on {self.engine} ({self.defences}), {self.processes} processes,'
            f' {how}: {text}'
            for text in (*over, *other)
        ]

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of its line in the table."""
        counts = (self.processes, self.rounds, self.met, self.overbooked, self.wrong)
        return (self.race, self.engine, self.defences, *(str(count) for count in counts))


def table(tallies: Iterable[Tally]) -> Iterator[str]:
    """Yield the lines of a table, with the sums per engine and safeguards at the end."""
    rows = list(tallies)
    sums: dict[tuple[str, str, int], Tally] = {}
    for one in rows:
        total = sums.setdefault(
            (one.engine, one.defences, one.processes),
            Tally(race='all', engine=one.engine, defences=one.defences, processes=one.processes),
        )
        for name in ('rounds', 'met', 'overbooked', 'wrong'):
            setattr(total, name, getattr(total, name) + getattr(one, name))
    lines = [_HEAD, *(one.cells for one in (*rows, *sums.values()))]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
    for line in lines:
        yield '  '.join(
            cell.ljust(width) if place < 3 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
