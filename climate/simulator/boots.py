# SPDX-License-Identifier: Apache-2.0

"""Servers that start without a request to the simulated Nova."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping

from climate.cloud.base import Flavor
from climate.cloud.base import Server
from climate.cloud.base import ServerDraft
from climate.simulator import flavors
from climate.simulator import providers
from climate.simulator import scheduler
from climate.simulator import server_rows
from climate.simulator.store import Db


def boot(
    db: Db,
    host: str | None,
    project_id: str,
    name: str,
    flavor: str = 'm1.small',
    *,
    metadata: Mapping[str, str] | None = None,
    hints: Mapping[str, object] | None = None,
    user_id: str = '',
    server_id: str | None = None,
    node: str | None = None,
) -> Server:
    """Start a server.

    :param host: the service host, even if it has no room; None for any host with room
    :param flavor: name or id
    :param server_id: a new id if None
    :param node: the node of the service host; any if None
    :raises LookupError: if there is no such host or flavor
    """
    size = _flavor(db, flavor)
    service_host = _host_with_room(db, name, size) if host is None else host
    server_id = server_id or str(uuid.uuid4())
    kept = {'hints': dict(hints or {}), **server_rows.creation_record(db, project_id, user_id)}
    if not db.run(
        'INSERT INTO servers (id, name, project_id, host, hypervisor_hostname, flavor,'
        ' status, vcpus, metadata, draft)'
        " SELECT ?, ?, ?, service_host, hostname, ?, 'ACTIVE', ?, ?, ? FROM hypervisors"
        ' WHERE service_host = ? AND hostname = coalesce(?, hostname) LIMIT 1',
        server_id,
        name,
        project_id,
        size.id,
        size.vcpus,
        json.dumps(dict(metadata or {})),
        json.dumps(kept),
        service_host,
        node,
    ):
        raise LookupError(f'the simulated cloud has no host {host!r}')
    server = server_rows.find(db, server_id)
    assert server is not None
    provider = providers.find_provider(db, server.hypervisor_hostname)
    if provider is not None:
        for resource_class, amount in scheduler.needs(size).items():
            providers.allocate(db, server_id, provider.uuid, resource_class, amount)
    return server


def replace_flavor_names(db: Db) -> None:
    """Replace the flavor name in servers of an earlier version by the flavor's id."""
    db.run(
        'UPDATE servers SET flavor = (SELECT id FROM flavors WHERE name = servers.flavor)'
        ' WHERE flavor NOT IN (SELECT id FROM flavors)'
        ' AND flavor IN (SELECT name FROM flavors)'
    )


def _flavor(db: Db, name_or_id: str) -> Flavor:
    flavor = flavors.named(db, name_or_id)
    if flavor is None:
        raise LookupError(f'the simulated cloud has no flavor {name_or_id!r}')
    return flavor


def _host_with_room(db: Db, name: str, flavor: Flavor) -> str:
    place = scheduler.choose(db, ServerDraft(name=name, flavor_id=flavor.id), flavor)
    if place is None:
        raise LookupError(f'no host has room for a server of {flavor.name}')
    return place.host
