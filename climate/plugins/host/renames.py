# SPDX-License-Identifier: Apache-2.0

"""Hosts that Nova calls by another name than at their registration."""

from __future__ import annotations

import dataclasses

from climate.cloud.base import Cloud
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.domain.resources import Resource
from climate.plugins.host import errors
from climate.plugins.host import nodes
from climate.plugins.host import providers


def rename(resource: Resource, name: str, cloud: Cloud, traits: frozenset[str]) -> Resource:
    """Return a host with its new name, and let its nested provider follow.

    Aggregates know the host by its nova-compute, so they stay as they are. Placement
    cannot move a provider to another one: the slots on the host must not be in use. The
    check of an active lease creates those of its reservations again.

    :param traits: of the nested provider
    :raises climate.plugins.host.errors.NotTheHost: if it is not the same machine, or its
        slots are in use
    """
    hypervisor = cloud.compute.find_hypervisor(name)
    if hypervisor is None or hypervisor.hostname != name:
        raise errors.HostNotFound(host=name)
    host = nodes.service_host(resource)
    if hypervisor.service_host != host:
        raise _refusal(resource, name, f'its nova-compute is {hypervisor.service_host}, not {host}')
    others = [each for each in nodes.served_by(cloud, host) if each != name]
    if others:
        raise _refusal(resource, name, f'nova-compute {host} also serves {nodes.named(others)}')
    old = providers.find(cloud, resource.name)
    if old is not None:
        _refuse_used(cloud, resource, name, old.uuid)
        try:
            cloud.placement.delete_provider(old.uuid)
        except CloudConflict as error:
            raise _refusal(resource, name, error.message) from error
    providers.admit(cloud, name, traits)
    return dataclasses.replace(
        resource,
        name=name,
        attributes={
            **resource.attributes,
            'hypervisor_id': hypervisor.id,
            'hypervisor_hostname': hypervisor.hostname,
        },
    )


def _refuse_used(cloud: Cloud, resource: Resource, name: str, provider: str) -> None:
    try:
        used = cloud.placement.allocations(provider)
    except CloudNotFound:
        return
    if used:
        raise _refusal(resource, name, f'{len(used)} servers hold slots on it in Placement')


def _refusal(resource: Resource, name: str, reason: str) -> errors.NotTheHost:
    return errors.NotTheHost(host=resource.name, name=name, reason=reason)
