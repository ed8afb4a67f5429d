# SPDX-License-Identifier: Apache-2.0

"""The resource providers in Placement that count the slots of hosts.

Each reservable host has one, ``blazar_<hypervisor hostname>``, nested in the provider
of the host. An instance reservation has an inventory there, of its own resource
class, with one unit for each of its slots on the host.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator

from climate import exceptions
from climate.cloud import base
from climate.domain.resources import Inventory

PREFIX = 'blazar_'
# A server takes its units of these from one device. Nova asks for each other device, such
# as a PCI device, separately.
_FROM_ONE = frozenset({'VGPU'})
_MOST_UNITS = 2147483647


def find(cloud: base.Cloud, host: str) -> base.Provider | None:
    """Return the nested provider of a hypervisor hostname; None if there is none."""
    return cloud.placement.find_provider(PREFIX + host)


def ensure(cloud: base.Cloud, host: str, traits: frozenset[str]) -> tuple[base.Provider, list[str]]:
    """Create or repair the nested provider; return it and the repairs.

    :param traits: the traits it must have; it may have others
    :raises climate.exceptions.Transient: if Placement does not have the host
    """
    repaired = []
    parent = cloud.placement.find_provider(host)
    if parent is None:
        # nova-compute creates it when it starts.
        raise exceptions.Transient(f'Placement has no provider for host {host}')
    provider = find(cloud, host)
    if provider is not None and provider.parent_uuid != parent.uuid:
        # The host was reinstalled, and Placement cannot move a provider.
        _delete(cloud, provider)
        provider = None
    if provider is None:
        provider = _create(cloud, host, parent)
        repaired.append(f'provider {provider.name} was missing')
    missing = sorted(traits - cloud.placement.traits(provider.uuid)) if traits else []
    for trait in missing:
        cloud.placement.create_trait(trait)
        cloud.placement.add_trait(provider.uuid, trait)
        repaired.append(f'provider {provider.name} did not have trait {trait}')
    return provider, repaired


def _create(cloud: base.Cloud, host: str, parent: base.Provider) -> base.Provider:
    try:
        return cloud.placement.create_provider(PREFIX + host, parent.uuid)
    except base.CloudConflict as error:
        # Created a moment ago, by another manager or by a call whose response was lost.
        provider = find(cloud, host)
        if provider is None:
            # It exists, and is not visible yet.
            raise exceptions.Transient(error.message) from error
        return provider


def _delete(cloud: base.Cloud, provider: base.Provider) -> None:
    with base.as_transient(base.CloudConflict):
        cloud.placement.delete_provider(provider.uuid)


def admit(cloud: base.Cloud, host: str, traits: frozenset[str]) -> None:
    """Create the nested provider of a host that is registered.

    A host that Placement does not have can still be leased as a whole.
    """
    if cloud.placement.find_provider(host) is not None:
        ensure(cloud, host, traits)


def release(cloud: base.Cloud, host: str) -> None:
    """Delete the nested provider of a host that is unregistered.

    If it still has allocations, it stays; it has no effect on other servers.
    """
    provider = find(cloud, host)
    if provider is not None:
        with contextlib.suppress(base.CloudConflict):
            cloud.placement.delete_provider(provider.uuid)


def used(cloud: base.Cloud, host: str, resource_class: str) -> int:
    """Return how many units of a class are in use on a host."""
    provider = find(cloud, host)
    if provider is None:
        return 0
    with contextlib.suppress(base.CloudNotFound):
        return cloud.placement.usages(provider.uuid).get(resource_class, 0)
    return 0


def stock(cloud: base.Cloud, root: base.Provider) -> tuple[Inventory, ...]:
    """Return what a host has of each resource class, with the providers nested in its own.

    Devices have providers of their own.
    """
    amounts = {item.resource_class: item for item in cloud.placement.inventories(root.uuid)}
    for nested in _nested(cloud, root):
        with contextlib.suppress(base.CloudNotFound):
            for item in cloud.placement.inventories(nested.uuid):
                known = amounts.get(item.resource_class)
                amounts[item.resource_class] = item if known is None else _sum(known, item)
    return tuple(amounts[name] for name in sorted(amounts))


def _nested(cloud: base.Cloud, root: base.Provider) -> Iterator[base.Provider]:
    for child in cloud.placement.list_providers(parent_uuid=root.uuid):
        # The slots of reservations are no resources of the host.
        if not child.name.startswith(PREFIX):
            yield child
            yield from _nested(cloud, child)


def _total(first: int, second: int) -> int:
    return min(first + second, _MOST_UNITS)


def _sum(first: Inventory, second: Inventory) -> Inventory:
    if first.allocation_ratio == second.allocation_ratio:
        total, reserved = first.total + second.total, first.reserved + second.reserved
        ratio = first.allocation_ratio
    else:
        total, reserved, ratio = first.capacity + second.capacity, 0, 1.0
    return dataclasses.replace(
        first,
        total=total,
        reserved=reserved,
        allocation_ratio=ratio,
        min_unit=min(first.min_unit, second.min_unit),
        max_unit=(max if first.resource_class in _FROM_ONE else _total)(
            first.max_unit, second.max_unit
        ),
        step_size=min(first.step_size, second.step_size),
    )
