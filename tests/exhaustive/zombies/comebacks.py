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

"""A manager hangs in a call of the cloud, and goes on when all is over.

Meanwhile its claim runs out, another manager takes over and brings the lease
to its end, and the next tenant has a lease of the same resources, with servers
on them. The simulated cloud is in this process, so a call that hangs is one in which all
of that happens: no thread, no pause.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import datetime
import re
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Literal

import fixtures

from climate.clients import rehearsal
from climate.domain.leases import Lease
from climate.domain.lifecycles import EventState
from climate.testing import walker
from climate.testing.kinds import TypeRegistrar
from tests import stalls
from tests.exhaustive.zombies import tenants
from tests.functional.manager import harness
from tests.functional.manager.walk import kinds
from tests.functional.manager.walk.world import Picture
from tests.functional.manager.walk.world import SETTINGS
from tests.functional.manager.walk.world import World

_UUID = re.compile(r'[0-9a-f]{8}(?:[-_]?[0-9a-f]{4}){3}[-_]?[0-9a-f]{12}', re.IGNORECASE)
_HOST = re.compile(r'compute-\d+')
_INSTANT = re.compile(r'\b1[89]\d{8}\.\d+')
# Scenarios in which a repair is stopped, and another one comes.
_REPAIRS = frozenset({'check', 'rebuild', 'sweep'})
# After which everybody's claims have run out, those on chores too.
_CLAIMS = 601
# How long the next tenant has leased.
_HOURS = 5000
# So many calls of one verb are stopped within one effect.
_EACH = 2
# In which time everything is as it will be that was made or deleted.
_SETTLES = 5
# What another manager takes over is not given up for the time that the first has hung.
_SETTINGS = dataclasses.replace(SETTINGS, effect_deadline=datetime.timedelta(hours=1))
Where = Literal['before', 'after']
Contents = Mapping[str, list[tuple[object, ...]]]


class Over(BaseException):
    """What the test wants of the first manager is done."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stop:
    """A call in which the manager hangs.

    :ivar step: which of all calls of the scenario, from 1
    :ivar where: whether it hangs on the way to the cloud, or on the way back
    :ivar often: how often calls like it are stopped, if it is one of those that are
    """

    step: int
    verb: str
    where: Where
    often: frozenset[tenants.Often] = frozenset()

    def __str__(self) -> str:
        return f'{self.where} {self.verb}, step {self.step}'


class Theatre(World):
    """A world whose first manager passes a watch with every call.

    :ivar watch: what it passes; None for managers that nobody watches
    :ivar fenced: whether there is a fence before verbs that change the cloud
    """

    def __init__(self, *, fenced: bool = True) -> None:
        self.watch: stalls.Watch | None = None
        self.fenced = fenced
        self.came_back = False
        super().__init__(settings=_SETTINGS)

    def _setUp(self) -> None:
        super()._setUp()
        if not self.fenced:
            self.useFixture(
                fixtures.MonkeyPatch('climate.clients.fence.Hold.sure', lambda _hold: True)
            )

    @property
    def managed(self) -> Any:
        """The cloud as the managers have it that are hired now."""
        return self.cloud if self.watch is None else stalls.Watched(self.cloud, self.watch)

    def work(self) -> None:
        """Do what is due; the work ends with what one does who came back."""
        while self.manager.look():
            if self.came_back:
                raise Over
        if self.came_back:
            raise Over

    def tell(self) -> None:
        """Send nothing: what is told is read where something is wrong only."""


