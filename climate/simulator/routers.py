# SPDX-License-Identifier: Apache-2.0

"""Simulated routers of Neutron."""

from __future__ import annotations

import ipaddress
import json

from climate.cloud.base import CloudConflict
from climate.cloud.protocols.ports import ROUTER_INTERFACES
from climate.simulator.store import Db

# Of static routes, the table stores only the next hops.
SCHEMA = """
CREATE TABLE IF NOT EXISTS routers (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL,
    routes TEXT NOT NULL DEFAULT '[]'
);
"""


def add_route(db: Db, router_id: str, nexthop: str) -> None:
    """Add a static route to an address."""
    _set_routes(db, router_id, [*_routes(db, router_id), nexthop])


def remove_routes(db: Db, router_id: str, port_id: str) -> None:
    """Remove the static routes of a router that lead through an interface."""
    through = _through(db, router_id, port_id)
    routes = _routes(db, router_id)
    _set_routes(db, router_id, [nexthop for nexthop in routes if nexthop not in through])


def _routes(db: Db, router_id: str) -> list[str]:
    row = db.row('SELECT routes FROM routers WHERE id = ?', router_id)
    return [] if row is None else list(json.loads(row['routes']))


def _set_routes(db: Db, router_id: str, routes: list[str]) -> None:
    db.update('routers', router_id, routes=json.dumps(routes))


def _through(db: Db, router_id: str, port_id: str) -> set[str]:
    """Return the next hops that a router reaches through an interface."""
    row = db.row(
        'SELECT s.cidr FROM ports p JOIN subnets s ON s.id = p.subnet_id'
        ' WHERE p.id = ? AND p.device_id = ?',
        port_id,
        router_id,
    )
    if row is None:
        return set()
    network = ipaddress.ip_network(row['cidr'])
    return {item for item in _routes(db, router_id) if ipaddress.ip_address(item) in network}


def remove_interface(db: Db, router_id: str, port_id: str) -> None:
    """Remove a router from a network; a no-op if it or the port does not exist.

    :raises CloudConflict: if floating IPs or static routes need the interface
    """
    if db.row(
        'SELECT 1 FROM ports i JOIN ports p ON p.subnet_id = i.subnet_id'
        ' JOIN floating_ips f ON f.port_id = p.id WHERE i.id = ? AND i.device_id = ?',
        port_id,
        router_id,
    ):
        raise CloudConflict(f'floating IPs are reached through port {port_id}')
    if _through(db, router_id, port_id):
        raise CloudConflict(f'static routes lead through port {port_id}')
    db.run(
        "DELETE FROM ports WHERE id = ? AND device_id = ? AND device_owner != 'network:floatingip'",
        port_id,
        router_id,
    )


def delete(db: Db, router_id: str) -> None:
    """Delete a router and its gateway; a no-op if it does not exist.

    :raises CloudConflict: if it still has interfaces
    """
    for row in db.rows('SELECT device_owner FROM ports WHERE device_id = ?', router_id):
        if row['device_owner'] in ROUTER_INTERFACES:
            raise CloudConflict(f'router {router_id} still has interfaces')
    db.delete('ports', device_id=router_id)
    db.delete('routers', id=router_id)
