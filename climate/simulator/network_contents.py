# SPDX-License-Identifier: Apache-2.0

"""Makes the changes of other users in the simulated Neutron."""

from __future__ import annotations

import ipaddress
import json
import uuid

from climate.cloud.base import FloatingIP
from climate.cloud.base import Network
from climate.cloud.base import Port
from climate.cloud.base import Segment
from climate.cloud.base import Subnet
from climate.simulator import floating_ips
from climate.simulator import network
from climate.simulator import quotas
from climate.simulator import routers
from climate.simulator.runner import VerbRunner
from climate.simulator.store import Db
from climate.simulator.store import SimulatorStore

PHYSICAL_NETWORK = 'physnet1'
PUBLIC = 'public'
PUBLIC_ID = 'd32019d3-bc6e-4319-9c1d-6722fc136a22'
# Neutron allocates from the first hundred addresses; the others can be reserved.
PUBLIC_CIDR = '203.0.113.0/24'
PUBLIC_POOL = ('203.0.113.2', '203.0.113.99')
OPERATOR = 'admin'


class NetworkContents:
    """Changes the state directly: faults do not affect it, nor is it counted."""

    def __init__(self, store: SimulatorStore, runner: VerbRunner) -> None:
        self._store = store
        self._runner = runner

    def seed(self) -> None:
        """Add a physical network and an external network, if they are missing."""
        with self._store.transaction(self._runner.now()) as db:
            db.run('INSERT OR IGNORE INTO physical_networks (name) VALUES (?)', PHYSICAL_NETWORK)
            if not db.row('SELECT 1 FROM networks WHERE name = ?', PUBLIC):
                made = create_network(db, PUBLIC, OPERATOR, external=True, network_id=PUBLIC_ID)
                create_subnet(db, made.id, PUBLIC_CIDR, (PUBLIC_POOL,))

    def add_network(self, name: str, project_id: str, *, external: bool = False) -> Network:
        """Create a network on a free segment."""
        with self._store.transaction(self._runner.now()) as db:
            return create_network(db, name, project_id, external=external)

    def add_subnet(
        self, network_id: str, cidr: str, pools: tuple[tuple[str, str], ...] | None = None
    ) -> Subnet:
        """Add a subnet to a network; its first address is the gateway.

        :param pools: the allocation pools; all addresses but the gateway if None
        """
        with self._store.transaction(self._runner.now()) as db:
            return create_subnet(db, network_id, cidr, pools)

    def add_port(
        self, subnet_id: str, project_id: str, device_id: str = '', address: str | None = None
    ) -> Port:
        """Add a port to a subnet.

        :param device_id: the server that uses the port; '' if it is unused
        """
        owner = 'compute:nova' if device_id else ''
        return self._add_port(subnet_id, project_id, device_id, owner, address)

    def add_router(self, subnet_id: str, project_id: str, router_id: str | None = None) -> str:
        """Connect a router to a subnet and return its id.

        :param router_id: None for a new router
        """
        router_id = router_id or str(uuid.uuid4())
        with self._store.transaction(self._runner.now()) as db:
            db.run(
                'INSERT OR IGNORE INTO routers (id, project_id) VALUES (?, ?)',
                router_id,
                project_id,
            )
        self._add_port(subnet_id, project_id, router_id, 'network:router_interface')
        return router_id

    def add_route(self, router_id: str, nexthop: str) -> None:
        """Add a static route to a router.

        :param nexthop: the address to which the route leads
        """
        with self._store.transaction(self._runner.now()) as db:
            routers.add_route(db, router_id, nexthop)

    def attach(self, floating_ip_id: str, port_id: str) -> None:
        """Attach a floating IP to a port."""
        with self._store.transaction(self._runner.now()) as db:
            db.run('UPDATE floating_ips SET port_id = ? WHERE id = ?', port_id, floating_ip_id)

    def set_quota(self, project_id: str, resource: str, most: int | None) -> None:
        """Set the quota of a project; None for no limit.

        :param resource: ``networks`` or ``floatingips``
        """
        with self._store.transaction(self._runner.now()) as db:
            quotas.put(db, project_id, resource, most)

    def networks(self) -> tuple[Network, ...]:
        """Return every network, by id."""
        with self._store.transaction(self._runner.now()) as db:
            return network.networks(db)

    def floating_ips(self) -> tuple[FloatingIP, ...]:
        """Return every floating IP, by id."""
        with self._store.transaction(self._runner.now()) as db:
            return floating_ips.floating_ips(db)

    def _add_port(
        self,
        subnet_id: str,
        project_id: str,
        device_id: str,
        owner: str,
        address: str | None = None,
    ) -> Port:
        port_id = str(uuid.uuid4())
        with self._store.transaction(self._runner.now()) as db:
            if not db.run(
                'INSERT INTO ports'
                ' (id, network_id, project_id, device_id, device_owner, address, subnet_id)'
                ' SELECT ?, network_id, ?, ?, ?, ?, id FROM subnets WHERE id = ?',
                port_id,
                project_id,
                device_id,
                owner,
                address,
                subnet_id,
            ):
                raise LookupError(f'the simulated cloud has no subnet {subnet_id!r}')
            row = db.row('SELECT network_id FROM ports WHERE id = ?', port_id)
            assert row is not None
            return next(port for port in network.ports(db, row[0]) if port.id == port_id)


def create_network(
    db: Db,
    name: str,
    project_id: str,
    *,
    external: bool = False,
    network_id: str | None = None,
) -> Network:
    """Create a network on a free segment.

    :param network_id: a new id if None
    """
    row = db.row(
        "SELECT coalesce(max(segmentation_id), 0) AS n FROM networks WHERE network_type = 'vxlan'"
    )
    assert row is not None
    segment = Segment(network_type='vxlan', physical_network=None, segmentation_id=row['n'] + 1)
    return network.create_network(
        db, name, project_id, segment, external=external, network_id=network_id
    )


def create_subnet(
    db: Db, network_id: str, cidr: str, pools: tuple[tuple[str, str], ...] | None = None
) -> Subnet:
    """Create a subnet of a network; its first address is the gateway.

    :param pools: the allocation pools; all addresses but the gateway if None
    """
    hosts = list(ipaddress.ip_network(cidr).hosts())
    subnet_id = str(uuid.uuid4())
    db.run(
        'INSERT INTO subnets (id, name, network_id, cidr, gateway_ip, allocation_pools)'
        " VALUES (?, '', ?, ?, ?, ?)",
        subnet_id,
        network_id,
        cidr,
        str(hosts[0]),
        json.dumps(pools or [(str(hosts[1]), str(hosts[-1]))]),
    )
    return next(subnet for subnet in network.subnets(db, network_id) if subnet.id == subnet_id)
