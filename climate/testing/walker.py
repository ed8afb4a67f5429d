# SPDX-License-Identifier: Apache-2.0

"""Walks through the calls to the cloud in a scenario, and lets each of them fail."""

from __future__ import annotations

import collections
import dataclasses
import functools
import re
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any
from typing import Literal

from climate.cloud import read_only
from climate.domain.leases import Lease
from climate.testing.kinds import Change
from climate.testing.kinds import LeasedType
from climate.testing.kinds import TypeRegistrar
from climate.testing.recorded_calls import CallRecorder
from climate.testing.recorded_calls import RecordedCall
from climate.testing.world import Moment
from climate.testing.world import Picture
from climate.testing.world import World

_UUID = re.compile(r'[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}')
START, END = 100, 1200
ACTIVE = 200
# Longer than every deadline and the pause after it, in seconds.
LONG = 60

Act = Callable[[World, Lease], None]
How = Literal['before', 'after', 'ever', 'refused']


@dataclasses.dataclass(frozen=True, kw_only=True)
class Scenario:
    """A phase in the life of a lease.

    :ivar ready: brings a lease that was just booked to the beginning of the scenario
    :ivar act: runs the scenario until its end
    :ivar again: names of other scenarios with the same calls. Calls that are made in the
        same state there fail only there
    """

    name: str
    ready: Act
    act: Act
    again: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class FailingCall:
    """A call that fails.

    :ivar nth: its number among the calls of the verb in the scenario, from 1
    :ivar step: its number among all calls, from 1
    :ivar key: equal for equal calls in equal states
    """

    verb: str
    nth: int
    step: int
    how: How
    key: str

    def inflict(self, world: World) -> None:
        """Let the call fail."""
        world.cloud.fail(
            self.verb,
            None if self.how == 'ever' else 1,
            when='after' if self.how == 'after' else 'before',
            error='permanent' if self.how == 'refused' else 'transient',
            skip=self.nth - 1,
        )


def _until(seconds: float) -> Act:
    return lambda world, _lease: world.until(seconds)


def _for_a_while(act: Act) -> Act:
    def acts(world: World, lease: Lease) -> None:
        act(world, lease)
        world.until(world.seconds() + LONG)

    return acts


def _repair(world: World, _lease: Lease) -> None:
    list(world.repair().run())


def _bare(world: World, _lease: Lease) -> None:
    """Start the lease, and then remove its objects from the cloud."""
    empty = world.cloud.state()
    world.until(ACTIVE)
    world.cloud.restore(empty)


def _left(world: World, lease: Lease) -> None:
    """Delete the lease, and then restore its objects in the cloud."""
    world.until(ACTIVE)
    full = world.cloud.state()
    world.delete(lease)
    world.until(ACTIVE + LONG)
    world.cloud.restore(full)


def _changed(world: World, lease: Lease, bodies: Sequence[Change | None]) -> None:
    world.change(lease, bodies)


def _refused(change: Act) -> Act:
    """Let the last call of a change fail permanently, so that the change is undone."""

    def ready(world: World, lease: Lease) -> None:
        world.until(ACTIVE)
        begin = world.save()
        world.cloud.keep_journal()
        change(world, lease)
        calls = len(world.cloud.journal())
        world.restore(begin)
        if calls:
            world.cloud.fail('*', error='permanent', skip=calls - 1)

    return ready


def scenarios(kind: LeasedType) -> Iterator[Scenario]:
    """Yield the scenarios that a kind asks for."""
    for scenario in _scenarios(kind):
        if scenario.name not in kind.without and (not kind.only or scenario.name in kind.only):
            yield scenario


def _scenarios(kind: LeasedType) -> Iterator[Scenario]:
    active, prepared = _until(ACTIVE), _until(START - 30)

    def used(world: World, lease: Lease) -> None:
        world.until(ACTIVE)
        kind.use(world, lease)

    def delete(world: World, lease: Lease) -> None:
        world.delete(lease)

    def move(world: World, lease: Lease) -> None:
        world.update(lease, start=300, end=3000)
        world.until(300)

    yield Scenario(name='start', ready=_until(0), act=_until(ACTIVE))
    yield Scenario(name='move', ready=prepared, act=_for_a_while(move), again=('start',))
    yield Scenario(name='delete booked', ready=_until(0), act=_for_a_while(delete))
    yield Scenario(name='delete prepared', ready=prepared, act=_for_a_while(delete))
    yield Scenario(
        name='prolong',
        ready=active,
        act=_for_a_while(lambda world, lease: _ignored(world.update(lease, end=5000))),
    )
    for name, bodies in kind.changes.items():
        change = _for_a_while(functools.partial(_changed, bodies=bodies))
        yield Scenario(name=name, ready=active, act=change)
        yield Scenario(name=f'undo {name}', ready=_refused(change), act=change)
    yield Scenario(name='end', ready=used, act=_until(END + LONG))
    yield Scenario(name='delete', ready=used, act=_for_a_while(delete))
    yield Scenario(
        name='whole life', ready=_until(0), act=_until(END + LONG), again=('start', 'end')
    )
    yield Scenario(name='check', ready=active, act=_repair)
    yield Scenario(name='rebuild', ready=_bare, act=_repair)
    yield Scenario(name='sweep', ready=_left, act=_repair)


