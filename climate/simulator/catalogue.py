# SPDX-License-Identifier: Apache-2.0

"""The objects in the simulated cloud of ``climate-standalone``.

Ids are the same everywhere, so that the documentation can print them. Each item
is added once to a state: deleted items stay deleted, and an object of an earlier
version with the same name stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from climate.cloud.base import Flavor
from climate.cloud.protocols.stacks import StackDraft
from climate.simulator import boots
from climate.simulator import flavors
from climate.simulator import heat
from climate.simulator import images
from climate.simulator import network_contents
from climate.simulator import volume
from climate.simulator import volume_contents
from climate.simulator import volume_types
from climate.simulator.store import Db

SCHEMA = 'CREATE TABLE IF NOT EXISTS catalogue (item TEXT PRIMARY KEY) WITHOUT ROWID;'

PROJECT: Final = 'demo'
"""The project that owns the objects: that of callers without authentication."""

COMMON_HOST: Final = 'common-1'
"""A host for servers without reservations, which is not registered."""

FLAVORS: Final = (
    Flavor(id='3', name='m1.medium', vcpus=2, memory_mb=4096, disk_gb=40),
    Flavor(id='4', name='m1.large', vcpus=4, memory_mb=8192, disk_gb=80),
    Flavor(id='5', name='m1.xlarge', vcpus=8, memory_mb=16384, disk_gb=160),
)
"""In addition to the flavors ``1`` and ``2`` of every seed."""

IMAGES: Final = {
    'ubuntu': '70a599e0-31e7-49b7-b260-868f441e862b',
    'cirros': '3c6ff3e1-6a5c-4f0b-8d0e-0a4d2f4f9d11',
}
SERVER: Final = ('web', '1f36ba27-6955-4c8f-806a-64c12f502f82')
VOLUME: Final = ('archive', '8f0d6a3e-5a5b-4d43-9c7b-7d3a5d1c2b90')
PRIVATE: Final = ('private', '1f3c2a70-6ab5-4b8a-9a1d-2f4b54c7a1de')
PRIVATE_CIDR: Final = '10.0.0.0/24'
SSD: Final = 'ssd'
SSD_BACKEND: Final = 'nvme'
SSD_POOL: Final = 'storage-1@nvme#nvme'
SSD_GB: Final = 2000.0
STACK: Final = ('lab', 'c0a1ab1e-1ab0-4d5c-8b0f-5f2f1f0f3a77')
TEMPLATE: Final = """\
heat_template_version: 2021-04-16
description: A network, a volume and two servers
parameters:
  image: {type: string, default: ubuntu}
  flavor: {type: string, default: m1.small}
resources:
  net:
    type: OS::Neutron::Net
  subnet:
    type: OS::Neutron::Subnet
    properties: {network: {get_resource: net}, cidr: 10.77.0.0/24}
  disk:
    type: OS::Cinder::Volume
    properties: {size: 10, volume_type: standard}
  servers:
    type: OS::Heat::ResourceGroup
    depends_on: subnet
    properties:
      count: 2
      resource_def:
        type: OS::Nova::Server
        properties:
          image: {get_param: image}
          flavor: {get_param: flavor}
          networks: [{network: {get_resource: net}}]
"""


def furnish(db: Db) -> None:
    """Add the items that were never added to this state; to be called after a seed."""
    for item, add in _ITEMS.items():
        if db.run('INSERT OR IGNORE INTO catalogue (item) VALUES (?)', item):
            add(db)
    boots.replace_flavor_names(db)


def _add_flavors(db: Db) -> None:
    for flavor in FLAVORS:
        if not any(flavors.named(db, key) for key in (flavor.id, flavor.name)):
            flavors.create_flavor(db, flavor)


def _add_images(db: Db) -> None:
    for name, image_id in IMAGES.items():
        images.add(db, name, None, 0, PROJECT, image_id)


def _add_network(db: Db) -> None:
    name, network_id = PRIVATE
    if not db.has('networks', name=name):
        network_contents.create_network(db, name, PROJECT, network_id=network_id)
        network_contents.create_subnet(db, network_id, PRIVATE_CIDR)


def _add_storage(db: Db) -> None:
    volume_contents.put_pool(db, SSD_POOL, SSD_BACKEND, SSD_GB)
    if volume_types.find_type(db, SSD) is None:
        specs = {'volume_backend_name': SSD_BACKEND}
        volume_types.create_type(db, SSD, specs, public=True)


def _add_server(db: Db) -> None:
    name, server_id = SERVER
    boots.boot(db, COMMON_HOST, PROJECT, name, 'm1.small', user_id='admin', server_id=server_id)


def _add_volume(db: Db) -> None:
    name, volume_id = VOLUME
    volume.create_volume(
        db, PROJECT, name, 50, volume_type=None, zone=None, metadata={}, volume_id=volume_id
    )


def _add_stack(db: Db) -> None:
    name, stack_id = STACK
    if not db.has('stacks', name=name, project_id=PROJECT):
        heat.add_stack(db, PROJECT, StackDraft(name=name, template=TEMPLATE), stack_id)


_ITEMS: dict[str, Callable[[Db], None]] = {
    'flavors': _add_flavors,
    'images': _add_images,
    'network': _add_network,
    'storage': _add_storage,
    'server': _add_server,
    'volume': _add_volume,
    'stack': _add_stack,
}