class Comeback:
    """One scenario of one kind, with all that can become of it meanwhile.

    :param world: as it is when nothing has happened yet
    :param kind: a name in ``KINDS``
    :param cases: when the manager goes on, and who is there then
    :param seen: the states in which a call was stopped already, in other scenarios
    :ivar calls: how many calls the scenario makes
    :ivar runs: how often it was stopped
    :ivar mended: after how many of the runs a repair had something to do
    """

    def __init__(
        self,
        world: Theatre,
        kind: str,
        scenario: walker.Scenario,
        cases: Sequence[tenants.Case],
        seen: set[object],
    ) -> None:
        self._cases = cases
        self._case = cases[0]
        self._world = world
        self._name, self._kind = kind, kinds.KINDS[kind]
        self._scenario = scenario
        self._seen = seen
        self.calls = self.runs = self.mended = 0
        requests = self._kind.furnish(TypeRegistrar(world.store, world.plugins, world.cloud))
        self._next_requests = [case.following(world) for case in cases]
        self._clean = self._bare()
        world.rng.seed(7)
        self._lease = world.book(requests, walker.START, walker.END)
        scenario.ready(world, self._lease)
        world.work()
        self._begin = world.save()
        self._next: Lease | None = None
        self._pictures: list[Picture | None] = []
        self._there: Contents = {}

    def complaints(self) -> Iterator[str]:
        """Walk, and yield what is not as it should be."""
        stops = list(self._stops())
        for case in self._cases:
            self._case = case
            for stop in stops:
                if case.often in stop.often:
                    self.runs += 1
                    for complaint in self._stopped(stop):
                        yield f'{self._scenario.name}: {stop}, {case.name}: {complaint}'

    # -- where to stop

    def _stops(self) -> Iterator[Stop]:
        """Run undisturbed, and return each call that was made in a state not seen yet."""
        world = self._world
        found: list[Stop] = []

        counted: dict[tuple[str, str], int] = collections.Counter()

        def watch(verb: str, call: Callable[[], Any]) -> Any:
            self.calls += 1
            event, states = self._doing()
            counted[event + states, verb] += 1
            nth = counted[event + states, verb]
            for where in self._places(verb, nth):
                often = self._often(where, (verb, event, states, nth), call)
                if often:
                    stop = Stop(step=self.calls, verb=verb, where=where, often=often)
                    found.append(stop)
            return call()

        self._restore(watch)
        self._scenario.act(world, self._lease)
        return iter(found)

    def _places(self, verb: str, nth: int) -> tuple[Where, ...]:
        """Return where the nth call of a verb within an effect is stopped.

        On the way to the cloud each one: it arrives when the claim is long
        lost. On the way back, and where one only looks, the first: all that
        comes after it meets the fence.
        """
        way_back: tuple[Where, ...] = ('after',) if nth == 1 else ()
        if rehearsal.looks(verb):
            return way_back
        return ('before', *way_back) if nth <= _EACH else ()

    def _often(
        self, where: Where, call: tuple[str, str, str, int], what: Any
    ) -> frozenset[tenants.Often]:
        """Return in what respects a call is the first of its like."""
        verb, event, _states, nth = call
        if where == 'after':
            return frozenset({'state'} if self._new(verb, where, nth) else ())
        given = _HOST.sub('host', _nameless((what.args, what.keywords)))
        keys: Mapping[tenants.Often, object] = {'state': call, 'event': event, 'once': given}
        return frozenset(often for often, key in keys.items() if self._new(verb, often, key))

    def _new(self, *key: object) -> bool:
        """Whether something is seen for the first time."""
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _doing(self) -> tuple[str, str]:
        """Return which event of the lease is under way, and what its reservations are."""
        with contextlib.suppress(LookupError):
            lease = self._world.now(self._lease)
            events = [item.kind for item in lease.events if item.state is EventState.IN_PROGRESS]
            states = [item.status for item in lease.reservations]
            return repr((lease.status, events)), repr(states)
        return '', ''

    # -- one stop

    def _restore(self, watch: stalls.Watch | None) -> None:
        world = self._world
        world.watch, world.came_back = watch, False
        self._next = None
        world.restore(self._begin)

    def _stopped(self, stop: Stop) -> Iterator[str]:
        calls = 0

        def watch(verb: str, call: Callable[[], Any]) -> Any:
            nonlocal calls
            calls += 1
            if calls != stop.step:
                return call()
            if stop.where == 'before':
                self._meanwhile()
                return call()
            try:
                return call()
            finally:
                self._meanwhile()

        self._restore(watch)
        with contextlib.suppress(Over):
            self._scenario.act(self._world, self._lease)
        yield from self._harm(stop)
        yield from self._ending()

    def _meanwhile(self) -> None:
        """Let another manager take over, for as long as is wanted."""
        world = self._world
        world.watch = None
        world.manager = world.hire()
        # A claim on the lease, or on the repair, runs out.
        world.until(world.seconds() + _CLAIMS)
        if self._scenario.name in _REPAIRS:
            list(world.repair().run())
        if self._case.when != 'during':
            self._over()
        if self._case.when == 'next':
            self._lease_next()
        self._there = self._contents()
        self._pictures = self._seen_by_users()
        world.came_back = True

    def _over(self) -> None:
        """Bring the lease to its end."""
        world, lease = self._world, self._lease
        with contextlib.suppress(LookupError):
            end = (world.now(lease).period.end - harness.NOW).total_seconds()
            world.until(max(end, world.seconds()) + walker.LONG)

    def _lease_next(self) -> None:
        world = self._world
        start = world.seconds() + 1
        requests = self._next_requests[self._cases.index(self._case)]
        draft = world.draft(requests, start, start + _HOURS)
        self._next = world.leases.create(tenants.CALLER, draft)
        world.until(start + walker.LONG)
        tenants.use(world, self._next)
        world.until(world.seconds() + _SETTLES)
        world.cloud.volumes.volumes()

    def _seen_by_users(self) -> list[Picture | None]:
        leases = [self._lease] if self._next is None else [self._lease, self._next]
        return [self._world.picture(lease) for lease in leases]

    def _harm(self, stop: Stop) -> Iterator[str]:
        """Say what is not as it was before the manager went on, and what there is besides."""
        world = self._world
        assert world.came_back, 'nobody was stopped'
        world.came_back = False
        if self._next is not None and world.status(self._next) != 'ACTIVE':
            world.manager.send()
            yield f'the next tenant got {world.now(self._next)}: {world.reasons(self._next)}'
        if self._seen_by_users() != self._pictures:
            yield f'the leases are {self._seen_by_users()}, and were {self._pictures}'
        if self._contents() == self._there:
            return
        self.mended += 1
        world.until(world.seconds() + _SETTLES)
        world.cloud.volumes.volumes()
        list(world.repair().run())
        world.until(world.seconds() + walker.LONG)
        # What was deleted is gone when somebody looks.
        world.cloud.volumes.volumes()
        own = tenants.OWN.get((self._name, stop.verb))
        there, now = _without(self._there, own), _without(self._contents(), own)
        yield from (f'is gone: {line}' for line in _lost(there, now))
        yield from (f'is left: {line}' for line in _lost(now, there))

    def _contents(self) -> Contents:
        """Return what the cloud has, but for what its owners may call it."""
        found = self._world.cloud.contents()
        found['networks'] = [(row[0], *row[2:-1]) for row in found['networks']]
        return found

    def _ending(self) -> Iterator[str]:
        """End the next lease as well; nothing may be left."""
        world = self._world
        state = _nameless((world.cloud.contents(), self._seen_by_users()))
        if not self._new(state):
            # What comes of it was seen in a run before.
            return
        self._over()
        if self._next is not None:
            tenants.leave(world)
            world.leases.delete(tenants.CALLER, self._next.id, tenants.PROJECT)
            world.until(world.seconds() + walker.LONG)
            if world.picture(self._next) is not None:
                yield f'the next lease cannot be deleted: {world.now(self._next)}'
        for finding in world.repair().rehearse():
            yield f'at the end: {finding.what}'
        wrong = self._kind.wrong(world.cloud)
        if wrong:
            yield wrong
        now = self._bare()
        for table, rows in self._clean.items():
            if now[table] != rows:
                yield f'at the end: {table} was {rows} and is {now[table]}'
        if world.allocations(self._lease):
            yield f'it has {world.allocations(self._lease)}'

    def _bare(self) -> Mapping[str, Any]:
        """Return what the cloud has, without what a lease leaves on purpose."""
        state = self._world.cloud.state()
        self._kind.put_away(self._world.cloud)
        contents = self._world.cloud.contents()
        self._world.cloud.restore(state)
        return self._kind.same(contents)


def _nameless(what: object) -> str:
    """Return *what* as text in which ids are numbered."""
    names: dict[str, str] = {}
    text = _UUID.sub(
        lambda match: names.setdefault(match[0].lower().replace('_', '-'), f'#{len(names)}'),
        repr(what),
    )
    return _INSTANT.sub('#t', text)


def _without(contents: Contents, own: tuple[str, int] | None) -> Contents:
    """Return *contents* without the columns of a table that are its owners' business."""
    if own is None:
        return contents
    table, column = own
    return {**contents, table: [row[:column] for row in contents[table]]}


def _lost(before: Contents, after: Contents) -> Iterator[str]:
    """Yield the rows that were there before and are not there after."""
    for table, rows in before.items():
        left = set(after[table])
        yield from (f'{table}: {row}' for row in rows if row not in left)
