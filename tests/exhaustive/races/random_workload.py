# SPDX-License-Identifier: Apache-2.0

"""Processes that make random calls on two resources, and the check of their histories."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from collections.abc import Sequence

from tests.exhaustive.races import databases
from tests.exhaustive.races import gates
from tests.exhaustive.races import histories
from tests.exhaustive.races import random_clients
from tests.exhaustive.races import records
from tests.exhaustive.races import tallies
from tests.exhaustive.races.histories import Operation
from tests.exhaustive.races.in_process import Call
from tests.exhaustive.races.on_database import DatabaseRace

PROCESSES = 4
CALLS = 25
_PLACES = ('contested', 'dates')


@dataclasses.dataclass(kw_only=True)
class Tally:
    """The results of several histories.

    :ivar overlapping: the number of pairs of operations of different processes that were
        in progress at the same time
    :ivar impossible: the number of histories without a valid order
    :ivar unexplained: the number of histories in which a refusal has no instant without
        room
    """

    engine: str
    defences: str
    histories: int = 0
    accepted: int = 0
    refused: int = 0
    overlapping: int = 0
    impossible: int = 0
    unexplained: int = 0
    failures: list[str] = dataclasses.field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yield a line per result."""
        for field in dataclasses.fields(self):
            if field.name != 'failures':
                yield f'{field.name}: {getattr(self, field.name)}'


class RandomWorkload(DatabaseRace):
    """Random clients in several processes, on two resources of a database."""

    def run(self, count: int) -> Tally:
        """Run a number of histories, and check each."""
        tally = Tally(engine=self._kind, defences=self._defended.name)
        kind = databases.RIGS
        resources = tuple(self._database.ids[kind.name, place] for place in _PLACES)
        for number in range(count):
            seed = f'{tallies.SEED} {self._kind} {number}'
            plan = gates.RoundPlan(count=PROCESSES, mode='free', seed=seed)
            self._database.restore((), resources)
            self._database.level(kind, random_clients.ROOM)
            clients = [
                random_clients.ClientOptions(
                    process=process,
                    seed=f'{seed} {process}',
                    calls=CALLS,
                    resource_type=kind.resource_type,
                    scarce=kind.disk,
                    plenty=kind.cores,
                    resources=resources,
                    stocks=not process,
                )
                for process in range(PROCESSES)
            ]
            reports = self._workers.race(
                [
                    (Call(verb='run_client', values={'options': options}), plan)
                    for options in clients
                ]
            )
            how = f'seed {tallies.SEED}, history {number} on {self._kind}'
            tally.failures += [
                f'{how}: {each.outcome.fault}' for each in reports if each.outcome.fault
            ]
            history = [each for report in reports for each in report.outcome.history]
            self._check_history(tally, history, dict.fromkeys(resources, random_clients.ROOM), how)
        return tally

    def _check_history(
        self, tally: Tally, history: Sequence[Operation], capacity: histories.Capacity, how: str
    ) -> None:
        accepted = histories.without_refusals(history)
        tally.histories += 1
        tally.accepted += len(accepted)
        tally.refused += len(history) - len(accepted)
        tally.overlapping += sum(
            one.process != other.process and one.begun < other.ended and other.begun < one.ended
            for one, other in itertools.combinations(history, 2)
        )
        tally.failures += [
            f'{how}: {each}' for each in records.overbooked(self._database.records())
        ]
        if histories.order(accepted, capacity) is None:
            tally.impossible += 1
            text = '\n'.join(f'    {each}' for each in sorted(history, key=lambda each: each.begun))
            tally.failures.append(f'{how} has no order:\n{text}')
        elif histories.order(history, capacity) is None:
            tally.unexplained += 1
