# SPDX-License-Identifier: Apache-2.0

"""Races a pair of contenders for several rounds, and checks the records after each."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any

from tests.exhaustive.races import contenders
from tests.exhaustive.races import databases
from tests.exhaustive.races import gates
from tests.exhaustive.races import records
from tests.exhaustive.races import tallies
from tests.exhaustive.races.contenders import Contender
from tests.exhaustive.races.contenders import Entry
from tests.exhaustive.races.on_database import DatabaseRace
from tests.exhaustive.races.workers import Report

# The assumed number of statements of a contender before its first one that locks or
# writes, until a round has measured it.
_GUESS = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pair:
    """Two contenders of one kind, which may be the same.

    :ivar spare: whether a second resource is free
    """

    one: Contender
    other: Contender
    spare: bool = False

    @property
    def name(self) -> str:
        """The name in the table."""
        free = ', two free' if self.spare else ''
        return f'{self.one.kind.name}: {self.one.name} | {self.other.name}{free}'

    def counts(self, processes: int) -> tuple[int, int]:
        """Return how many of each take part; the sum may be less than *processes*."""
        if self.one is self.other:
            return min(processes, self.one.most), 0
        first = min(self.one.most, max(processes // 2, processes - self.other.most))
        return first, min(processes - first, self.other.most)


def pairs(kinds: Iterable[databases.Kind] = databases.KINDS) -> Iterator[Pair]:
    """Yield all possible pairs."""
    for kind in kinds:
        for one, other in itertools.combinations_with_replacement(contenders.of(kind), 2):
            if one.can_race_with(other):
                yield Pair(one=one, other=other)
        for one, other in itertools.combinations_with_replacement(contenders.with_two(kind), 2):
            yield Pair(one=one, other=other, spare=True)


class PairRunner(DatabaseRace):
    """Races pairs of contenders in processes, on one database."""

    def _setUp(self) -> None:
        super()._setUp()
        # The number of the first statement of a contender that locks or writes.
        self._known: dict[str, int] = {}

    def run(self, pair: Pair, processes: int, rounds: int) -> tallies.Tally:
        """Run the rounds; return the results."""
        tally = tallies.Tally(
            race=pair.name, engine=self._kind, defences=self._defended.name, processes=processes
        )
        rng = random.Random(f'{tallies.SEED} {tally.race} {self._kind} {processes}')
        participants = self._participants(pair, processes)
        # With few rounds, different pairs begin with different modes.
        first = rng.randrange(len(gates.MODES))
        for number in range(rounds):
            self._round(tally, participants, gates.MODES[(first + number) % len(gates.MODES)], rng)
        return tally

    def _participants(self, pair: Pair, processes: int) -> _Participants:
        taking = [
            (contender, count)
            for contender, count in zip((pair.one, pair.other), pair.counts(processes), strict=True)
            if count
        ]
        ids = self._database.ids
        kind = pair.one.kind.name
        rows, entries = [], []
        for contender, count in taking:
            # A contender with a home has room for its existing lease only there.
            place = contender.home or 'contested'
            prepared, found = self._database.prepared(
                (kind, contender.name, count),
                [ids[kind, place]],
                lambda contender=contender, count=count: contender.prepare(self._database, count),
            )
            rows.append(prepared)
            entries += [(contender, entry) for entry in found]
        homes = {contender.home for contender, _ in taking} - {''}
        spare = ('spare',) if pair.spare else ()
        open_ = [ids[kind, place] for place in ('contested', *sorted(homes), *spare)]
        self._database.restore(rows, open_)
        return _Participants(
            entries=entries,
            rows=rows,
            open=open_,
            contested=ids[kind, 'contested'],
            spare=pair.spare,
            before=self._database.records(),
        )

    def _round(
        self, tally: tallies.Tally, participants: _Participants, mode: str, rng: random.Random
    ) -> None:
        self._database.restore(participants.rows, participants.open)
        before = participants.before
        count = len(participants.entries)
        order = rng.sample(participants.entries, count)
        known = [self._known.get(contender.name, _GUESS) for contender, _ in order]
        # A contender with more statements before its first write is paused more often.
        waits = rng.choices(range(count), known)[0] if mode == 'pause' else None
        plans = [
            gates.RoundPlan(
                count=count,
                mode=mode,
                pause=rng.randint(2, max(2, known[place])) if place == waits else 0,
            )
            for place in range(count)
        ]
        reports = self._workers.race(
            [(entry.call, plan) for (_, entry), plan in zip(order, plans, strict=True)]
        )
        for (contender, _), report in zip(order, reports, strict=True):
            self._known[contender.name] = max(self._known.get(contender.name, 1), report.first)
        after = self._database.records()
        results = [
            (contender, entry, report)
            for (contender, entry), report in zip(order, reports, strict=True)
        ]
        tally.add(
            met=_met(results),
            overbooked=records.overbooked(after),
            wrong=[
                *disagreements(results, participants.contested, before, after),
                *_needlessly_refused(results, participants),
            ],
            how=_how(tally.rounds, mode, results, plans),
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Participants:
    """The participants in a race, with the state before each round."""

    entries: list[tuple[Contender, Entry]]
    rows: list[Any]
    open: list[int]
    contested: int
    spare: bool
    before: records.Records


_Results = Sequence[tuple[Contender, Entry, Report]]


def _met(results: _Results) -> bool:
    """Whether transactions of two contenders overlapped, one of which wrote."""
    for (one, _, mine), (other, _, theirs) in itertools.combinations(results, 2):
        if one is other and any(each is not one for each, _, _ in results):
            continue
        if mine.met(theirs):
            return True
    return False


def _how(number: int, mode: str, results: _Results, plans: Sequence[gates.RoundPlan]) -> str:
    held = [
        f', {entry.lease or contender.name} held up before statement {plan.pause}'
        for (contender, entry, _), plan in zip(results, plans, strict=True)
        if plan.pause
    ]
    answers = '; '.join(
        f'{entry.lease or contender.name}: '
        + ('accepted' if report.outcome.accepted else report.outcome.reason or report.outcome.fault)
        for contender, entry, report in results
    )
    return f'seed {tallies.SEED}, round {number} ({mode}{"".join(held)}) [{answers}]'


def _needlessly_refused(results: _Results, participants: _Participants) -> Iterator[str]:
    """Yield the refusals in a round with a resource for each participant."""
    if not participants.spare or sum(contender.needs for contender, _, _ in results) > 2:
        return
    for _, entry, report in results:
        if not report.outcome.accepted:
            yield f'{entry.lease} was refused, and another one was free: {report.outcome.reason}'


def alone(database: databases.RaceDatabase, contender: Contender) -> list[str]:
    """Return what is wrong after the call of a contender without competitors."""
    ids, kind = database.ids, contender.kind.name
    place = ids[kind, contender.home or 'contested']
    rows, entries = database.prepared(
        (kind, contender.name, 1), [place], lambda: contender.prepare(database, 1)
    )
    database.restore([rows], [ids[kind, 'contested'], place])
    before = database.records()
    outcome = database.service.do(entries[0].call)
    report = Report(outcome=outcome, transactions=(), statements=0, first=0)
    after = database.records()
    found = disagreements([(contender, entries[0], report)], ids[kind, 'contested'], before, after)
    return [*records.overbooked(after), *found]


def disagreements(
    results: _Results, contested: int, before: records.Records, after: records.Records
) -> list[str]:
    """Return the differences between the outcomes and the records, and all faults."""
    return [*_faults(results), *_disagreements(results, contested, before, after)]


def _faults(results: _Results) -> Iterator[str]:
    for contender, entry, report in results:
        if report.outcome.fault:
            yield f'{entry.lease or contender.name} got an error: {report.outcome.fault}'
    if not any(report.outcome.accepted for _, _, report in results):
        yield 'the resource was free, and all calls were refused'


def _disagreements(
    results: _Results, contested: int, before: records.Records, after: records.Records
) -> Iterator[str]:
    """Compare the outcomes with the records."""
    for contender, entry, report in results:
        if contender.takes:
            yield from _supply(contender, report, contested, before, after)
        else:
            yield from _booked(contender, entry, report, before, after)
    yield from _booked_too_late(results, contested, before, after)


def _booked(
    contender: Contender,
    entry: Entry,
    report: Report,
    before: records.Records,
    after: records.Records,
) -> Iterator[str]:
    had, has = before.of(entry.lease), after.of(entry.lease)
    if not report.outcome.accepted:
        if had != has or before.named(entry.lease) != after.named(entry.lease):
            yield f'{entry.lease} was refused, and had {had}, has {has}'
        return
    there = [row for row in has if row.meets(*databases.WINDOW)]
    if len(after.named(entry.lease)) != 1 or any(
        row.end < databases.WINDOW[1] or row.start > databases.WINDOW[0] for row in there
    ):
        yield f'{entry.lease} was accepted, and has {has}'
    if contender.whole:
        good = len(there) == 1 and there[0].resource_class is None
    else:
        scarce = contender.kind.disk
        # A prolonged lease must have as much as before.
        wanted = contender.wants or sum(r.amount for r in had if r.resource_class == scarce)
        good = wanted == sum(row.amount for row in there if row.resource_class == scarce)
    if not good:
        yield f'{entry.lease} was accepted, and has {has}'


def _supply(
    contender: Contender,
    report: Report,
    contested: int,
    before: records.Records,
    after: records.Records,
) -> Iterator[str]:
    def state(written: records.Records) -> dict[str, Any]:
        resource = written.resources[contested]
        return {
            'maintenance': sum(
                period.start < databases.WINDOW[1] and databases.WINDOW[0] < period.end
                for period in written.maintenances.get(contested, ())
            ),
            'disabled': resource.disabled,
            'deleted': resource.deleted,
            'shrunk': written.capacity.get((contested, contender.kind.disk)),
        }

    changed = state(before)[contender.takes] != state(after)[contender.takes]
    if report.outcome.accepted and not changed:
        yield f'{contender.name} was accepted, and changed nothing'


def _booked_too_late(
    results: _Results, contested: int, before: records.Records, after: records.Records
) -> Iterator[str]:
    """Yield bookings on the contested resource after the commit that closed it."""
    closed = [
        (
            contender,
            min((each.done for each in report.transactions if each.writes), default=math.inf),
        )
        for contender, _, report in results
        if contender.takes in ('maintenance', 'disabled', 'deleted') and report.outcome.accepted
    ]
    for contender, entry, report in results:
        if contender.takes or not report.outcome.accepted:
            continue
        had = {(row.reservation_id, row.resource_id) for row in before.of(entry.lease)}
        new = [
            row
            for row in after.of(entry.lease)
            if row.resource_id == contested and row.meets(*databases.WINDOW)
        ]
        kept = all((row.reservation_id, row.resource_id) in had for row in new)
        sent = [each.sent for each in report.transactions if each.allocates and each.sent]
        for operator, done in closed:
            if operator.takes == 'disabled' and kept:
                # A lease on a disabled resource may be prolonged.
                continue
            if new and sent and done < (min(sent) if contender.holds else max(sent)):
                yield f'{entry.lease} was booked after {operator.name}: {new}'
