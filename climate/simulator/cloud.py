# SPDX-License-Identifier: Apache-2.0

"""The simulated cloud as a whole, with the methods that control it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from climate.clock import Clock
from climate.cloud.base import Flavor
from climate.cloud.base import Hypervisor
from climate.cloud.base import Server
from climate.simulator import aggregates
from climate.simulator import boots
from climate.simulator import catalogue
from climate.simulator import compute
from climate.simulator import control
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
from climate.simulator.store import VerbCaller
from climate.simulator.verbs import direct

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


class SimulatedCloud(control.KeystoneControl, SimulatedServices):
    """Implements :class:`climate.cloud.base.Cloud` without a cloud.

    :param state_dir: the state directory, which is created if missing; all processes
        that use it share the cloud; ``:memory:`` for a cloud of only this object
    :param server_deletion_seconds: the duration of deleting a server from now on; None
        keeps the duration in the state, 0 by default
    :ivar networks: makes the changes of other users in Neutron
    :ivar own_services: the services that only plugins call
    :ivar volumes: makes the changes of other users in Cinder
    """

    set_hypervisor = direct(hypervisor_rows.set_hypervisor)
    rename_hypervisor = direct(hypervisor_rows.rename)
    add_node = direct(hypervisor_rows.add_node)
    resize_hypervisor = direct(hypervisor_rows.resize)
    set_zone = direct(hypervisor_rows.set_zone)
    remove_hypervisor = direct(hypervisor_rows.remove)
    overview = direct(overview.overview)
    hypervisors = direct(hypervisors.hypervisors)
    aggregates = direct(aggregates.aggregates)
    servers = direct(server_rows.servers)
    boot_server = direct(boots.boot)
    images = direct(images.images)
    break_stack = direct(heat.break_stack)
    set_quota = direct(quotas.put)

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
        with self._transaction() as db:
            hypervisor_rows.put(db, host, frozenset(traits))
        return host

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
        with self._transaction() as db:
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
        with self._transaction() as db:
            catalogue.furnish(db)
        return self.hypervisors()

    def _find(self, hostname: str) -> Hypervisor | None:
        with self._transaction() as db:
            return hypervisors.find_hypervisor(db, hostname)

    def compute_of(self, project_id: str) -> compute.SimulatedCompute:
        """Return Nova as a project without administrator rights sees it."""
        user = VerbCaller(project_id=project_id, sees_all=False)
        return compute.SimulatedCompute(self._runner.for_user(lambda _db: user))

    def add_image(self, name: str, owner: str = 'service', server: Server | None = None) -> str:
        """Add an active image and return its id.

        :param server: the server of which it is an image; None for any other image
        """
        with self._transaction() as db:
            return images.add(db, name, server, 0, owner)

    def set_server_deletion_seconds(self, seconds: float) -> None:
        """Set the duration of deleting a server from now on."""
        self.set_seconds('server_deletion', seconds)
