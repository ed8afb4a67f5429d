# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The providers of Placement in which the slots of hosts are counted.

Each reservable host has one, ``blazar_<hypervisor hostname>``, nested in that
of the host itself. A reservation of instances has an inventory there of a
class of its own: as many units as slots on the host.
"""

from __future__ import annotations

import contextlib

from climate import exceptions
from climate.clients.base import Cloud
from climate.clients.base import CloudConflict
from climate.clients.base import CloudNotFound
from climate.clients.base import Provider

PREFIX = 'blazar_'


def find(cloud: Cloud, host: str) -> Provider | None:
    """Return the nested provider of a hypervisor hostname; None if there is none."""
    return cloud.placement.find_provider(PREFIX + host)


def ensure(cloud: Cloud, host: str, traits: frozenset[str]) -> tuple[Provider, list[str]]:
    """Return the nested provider as it should be, and what was not.

    :param traits: that it has to have, among others
    :raises climate.exceptions.Transient: if Placement knows no such host
    """
    repaired = []
    parent = cloud.placement.find_provider(host)
    if parent is None:
        # nova-compute makes it when it runs.
        raise exceptions.Transient(f'Placement has no provider for host {host}')
    found = find(cloud, host)
    if found is not None and found.parent_uuid != parent.uuid:
        # The host was set up anew, and Placement cannot move a provider.
        _delete(cloud, found)
        found = None
    if found is None:
        found = _create(cloud, host, parent)
        repaired.append(f'provider {found.name} was missing')
    missing = sorted(traits - cloud.placement.traits(found.uuid)) if traits else []
    for trait in missing:
        cloud.placement.create_trait(trait)
        cloud.placement.add_trait(found.uuid, trait)
        repaired.append(f'provider {found.name} did not have trait {trait}')
    return found, repaired


def _create(cloud: Cloud, host: str, parent: Provider) -> Provider:
    try:
        return cloud.placement.create_provider(PREFIX + host, parent.uuid)
    except CloudConflict:
        # Made a moment ago, by another or by a call whose answer was lost.
        found = find(cloud, host)
        if found is None:
            raise
        return found


def _delete(cloud: Cloud, provider: Provider) -> None:
    try:
        cloud.placement.delete_provider(provider.uuid)
    except CloudConflict as error:
        raise exceptions.Transient(error.message) from error


def admit(cloud: Cloud, host: str, traits: frozenset[str]) -> None:
    """Make the nested provider of a host that is to be leased.

    A host that Placement does not know can be leased as a whole.
    """
    if cloud.placement.find_provider(host) is not None:
        ensure(cloud, host, traits)


def release(cloud: Cloud, host: str) -> None:
    """Remove the nested provider of a host that is let go.

    If somebody still holds something of it, it stays, and harms nobody.
    """
    found = find(cloud, host)
    if found is not None:
        with contextlib.suppress(CloudConflict):
            cloud.placement.delete_provider(found.uuid)


def used(cloud: Cloud, host: str, resource_class: str) -> int:
    """Return how many units of a class are in use on a host."""
    found = find(cloud, host)
    if found is None:
        return 0
    with contextlib.suppress(CloudNotFound):
        return cloud.placement.usages(found.uuid).get(resource_class, 0)
    return 0
