# SPDX-License-Identifier: Apache-2.0

"""A small cloud with one host reservation, and calls that fail one by one."""

from __future__ import annotations

import abc
import dataclasses
import datetime
import functools
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import Literal
from typing import Self

from climate import exceptions
from climate.clock import ManualClock
from climate.cloud.base import Aggregate
from climate.cloud.base import Cloud
from climate.cloud.base import Provider
from climate.domain.leases import Allocation
from climate.domain.leases import AllocationState
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.periods import Period
from climate.domain.resources import Resource
from climate.domain.resources import ResourceDraft
from climate.plugins import contract
from climate.plugins.host import isolation
from climate.plugins.host.isolation import Isolation
from climate.plugins.host.plugin import PhysicalHost
from climate.plugins.host.pools import HostSettings
from climate.simulator import SimulatedCloud
from tests.narrowing import present

NOW = datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC)
PERIOD = Period(start=NOW, end=NOW + datetime.timedelta(hours=1))
RESERVATION = '8e1b1a4c-2f63-4a1c-9d8e-6c5f1d2a3b4c'
OWNER = 'blue'
OTHER = 'red'
HOSTS = 3
DELETION_SECONDS = 5.0

When = Literal['before', 'after']

# What only looks.
LOOKS = ('find_', 'list_', 'allocations', 'inventories', 'usages', 'traits')


