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

"""Processes that do as they like on two resources, and what the checker says of it."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from collections.abc import Sequence

import fixtures

from tests import services
from tests.exhaustive.races import books
from tests.exhaustive.races import defences
from tests.exhaustive.races import gates
from tests.exhaustive.races import grounds
from tests.exhaustive.races import histories
from tests.exhaustive.races import players
from tests.exhaustive.races import tallies
from tests.exhaustive.races.defences import Defences
from tests.exhaustive.races.desks import Act
from tests.exhaustive.races.histories import Operation
from tests.exhaustive.races.workers import Workers

PROCESSES = 4
ACTS = 25
_PLACES = ('arena', 'field')


@dataclasses.dataclass(kw_only=True)
class Tally:
    """Some histories.

    :ivar overlapping: how many pairs of operations of different processes were
        under way at once
    :ivar unexplained: in how many histories a refusal has no instant at which
        there was no room
    """

    engine: str
    defences: str
    histories: int = 0
    accepted: int = 0
    refused: int = 0
    overlapping: int = 0
    impossible: int = 0
    unexplained: int = 0
    stories: list[str] = dataclasses.field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yield what it came to."""
        for field in dataclasses.fields(self):
            if field.name != 'stories':
                yield f'{field.name}: {getattr(self, field.name)}'


class Machine(fixtures.Fixture):
    """A database, two resources, and the processes."""

    def __init__(self, engine: str, defended: Defences = defences.BOTH) -> None:
        super().__init__()
        self._engine = engine
        self._defended = defended

    def setUp(self) -> None:
        """Skip where the server is not there."""
        services.require(self._engine)
        super().setUp()

    def _setUp(self) -> None:
        self._ground = self.useFixture(grounds.Ground(self._engine, guarded=self._defended.guarded))
        self._workers = self.useFixture(Workers(*self._ground.place, judged=self._defended.judged))

    def run(self, count: int) -> Tally:
        """Have so many histories, and look at each."""
        tally = Tally(engine=self._engine, defences=self._defended.name)
        kind = grounds.RIGS
        resources = tuple(self._ground.ids[kind.name, place] for place in _PLACES)
        for number in range(count):
            seed = f'{tallies.SEED} {self._engine} {number}'
            start = gates.Start(count=PROCESSES, mode='free', seed=seed)
            self._ground.restore((), resources)
            self._ground.level(kind, players.ROOM)
            games = [
                players.Game(
                    process=process,
                    seed=f'{seed} {process}',
                    acts=ACTS,
                    resource_type=kind.resource_type,
                    scarce=kind.disk,
                    plenty=kind.cores,
                    resources=resources,
                    stocks=not process,
                )
                for process in range(PROCESSES)
            ]
            reports = self._workers.race(
                [(Act(verb='play', values={'game': game}), start) for game in games]
            )
            how = f'seed {tallies.SEED}, history {number} on {self._engine}'
            tally.stories += [f'{how}: {each.told.fault}' for each in reports if each.told.fault]
            history = [each for report in reports for each in report.told.history]
            self._judge(tally, history, dict.fromkeys(resources, players.ROOM), how)
        return tally

    def _judge(
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
        tally.stories += [f'{how}: {each}' for each in books.overbooked(self._ground.books())]
        if histories.order(accepted, capacity) is None:
            tally.impossible += 1
            told = '\n'.join(f'    {each}' for each in sorted(history, key=lambda each: each.begun))
            tally.stories.append(f'{how} has no order:\n{told}')
        elif histories.order(history, capacity) is None:
            tally.unexplained += 1
