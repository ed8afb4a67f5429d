# SPDX-License-Identifier: Apache-2.0

"""The simulated cloud as a whole, with the methods that control it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Literal

from climate.clock import Clock
from climate.cloud.base import Aggregate
from climate.cloud.base import Flavor
from climate.cloud.base import Hypervisor
from climate.cloud.base import Image
from climate.cloud.base import Server
from climate.simulator import aggregates
from climate.simulator import boots
from climate.simulator import catalogue
from climate.simulator import compute
from climate.simulator import directory
from climate.simulator import faults
from climate.simulator import flavors
from climate.simulator import floating_ips
from climate.simulator import heat
from climate.simulator import hypervisor_rows
from climate.simulator import hypervisors
from climate.simulator import images
from climate.simulator import keystone
from climate.simulator import lateness
from climate.simulator import network
from climate.simulator import network_contents
from climate.simulator import overview
from climate.simulator import own_services
from climate.simulator import placement
from climate.simulator import quotas
from climate.simulator import routers
from climate.simulator import runner
from climate.simulator import scheduler
from climate.simulator import server_rows
from climate.simulator import snapshots
from climate.simulator import volume
from climate.simulator import volume_contents
from climate.simulator import volume_types
from climate.simulator.runner import VerbRunner
from climate.simulator.services import SimulatedServices
from climate.simulator.store import SimulatorStore

SCHEMAS = tuple(
    part.SCHEMA
    for part in (
        runner,
        own_services,
        faults,
        lateness,
        quotas,
        compute,
        images,
        placement,
        network,
        routers,
        floating_ips,
        volume_types,
        volume,
        snapshots,
        heat,
        keystone,
        catalogue,
    )
)
FREEPOOL = scheduler.FREEPOOL
FLAVORS = (
    Flavor(id='1', name='m1.tiny', vcpus=1, memory_mb=512, disk_gb=1),
    Flavor(id='2', name='m1.small', vcpus=1, memory_mb=2048, disk_gb=20),
)
TRAITS = frozenset({'HW_CPU_X86_AVX2', 'HW_CPU_X86_SSE42', 'HW_CPU_X86_VMX'})
CPU_INFO: Mapping[str, object] = {
    'arch': 'x86_64',
    'model': 'Haswell-noTSX',
    'vendor': 'Intel',
    'features': ['avx2', 'sse4.2', 'vmx'],
    'topology': {'cells': 1, 'sockets': 1, 'cores': 8, 'threads': 2},
}


class SimulatedCloud(directory.KeystoneControl, SimulatedServices):
    """Implements :class:`climate.cloud.base.Cloud` without a cloud.

    :param state_dir: the state directory, which is created if missing; all processes
        that use it share the cloud; ``:memory:`` for a cloud of only this object
    :param server_deletion_seconds: the duration of deleting a server from now on; None
        keeps the duration in the state, 0 by default
    :ivar networks: makes the changes of other users in Neutron
    :ivar own_services: the services that only plugins call
    :ivar volumes: makes the changes of other users in Cinder
    """

    def __init__(
        self,
        state_dir: str | os.PathLike[str],
        *,
        clock: Clock,
        server_deletion_seconds: float | None = None,
    ) -> None:
        store = SimulatorStore(state_dir, *SCHEMAS)
        super().__init__(store, VerbRunner(store, clock))
        self._open(self._runner)
        self.networks = network_contents.NetworkContents(store, self._runner)
        self.own_services = own_services.OwnServices(store, self._runner)
        self.volumes = volume_contents.VolumeContents(store, self._runner)
        if server_deletion_seconds is not None:
            self.set_server_deletion_seconds(server_deletion_seconds)

    def close(self) -> None:
        """Close the state; no method works afterwards."""
        self._store.close()

    # -- contents of the cloud; faults do not affect these methods, nor are they counted

    def add_hypervisor(
        self,
        hostname: str,
        *,
        vcpus: int = 16,
        memory_mb: int = 65536,
        local_gb: int = 500,
        service_host: str | None = None,
        hypervisor_type: str = 'QEMU',
        hypervisor_version: int = 8002002,
        cpu_info: str | None = None,
        traits: AbstractSet[str] = TRAITS,
    ) -> Hypervisor:
        """Add a hypervisor and its provider in Placement, or change them.

        Both have the same id, as in Nova; here it is derived from the hostname.

        :param service_host: the hostname if None
        :param cpu_info: JSON text; a Haswell processor if None
        """
        host = Hypervisor(
            id=hypervisor_rows.id_of(hostname),
            hostname=hostname,
            service_host=service_host or hostname,
            hypervisor_type=hypervisor_type,
            hypervisor_version=hypervisor_version,
            vcpus=vcpus,
            memory_mb=memory_mb,
            local_gb=local_gb,
            cpu_info=json.dumps(CPU_INFO) if cpu_info is None else cpu_info,
            state='up',
            status='enabled',
            availability_zone=hypervisors.DEFAULT_ZONE,
        )
        with self._store.transaction(self._runner.now()) as db:
            hypervisor_rows.put(db, host, frozenset(traits))
        return host

    def set_hypervisor(
        self,
        hostname: str,
        *,
        state: Literal['up', 'down'] | None = None,
        status: Literal['enabled', 'disabled'] | None = None,
    ) -> None:
        """Make a hypervisor fail or recover, or disable or enable it.

        :raises LookupError: if there is no such hypervisor
        """
        with self._store.transaction(self._runner.now()) as db:
            if not db.run(
                'UPDATE hypervisors SET state = coalesce(?, state), status = coalesce(?, status)'
                ' WHERE hostname = ?',
                state,
                status,
                hostname,
            ):
                raise LookupError(f'the simulated cloud has no hypervisor {hostname!r}')

    def rename_hypervisor(self, hostname: str, name: str) -> None:
        """Let Nova use another name for a hypervisor, as after a change of its FQDN.

        It gets another id and another provider. Existing servers keep the old name of
        their node; the old provider stays if it has allocations.

        :raises LookupError: if there is no such hypervisor
        :raises ValueError: if there is one with the new name
        """
        with self._store.transaction(self._runner.now()) as db:
            hypervisor_rows.rename(db, hostname, name)

    def add_node(self, hostname: str, name: str) -> None:
        """Add another node to the nova-compute of a hypervisor, of the same size.

        :raises LookupError: if there is no such hypervisor
        :raises ValueError: if there is one with the name of the node
        """
        with self._store.transaction(self._runner.now()) as db:
            hypervisor_rows.add_node(db, hostname, name)

    def resize_hypervisor(
        self,
        hostname: str,
        *,
        vcpus: int | None = None,
        memory_mb: int | None = None,
        local_gb: int | None = None,
    ) -> None:
        """Give a hypervisor another size, in Nova and in Placement; None keeps a value.

        :raises LookupError: if there is no such hypervisor
        """
        with self._store.transaction(self._runner.now()) as db:
            hypervisor_rows.resize(
                db, hostname, vcpus=vcpus, memory_mb=memory_mb, local_gb=local_gb
            )

    def set_zone(self, hostname: str, zone: str | None) -> None:
        """Move a hypervisor into an aggregate that is named after its availability zone.

        :param zone: None to remove it from such an aggregate
        :raises LookupError: if there is no such hypervisor
        :raises climate.exceptions.EffectError: if Nova would refuse it
        """
        with self._store.transaction(self._runner.now()) as db:
            hypervisor_rows.set_zone(db, hostname, zone)

    def remove_hypervisor(self, hostname: str) -> None:
        """Remove a hypervisor, with its provider and its servers."""
        with self._store.transaction(self._runner.now()) as db:
            hypervisor = hypervisors.find_hypervisor(db, hostname)
            if hypervisor is not None:
                hypervisor_rows.remove(db, hypervisor)

    def seed(self, hosts: int = 4, *, freepool: str = FREEPOOL) -> tuple[Hypervisor, ...]:
        """Add hosts ``compute-1`` to ``compute-N`` and a freepool, if they are missing.

        Also adds flavors, an external network, a storage pool and a volume type.
        Existing objects stay as they are. The freepool stays empty, because Climate adds
        a host to it when an operator registers the host.
        """
        # A hypervisor that was renamed still has its nova-compute.
        known = {name for one in self.hypervisors() for name in (one.hostname, one.service_host)}
        for number in range(1, hosts + 1):
            if f'compute-{number}' not in known:
                self.add_hypervisor(f'compute-{number}')
        self.networks.seed()
        self.volumes.seed()
        with self._store.transaction(self._runner.now()) as db:
            if aggregates.find_aggregate(db, freepool) is None:
                aggregates.create_aggregate(db, freepool, None)
            for flavor in FLAVORS:
                if flavors.find_flavor(db, flavor.id) is None:
                    flavors.create_flavor(db, flavor)
            return hypervisors.hypervisors(db)

    def furnish(self, hosts: int = 4) -> tuple[Hypervisor, ...]:
        """Seed, and add the objects of :mod:`climate.simulator.catalogue`.

        An object is added only once, even if it was deleted since.
        """
        self.seed(hosts)
        if self._find(catalogue.COMMON_HOST) is None:
            self.add_hypervisor(catalogue.COMMON_HOST)
        with self._store.transaction(self._runner.now()) as db:
            catalogue.furnish(db)
        return self.hypervisors()

    def overview(self) -> overview.Overview:
        """Return all objects in the cloud, and the active faults, by kind."""
        with self._store.transaction(self._runner.now()) as db:
            return overview.overview(db)

    def _find(self, hostname: str) -> Hypervisor | None:
        with self._store.transaction(self._runner.now()) as db:
            return hypervisors.find_hypervisor(db, hostname)

    def compute_of(self, project_id: str) -> compute.SimulatedCompute:
        """Return Nova as a project without administrator rights sees it."""
        return compute.SimulatedCompute(self._runner.for_user(lambda _db: project_id))

    def set_quota(self, project_id: str, resource: str, most: int | None) -> None:
        """Set the quota of a project; None, the default, for no limit.

        :param resource: ``instances``, ``cores`` or ``server_groups``
        """
        with self._store.transaction(self._runner.now()) as db:
            quotas.put(db, project_id, resource, most)

    def add_image(self, name: str, owner: str = 'service', server: Server | None = None) -> str:
        """Add an active image and return its id.

        :param server: the server of which it is an image; None for any other image
        """
        with self._store.transaction(self._runner.now()) as db:
            return images.add(db, name, server, 0, owner)

    def break_stack(self, stack_id: str, reason: str = 'it broke') -> None:
        """Make the current or latest action on a stack fail."""
        with self._store.transaction(self._runner.now()) as db:
            heat.break_stack(db, stack_id, reason)

    def boot_server(
        self,
        host: str | None,
        project_id: str,
        name: str,
        flavor: str = 'm1.small',
        *,
        metadata: Mapping[str, str] | None = None,
        hints: Mapping[str, object] | None = None,
        user_id: str = '',
        node: str | None = None,
    ) -> Server:
        """Start a server on a service host, even if the host has no room.

        :param host: None for any host with room
        :param node: the node of that service host; any if None
        :param flavor: name or id
        :param user_id: the user who starts it; one named after the project if ''
        :raises LookupError: if there is no such host or flavor
        """
        with self._store.transaction(self._runner.now()) as db:
            return boots.boot(
                db,
                host,
                project_id,
                name,
                flavor,
                metadata=metadata,
                hints=hints,
                user_id=user_id,
                node=node,
            )

    def set_server_deletion_seconds(self, seconds: float) -> None:
        """Set the duration of deleting a server from now on."""
        self.set_seconds('server_deletion', seconds)

    def hypervisors(self) -> tuple[Hypervisor, ...]:
        """Return every hypervisor, by hostname."""
        with self._store.transaction(self._runner.now()) as db:
            return hypervisors.hypervisors(db)

    def aggregates(self) -> tuple[Aggregate, ...]:
        """Return every aggregate, by id."""
        with self._store.transaction(self._runner.now()) as db:
            return aggregates.aggregates(db)

    def servers(self) -> tuple[Server, ...]:
        """Return every server, by id."""
        with self._store.transaction(self._runner.now()) as db:
            return server_rows.servers(db)

    def images(self) -> tuple[Image, ...]:
        """Return every image, oldest first."""
        with self._store.transaction(self._runner.now()) as db:
            return images.images(db)