class FailingCallCloud:
    """A cloud whose n-th call fails, before or after its work; others do not.

    :ivar made: the verbs called so far
    """

    def __init__(self, cloud: Cloud, nth: int = 0, when: When = 'before') -> None:
        self._nth = nth
        self._when = when
        self.made: list[str] = []
        self.compute: Any = _Verbs(self, cloud.compute)
        self.placement: Any = _Verbs(self, cloud.placement)
        self.image: Any = _Verbs(self, cloud.image)
        self.network: Any = _Verbs(self, cloud.network)

    def call(self, name: str, verb: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Call a verb, unless it is the one that fails."""
        self.made.append(name)
        fails = len(self.made) == self._nth
        if fails and self._when == 'before':
            raise exceptions.Transient(f'{name} was not done')
        answer = verb(*arguments)
        if fails:
            raise exceptions.Transient(f'the answer of {name} was lost')
        return answer

    @property
    def changes(self) -> list[str]:
        """The verbs called that do not only look."""
        return [name for name in self.made if not name.startswith(LOOKS)]


class _Verbs:
    def __init__(self, failing: FailingCallCloud, service: Any) -> None:
        self._failing = failing
        self._service = service

    def __getattr__(self, name: str) -> Callable[..., Any]:
        verb = getattr(self._service, name)
        return lambda *arguments, **options: self._failing.call(
            name, functools.partial(verb, **options), arguments
        )


class EffectRunner(abc.ABC):
    """Runs the effects of one reservation as a manager does.

    :ivar facts: what the effects have left
    :ivar since: when the effect was begun for the first time
    """

    clock: ManualClock
    cloud: SimulatedCloud
    plugin: contract.Plugin[Any]
    facts: dict[str, Any]
    since: datetime.datetime | None

    @abc.abstractmethod
    def work(self) -> contract.Work:
        """Return what a manager would hand over now."""

    def handed_over(
        self,
        request: Mapping[str, Any],
        allocations: Iterable[Allocation],
        resources: tuple[Resource, ...],
        leaving: Iterable[Allocation] = (),
    ) -> contract.Work:
        """Return what a manager hands over for the reservation as it is stored."""
        reservation = Reservation(
            id=RESERVATION,
            lease_id='l',
            resource_type=self.plugin.resource_type,
            request=request,
            facts=dict(self.facts),
        )
        return contract.Work(
            lease=Lease(
                id='l',
                name='l',
                user_id='u',
                project_id=OWNER,
                period=PERIOD,
                reservations=(reservation,),
            ),
            reservation=reservation,
            allocations=tuple(allocations),
            leaving=tuple(leaving),
            resources=resources,
            now=self.clock.now(),
            since=self.since or self.clock.now(),
        )

    def started(self) -> Self:
        """Start the reservation, and return this runner."""
        self.run('start')
        return self

    def aggregate(self) -> Aggregate | None:
        """Return the reservation's aggregate."""
        return next((item for item in self.cloud.aggregates() if item.name == RESERVATION), None)

    def present(self) -> Aggregate:
        """Return the reservation's aggregate, which has to be there."""
        return present(self.aggregate())

    def pool(self) -> Aggregate:
        """Return the pool."""
        return next(item for item in self.cloud.aggregates() if item.name == 'freepool')

    def provider(self, name: str) -> Provider:
        """Return a provider of Placement, which has to be there."""
        return present(self.cloud.placement.find_provider(name))

    def delete_aggregate(self, aggregate: Aggregate) -> None:
        """Delete an aggregate with its members."""
        for host in aggregate.hosts:
            self.cloud.compute.remove_host(aggregate.id, host)
        self.cloud.compute.delete_aggregate(aggregate.id)

    def waits(self, effect: str) -> contract.Again:
        """Run an effect once, which has to be tried again."""
        outcome = self.once(effect)
        assert isinstance(outcome, contract.Again)
        return outcome

    def once(self, effect: str, cloud: Cloud | None = None) -> contract.Outcome | None:
        """Run an effect once, as a manager does; None if it failed for the moment."""
        try:
            outcome: contract.Outcome = getattr(self.plugin, effect)(
                self.work(), cloud or self.cloud
            )
        except exceptions.Transient:
            return None
        known = {**self.facts, **outcome.facts}
        self.facts = {key: value for key, value in known.items() if value is not None}
        return outcome

    def run(
        self, effect: str, cloud: Cloud | None = None, watch: Callable[[], None] = lambda: None
    ) -> contract.Done:
        """Run an effect until it is done, and check the state after each try."""
        self.since = self.clock.now()
        for _ in range(60):
            outcome = self.once(effect, cloud)
            watch()
            if isinstance(outcome, contract.Done):
                return outcome
            self.clock.advance(outcome.after.total_seconds() if outcome is not None else 1)
        raise AssertionError(f'{effect} does not come to an end')


class HostEffectRunner(EffectRunner):
    """Three registered hosts, the first two of them allocated to a reservation."""

    def __init__(self, *, before_end: str = '') -> None:
        self.clock = ManualClock(NOW)
        self.cloud = SimulatedCloud(
            ':memory:', clock=self.clock, server_deletion_seconds=DELETION_SECONDS
        )
        self.cloud.seed(HOSTS)
        self.settings = HostSettings(before_end=before_end)
        self.plugin = PhysicalHost(self.settings)
        self.resources = tuple(
            dataclasses.replace(
                self.plugin.discover(draft(f'compute-{number}'), self.cloud), id=number
            )
            for number in range(1, HOSTS + 1)
        )
        for resource in self.resources:
            self.plugin.admit(resource, self.cloud)
        self.facts: dict[str, Any] = {}
        self.since: datetime.datetime | None = None
        self.state = AllocationState.HELD
        self.mine: tuple[Resource, ...] = self.resources[:2]

    def work(self) -> contract.Work:
        """Return what a manager would hand over now."""
        request = {
            'min': 1,
            'max': 2,
            'hypervisor_properties': '',
            'resource_properties': '',
            'before_end': 'default',
        }
        allocations = (
            Allocation(
                reservation_id=RESERVATION,
                resource_id=resource.id or 0,
                resource_name=resource.name,
                period=PERIOD,
                state=self.state,
                id=resource.id,
            )
            for resource in self.mine
        )
        return self.handed_over(request, allocations, self.mine)

    # -- what there is

    def places(self) -> dict[str, list[str]]:
        """Return the aggregates that each host is in, by host."""
        return {
            resource.name: [
                'leased' if item.name == RESERVATION else item.name
                for item in self.cloud.aggregates()
                if resource.name in item.hosts
            ]
            for resource in self.resources
        }

    def servers(self, project: str) -> set[str]:
        """Return the names of the servers of a project."""
        return {item.name for item in self.cloud.servers() if item.project_id == project}

    # -- what operators do

    def configure(self, mode: Isolation) -> None:
        """Start the manager anew with another isolation."""
        self.settings = dataclasses.replace(self.settings, isolation=mode)
        self.plugin = PhysicalHost(self.settings)

    def mark(self) -> None:
        """Give the aggregates the marks that they would always have had."""
        words = {
            'freepool': isolation.of_pool(self.settings.isolation),
            RESERVATION: isolation.of_lease(self.settings.isolation, 'blazar:owner', OWNER),
        }
        for item in self.cloud.aggregates():
            changes = words[item.name].changes(item.metadata)
            self.cloud.compute.set_aggregate_metadata(item.id, changes)

    # -- what others do

    def put(self, host: str, *pools: str) -> None:
        """Put a host into these aggregates and no other: 'freepool', 'leased'."""
        wanted = {RESERVATION if pool == 'leased' else pool for pool in pools}
        for item in self.cloud.aggregates():
            if item.name not in wanted:
                self.cloud.compute.remove_host(item.id, host)
        for item in self.cloud.aggregates():
            if item.name in wanted:
                self.cloud.compute.add_host(item.id, host)


def draft(name: str) -> ResourceDraft:
    """Return what an operator says who wants a host to be reservable."""
    return ResourceDraft(resource_type='physical:host', name=name)
