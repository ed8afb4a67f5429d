# SPDX-License-Identifier: Apache-2.0

"""A manager that hangs in a call to the cloud, and continues after others took over.

Meanwhile its claim expires, another manager takes over and ends the lease, and the next
tenant has a lease of the same resources, with servers on them. The simulated cloud is in
this process, so all of this happens within the call, without threads and pauses.
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

from climate.cloud import read_only
from climate.domain.leases import Lease
from climate.domain.lifecycles import EventState
from climate.leases.settings import LeasingSettings
from climate.testing import walker
from climate.testing.kinds import TypeRegistrar
from tests import stalls
from tests.exhaustive.zombies import tenants
from tests.functional.manager import harness
from tests.functional.manager.walk import kinds
from tests.functional.manager.walk.deployment import Picture
from tests.functional.manager.walk.deployment import SETTINGS
from tests.functional.manager.walk.deployment import WalkDeployment

_UUID = re.compile(r'[0-9a-f]{8}(?:[-_]?[0-9a-f]{4}){3}[-_]?[0-9a-f]{12}', re.IGNORECASE)
_HOST = re.compile(r'compute-\d+')
_INSTANT = re.compile(r'\b1[89]\d{8}\.\d+')
# The scenarios that stall a repair; another repair runs meanwhile.
_REPAIRS = frozenset({'check', 'rebuild', 'sweep'})
# The time after which all claims have expired, including those on chores, in seconds.
CLAIMS = 601
# The duration of the lease of the next tenant, in seconds.
_DURATION = 5000
# The number of calls of the same verb that are stalled within an effect.
_EACH = 2
# The time that creations and deletions in the cloud take at most, in seconds.
_SETTLES = 5
# With a long deadline, so that the effect is not given up because the first manager hung.
_SETTINGS = dataclasses.replace(SETTINGS, effect_deadline=datetime.timedelta(hours=1))
Where = Literal['before', 'after']
Contents = Mapping[str, list[tuple[object, ...]]]


class ScenarioDone(BaseException):
    """Ends the scenario, because the returned manager has done its work."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class StallPoint:
    """A call in which the manager hangs.

    :ivar step: the number of the call in the scenario, from 1
    :ivar where: whether it hangs on the way to the cloud, or on the way back
    :ivar often: the frequencies at which a case stalls this call; see :class:`tenants.Case`
    """

    step: int
    verb: str
    where: Where
    often: frozenset[tenants.Often] = frozenset()

    def __str__(self) -> str:
        return f'{self.where} {self.verb}, step {self.step}'


class ObservedDeployment(WalkDeployment):
    """A deployment in which a function intercepts every call of the first manager.

    :ivar watch: the function; None for managers whose calls are not intercepted
    :ivar fenced: whether a fence protects verbs that change the cloud
    :ivar has_returned: whether the stalled manager continues
    """

    def __init__(self, *, fenced: bool = True, settings: LeasingSettings = _SETTINGS) -> None:
        self.watch: stalls.Watch | None = None
        self.fenced = fenced
        self.has_returned = False
        super().__init__(settings=settings)

    def _setUp(self) -> None:
        super()._setUp()
        if not self.fenced:
            self.useFixture(
                fixtures.MonkeyPatch('climate.cloud.fence.ClaimGuard.is_valid', lambda _guard: True)
            )

    @property
    def managed(self) -> Any:
        """The cloud that new managers use."""
        return self.cloud if self.watch is None else stalls.Watched(self.cloud, self.watch)

    def work(self) -> None:
        """Process everything that is due; a returned manager ends the scenario."""
        while self.manager.look():
            if self.has_returned:
                raise ScenarioDone
        if self.has_returned:
            raise ScenarioDone

    def notify(self) -> None:
        """Send nothing: notifications are read only after a failure."""


