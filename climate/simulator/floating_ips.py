# SPDX-License-Identifier: Apache-2.0

"""Simulated floating IPs of Neutron."""

from __future__ import annotations

import ipaddress
import json
import sqlite3
import uuid
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from climate import exceptions
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import FloatingIP
from climate.simulator import quotas
from climate.simulator.store import Db
from climate.simulator.verbs import ServiceVerbs
from climate.simulator.verbs import verb

SCHEMA = """
CREATE TABLE IF NOT EXISTS floating_ips (
    id TEXT PRIMARY KEY,
    network_id TEXT NOT NULL,
    address TEXT NOT NULL,
    project_id TEXT NOT NULL,
    port_id TEXT,
    tags TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '',
    UNIQUE (network_id, address)
);
"""
OWNER = 'network:floatingip'


def _floating_ip(row: sqlite3.Row) -> FloatingIP:
    values = dict(row)
    return FloatingIP(**values | {'tags': frozenset(json.loads(values['tags']))})


def floating_ips(
    db: Db, tag: str | None = None, *, description: str | None = None
) -> tuple[FloatingIP, ...]:
    """Return every floating IP, or those with this tag and description, by id."""
    return tuple(
        found
        for found in map(_floating_ip, db.rows('SELECT * FROM floating_ips ORDER BY id'))
        if (tag is None or tag in found.tags) and description in (None, found.description)
    )


def _find(db: Db, network_id: str, address: str) -> FloatingIP | None:
    row = db.find('floating_ips', network_id=network_id, address=address)
    return None if row is None else _floating_ip(row)


def _create(
    db: Db,
    network_id: str,
    project_id: str,
    *,
    subnet_id: str | None = None,
    address: str | None = None,
    description: str = '',
) -> FloatingIP:
    ranges = _ranges(db, network_id, subnet_id)
    held = db.rows('SELECT 1 FROM floating_ips WHERE project_id = ?', project_id)
    quotas.require(db, project_id, 'floatingips', len(held) + 1)
    subnet, chosen = _free(db, network_id, ranges) if address is None else _of(ranges, address)
    if address is not None and _taken(db, network_id, address):
        raise CloudConflict(f'address {address} is in use')
    made = str(uuid.uuid4())
    db.insert(
        'floating_ips',
        id=made,
        network_id=network_id,
        address=chosen,
        project_id=project_id,
        description=description,
        tags='[]',
    )
    # As in Neutron, a port without a project has the address.
    db.insert(
        'ports',
        id=str(uuid.uuid4()),
        network_id=network_id,
        project_id='',
        device_id=made,
        device_owner=OWNER,
        subnet_id=subnet,
        address=chosen,
    )
    created = _find(db, network_id, chosen)
    assert created is not None
    return created


def _ranges(db: Db, network_id: str, subnet_id: str | None) -> list[sqlite3.Row]:
    """Return the subnets from which an address may come."""
    network = db.row('SELECT external FROM networks WHERE id = ?', network_id)
    if network is None:
        raise CloudNotFound(f'the simulated cloud has no network {network_id}')
    if not network['external']:
        raise exceptions.Permanent(f'network {network_id} is not external')
    ranges = db.rows('SELECT * FROM subnets WHERE network_id = ? ORDER BY id', network_id)
    if not ranges:
        raise exceptions.Permanent(f'network {network_id} has no subnet')
    if subnet_id is not None:
        ranges = [row for row in ranges if row['id'] == subnet_id]
        if not ranges:
            raise CloudNotFound(f'network {network_id} has no subnet {subnet_id}')
    return ranges


def _of(ranges: list[sqlite3.Row], address: str) -> tuple[str, str]:
    wanted = ipaddress.ip_address(address)
    for row in ranges:
        if wanted in ipaddress.ip_network(row['cidr']):
            return row['id'], address
    raise exceptions.Permanent(f'address {address} is not in a subnet of the network')


def _free(db: Db, network_id: str, ranges: list[sqlite3.Row]) -> tuple[str, str]:
    for row in ranges:
        for address in _addresses(json.loads(row['allocation_pools'])):
            if not _taken(db, network_id, address):
                return row['id'], address
    raise CloudConflict(f'no address is left in network {network_id}')


def _addresses(pools: list[tuple[str, str]]) -> Iterator[str]:
    for first, last in pools:
        for number in range(int(ipaddress.ip_address(first)), int(ipaddress.ip_address(last)) + 1):
            yield str(ipaddress.ip_address(number))


def _taken(db: Db, network_id: str, address: str) -> bool:
    held = db.row('SELECT 1 FROM ports WHERE network_id = ? AND address = ?', network_id, address)
    return held is not None


def _set_tags(db: Db, floating_ip_id: str, tags: AbstractSet[str]) -> None:
    wanted = json.dumps(sorted(tags))
    if not db.update('floating_ips', floating_ip_id, tags=wanted):
        raise CloudNotFound(f'the simulated cloud has no floating IP {floating_ip_id}')


def attach(db: Db, floating_ip_id: str, port_id: str) -> None:
    """Attach a floating IP to a port."""
    db.update('floating_ips', floating_ip_id, port_id=port_id)


def delete(db: Db, floating_ip_id: str) -> None:
    """Delete a floating IP and its port; a no-op if it does not exist."""
    db.delete('ports', device_id=floating_ip_id, device_owner=OWNER)
    db.delete('floating_ips', id=floating_ip_id)


class SimulatedFloatingIPs(ServiceVerbs):
    """Implements :class:`climate.cloud.protocols.floating_ips.FloatingIPs`."""

    find_floating_ip = verb('network.find_floating_ip', _find)
    list_floating_ips = verb('network.list_floating_ips', floating_ips)
    create_floating_ip = verb(
        'network.create_floating_ip', _create, 'network_id', 'project_id', 'subnet_id', 'address'
    )
    set_floating_ip_tags = verb('network.set_floating_ip_tags', _set_tags)
    delete_floating_ip = verb('network.delete_floating_ip', delete)
