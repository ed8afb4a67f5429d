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
from climate.testing.restorable import Moment
from climate.testing.restorable import Picture
from climate.testing.restorable import RestorableDeployment

_UUID = re.compile(r'[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}')
START, END = 100, 1200
ACTIVE = 200
# Longer than every deadline and the pause after it, in seconds.
LONG = 60

Act = Callable[[RestorableDeployment, Lease], None]
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

    def inflict(self, site: RestorableDeployment) -> None:
        """Let the call fail."""
        site.cloud.fail(
            self.verb,
            None if self.how == 'ever' else 1,
            when='after' if self.how == 'after' else 'before',
            error='permanent' if self.how == 'refused' else 'transient',
            skip=self.nth - 1,
        )


def _until(seconds: float) -> Act:
    return lambda site, _lease: site.until(seconds)


def _for_a_while(act: Act) -> Act:
    def acts(site: RestorableDeployment, lease: Lease) -> None:
        act(site, lease)
        site.until(site.seconds() + LONG)

    return acts


def _repair(site: RestorableDeployment, _lease: Lease) -> None:
    list(site.repair().run())


def _bare(site: RestorableDeployment, _lease: Lease) -> None:
    """Start the lease, and then remove its objects from the cloud."""
    empty = site.cloud.state()
    site.until(ACTIVE)
    site.cloud.restore(empty)


def _left(site: RestorableDeployment, lease: Lease) -> None:
    """Delete the lease, and then restore its objects in the cloud."""
    site.until(ACTIVE)
    full = site.cloud.state()
    site.delete(lease)
    site.until(ACTIVE + LONG)
    site.cloud.restore(full)


def _changed(site: RestorableDeployment, lease: Lease, bodies: Sequence[Change | None]) -> None:
    site.change(lease, bodies)


def _refused(change: Act) -> Act:
    """Let the last call of a change fail permanently, so that the change is undone."""

    def ready(site: RestorableDeployment, lease: Lease) -> None:
        site.until(ACTIVE)
        begin = site.save()
        site.cloud.keep_journal()
        change(site, lease)
        calls = len(site.cloud.journal())
        site.restore(begin)
        if calls:
            site.cloud.fail('*', error='permanent', skip=calls - 1)

    return ready


def scenarios(kind: LeasedType) -> Iterator[Scenario]:
    """Yield the scenarios that a kind asks for."""
    for scenario in _scenarios(kind):
        if scenario.name not in kind.without and (not kind.only or scenario.name in kind.only):
            yield scenario


def _scenarios(kind: LeasedType) -> Iterator[Scenario]:
    active, prepared = _until(ACTIVE), _until(START - 30)

    def used(site: RestorableDeployment, lease: Lease) -> None:
        site.until(ACTIVE)
        kind.use(site, lease)

    def delete(site: RestorableDeployment, lease: Lease) -> None:
        site.delete(lease)

    def move(site: RestorableDeployment, lease: Lease) -> None:
        site.update(lease, start=300, end=3000)
        site.until(300)

    yield Scenario(name='start', ready=_until(0), act=_until(ACTIVE))
    yield Scenario(name='move', ready=prepared, act=_for_a_while(move), again=('start',))
    yield Scenario(name='delete booked', ready=_until(0), act=_for_a_while(delete))
    yield Scenario(name='delete prepared', ready=prepared, act=_for_a_while(delete))
    yield Scenario(
        name='prolong',
        ready=active,
        act=_for_a_while(lambda site, lease: _ignored(site.update(lease, end=5000))),
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
        site: RestorableDeployment,
        kind: LeasedType,
        scenario: Scenario,
        walked: AbstractSet[str] = frozenset(),
    ) -> None:
        self._site = site
        self._walked = walked
        self.faults = 0
        self._kind = kind
        self._scenario = scenario
        self.steps = 0
        self.runs = 0
        requests = kind.furnish(TypeRegistrar(site.store, site.plugins, site.cloud))
        self._clean = self._bare()
        site.rng.seed(7)
        self._lease = site.book(requests, START, END)
        scenario.ready(site, self._lease)
        site.work()
        self._begin: Moment = site.save()
        self._before = site.picture(self._lease)
        self._after: Picture | None = None
        self._known: set[str] = set()

    def _bare(self) -> Mapping[str, Any]:
        """Return the contents of the cloud, without objects left on purpose."""
        state = self._site.cloud.state()
        self._kind.put_away(self._site.cloud)
        contents = self._site.cloud.contents()
        self._site.cloud.restore(state)
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
        self._site.restore(self._begin)
        with CallRecorder(self._site) as recorder:
            self._scenario.act(self._site, self._lease)
        self._after = self._site.picture(self._lease)
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
        site, lease = self._site, self._lease
        site.restore(self._begin)
        fault.inflict(site)
        self._scenario.act(site, lease)
        picture = site.picture(lease)
        if fault.how in ('before', 'after') and picture != self._after and not self._repairs():
            yield f'{where}: one failure made it {picture} and not {self._after}'
        site.cloud.heal()
        site.until(site.seconds() + LONG)
        if self._repairs():
            # The next repair does what this one could not do.
            list(site.repair().run())
        picture = site.picture(lease)
        failed = picture is not None and picture.status == 'ERROR' and not picture.has
        if picture not in (self._before, self._after) and not (failed and site.reasons(lease)):
            yield f'{where}: it became {picture}, {site.reasons(lease)}'
        if self._is_known(picture):
            # An earlier run has checked the rest from this state.
            return
        if picture is not None and picture.status == 'ACTIVE':
            for finding in site.repair().rehearse():
                yield f'{where}: while it is active: {finding.what}'
        yield from self._ending(where)

    def _is_known(self, picture: Picture | None) -> bool:
        """Whether the state is that of an earlier run, except for ids."""
        lease = self._site.now(self._lease) if picture is not None else None
        parts = () if lease is None else lease.reservations
        there = [item.facts for item in parts], self._site.cloud.contents()
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
        site, lease = self._site, self._lease
        if site.picture(lease) is not None:
            site.delete(lease)
            site.until(site.seconds() + LONG)
        if site.picture(lease) is not None:
            yield f'{where}: it cannot be deleted: {site.now(lease)}'
        for finding in site.repair().rehearse():
            yield f'{where}: it left: {finding.what}'
        wrong = self._kind.wrong(site.cloud)
        if wrong:
            yield f'{where}: {wrong}'
        there = self._bare()
        for table, rows in self._clean.items():
            if there[table] != rows:
                yield f'{where}: {table} was {rows} and is {there[table]}'
        if site.allocations(lease):
            yield f'{where}: it has {site.allocations(lease)}'