class ReturningManager:
    """One scenario of one kind, stalled at each call, for each case.

    :param site: a deployment without leases
    :param kind: a name in ``KINDS``
    :param cases: the events until the manager continues
    :param seen: the states in which a call was stalled already, in other scenarios
    :ivar calls: the number of calls in the scenario
    :ivar runs: how often it was stalled
    :ivar repaired: the number of runs after which a repair found something to do
    """

    def __init__(
        self,
        site: ObservedDeployment,
        kind: str,
        scenario: walker.Scenario,
        cases: Sequence[tenants.Case],
        seen: set[object],
    ) -> None:
        self._cases = cases
        self._case = cases[0]
        self._site = site
        self._name, self._kind = kind, kinds.KINDS[kind]
        self._scenario = scenario
        self._seen = seen
        self.calls = self.runs = self.repaired = 0
        requests = self._kind.furnish(TypeRegistrar(site.store, site.plugins, site.cloud))
        self._next_requests = [case.following(site) for case in cases]
        self._clean = self._bare()
        site.rng.seed(7)
        self._lease = site.book(requests, walker.START, walker.END)
        scenario.ready(site, self._lease)
        site.work()
        self._begin = site.save()
        self._next: Lease | None = None
        self._pictures: list[Picture | None] = []
        self._there: Contents = {}

    def complaints(self) -> Iterator[str]:
        """Walk, and yield complaints."""
        stops = list(self._stops())
        for case in self._cases:
            self._case = case
            for stop in stops:
                if case.often in stop.often:
                    self.runs += 1
                    for complaint in self._stopped(stop):
                        yield f'{self._scenario.name}: {stop}, {case.name}: {complaint}'

    # -- where to stall

    def _stops(self) -> Iterator[StallPoint]:
        """Run undisturbed, and return each call that was made in a new state."""
        site = self._site
        found: list[StallPoint] = []

        counted: dict[tuple[str, str], int] = collections.Counter()

        def watch(verb: str, call: Callable[[], Any]) -> Any:
            self.calls += 1
            event, states = self._doing()
            counted[event + states, verb] += 1
            nth = counted[event + states, verb]
            for where in self._places(verb, nth):
                often = self._often(where, (verb, event, states, nth), call)
                if often:
                    found.append(StallPoint(step=self.calls, verb=verb, where=where, often=often))
            return call()

        self._restore(watch)
        self._scenario.act(site, self._lease)
        return iter(found)

    def _places(self, verb: str, nth: int) -> tuple[Where, ...]:
        """Return where the nth call of a verb within an effect is stalled.

        The first calls that change the cloud are stalled on their way to the cloud, where
        they arrive long after the claim was lost. Only the first call of a verb is
        stalled on its way back, because the fence stops all later calls.
        """
        way_back: tuple[Where, ...] = ('after',) if nth == 1 else ()
        if read_only.is_read_only(verb):
            return way_back
        return ('before', *way_back) if nth <= _EACH else ()

    def _often(
        self, where: Where, call: tuple[str, str, str, int], what: Any
    ) -> frozenset[tenants.Often]:
        """Return the frequencies for which a call is the first of its kind."""
        verb, event, _states, nth = call
        if where == 'after':
            return frozenset({'state'} if self._new(verb, where, nth) else ())
        given = _HOST.sub('host', _nameless((what.args, what.keywords)))
        keys: Mapping[tenants.Often, object] = {'state': call, 'event': event, 'once': given}
        return frozenset(often for often, key in keys.items() if self._new(verb, often, key))

    def _new(self, *key: object) -> bool:
        """Whether a key is new; remembers it."""
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _doing(self) -> tuple[str, str]:
        """Return the status and events in progress of the lease, and its reservations."""
        with contextlib.suppress(LookupError):
            lease = self._site.now(self._lease)
            events = [item.kind for item in lease.events if item.state is EventState.IN_PROGRESS]
            states = [item.status for item in lease.reservations]
            return repr((lease.status, events)), repr(states)
        return '', ''

    # -- one stall

    def _restore(self, watch: stalls.Watch | None) -> None:
        site = self._site
        site.watch, site.has_returned = watch, False
        self._next = None
        site.restore(self._begin)

    def _stopped(self, stop: StallPoint) -> Iterator[str]:
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
        with contextlib.suppress(ScenarioDone):
            self._scenario.act(self._site, self._lease)
        yield from self._harm(stop)
        yield from self._ending()

    def _meanwhile(self) -> None:
        """Let another manager take over, as far as the case says."""
        site = self._site
        site.watch = None
        site.manager = site.add_manager()
        # The claim on the lease, or on the repair, expires.
        site.until(site.seconds() + CLAIMS)
        if self._scenario.name in _REPAIRS:
            list(site.repair().run())
        if self._case.when != 'during':
            self._over()
        if self._case.when == 'next':
            self._lease_next()
        self._there = self._contents()
        self._pictures = self._seen_by_users()
        site.has_returned = True

    def _over(self) -> None:
        """Advance the clock until the lease has ended."""
        site, lease = self._site, self._lease
        with contextlib.suppress(LookupError):
            end = (site.now(lease).period.end - harness.NOW).total_seconds()
            site.until(max(end, site.seconds()) + walker.LONG)

    def _lease_next(self) -> None:
        site = self._site
        start = site.seconds() + 1
        requests = self._next_requests[self._cases.index(self._case)]
        draft = site.draft(requests, start, start + _DURATION)
        self._next = site.leases.create(tenants.CALLER, draft)
        site.until(start + walker.LONG)
        tenants.use(site, self._next)
        site.until(site.seconds() + _SETTLES)
        site.cloud.volumes.volumes()

    def _seen_by_users(self) -> list[Picture | None]:
        leases = [self._lease] if self._next is None else [self._lease, self._next]
        return [self._site.picture(lease) for lease in leases]

    def _harm(self, stop: StallPoint) -> Iterator[str]:
        """Yield what the returned manager has changed, after a repair."""
        site = self._site
        assert site.has_returned, 'no manager was stalled'
        site.has_returned = False
        if self._next is not None and site.status(self._next) != 'ACTIVE':
            site.manager.send()
            yield f'the next tenant got {site.now(self._next)}: {site.reasons(self._next)}'
        if self._seen_by_users() != self._pictures:
            yield f'the leases are {self._seen_by_users()}, and were {self._pictures}'
        if self._contents() == self._there:
            return
        self.repaired += 1
        site.until(site.seconds() + _SETTLES)
        site.cloud.volumes.volumes()
        list(site.repair().run())
        site.until(site.seconds() + walker.LONG)
        # Finishes deletions, which the simulated cloud processes when volumes are listed.
        site.cloud.volumes.volumes()
        own = tenants.OWN.get((self._name, stop.verb))
        there, now = _without(self._there, own), _without(self._contents(), own)
        yield from (f'is gone: {line}' for line in _lost(there, now))
        yield from (f'is left: {line}' for line in _lost(now, there))

    def _contents(self) -> Contents:
        """Return the contents of the cloud, without the names that owners may change."""
        found = self._site.cloud.contents()
        found['networks'] = [(row[0], *row[2:-1]) for row in found['networks']]
        return found

    def _ending(self) -> Iterator[str]:
        """End the next lease as well, and yield what is left."""
        site = self._site
        state = _nameless((site.cloud.contents(), self._seen_by_users()))
        if not self._new(state):
            # An earlier run has checked the end from this state.
            return
        self._over()
        if self._next is not None:
            tenants.leave(site)
            site.leases.delete(tenants.CALLER, self._next.id, tenants.PROJECT)
            site.until(site.seconds() + walker.LONG)
            if site.picture(self._next) is not None:
                yield f'the next lease cannot be deleted: {site.now(self._next)}'
        for finding in site.repair().rehearse():
            yield f'at the end: {finding.what}'
        wrong = self._kind.wrong(site.cloud)
        if wrong:
            yield wrong
        now = self._bare()
        for table, rows in self._clean.items():
            if now[table] != rows:
                yield f'at the end: {table} was {rows} and is {now[table]}'
        if site.allocations(self._lease):
            yield f'it has {site.allocations(self._lease)}'

    def _bare(self) -> Mapping[str, Any]:
        """Return the contents of the cloud, without objects left on purpose."""
        state = self._site.cloud.state()
        self._kind.put_away(self._site.cloud)
        contents = self._site.cloud.contents()
        self._site.cloud.restore(state)
        return self._kind.same(contents)


def _nameless(what: object) -> str:
    """Return *what* as text, with numbers instead of ids."""
    names: dict[str, str] = {}
    text = _UUID.sub(
        lambda match: names.setdefault(match[0].lower().replace('_', '-'), f'#{len(names)}'),
        repr(what),
    )
    return _INSTANT.sub('#t', text)


def _without(contents: Contents, own: tuple[str, int] | None) -> Contents:
    """Return *contents* without the columns of a table that late calls may change."""
    if own is None:
        return contents
    table, column = own
    return {**contents, table: [row[:column] for row in contents[table]]}


def _lost(before: Contents, after: Contents) -> Iterator[str]:
    """Yield the rows of *before* that are not in *after*."""
    for table, rows in before.items():
        left = set(after[table])
        yield from (f'{table}: {row}' for row in rows if row not in left)
