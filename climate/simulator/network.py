# SPDX-License-Identifier: Apache-2.0

"""Simulated networks and ports of Neutron."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
import uuid
from collections.abc import Set as AbstractSet

from climate import exceptions
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import Network
from climate.cloud.base import Port
from climate.cloud.base import Segment
from climate.cloud.base import Subnet
from climate.cloud.protocols.ports import ROUTER_INTERFACES
from climate.simulator import floating_ips
from climate.simulator import quotas
from climate.simulator import routers
from climate.simulator.store import Db
from climate.simulator.verbs import verb

SCHEMA = """
CREATE TABLE IF NOT EXISTS physical_networks (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS networks (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    project_id TEXT NOT NULL,
    network_type TEXT NOT NULL,
    physical_network TEXT,
    segmentation_id INTEGER,
    external INTEGER NOT NULL,
    tags TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS networks_by_name ON networks (name);
CREATE TABLE IF NOT EXISTS subnets (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    network_id TEXT NOT NULL REFERENCES networks (id),
    cidr TEXT NOT NULL,
    gateway_ip TEXT,
    allocation_pools TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS subnets_by_network ON subnets (network_id);
CREATE TABLE IF NOT EXISTS ports (
    id TEXT PRIMARY KEY,
    network_id TEXT NOT NULL REFERENCES networks (id),
    project_id TEXT NOT NULL,
    device_id TEXT NOT NULL,
    device_owner TEXT NOT NULL,
    subnet_id TEXT REFERENCES subnets (id),
    address TEXT,
    UNIQUE (network_id, address)
);
"""
# Only the service that created these ports can delete them.
_SERVICE_PORTS = ROUTER_INTERFACES | {'network:router_gateway', 'network:floatingip'}
_SEGMENT = dataclasses.fields(Segment)
_LARGEST = {'vlan': 4094, 'vxlan': (1 << 24) - 1}


def _network(row: sqlite3.Row) -> Network:
    values = dict(row)
    segment = Segment(**{field.name: values.pop(field.name) for field in _SEGMENT})
    converted = {'external': bool(row['external']), 'tags': frozenset(json.loads(row['tags']))}
    return Network(segment=segment, **values | converted)


def networks(db: Db, tag: str | None = None) -> tuple[Network, ...]:
    """Return every network, or those with this tag, by id."""
    found = map(_network, db.rows('SELECT * FROM networks ORDER BY id'))
    return tuple(network for network in found if tag is None or tag in network.tags)


def _find_network(db: Db, name_or_id: str) -> Network | None:
    row = db.find('networks', id=name_or_id)
    if row is not None:
        return _network(row)
    named = db.rows('SELECT * FROM networks WHERE name = ?', name_or_id)
    if len(named) > 1:
        raise CloudConflict(f'several networks have the name {name_or_id!r}')
    return _network(named[0]) if named else None


def _find_network_of_segment(db: Db, segment: Segment) -> Network | None:
    row = db.row(
        'SELECT * FROM networks WHERE network_type = ? AND physical_network IS ?'
        ' AND segmentation_id IS ?',
        segment.network_type,
        segment.physical_network,
        segment.segmentation_id,
    )
    return None if row is None else _network(row)


def create_network(
    db: Db,
    name: str,
    project_id: str,
    segment: Segment,
    *,
    external: bool = False,
    description: str = '',
    network_id: str | None = None,
) -> Network:
    """Create a network on a segment.

    :param network_id: a new id if None
    :raises CloudConflict: if the segment is in use
    :raises CloudQuota: if the project has reached its limit of networks
    :raises climate.exceptions.Permanent: if there is no such segment
    """
    _require_segment(db, segment)
    held = db.rows('SELECT 1 FROM networks WHERE project_id = ?', project_id)
    quotas.require(db, project_id, 'networks', len(held) + 1)
    if _find_network_of_segment(db, segment):
        raise CloudConflict(f'segment {segment.segmentation_id} is in use')
    network_id = network_id or str(uuid.uuid4())
    db.insert(
        'networks',
        id=network_id,
        name=name,
        project_id=project_id,
        external=external,
        description=description,
        tags='[]',
        **dataclasses.asdict(segment),
    )
    row = db.find('networks', id=network_id)
    assert row is not None
    return _network(row)


def _create_network(
    db: Db, name: str, project_id: str, segment: Segment, *, description: str = ''
) -> Network:
    return create_network(db, name, project_id, segment, description=description)


def _require_segment(db: Db, segment: Segment) -> None:
    largest = _LARGEST.get(segment.network_type)
    if largest is None:
        raise exceptions.Permanent(
            f'the simulated cloud has no networks of type {segment.network_type!r}'
        )
    if segment.network_type == 'vxlan' and segment.physical_network is not None:
        raise exceptions.Permanent('tunnels have no physical network')
    if segment.network_type == 'vlan' and not db.has(
        'physical_networks', name=segment.physical_network
    ):
        raise exceptions.Permanent(
            f'the simulated cloud has no physical network {segment.physical_network!r}'
        )
    if not 1 <= (segment.segmentation_id or 0) <= largest:
        raise exceptions.Permanent(f'the segmentation id must be from 1 to {largest}')


def _describe_network(db: Db, network_id: str, name: str, description: str) -> None:
    sql = 'UPDATE networks SET name = ?, description = ? WHERE id = ?'
    if not db.run(sql, name, description, network_id):
        raise CloudNotFound(f'the simulated cloud has no network {network_id}')


def _set_network_tags(db: Db, network_id: str, tags: AbstractSet[str]) -> None:
    wanted = json.dumps(sorted(tags))
    if not db.update('networks', network_id, tags=wanted):
        raise CloudNotFound(f'the simulated cloud has no network {network_id}')


def _delete_network(db: Db, network_id: str) -> None:
    # As in Neutron, floating IPs that are not attached are deleted with the network.
    detached = {
        address.id
        for address in floating_ips.floating_ips(db)
        if address.network_id == network_id and address.port_id is None
    }
    if any(port.device_id not in detached for port in ports(db, network_id)):
        raise CloudConflict(f'network {network_id} still has ports')
    for floating_ip_id in detached:
        floating_ips.delete(db, floating_ip_id)
    db.delete('subnets', network_id=network_id)
    db.delete('networks', id=network_id)


def _subnet(row: sqlite3.Row) -> Subnet:
    pools = tuple((first, last) for first, last in json.loads(row['allocation_pools']))
    return Subnet(**dict(row) | {'allocation_pools': pools})


def subnets(db: Db, network_id: str) -> tuple[Subnet, ...]:
    """Return the subnets of a network, by id."""
    rows = db.rows('SELECT * FROM subnets WHERE network_id = ? ORDER BY id', network_id)
    return tuple(_subnet(row) for row in rows)


def _delete_subnet(db: Db, subnet_id: str) -> None:
    if db.has('ports', subnet_id=subnet_id):
        raise CloudConflict(f'ports have addresses in subnet {subnet_id}')
    db.delete('subnets', id=subnet_id)


_PORT = 'SELECT id, network_id, project_id, device_id, device_owner FROM ports'


def ports(db: Db, network_id: str) -> tuple[Port, ...]:
    """Return the ports of a network, by id."""
    rows = db.rows(f'{_PORT} WHERE network_id = ? ORDER BY id', network_id)
    return tuple(Port(**dict(row)) for row in rows)


def _find_port_of_address(db: Db, network_id: str, address: str) -> Port | None:
    row = db.row(f'{_PORT} WHERE network_id = ? AND address = ?', network_id, address)
    return None if row is None else Port(**dict(row))


def _delete_port(db: Db, port_id: str) -> None:
    row = db.row('SELECT device_owner FROM ports WHERE id = ?', port_id)
    if row is not None and row['device_owner'] in _SERVICE_PORTS:
        raise CloudConflict(f'port {port_id} belongs to {row["device_owner"]}')
    db.run('UPDATE floating_ips SET port_id = NULL WHERE port_id = ?', port_id)
    db.delete('ports', id=port_id)


class SimulatedNetworking(floating_ips.SimulatedFloatingIPs):
    """Implements :class:`climate.cloud.base.Networking`."""

    find_network = verb('network.find_network', _find_network)
    find_network_of_segment = verb(
        'network.find_network_of_segment',
        _find_network_of_segment,
        'segment.network_type',
        'segment.physical_network',
        'segment.segmentation_id',
    )
    list_networks = verb('network.list_networks', networks)
    create_network = verb(
        'network.create_network',
        _create_network,
        'name',
        'project_id',
        'segment.network_type',
        'segment.segmentation_id',
    )
    describe_network = verb('network.describe_network', _describe_network)
    set_network_tags = verb('network.set_network_tags', _set_network_tags)
    delete_network = verb('network.delete_network', _delete_network)
    list_subnets = verb('network.list_subnets', subnets)
    delete_subnet = verb('network.delete_subnet', _delete_subnet)
    list_ports = verb('network.list_ports', ports)
    find_port_of_address = verb('network.find_port_of_address', _find_port_of_address)
    delete_port = verb('network.delete_port', _delete_port)
    remove_router_interface = verb('network.remove_router_interface', routers.remove_interface)
    remove_routes = verb('network.remove_routes', routers.remove_routes)
    delete_router = verb('network.delete_router', routers.delete)
