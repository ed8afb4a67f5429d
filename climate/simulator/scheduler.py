# SPDX-License-Identifier: Apache-2.0

"""The choice of a host for a server, and its allocations in Placement.

A suitable host is enabled and up. It is in the requested zone and in the aggregate that
the hint ``reservation`` names. Its providers have the resources and the traits that the
flavor requires: each resource class comes from the first provider of the host's tree
that has enough of it, and only these providers contribute traits.

The scheduler prefers hosts outside the pool of reservable hosts, and then takes the
first by name. It has no filters of operators and no weights.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from climate.cloud.base import Flavor
from climate.cloud.base import ServerDraft
from climate.simulator import hypervisors
from climate.simulator import providers
from climate.simulator.store import Db

FREEPOOL = 'freepool'
_MB_PER_GB = 1024


_MEMBERS = (
    'SELECT m.host FROM aggregate_hosts m JOIN aggregates a ON a.id = m.aggregate_id'
    ' WHERE a.name = ?'
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class HostPlace:
    """A host for a server, and the resources to allocate there.

    :ivar amounts: by provider UUID and resource class
    """

    host: str
    hypervisor_hostname: str
    amounts: Mapping[tuple[str, str], int]


def needs(flavor: Flavor) -> dict[str, int]:
    """Return the amounts that a server of a flavor needs, by resource class."""
    swap_gb = -(-flavor.swap_mb // _MB_PER_GB)
    amounts = {
        'VCPU': flavor.vcpus,
        'MEMORY_MB': flavor.memory_mb,
        'DISK_GB': flavor.disk_gb + flavor.ephemeral_gb + swap_gb,
    }
    for key, value in flavor.extra_specs.items():
        if key.startswith('resources:') and value.isdigit():
            amounts[key.removeprefix('resources:')] = int(value)
    return {name: amount for name, amount in amounts.items() if amount}


def choose(db: Db, draft: ServerDraft, flavor: Flavor) -> HostPlace | None:
    """Return a place for a server; None if no host is suitable."""
    reserved = draft.scheduler_hints.get('reservation')
    pool = {row['host'] for row in db.rows(_MEMBERS, FREEPOOL)}
    hosts = hypervisors.hypervisors(db)
    for host in sorted(hosts, key=lambda each: each.service_host in pool):
        if draft.host is not None:
            suits = host.service_host == draft.host
        else:
            suits = draft.availability_zone in (None, host.availability_zone) and (
                reserved is None or _is_in(db, host.service_host, reserved)
            )
        if suits and (host.state, host.status) == ('up', 'enabled'):
            amounts = _room(db, host.id, flavor)
            if amounts is not None:
                return HostPlace(
                    host=host.service_host, hypervisor_hostname=host.hostname, amounts=amounts
                )
    return None


def _is_in(db: Db, host: str, aggregate: str) -> bool:
    return any(row['host'] == host for row in db.rows(_MEMBERS, aggregate))


def _room(db: Db, root: str, flavor: Flavor) -> dict[tuple[str, str], int] | None:
    tree = providers.tree(db, root)
    room = {}
    for name, amount in needs(flavor).items():
        uuid = next((each for each in tree if providers.has_room(db, each, name, amount)), None)
        if uuid is None:
            return None
        room[uuid, name] = amount
    # As in Placement, only providers with an allocation contribute traits.
    taken_from = {uuid for uuid, _ in room}
    traits = frozenset[str]().union(*(providers.traits(db, uuid) for uuid in taken_from))
    for key, value in flavor.extra_specs.items():
        name = key.removeprefix('trait:')
        if name != key and (name in traits) != (value == 'required'):
            return None
    return room


def claim(db: Db, server_id: str, place: HostPlace) -> None:
    """Allocate the resources of a place to a server."""
    for (uuid, name), amount in place.amounts.items():
        providers.allocate(db, server_id, uuid, name, amount)


def release(db: Db, server_id: str) -> None:
    """Release all allocations of a server."""
    providers.release(db, server_id)
