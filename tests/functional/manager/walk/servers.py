# SPDX-License-Identifier: Apache-2.0
"""Servers of users, and what is to become of them, for the walk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from climate.cloud.base import ServerDraft
from climate.simulator import SimulatedCloud
from tests.functional.manager import harness

FLAVOR = '2'
NAME = 'web'
IMAGE = f'reserved_{NAME}'


def own(cloud: SimulatedCloud) -> tuple[Mapping[str, Any], ...]:
    """Let the project have a server, to be leased with room for it."""
    server_id = cloud.compute_of(harness.PROJECT).create_server(
        ServerDraft(name=NAME, flavor_id=FLAVOR)
    )
    return ({'resource_type': 'virtual:server', 'server_id': server_id},)


def booted(cloud: SimulatedCloud) -> tuple[Mapping[str, Any], ...]:
    """Let there be an image, of which a server is to be booted in its room for a user."""
    cloud.put_member(harness.CALLER.user_id, harness.PROJECT, 'member')
    image = cloud.add_image('cirros')
    return ({'resource_type': 'virtual:server', 'name': NAME, 'flavor': FLAVOR, 'image': image},)


def lost(cloud: SimulatedCloud) -> str:
    """Say what is wrong: a server is gone, and no image of it can be used; '' if nothing is."""
    images = [image for image in cloud.images() if image.name == IMAGE]
    if any(server.name == NAME for server in cloud.servers()) or not images:
        return ''
    good = [image for image in images if (image.status, image.owner) == ('active', harness.PROJECT)]
    return '' if len(good) == len(images) == 1 else f'the server is gone, and there is {images}'


def put_away(cloud: SimulatedCloud) -> None:
    """Take away what the end of a lease leaves on purpose: images, servers, what they hold."""
    for image in cloud.images():
        if image.name == IMAGE:
            cloud.image.delete_image(image.id)
    for server in cloud.servers():
        if server.name == NAME:
            cloud.compute.delete_server(server.id)
