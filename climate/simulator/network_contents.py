# SPDX-License-Identifier: Apache-2.0

"""Makes the changes of other users in the simulated Neutron."""

from __future__ import annotations

import dataclasses
import ipaddress
import json
import uuid

from climate.cloud.base import Network
from climate.cloud.base import Port
from climate.cloud.base import Segment
from climate.cloud.base import Subnet
from climate.simulator import floating_ips
from climate.simulator import network
from climate.simulator import quotas
from climate.simulator import routers
from climate.simulator.store import Db
from climate.simulator.verbs import direct
from climate.simulator.verbs import StateOwner

PHYSICAL_NETWORK = 'physnet1'
PUBLIC = 'public'
PUBLIC_ID = 'd32019d3-bc6e-4319-9c1d-6722fc136a22'
# Neutron allocates from the first hundred addresses; the others can be reserved.
PUBLIC_CIDR = '203.0.113.0/24'
PUBLIC_POOL = ('203.0.113.2', '203.0.113.99')
OPERATOR = 'admin'


def _seed(db: Db) -> None:
    """Add a physical network and an external network, if they are missing."""
    db.insert('physical_networks', or_else='IGNORE', name=PHYSICAL_NETWORK)
    if not db.has('networks', name=PUBLIC):
        made = create_network(db, PUBLIC, OPERATOR, external=True, network_id=PUBLIC_ID)
        create_subnet(db, made.id, PUBLIC_CIDR, (PUBLIC_POOL,))


def _add_port(
    db: Db, subnet_id: str, project_id: str, device_id: str = '', address: str | None = None
) -> Port:
    """Add a port to a subnet.

    :param device_id: the server that uses the port; '' if it is unused
    """
    owner = 'compute:nova' if device_id else ''
    return _insert_port(db, subnet_id, project_id, device_id, owner, address)


def _add_router(db: Db, subnet_id: str, project_id: str, router_id: str | None = None) -> str:
    """Connect a router to a subnet and return its id.

    :param router_id: None for a new router
    """
    router_id = router_id or str(uuid.uuid4())
    db.insert('routers', or_else='IGNORE', id=router_id, project_id=project_id)
    _insert_port(db, subnet_id, project_id, router_id, 'network:router_interface', None)
    return router_id


def _insert_port(
    db: Db, subnet_id: str, project_id: str, device_id: str, owner: str, address: str | None
) -> Port:
    subnet = db.row('SELECT network_id FROM subnets WHERE id = ?', subnet_id)
    if subnet is None:
        raise LookupError(f'the simulated cloud has no subnet {subnet_id!r}')
    port = Port(
        id=str(uuid.uuid4()),
        network_id=subnet['network_id'],
        project_id=project_id,
        device_id=device_id,
        device_owner=owner,
    )
    db.insert('ports', **dataclasses.asdict(port), subnet_id=subnet_id, address=address)
    return port


def create_network(
    db: Db, name: str, project_id: str, *, external: bool = False, network_id: str | None = None
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
    subnet = Subnet(
        id=str(uuid.uuid4()),
        name='',
        network_id=network_id,
        cidr=cidr,
        gateway_ip=str(hosts[0]),
        allocation_pools=pools or ((str(hosts[1]), str(hosts[-1])),),
    )
    values = dataclasses.asdict(subnet)
    db.insert('subnets', **values | {'allocation_pools': json.dumps(subnet.allocation_pools)})
    return subnet


class NetworkContents(StateOwner):
    """Changes the state directly."""

    seed = direct(_seed)
    add_network = direct(create_network)
    add_subnet = direct(create_subnet)
    add_port = direct(_add_port)
    add_router = direct(_add_router)
    add_route = direct(routers.add_route)
    attach = direct(floating_ips.attach)
    set_quota = direct(quotas.put)
    networks = direct(network.networks)
    floating_ips = direct(floating_ips.floating_ips)
