# SPDX-License-Identifier: Apache-2.0

"""Samples for ``climate-standalone``: types, simulated resources, and commands to try."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Final

from climate import exceptions
from climate.cmd.composition import Core
from climate.db.transactions.store import Transaction
from climate.domain.resource_types import Declaration
from climate.domain.resources import Resource
from climate.domain.resources import ResourceDraft
from climate.resources import catalog
from climate.resources.registrar import Registrar
from climate.resources.types import ResourceTypes
from climate.simulator import catalogue
from climate.simulator import network_contents as networks
from climate.simulator import SimulatedCloud
from climate.simulator import volume_contents as volumes

LOG = logging.getLogger(__name__)

TYPES: Final = (
    'physical:host',
    'virtual:instance',
    'flavor:instance',
    'virtual:floatingip',
    'network',
    'physical:storage',
    'virtual:volume',
    'virtual:server',
    'virtual:stack',
)
"""The served types: the simulated cloud has what each of them needs."""

COMMANDS: Final = """Try in another terminal:{install}
  export OS_AUTH_TYPE=none OS_ENDPOINT={endpoint} PATH={folder}:"$PATH"
  openstack lease create demo --hosts 2 --for 10m --wait
  openstack lease show demo
  openstack lease list"""
"""Commands to try, with ``{endpoint}`` of the API, ``{folder}`` of the command, and ``{install}``
for a line that installs it."""

# Neutron allocates the addresses below these to any project.
_ADDRESSES = tuple(f'203.0.113.{number}' for number in range(100, 110))
_SEGMENTS = tuple(range(101, 106))
_TIERS = {volumes.POOL: 'hdd', catalogue.SSD_POOL: 'nvme'}
_RACK = Declaration(
    name='custom:rack', description='A rack in the laboratory, as a whole', noun='racks'
)
_RACKS = ('rack-1', 'rack-2', 'rack-3')


def register(parts: Core, cloud: SimulatedCloud) -> None:
    """Register the hosts, and sample resources of each other type that has none.

    Logs which host cannot be registered, since users change the simulated cloud.
    """
    _register_hosts(parts, cloud)
    if _RACK.name not in parts.plugins:
        ResourceTypes(parts.store, parts.plugins).create(_RACK)
    empty = {name for name in parts.plugins if not _known(parts, name)}
    drafts = (draft for draft in _drafts(cloud) if draft.resource_type in empty)
    drafted = list(_discovered(parts, cloud, drafts))

    def insert(tx: Transaction) -> None:
        for resource in drafted:
            tx.resources.insert(resource)

    # In one transaction, because the disk may be slow. There are no other callers
    # yet, and none of these resources changes the cloud.
    if drafted:
        parts.store.run(insert)


def _register_hosts(parts: Core, cloud: SimulatedCloud) -> None:
    registrar = Registrar(parts.store, parts.plugins, cloud)
    for resource_type in catalog.host_types(parts.plugins):
        known = _known(parts, resource_type)
        for hypervisor in cloud.hypervisors():
            name = hypervisor.hostname
            if name in known or name == catalogue.COMMON_HOST:
                continue
            try:
                registrar.register_resource(ResourceDraft(resource_type=resource_type, name=name))
            except exceptions.ClimateError as error:
                LOG.warning('%s %s was not registered: %s', resource_type, name, error.message)


def _known(parts: Core, resource_type: str) -> set[str]:
    with parts.store.reading() as tx:
        return {resource.name for resource in tx.resources.of_type(resource_type)}


def _discovered(
    parts: Core, cloud: SimulatedCloud, drafts: Iterable[ResourceDraft]
) -> Iterator[Resource]:
    for draft in drafts:
        try:
            resource = parts.plugins[draft.resource_type].discover(draft, cloud)
        except exceptions.ClimateError as error:
            # In the state of an earlier version, the resource may be in use.
            what = draft.name or dict(draft.attributes)
            LOG.warning('%s %s was not registered: %s', draft.resource_type, what, error.message)
        else:
            yield dataclasses.replace(resource, capabilities=draft.capabilities)


def _drafts(cloud: SimulatedCloud) -> Iterator[ResourceDraft]:
    """Yield what is registered of each type that has no resources yet."""
    public = next(
        (network.id for network in cloud.networks.networks() if network.name == networks.PUBLIC), ''
    )
    for address in _ADDRESSES:
        yield ResourceDraft(
            resource_type='virtual:floatingip',
            attributes={'floating_network_id': public, 'floating_ip_address': address},
        )
    for number in _SEGMENTS:
        yield ResourceDraft(
            resource_type='network',
            attributes={
                'network_type': 'vlan',
                'physical_network': networks.PHYSICAL_NETWORK,
                'segment_id': number,
            },
        )
    for pool, tier in _TIERS.items():
        yield ResourceDraft(
            resource_type='physical:storage', name=pool, capabilities={'tier': tier}
        )
    for name in _RACKS:
        yield ResourceDraft(resource_type=_RACK.name, name=name)
