# SPDX-License-Identifier: Apache-2.0

"""Races leases with placements: against each other, plain leases, and their own changes.

Eight hosts in four racks and two zones have room for one member each, or for two of the
small ones, so that racks and zones fill up in most rounds. Each round draws what takes part.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

import sqlalchemy as sa

from tests.exhaustive.races import databases
from tests.exhaustive.races import gates
from tests.exhaustive.races import placed
from tests.exhaustive.races import records
from tests.exhaustive.races import tallies
from tests.exhaustive.races.databases import DAY
from tests.exhaustive.races.databases import END
from tests.exhaustive.races.databases import HOSTS
from tests.exhaustive.races.databases import START
from tests.exhaustive.races.in_process import Call
from tests.exhaustive.races.on_database import DatabaseRace
from tests.exhaustive.races.placed import PlacedRequest
from tests.exhaustive.races.workers import Report

UNITS: Final = 200
# The zone and the rack of each host, in the order of their ids.
_PLACES: Final = ('a1', 'a1', 'a2', 'a2', 'b1', 'b1', 'b2', 'b2')
_RACK: Final = {'reservation': 0, 'property': 'rack'}


def _hosts(count: int, **placement: Any) -> dict[str, Any]:
    body = {'resource_type': 'physical:host', 'min': count, 'max': count}
    return {**body, **({'placement': placement} if placement else {})}


def _slots(amount: int, **placement: Any) -> dict[str, Any]:
    body = {**HOSTS.part(UNITS), 'amount': amount, 'affinity': None}
    return {**body, **({'placement': placement} if placement else {})}


def _request(name: str, *bodies: dict[str, Any]) -> PlacedRequest:
    return PlacedRequest(name=name, bodies=bodies, scarce=HOSTS.disk, units=UNITS)


REQUESTS: Final = (
    _request('hosts in one rack', _hosts(2, same=['rack'])),
    _request('slots in one rack', _slots(3, same=['rack'])),
    _request('a host and slots in one rack', _hosts(1), _slots(2, same_as=[_RACK])),
    _request('slots over zones', _slots(4, spread=[{'property': 'zone'}])),
    _request('hosts over racks', _hosts(2, spread=[{'property': 'rack'}])),
    _request('slots apart', _slots(2), _slots(2, apart_from=[0])),
    _request(
        'slots apart in one zone',
        _slots(2, same=['zone']),
        _slots(2, apart_from=[0], same_as=[{'reservation': 0, 'property': 'zone'}]),
    ),
    _request('plain hosts', _hosts(2)),
    _request('plain slots', _slots(3)),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Runner:
    """A participant in a round.

    :ivar lease: the name of the lease that it makes or changes
    :ivar resized: the numbers of members by position that it may have instead afterwards
    """

    what: str
    call: Call
    lease: str
    request: PlacedRequest
    resized: Mapping[int, int] = dataclasses.field(default_factory=dict)


class PlacementRace(DatabaseRace):
    """Random rounds in several processes, on one database."""

    def _setUp(self) -> None:
        super()._setUp()
        database = self._database
        self._ids = sorted(database.ids[HOSTS.name, place] for place in databases.PLACES)
        self.accepted = 0
        self._labels: dict[str, dict[int, str]] = {
            'zone': {key: place[0] for key, place in zip(self._ids, _PLACES, strict=True)},
            'rack': dict(zip(self._ids, _PLACES, strict=True)),
        }
        for key in self._ids:
            database.service.label(key, {name: its[key] for name, its in self._labels.items()})

    def run(self, changes: bool, processes: int, rounds: int) -> tallies.Tally:
        """Run the rounds; return the results.

        :param changes: whether leases that exist take part
        """
        tally = tallies.Tally(
            race=f'placements, {"leases and changes" if changes else "new leases"}',
            engine=self._kind,
            defences=self._defended.name,
            processes=processes,
        )
        rng = random.Random(f'{tallies.SEED} {tally.race} {self._kind} {processes}')
        for number in range(rounds):
            mode = gates.MODES[number % len(gates.MODES)]
            self._round(tally, _Drawn(self._database, rng, changes), processes, mode)
        return tally

    def _round(self, tally: tallies.Tally, drawn: _Drawn, processes: int, mode: str) -> None:
        self._database.restore((), self._ids)
        self._database.level(HOSTS, 2 * UNITS)
        runners = drawn.runners(processes)
        held = drawn.rng.randrange(processes) if mode == 'pause' else None
        plans = [
            gates.RoundPlan(
                count=processes, mode=mode, pause=drawn.rng.randint(2, 24) if place == held else 0
            )
            for place in range(processes)
        ]
        before = self._read()
        reports = self._workers.race(
            [(one.call, plan) for one, plan in zip(runners, plans, strict=True)]
        )
        after = self._read()
        self.accepted += sum(report.outcome.accepted for report in reports)
        results = list(zip(runners, reports, strict=True))
        pauses = [plan.pause for plan in plans]
        answers = '; '.join(
            f'{one.lease}, {one.what}: {report.outcome.reason or report.outcome.accepted}'
            for one, report in results
        )
        tally.add(
            met=any(one.met(other) for one, other in itertools.combinations(reports, 2)),
            overbooked=records.overbooked(self._database.records()),
            wrong=self._wrong(results, before, after),
            how=f'seed {tallies.SEED}, round {tally.rounds} ({mode}, {pauses}) [{answers}]',
        )

    def _read(self) -> dict[str, list[placed.PlacedLease]]:
        with self._database.engine.connect() as connection:
            return placed.read(connection, HOSTS.disk, UNITS)

    def _wrong(
        self,
        results: Sequence[tuple[Runner, Report]],
        before: Mapping[str, Sequence[placed.PlacedLease]],
        after: Mapping[str, Sequence[placed.PlacedLease]],
    ) -> Iterator[str]:
        for runner, report in results:
            if report.outcome.fault:
                yield f'{runner.lease}, {runner.what}: {report.outcome.fault}'
        for lease, each in itertools.groupby(
            sorted(results, key=lambda one: one[0].lease), lambda one: one[0].lease
        ):
            mine = list(each)
            found = after.get(lease, ())
            if not any(report.outcome.accepted for _, report in mine):
                if before.get(lease, ()) != found:
                    yield f'{lease} was refused: {before.get(lease)} became {found}'
            elif len(found) != 1:
                yield f'{lease} was accepted, and is there {len(found)} times'
            else:
                yield from self._violations([runner for runner, _ in mine], found[0])

    def _violations(self, runners: Sequence[Runner], found: placed.PlacedLease) -> Iterator[str]:
        request, lease = runners[0].request, runners[0].lease
        for text in placed.violations(request, found, self._labels):
            yield f'{lease}: {text}'
        for position in range(len(request.bodies)):
            count = sum(found.where.get(position, {}).values())
            allowed = {request.wanted(position)}
            allowed |= {one.resized[position] for one in runners if position in one.resized}
            if count not in allowed:
                yield f'{lease} has {count} members in reservation {position}, not {allowed}'


class _Drawn:
    """What takes part in a round."""

    def __init__(self, database: databases.RaceDatabase, rng: random.Random, changes: bool) -> None:
        self._database = database
        self._changes = changes
        self.rng = rng

    def runners(self, count: int) -> list[Runner]:
        """Return a number of participants, and book the leases that some of them change."""
        found: list[Runner] = []
        while len(found) < count:
            request, number = self.rng.choice(REQUESTS), len(found)
            changes = self._changes and self.rng.random() < 0.6
            found += (
                self._changers(request, number) if changes else [self._creator(request, number)]
            )
        return found[:count]

    def _creator(self, request: PlacedRequest, number: int) -> Runner:
        name = f'{request.name} {number}'
        verb = self.rng.choice(('create', 'create', 'hold_and_take'))
        values = {'name': name, 'start': START, 'end': END, 'bodies': request.bodies}
        return Runner(what=verb, call=Call(verb=verb, values=values), lease=name, request=request)

    def _changers(self, request: PlacedRequest, number: int) -> list[Runner]:
        """Book a lease, and return one or two changes of it; none if it is refused."""
        name, later = f'{request.name} {number}', self.rng.random() < 0.5
        start = END if later else START
        call = Call(
            verb='create',
            values={'name': name, 'start': start, 'end': start + DAY, 'bodies': request.bodies},
        )
        if not self._database.service.do(call).accepted:
            return []
        lease = self._lease(name)
        ways: list[Callable[[Any], tuple[str, Call, dict[int, int]]]]
        ways = [self._to_the_window] if later else [self._longer, self._healed, self._reallocated]
        ways.append(self._resized)
        found = []
        for way in self.rng.sample(ways, min(len(ways), self.rng.choice((1, 2)))):
            what, change, resized = way(lease)
            found.append(
                Runner(what=what, call=change, lease=name, request=request, resized=resized)
            )
        return found

    def _lease(self, name: str) -> Any:
        with self._database.engine.connect() as connection:
            query = sa.text('SELECT id FROM leases WHERE name = :name')
            lease_id = connection.execute(query, {'name': name}).scalar_one()
        return self._database.service.leases.get(lease_id, None)

    def _resource(self, lease: Any) -> tuple[str, int]:
        """Return a reservation, and one of its resources."""
        with self._database.engine.connect() as connection:
            query = sa.text(
                'SELECT r.id, a.resource_id FROM reservations r JOIN allocations a'
                ' ON a.reservation_id = r.id WHERE r.lease_id = :lease ORDER BY r.position, a.id'
            )
            rows = connection.execute(query, {'lease': lease.id}).all()
        row = self.rng.choice(rows)
        return row[0], row[1]

    def _to_the_window(self, lease: Any) -> tuple[str, Call, dict[int, int]]:
        values = {'lease_id': lease.id, 'start': START, 'end': END}
        return 'change dates', Call(verb='change', values=values), {}

    def _longer(self, lease: Any) -> tuple[str, Call, dict[int, int]]:
        return 'extend', Call(verb='change', values={'lease_id': lease.id, 'end': END + DAY}), {}

    def _resized(self, lease: Any) -> tuple[str, Call, dict[int, int]]:
        """Change the number of members of the last reservation by one."""
        last = lease.reservations[-1]
        hosts, more = last.resource_type == 'physical:host', self.rng.choice((-1, 1))
        count = more + (last.request['min'] if hosts else last.request['amount'])
        body = {'min': count, 'max': count} if hosts else {'amount': count}
        values = {'lease_id': lease.id, 'bodies': {last.id: body}}
        return f'resize by {more}', Call(verb='change', values=values), {last.position: count}

    def _healed(self, lease: Any) -> tuple[str, Call, dict[int, int]]:
        _, resource_id = self._resource(lease)
        self._database.service.maintain(resource_id, START, END)
        return 'heal', Call(verb='heal', values={'lease_id': lease.id}), {}

    def _reallocated(self, lease: Any) -> tuple[str, Call, dict[int, int]]:
        reservation_id, resource_id = self._resource(lease)
        where = {'reservation_id': reservation_id, 'resource_id': resource_id}
        return 'reallocate', Call(verb='reallocate', values={'lease_id': lease.id, **where}), {}