def _ignored(_value: object) -> None:
    """Ignore a result."""


class Walk:
    """A walk through one scenario of one kind.

    :param walked: the keys of the calls that have failed in other scenarios
    :ivar steps: the number of calls in the scenario
    :ivar faults: the number of ways in which they can fail
    :ivar runs: how often the scenario was repeated
    """

    def __init__(
        self,
        world: World,
        kind: LeasedType,
        scenario: Scenario,
        walked: AbstractSet[str] = frozenset(),
    ) -> None:
        self._world = world
        self._walked = walked
        self.faults = 0
        self._kind = kind
        self._scenario = scenario
        self.steps = 0
        self.runs = 0
        requests = kind.furnish(TypeRegistrar(world.store, world.plugins, world.cloud))
        self._clean = self._bare()
        world.rng.seed(7)
        self._lease = world.book(requests, START, END)
        scenario.ready(world, self._lease)
        world.work()
        self._begin: Moment = world.save()
        self._before = world.picture(self._lease)
        self._after: Picture | None = None
        self._known: set[str] = set()

    def _bare(self) -> Mapping[str, Any]:
        """Return the contents of the cloud, without objects left on purpose."""
        state = self._world.cloud.state()
        self._kind.put_away(self._world.cloud)
        contents = self._world.cloud.contents()
        self._world.cloud.restore(state)
        return self._kind.same(contents)

    def complaints(self) -> Iterator[str]:
        """Walk, and yield complaints."""
        faults = list(self._faults())
        yield from self._ending('undisturbed')
        for fault in faults:
            self.faults += 1
            if fault.key in self._walked:
                continue
            self.runs += 1
            where = f'{fault.verb} ({fault.nth}), step {fault.step}, {fault.how}'
            yield from self._disturbed(fault, where)

    def calls(self) -> list[RecordedCall]:
        """Run undisturbed, and return the calls."""
        self._world.restore(self._begin)
        with CallRecorder(self._world) as recorder:
            self._scenario.act(self._world, self._lease)
        self._after = self._world.picture(self._lease)
        self.steps = len(recorder.calls)
        return recorder.calls

    def _faults(self) -> Iterator[FailingCall]:
        """Run undisturbed, and return each way in which a call can fail."""
        counted: dict[str, int] = collections.Counter()
        for step, call in enumerate(self.calls(), 1):
            verb = call.verb
            counted[verb] += 1
            # A read-only call can lose nothing except its response.
            ways: tuple[How, ...] = ('before', 'ever')
            for how in ways if read_only.is_read_only(verb) else (*ways, 'after', 'refused'):
                yield FailingCall(verb=verb, nth=counted[verb], step=step, how=how, key=call.key)

    def _disturbed(self, fault: FailingCall, where: str) -> Iterator[str]:
        world, lease = self._world, self._lease
        world.restore(self._begin)
        fault.inflict(world)
        self._scenario.act(world, lease)
        picture = world.picture(lease)
        if fault.how in ('before', 'after') and picture != self._after and not self._repairs():
            yield f'{where}: one failure made it {picture} and not {self._after}'
        world.cloud.heal()
        world.until(world.seconds() + LONG)
        if self._repairs():
            # The next repair does what this one could not do.
            list(world.repair().run())
        picture = world.picture(lease)
        failed = picture is not None and picture.status == 'ERROR' and not picture.has
        if picture not in (self._before, self._after) and not (failed and world.reasons(lease)):
            yield f'{where}: it became {picture}, {world.reasons(lease)}'
        if self._is_known(picture):
            # An earlier run has checked the rest from this state.
            return
        if picture is not None and picture.status == 'ACTIVE':
            for finding in world.repair().rehearse():
                yield f'{where}: while it is active: {finding.what}'
        yield from self._ending(where)

    def _is_known(self, picture: Picture | None) -> bool:
        """Whether the state is that of an earlier run, except for ids."""
        lease = self._world.now(self._lease) if picture is not None else None
        parts = () if lease is None else lease.reservations
        there = [item.facts for item in parts], self._world.cloud.contents()
        names: dict[str, str] = {}
        text = _UUID.sub(
            lambda match: names.setdefault(match[0], f'#{len(names)}'), repr((picture, there))
        )
        if text in self._known:
            return True
        self._known.add(text)
        return False

    def _repairs(self) -> bool:
        return self._scenario.act is _repair

    def _ending(self, where: str) -> Iterator[str]:
        """Delete the lease; yield what it leaves."""
        world, lease = self._world, self._lease
        if world.picture(lease) is not None:
            world.delete(lease)
            world.until(world.seconds() + LONG)
        if world.picture(lease) is not None:
            yield f'{where}: it cannot be deleted: {world.now(lease)}'
        for finding in world.repair().rehearse():
            yield f'{where}: it left: {finding.what}'
        wrong = self._kind.wrong(world.cloud)
        if wrong:
            yield f'{where}: {wrong}'
        there = self._bare()
        for table, rows in self._clean.items():
            if there[table] != rows:
                yield f'{where}: {table} was {rows} and is {there[table]}'
        if world.allocations(lease):
            yield f'{where}: it has {world.allocations(lease)}'
