# SPDX-License-Identifier: Apache-2.0

"""A small cloud with one reservation of instances."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Self

from climate import exceptions
from climate.clock import ManualClock
from climate.cloud.base import Cloud
from climate.cloud.base import Flavor
from climate.cloud.base import ServerDraft
from climate.domain.leases import Allocation
from climate.domain.leases import AllocationState
from climate.plugins import contract
from climate.plugins.host.isolation import Isolation
from climate.plugins.host.plugin import PhysicalHost
from climate.plugins.host.pools import HostSettings
from climate.plugins.instance import names as instance_names
from climate.plugins.instance.by_flavor import FlavorInstance
from climate.plugins.instance.by_flavor import FlavorRequest
from climate.plugins.instance.by_size import InstanceRequest
from climate.plugins.instance.by_size import VirtualInstance
from climate.plugins.instance.plugin import Instances
from climate.simulator import SimulatedCloud
from tests.narrowing import present
from tests.unit.plugins.effect_runners import draft
from tests.unit.plugins.effect_runners import EffectRunner
from tests.unit.plugins.effect_runners import HOSTS
from tests.unit.plugins.effect_runners import NOW
from tests.unit.plugins.effect_runners import OTHER
from tests.unit.plugins.effect_runners import OWNER
from tests.unit.plugins.effect_runners import PERIOD
from tests.unit.plugins.effect_runners import RESERVATION

# Short, for the state is checked every quarter of it.
DELETION_SECONDS = 0.5
RESOURCE_CLASS = instance_names.resource_class(RESERVATION)
SIZE = InstanceRequest(vcpus=2, memory_mb=2048, disk_gb=10, amount=3)
SOURCE = Flavor(
    id='gold',
    name='gold',
    vcpus=2,
    memory_mb=2048,
    disk_gb=10,
    ephemeral_gb=2,
    swap_mb=512,
    extra_specs={'hw:mem_page_size': 'small', 'trait:HW_CPU_X86_AVX2': 'required'},
)


class InstanceEffectRunner(EffectRunner):
    """Three registered hosts; two slots on the first, one on the second.

    :ivar mine: slots that the reservation has, by number of the host
    :ivar leaving: slots that it is to give up
    """

    def __init__(
        self,
        request: InstanceRequest | FlavorRequest = SIZE,
        isolation: Isolation = Isolation.FILTER,
    ) -> None:
        self.clock = ManualClock(NOW)
        self.cloud = SimulatedCloud(
            ':memory:', clock=self.clock, server_deletion_seconds=DELETION_SECONDS
        )
        # Only what is needed: there are hundreds of these runners.
        for number in range(1, HOSTS + 1):
            self.cloud.add_hypervisor(f'compute-{number}')
        self.cloud.compute.create_aggregate('freepool', None)
        self.mine: dict[int, int] = {1: 2, 2: 1}
        self.leaving: dict[int, int] = {}
        self.facts: dict[str, Any] = {}
        self.since: datetime.datetime | None = None
        self.request: Any = request
        self.configure(isolation)
        hosts = PhysicalHost(self.settings)
        self.resources = tuple(
            dataclasses.replace(hosts.discover(draft(f'compute-{number}'), self.cloud), id=number)
            for number in range(1, HOSTS + 1)
        )
        for resource in self.resources:
            hosts.admit(resource, self.cloud)
        self.book()

    def configure(self, mode: Isolation) -> None:
        """Start the manager anew with another isolation."""
        self.settings = HostSettings(isolation=mode)
        kinds: Mapping[type, type[Instances[Any]]] = {
            InstanceRequest: VirtualInstance,
            FlavorRequest: FlavorInstance,
        }
        self.plugin = kinds[type(self.request)](self.settings)

    # -- what the API does

    def book(self) -> None:
        """Let the owner book the lease, or change it to another policy."""
        if self.plugin.makes(self.request) is not None:
            cloud = self.cloud.of_caller(f'user:{OWNER}')
            self.facts |= self.plugin.make(RESERVATION, self.request, cloud)

    # -- what a manager does

    def allocations(self, slots: Mapping[int, int]) -> tuple[Allocation, ...]:
        """Return what the store has of slots."""
        return tuple(
            Allocation(
                reservation_id=RESERVATION,
                resource_id=number,
                resource_name=f'compute-{number}',
                resource_class=name,
                amount=units * count,
                period=PERIOD,
                state=AllocationState.HELD,
            )
            for number, count in sorted(slots.items())
            for name, units in self.plugin.search(self.request).demand.items()
        )

    def work(self) -> contract.Work:
        """Return what a manager would hand over now."""
        touched = self.mine.keys() | self.leaving.keys()
        return self.handed_over(
            self.plugin.dump(self.request),
            self.allocations(self.mine),
            tuple(each for each in self.resources if each.id in touched),
            self.allocations(self.leaving),
        )

    def run(
        self, effect: str, cloud: Cloud | None = None, watch: Callable[[], None] = lambda: None
    ) -> contract.Done:
        """Run an effect until it is done, and note what the core would."""
        done = super().run(effect, cloud, watch)
        if done.kept is not None:
            self.mine = dict(done.kept)
        self.leaving = {}
        return done

    def started(self, servers: int = 0) -> Self:
        """Start the reservation, and make servers in its slots."""
        super().started()
        self.fill(servers)
        return self

    def shrink(self, mine: dict[int, int]) -> None:
        """Let the reservation have these slots instead, as the core suggests."""
        self.leaving = {
            number: count - mine.get(number, 0)
            for number, count in self.mine.items()
            if count > mine.get(number, 0)
        }
        self.mine = mine

    # -- what there is

    def slots(self) -> dict[int, int]:
        """Return the slots that Placement has, by number of the host."""
        placement = self.cloud.placement
        return {
            number: inventory.total
            for number in range(1, HOSTS + 1)
            if (provider := placement.find_provider(f'blazar_compute-{number}')) is not None
            for inventory in placement.inventories(provider.uuid)
            if inventory.resource_class == RESOURCE_CLASS
        }

    def left(self) -> list[str]:
        """Return what there is of the reservation in the cloud."""
        compute, placement = self.cloud.compute, self.cloud.placement
        return [
            *[f'flavor {each.id}' for each in compute.list_flavors() if RESERVATION in each.name],
            *[f'group {each.project_id}' for each in compute.list_server_groups()],
            *[f'aggregate {each.name}' for each in self.cloud.aggregates() if each.hosts == ()],
            *[f'slots {number}' for number in self.slots()],
            *placement.list_resource_classes('CUSTOM_RESERVATION_'),
            *[each.name for each in self.cloud.servers() if each.flavor_id == RESERVATION],
        ]

    def pooled(self) -> set[str]:
        """Return the hosts in the pool."""
        return set(self.pool().hosts)

    # -- what people do

    def boot(self, name: str, project: str = OWNER, **words: Any) -> str:
        """Make a server in a slot; return its status."""
        compute = self.cloud.compute_of(project)
        try:
            server_id = compute.create_server(
                ServerDraft(name=name, flavor_id=RESERVATION, **words)
            )
        except exceptions.Permanent:
            return 'REFUSED'
        return present(compute.find_server(server_id)).status

    def hosts_of(self, *names: str) -> list[str]:
        """Return where servers are."""
        where = {each.name: each.host for each in self.cloud.servers()}
        return [where[name] for name in names]

    def delete(self, name: str) -> None:
        """Delete a server, and let time pass."""
        found = next(each for each in self.cloud.servers() if each.name == name)
        self.cloud.compute.delete_server(found.id)
        self.clock.advance(DELETION_SECONDS)

    def fill(self, count: int) -> None:
        """Make servers ``own-1`` and so on."""
        for number in range(1, count + 1):
            assert self.boot(f'own-{number}') == 'ACTIVE'

    def fill_third(self) -> None:
        """Make one more, ``own-3``."""
        assert self.boot('own-3') == 'ACTIVE'

    def neighbour(self) -> None:
        """Let somebody else have a server on the first host."""
        tiny = Flavor(id='tiny', name='tiny', vcpus=1, memory_mb=1, disk_gb=0)
        self.cloud.compute.create_flavor(tiny)
        self.cloud.boot_server('compute-1', OTHER, 'neighbour', tiny.id)
