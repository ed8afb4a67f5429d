# SPDX-License-Identifier: Apache-2.0

"""The contents of a stack that take room: servers, volumes and floating IPs."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.cloud.base import CloudConflict
from climate.cloud.base import Compute
from climate.cloud.base import Networking
from climate.cloud.protocols.stacks import PlannedResource
from climate.cloud.protocols.stacks import StackDraft
from climate.plugins.stack import floating_ips
from climate.plugins.stack import templates

_VOLUME = 'OS::Cinder::Volume'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Contents:
    """The contents that take room, with groups at their largest size.

    :ivar servers: the number of servers, by flavor
    :ivar volumes: the number of volumes, by size in GiB (0 if it is not known in
        advance) and type ('' for the default of the cloud)
    :ivar addresses: the number of floating IPs, by network as the template names it,
        and by its id in Neutron ('' if it was not looked up)
    """

    servers: Mapping[str, int] = dataclasses.field(default_factory=dict)
    volumes: Mapping[tuple[int, str], int] = dataclasses.field(default_factory=dict)
    addresses: Mapping[tuple[str, str], int] = dataclasses.field(default_factory=dict)

    def by_network(self) -> dict[str, int]:
        """Return the number of floating IPs by the id of their network; '' if it is unknown."""
        amounts: Counter[str] = Counter()
        for (_, network_id), amount in self.addresses.items():
            amounts[network_id] += amount
        return dict(amounts)

    def dump(self) -> dict[str, Any]:
        """Return the contents as JSON values."""
        return {
            'servers': [
                {'flavor_id': flavor, 'amount': amount}
                for flavor, amount in sorted(self.servers.items())
            ],
            'volumes': [
                {'size': size, 'volume_type': kind, 'amount': amount}
                for (size, kind), amount in sorted(self.volumes.items())
            ],
            'floating_ips': [
                {'network': network, 'network_id': network_id or None, 'amount': amount}
                for (network, network_id), amount in sorted(self.addresses.items())
            ],
        }

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> Contents:
        """Return the contents that :meth:`dump` wrote."""
        return cls(
            servers={item['flavor_id']: item['amount'] for item in stored['servers']},
            volumes={
                (item['size'], item['volume_type']): item['amount'] for item in stored['volumes']
            },
            addresses={
                (item['network'], item.get('network_id') or ''): item['amount']
                for item in stored['floating_ips']
            },
        )


def of(planned: Iterable[PlannedResource]) -> Contents:
    """Return the resources of a plan that take room, with flavors as the template names them."""
    servers: Counter[str] = Counter()
    volumes: Counter[tuple[int, str]] = Counter()
    addresses: Counter[tuple[str, str]] = Counter()
    for item in planned:
        if item.physical_id:
            continue
        if item.type == templates.SERVER:
            servers[_text(item.properties.get('flavor'))] += 1
        elif item.type == _VOLUME:
            kind = _text(item.properties.get('volume_type'))
            volumes[_number(item.properties.get('size')), kind] += 1
        elif item.type == floating_ips.TYPE:
            network = _text(floating_ips.network_of(item.properties))
            addresses[network, ''] += 1
        elif item.type == 'OS::Nova::FloatingIP':
            addresses[_text(item.properties.get('pool')), ''] += 1
    return Contents(servers=dict(servers), volumes=dict(volumes), addresses=dict(addresses))


def check_volumes(contents: Contents) -> None:
    """Check that room for all volumes can be booked.

    :raises climate.exceptions.InvalidInput: if the size or the type of one is not known
        in advance
    """
    for size, volume_type in contents.volumes:
        if not size or not volume_type:
            raise exceptions.InvalidInput(
                'No room can be booked for the volumes of the template: size or volume_type of '
                'one is not known in advance. To do without, set guarantee: false'
            )


def flavors(contents: Contents, compute: Compute) -> dict[str, str]:
    """Return the ids of the flavors of all servers, by their names in the template.

    :raises climate.exceptions.InvalidInput: if one is not known in advance, or does not
        exist
    """
    return {name: _flavor(name, compute) for name in contents.servers}


def check_found(
    contents: Contents, draft: StackDraft, flavors: Mapping[str, str], networks: Mapping[str, str]
) -> None:
    """Check that the template can be rewritten to use what is booked.

    :param flavors: ids of the flavors for which servers are booked, by their names in
        the template; empty if no servers are booked
    :param networks: the same for the networks of floating IPs
    :raises climate.exceptions.InvalidInput: if the rewriting would miss a server or
        a floating IP
    """
    amounts = {name: amount for (name, _), amount in contents.addresses.items()}
    result = templates.rewritten(
        draft, dict.fromkeys(flavors, ''), {name: [''] * amounts[name] for name in networks}
    )
    if result.found != frozenset(flavors):
        missing = ', '.join(sorted(frozenset(flavors) - result.found))
        raise exceptions.InvalidInput(
            f'No room can be booked for the servers of flavor {missing}: the place where the '
            'template sets it is not known in advance. To do without, set guarantee: false'
        )
    if sum(result.adopted.values()) != sum(amounts[name] for name in networks):
        raise floating_ips.refusal('the place where it sets some is not known in advance')


def _flavor(name: str, compute: Compute) -> str:
    if not name:
        raise exceptions.InvalidInput(
            'No room can be booked for the servers of the template: the flavor of one is not '
            'known in advance. To do without, set guarantee: false'
        )
    # Heat accepts an id or a name, and tries them in this order.
    flavor = compute.find_flavor(name)
    if flavor is None:
        flavor = next((item for item in compute.list_flavors() if item.name == name), None)
    if flavor is None:
        raise exceptions.InvalidInput(f"Flavor '{name[:255]}' of the template not found")
    return flavor.id


def networks(contents: Contents, neutron: Networking) -> dict[str, str]:
    """Return the ids of the networks of all floating IPs, by their names in the template.

    :raises climate.exceptions.InvalidInput: if one is not known in advance, or does not
        exist
    """
    return {name: _network(name, neutron) for name, _ in contents.addresses}


def _network(name: str, neutron: Networking) -> str:
    if not name:
        raise floating_ips.refusal('the network of one is not known in advance')
    try:
        network = neutron.find_network(name)
    except CloudConflict as error:
        raise exceptions.InvalidInput(
            f"Network '{name[:255]}' of the template: {error.message}"
        ) from error
    if network is None:
        raise exceptions.InvalidInput(f"Network '{name[:255]}' of the template not found")
    return network.id


def _text(value: Any) -> str:
    """Return a name, or '' if it is not known in advance."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ''


def _number(value: Any) -> int:
    text = _text(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def by_id(contents: Contents, flavors: Mapping[str, str], networks: Mapping[str, str]) -> Contents:
    """Return *contents* with the ids of flavors and networks.

    :param flavors: the ids, by the names in the template; a flavor without one keeps
        its name in the template
    :param networks: the ids, by the names in the template
    """
    servers: Counter[str] = Counter()
    for name, amount in contents.servers.items():
        servers[flavors.get(name, name)] += amount
    addresses = {
        (name, networks.get(name, '')): amount for (name, _), amount in contents.addresses.items()
    }
    return dataclasses.replace(contents, servers=dict(servers), addresses=addresses)
