# SPDX-License-Identifier: Apache-2.0

"""The rows of simulated hypervisors, and how they come, go and change."""

from __future__ import annotations

import dataclasses
import uuid
from typing import Literal

from climate.cloud.base import Hypervisor
from climate.domain.resources import Inventory
from climate.simulator import aggregates
from climate.simulator import hypervisors
from climate.simulator import providers
from climate.simulator import server_rows
from climate.simulator.store import Db


def id_of(hostname: str) -> str:
    """Return the id of a hypervisor."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, hostname))


def put(db: Db, host: Hypervisor, traits: frozenset[str]) -> None:
    """Insert or replace a hypervisor and its provider, which have the same id."""
    values = dataclasses.asdict(host)
    del values['availability_zone']
    db.insert('hypervisors', or_else='REPLACE', **values)
    if providers.find_provider(db, host.hostname) is None:
        providers.create_provider(db, host.hostname, None, uuid=host.id)
    totals = (('DISK_GB', host.local_gb), ('MEMORY_MB', host.memory_mb), ('VCPU', host.vcpus))
    inventories = tuple(
        Inventory(resource_class=name, total=total, max_unit=total) for name, total in totals
    )
    providers.set_contents(db, host.id, inventories, traits)


def set_hypervisor(
    db: Db,
    hostname: str,
    *,
    state: Literal['up', 'down'] | None = None,
    status: Literal['enabled', 'disabled'] | None = None,
) -> None:
    """Make a hypervisor fail or recover, or disable or enable it.

    :raises LookupError: if there is no such hypervisor
    """
    sql = 'UPDATE hypervisors SET state = coalesce(?, state), status = coalesce(?, status)'
    if not db.run(f'{sql} WHERE hostname = ?', state, status, hostname):
        raise LookupError(f'the simulated cloud has no hypervisor {hostname!r}')


def remove(db: Db, hostname: str) -> None:
    """Remove a hypervisor, with its provider and its servers; a no-op if it is gone."""
    hypervisor = hypervisors.find_hypervisor(db, hostname)
    if hypervisor is None:
        return
    for server in server_rows.servers(db, host=hypervisor.service_host):
        if server.hypervisor_hostname == hypervisor.hostname:
            server_rows.forget(db, server.id)
    # The tree lists a provider before those that are nested in it.
    for provider in reversed(providers.tree(db, hypervisor.id)):
        providers.delete_provider(db, provider)
    db.delete('hypervisors', id=hypervisor.id)
    db.run('DELETE FROM aggregate_hosts WHERE host NOT IN (SELECT service_host FROM hypervisors)')


def _known(db: Db, hostname: str) -> Hypervisor:
    hypervisor = hypervisors.find_hypervisor(db, hostname)
    if hypervisor is None:
        raise LookupError(f'the simulated cloud has no hypervisor {hostname!r}')
    return hypervisor


def resize(
    db: Db,
    hostname: str,
    *,
    vcpus: int | None = None,
    memory_mb: int | None = None,
    local_gb: int | None = None,
) -> None:
    """Give a hypervisor another size, in Nova and in Placement; None keeps a value.

    :raises LookupError: if there is no such hypervisor
    """
    old = _known(db, hostname)
    new = dataclasses.replace(
        old,
        vcpus=vcpus or old.vcpus,
        memory_mb=memory_mb or old.memory_mb,
        local_gb=local_gb or old.local_gb,
    )
    put(db, new, frozenset(providers.traits(db, old.id)))


def set_zone(db: Db, hostname: str, zone: str | None) -> None:
    """Move a hypervisor into an aggregate that is named after its availability zone.

    :param zone: None to remove it from such an aggregate
    :raises LookupError: if there is no such hypervisor
    :raises climate.exceptions.EffectError: if Nova would refuse it
    """
    host = _known(db, hostname).service_host
    for one in aggregates.aggregates(db):
        # Those of leases have other names than their zones.
        if one.availability_zone == one.name and host in one.hosts:
            aggregates.remove_host(db, one.id, host)
    if zone is not None:
        aggregate = aggregates.find_aggregate(db, zone) or aggregates.create_aggregate(
            db, zone, zone
        )
        aggregates.add_host(db, aggregate.id, host)


def add_node(db: Db, hostname: str, name: str) -> None:
    """Add another node to the nova-compute of a hypervisor, of the same size.

    :raises LookupError: if there is no such hypervisor
    :raises ValueError: if there is one with the name of the node
    """
    old = _known(db, hostname)
    _refuse_name(db, name)
    new = dataclasses.replace(old, id=id_of(name), hostname=name)
    put(db, new, frozenset(providers.traits(db, old.id)))


def _refuse_name(db: Db, name: str) -> None:
    if hypervisors.find_hypervisor(db, name) is not None:
        raise ValueError(f'the simulated cloud already has a hypervisor {name!r}')


def rename(db: Db, hostname: str, name: str) -> None:
    """Let Nova use another name for a hypervisor, as after a change of its FQDN.

    It gets another id and another provider. Existing servers keep the old name of their
    node; the old provider stays if it has allocations.

    :raises LookupError: if there is no such hypervisor
    :raises ValueError: if there is one with the new name
    """
    old = _known(db, hostname)
    add_node(db, hostname, name)
    db.delete('hypervisors', id=old.id)
    tree = providers.tree(db, old.id)
    if not any(providers.allocations(db, provider) for provider in tree):
        for provider in reversed(tree):
            providers.delete_provider(db, provider)
