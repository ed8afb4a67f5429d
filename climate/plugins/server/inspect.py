# SPDX-License-Identifier: Apache-2.0
"""Inspects a server, or the ingredients of a new one, before a lease is booked.

It uses the caller's token: objects that the caller cannot see count as missing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from climate import exceptions
from climate.cloud.base import Cloud
from climate.cloud.base import CloudConflict
from climate.cloud.base import Server
from climate.plugins.server.request import Seen
from climate.plugins.server.request import ServerRequest

# States in which a server can be leased. A paused server would lose its memory
# when it is shelved, and the calls that start the others cannot start it.
LEASABLE = frozenset({'ACTIVE', 'SHUTOFF', 'SUSPENDED', 'SHELVED', 'SHELVED_OFFLOADED'})


def inspect(request: ServerRequest, cloud: Callable[[], Cloud], project_id: str) -> ServerRequest:
    """Return the request with what the cloud shows; it is inspected once.

    :raises climate.exceptions.InvalidInput: if an object that it names does not exist
    :raises climate.exceptions.Conflict: if the server cannot be leased in its present state
    """
    if request.seen is not None:
        return request
    if not request.server_id:
        return dataclasses.replace(request, seen=_ingredients(request, cloud()))
    server = cloud().compute.find_server(request.server_id)
    if server is None or server.project_id != project_id:
        raise exceptions.InvalidInput(f"Server '{request.server_id}' not found")
    if not request.imposed:
        refuse(server)
    if request.guarantee and cloud().compute.find_flavor(server.flavor_id) is None:
        raise exceptions.InvalidInput(
            f"Flavor '{server.flavor_id}' of server {server.id} is gone, so its size is unknown: "
            'set guarantee to false'
        )
    return dataclasses.replace(request, seen=Seen(name=server.name, flavor_id=server.flavor_id))


def refuse(server: Server) -> None:
    """Refuse a server that cannot be leased in its present state.

    :raises climate.exceptions.Conflict: with the reason
    """
    if server.locked:
        raise exceptions.Conflict(f'Server {server.id} is locked: unlock it first')
    if server.task_state is not None:
        raise exceptions.Conflict(
            f'Server {server.id} is busy ({server.task_state}): try again when it is not'
        )
    if server.status not in LEASABLE:
        raise exceptions.Conflict(
            f'Server {server.id} is {server.status}: it can be leased if it is one of '
            + ', '.join(sorted(LEASABLE))
        )


def _ingredients(request: ServerRequest, cloud: Cloud) -> Seen:
    if cloud.compute.find_flavor(request.flavor) is None:
        raise exceptions.InvalidInput(f"flavor: Flavor '{request.flavor}' not found")
    if request.image and cloud.image.find_image(request.image) is None:
        raise exceptions.InvalidInput(f"image: Image '{request.image}' not found")
    for network_id in (each['uuid'] for each in request.networks if 'uuid' in each):
        if not _has_network(cloud, network_id):
            raise exceptions.InvalidInput(f"networks: Network '{network_id}' not found")
    return Seen(name=request.name, flavor_id=request.flavor)


def _has_network(cloud: Cloud, network_id: str) -> bool:
    try:
        network = cloud.network.find_network(network_id)
    except CloudConflict:
        # Several networks have this name, so it is not an id.
        return False
    return network is not None and network.id == network_id
