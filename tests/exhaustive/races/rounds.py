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

"""One pair of contenders, round after round, and what the books say after each."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any

import fixtures

from tests.exhaustive.races import books
from tests.exhaustive.races import contenders
from tests.exhaustive.races import defences
from tests.exhaustive.races import gates
from tests.exhaustive.races import grounds
from tests.exhaustive.races import tallies
from tests.exhaustive.races.contenders import Contender
from tests.exhaustive.races.contenders import Entry
from tests.exhaustive.races.defences import Defences
from tests.exhaustive.races.workers import Report
from tests.exhaustive.races.workers import Workers

WINDOW = tuple(instant.replace(tzinfo=None) for instant in (grounds.START, grounds.END))
# Where nothing is known yet, one waits before its third statement.
_GUESS = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pair:
    """Two contenders of one kind, perhaps twice the same.

    :ivar spare: whether a second resource is free, that nobody has
    """

    one: Contender
    other: Contender
    spare: bool = False

    @property
    def name(self) -> str:
        """What it is called in the table."""
        free = ', two free' if self.spare else ''
        return f'{self.one.kind.name}: {self.one.name} | {self.other.name}{free}'

    def counts(self, processes: int) -> tuple[int, int]:
        """Return how many of each take part; fewer in all if there cannot be so many."""
        if self.one is self.other:
            return min(processes, self.one.most), 0
        first = min(self.one.most, max(processes // 2, processes - self.other.most))
        return first, min(processes - first, self.other.most)


def pairs(kinds: Iterable[grounds.Kind] = grounds.KINDS) -> Iterator[Pair]:
    """Yield every pair that can take part."""
    for kind in kinds:
        for one, other in itertools.combinations_with_replacement(contenders.of(kind), 2):
            if one.goes_with(other):
                yield Pair(one=one, other=other)
        for one, other in itertools.combinations_with_replacement(contenders.with_two(kind), 2):
            yield Pair(one=one, other=other, spare=True)


class Arena(fixtures.Fixture):
    """A database, and the processes that race on it."""

    def __init__(self, kind: str, defended: Defences = defences.BOTH) -> None:
        super().__init__()
        self._kind = kind
        self._defended = defended

    def setUp(self) -> None:
        """Skip where the server is not there."""
        grounds.services.require(self._kind)
        super().setUp()

    def _setUp(self) -> None:
        self._ground = self.useFixture(grounds.Ground(self._kind, guarded=self._defended.guarded))
        self._workers = self.useFixture(Workers(*self._ground.place, judged=self._defended.judged))
        # How many statements a contender needs until it fights.
        self._known: dict[str, int] = {}

    def run(self, pair: Pair, processes: int, rounds: int) -> tallies.Tally:
        """Race so many times."""
        tally = tallies.Tally(
            race=pair.name,
            engine=self._kind,
            defences=self._defended.name,
            processes=processes,
        )
        rng = random.Random(f'{tallies.SEED} {tally.race} {self._kind} {processes}')
        racing = self._racing(pair, processes)
        # Where there are few rounds, each pair begins in a way of its own.
        first = rng.randrange(len(gates.MODES))
        for number in range(rounds):
            mode = gates.MODES[(first + number) % len(gates.MODES)]
            self._round(tally, racing, mode, rng)
        return tally

    def _racing(self, pair: Pair, processes: int) -> _Racing:
        counts = pair.counts(processes)
        taking = [
            (contender, count)
            for contender, count in zip((pair.one, pair.other), counts, strict=True)
            if count
        ]
        ids = self._ground.ids
        kind = pair.one.kind.name
        rows, entries = [], []
        for contender, count in taking:
            # With a home of its own: there is room for what it has beforehand.
            place = contender.home or 'arena'
            prepared, found = self._ground.prepared(
                (kind, contender.name, count),
                [ids[kind, place]],
                lambda contender=contender, count=count: contender.prepare(self._ground, count),
            )
            rows.append(prepared)
            entries += [(contender, entry) for entry in found]
        homes = {contender.home for contender, _ in taking} - {''}
        spare = ('spare',) if pair.spare else ()
        open_ = [ids[kind, place] for place in ('arena', *sorted(homes), *spare)]
        self._ground.restore(rows, open_)
        return _Racing(
            entries=entries,
            rows=rows,
            open=open_,
            arena=ids[kind, 'arena'],
            spare=pair.spare,
            before=self._ground.books(),
        )

    def _round(self, tally: tallies.Tally, racing: _Racing, mode: str, rng: random.Random) -> None:
        self._ground.restore(racing.rows, racing.open)
        before = racing.before
        count = len(racing.entries)
        order = rng.sample(racing.entries, count)
        known = [self._known.get(contender.name, _GUESS) for contender, _ in order]
        # Where more is read before it is written, there is more to be held up.
        waits = rng.choices(range(count), known)[0] if mode == 'pause' else None
        starts = [
            gates.Start(
                count=count,
                mode=mode,
                pause=rng.randint(2, max(2, known[place])) if place == waits else 0,
            )
            for place in range(count)
        ]
        reports = self._workers.race(
            [(entry.act, start) for (_, entry), start in zip(order, starts, strict=True)]
        )
        for (contender, _), report in zip(order, reports, strict=True):
            self._known[contender.name] = max(self._known.get(contender.name, 1), report.first)
        after = self._ground.books()
        told = [
            (contender, entry, report)
            for (contender, entry), report in zip(order, reports, strict=True)
        ]
        tally.add(
            met=_met(told),
            overbooked=books.overbooked(after),
            wrong=[*disagreements(told, racing.arena, before, after), *_sent_away(told, racing)],
            how=_how(tally.rounds, mode, told, starts),
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Racing:
    """Those who take part, with what they have before each round."""

    entries: list[tuple[Contender, Entry]]
    rows: list[Any]
    open: list[int]
    arena: int
    spare: bool
    before: books.Books


_Told = Sequence[tuple[Contender, Entry, Report]]


def _met(told: _Told) -> bool:
    """Say whether transactions of two contenders were open at once, one of which wrote."""
    for (one, _, mine), (other, _, theirs) in itertools.combinations(told, 2):
        if one is other and any(each is not one for each, _, _ in told):
            continue
        for a, b in itertools.product(mine.transactions, theirs.transactions):
            if (a.writes or b.writes) and a.begun < b.done and b.begun < a.done:
                return True
    return False


def _how(number: int, mode: str, told: _Told, starts: Sequence[gates.Start]) -> str:
    held = [
        f', {entry.lease or contender.name} held up before statement {start.pause}'
        for (contender, entry, _), start in zip(told, starts, strict=True)
        if start.pause
    ]
    answers = '; '.join(
        f'{entry.lease or contender.name}:'
        f' {"accepted" if report.told.accepted else report.told.reason or report.told.fault}'
        for contender, entry, report in told
    )
    return f'seed {tallies.SEED}, round {number} ({mode}{"".join(held)}) [{answers}]'


def _sent_away(told: _Told, racing: _Racing) -> Iterator[str]:
    """Yield who was refused although there was a resource for each."""
    if not racing.spare or sum(contender.needs for contender, _, _ in told) > 2:
        return
    for _, entry, report in told:
        if not report.told.accepted:
            yield f'{entry.lease} was refused, and another one was free: {report.told.reason}'


def alone(ground: grounds.Ground, contender: Contender) -> list[str]:
    """Return what is wrong after one has acted that nobody races with."""
    ids, kind = ground.ids, contender.kind.name
    place = ids[kind, contender.home or 'arena']
    rows, entries = ground.prepared(
        (kind, contender.name, 1), [place], lambda: contender.prepare(ground, 1)
    )
    ground.restore([rows], [ids[kind, 'arena'], place])
    before = ground.books()
    told = ground.desk.do(entries[0].act)
    report = Report(told=told, transactions=(), statements=0, first=0)
    after = ground.books()
    found = disagreements([(contender, entries[0], report)], ids[kind, 'arena'], before, after)
    return [*books.overbooked(after), *found]


def disagreements(told: _Told, arena: int, before: books.Books, after: books.Books) -> list[str]:
    """Return where what was answered and what is written differ."""
    return [*_faults(told), *_disagreements(told, arena, before, after)]


def _faults(told: _Told) -> Iterator[str]:
    for contender, entry, report in told:
        if report.told.fault:
            yield f'{entry.lease or contender.name} was told: {report.told.fault}'
    if not any(report.told.accepted for _, _, report in told):
        yield 'what was free was refused to all'


def _disagreements(
    told: _Told, arena: int, before: books.Books, after: books.Books
) -> Iterator[str]:
    """Compare what was answered with what is written."""
    for contender, entry, report in told:
        if contender.takes:
            yield from _supply(contender, report, arena, before, after)
        else:
            yield from _booked(contender, entry, report, before, after)
    yield from _too_late(told, arena, before, after)


def _booked(
    contender: Contender,
    entry: Entry,
    report: Report,
    before: books.Books,
    after: books.Books,
) -> Iterator[str]:
    had, has = before.of(entry.lease), after.of(entry.lease)
    if not report.told.accepted:
        if had != has or before.named(entry.lease) != after.named(entry.lease):
            yield f'{entry.lease} was refused, and had {had}, has {has}'
        return
    there = [row for row in has if row.meets(*WINDOW)]
    if len(after.named(entry.lease)) != 1 or any(
        row.end < WINDOW[1] or row.start > WINDOW[0] for row in there
    ):
        yield f'{entry.lease} was accepted, and has {has}'
    if contender.whole:
        good = len(there) == 1 and there[0].resource_class is None
    else:
        scarce = contender.kind.disk
        # What is prolonged is to have as much as it had.
        wanted = contender.wants or sum(r.amount for r in had if r.resource_class == scarce)
        good = wanted == sum(row.amount for row in there if row.resource_class == scarce)
    if not good:
        yield f'{entry.lease} was accepted, and has {has}'


def _supply(
    contender: Contender,
    report: Report,
    arena: int,
    before: books.Books,
    after: books.Books,
) -> Iterator[str]:
    def state(written: books.Books) -> dict[str, Any]:
        thing = written.resources[arena]
        return {
            'maintenance': len(written.maintenances.get(arena, ())),
            'disabled': thing.disabled,
            'deleted': thing.deleted,
            'shrunk': written.capacity.get((arena, contender.kind.disk)),
        }

    changed = state(before)[contender.takes] != state(after)[contender.takes]
    if report.told.accepted and not changed:
        yield f'{contender.name} was accepted, and nothing came of it'


def _too_late(told: _Told, arena: int, before: books.Books, after: books.Books) -> Iterator[str]:
    """Yield what was committed on the arena after the commit of what forbids it."""
    closed = [
        (
            contender,
            min((each.done for each in report.transactions if each.writes), default=math.inf),
        )
        for contender, _, report in told
        if contender.takes in ('maintenance', 'disabled', 'deleted') and report.told.accepted
    ]
    for contender, entry, report in told:
        if contender.takes or not report.told.accepted:
            continue
        had = {(row.reservation_id, row.resource_id) for row in before.of(entry.lease)}
        new = [
            row for row in after.of(entry.lease) if row.resource_id == arena and row.meets(*WINDOW)
        ]
        kept = all((row.reservation_id, row.resource_id) in had for row in new)
        sent = [each.sent for each in report.transactions if each.books and each.sent]
        for operator, done in closed:
            if operator.takes == 'disabled' and kept:
                # Who is there may stay for longer.
                continue
            if new and sent and done < max(sent):
                yield f'{entry.lease} was booked after {operator.name}: {new}'
