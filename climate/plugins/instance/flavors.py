# SPDX-License-Identifier: Apache-2.0

"""The flavor and the server group of a reservation of instances.

Every step can be repeated.
"""

from __future__ import annotations

import contextlib

from climate import exceptions
from climate.cloud import base
from climate.plugins import contract
from climate.plugins.instance import names
from climate.plugins.instance.facts import InstanceFacts


def make_group(cloud: base.Cloud, reservation_id: str, policy: base.Policy) -> InstanceFacts:
    """Create the server group of a reservation, and return the facts about it.

    Its previous groups are deleted when it is prepared or starts.

    :param cloud: as a member of the project sees it
    :raises climate.exceptions.EffectError: if the group cannot be created
    """
    try:
        made = cloud.compute.create_server_group(names.name(reservation_id), policy)
    except exceptions.EffectError as error:
        text = f'The server group cannot be made: {error.message}'
        kind = exceptions.Permanent if isinstance(error, exceptions.Permanent) else None
        raise (kind or exceptions.Transient)(text) from error
    return InstanceFacts(server_group_id=made.id, other_server_groups=True)


def find_group(
    work: contract.Work, cloud: base.Cloud, policy: base.Policy | None, facts: InstanceFacts
) -> str | None:
    """Return the id of the server group; None if there is none.

    Deletes all other groups, such as one with another policy from before a change.

    :param facts: the facts of the reservation
    """
    known = facts.server_group_id
    if known is not None and not facts.other_server_groups:
        existing = cloud.compute.find_server_group(known)
        if existing is not None and existing.policy == policy:
            return existing.id
    there = sorted(groups(work, cloud), key=lambda group: group.id != known)
    fitting = None
    for group in there:
        if group.policy == policy and fitting is None:
            fitting = group.id
        else:
            cloud.compute.delete_server_group(group.id)
    return fitting


def groups(work: contract.Work, cloud: base.Cloud) -> list[base.ServerGroup]:
    """Return the server groups of a reservation: one, unless a response was lost.

    Other projects can use the same name for their groups.
    """
    return named_groups(cloud, work.reservation.id, work.lease.project_id)


def named_groups(cloud: base.Cloud, reservation_id: str, project_id: str) -> list[base.ServerGroup]:
    """Return the server groups of a project that have the name of a reservation."""
    wanted = (names.name(reservation_id), project_id)
    return [
        group
        for group in cloud.compute.list_server_groups()
        if (group.name, group.project_id) == wanted
    ]


def ensure_flavor(cloud: base.Cloud, wanted: base.Flavor) -> list[str]:
    """Create or repair the flavor; return the repairs, a line each."""
    repaired = []
    flavor = cloud.compute.find_flavor(wanted.id)
    if flavor is not None and _sizes(flavor) != _sizes(wanted):
        # Nova cannot change the sizes of a flavor; its servers keep theirs.
        cloud.compute.delete_flavor(flavor.id)
        repaired.append(f'flavor {wanted.id} had other sizes')
        flavor = None
    elif flavor is None:
        repaired.append(f'flavor {wanted.id} was missing')
    if flavor is None:
        flavor = _create(cloud, wanted)
    specs: dict[str, str | None] = {
        **dict.fromkeys(flavor.extra_specs.keys() - wanted.extra_specs.keys()),
        **dict(wanted.extra_specs.items() - flavor.extra_specs.items()),
    }
    if specs:
        cloud.compute.set_extra_specs(wanted.id, specs)
        repaired.append(f'flavor {wanted.id} had wrong extra specs: {", ".join(sorted(specs))}')
    return repaired


def _sizes(flavor: base.Flavor) -> tuple[object, ...]:
    return (
        flavor.name,
        flavor.vcpus,
        flavor.memory_mb,
        flavor.disk_gb,
        flavor.ephemeral_gb,
        flavor.swap_mb,
        flavor.public,
    )


def _create(cloud: base.Cloud, wanted: base.Flavor) -> base.Flavor:
    try:
        cloud.compute.create_flavor(wanted)
    except base.CloudConflict as error:
        # A call whose response was lost has just created it, or a flavor of another
        # owner has the name, which an operator can fix.
        flavor = cloud.compute.find_flavor(wanted.id)
        if flavor is None:
            raise exceptions.Transient(error.message) from error
        return flavor
    return wanted


def open_to_owner(work: contract.Work, cloud: base.Cloud) -> list[str]:
    """Let the project of the lease use the flavor; return the repairs, a line each.

    Does nothing if the slot is the room of an existing server: that server has
    another flavor, and a new one would take its room.
    """
    if any(
        each.id == work.reservation.part_of and each.request.get('server_id')
        for each in work.lease.reservations
    ):
        return []
    return open_flavor(cloud, work.reservation.id, work.lease.project_id)


def open_flavor(cloud: base.Cloud, flavor_id: str, project_id: str) -> list[str]:
    """Let the project of the lease use the flavor; return the repairs, a line each."""
    if project_id in cloud.compute.list_flavor_access(flavor_id):
        return []
    cloud.compute.add_flavor_access(flavor_id, project_id)
    return [f'project {project_id} could not use flavor {flavor_id}']


def close_flavor(cloud: base.Cloud, flavor_id: str) -> bool:
    """Let no project start servers of the flavor; return whether the flavor exists."""
    if cloud.compute.find_flavor(flavor_id) is None:
        return False
    # An operator may have made it public, or may have just deleted it.
    with contextlib.suppress(base.CloudNotFound, base.CloudConflict):
        for project_id in sorted(cloud.compute.list_flavor_access(flavor_id)):
            cloud.compute.remove_flavor_access(flavor_id, project_id)
    return True
