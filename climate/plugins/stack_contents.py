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

"""What a stack is to consist of, as far as it takes room."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.clients.base import Compute
from climate.clients.protocols.stacks import PlannedResource
from climate.plugins import stack_templates

_VOLUME = 'OS::Cinder::Volume'
_ADDRESSES = {
    'OS::Neutron::FloatingIP': 'floating_network',
    'OS::Nova::FloatingIP': 'pool',
}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Contents:
    """What takes room, groups at their largest.

    :ivar servers: how many, by flavor
    :ivar volumes: how many, by size in GiB (0 if it is not known before) and
        type ('' for the one of the cloud)
    :ivar addresses: how many floating IPs, by network
    """

    servers: Mapping[str, int] = dataclasses.field(default_factory=dict)
    volumes: Mapping[tuple[int, str], int] = dataclasses.field(default_factory=dict)
    addresses: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def dump(self) -> dict[str, Any]:
        """Return it as JSON values."""
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
                {'network': network, 'amount': amount}
                for network, amount in sorted(self.addresses.items())
            ],
        }


def load(stored: Mapping[str, Any]) -> Contents:
    """Return what :meth:`Contents.dump` wrote."""
    return Contents(
        servers={item['flavor_id']: item['amount'] for item in stored['servers']},
        volumes={(item['size'], item['volume_type']): item['amount'] for item in stored['volumes']},
        addresses={item['network']: item['amount'] for item in stored['floating_ips']},
    )


def of(planned: Iterable[PlannedResource]) -> Contents:
    """Return what of a plan takes room; flavors are still as the template names them."""
    servers: Counter[str] = Counter()
    volumes: Counter[tuple[int, str]] = Counter()
    addresses: Counter[str] = Counter()
    for item in planned:
        if item.type == stack_templates.SERVER:
            servers[_text(item.properties.get('flavor'))] += 1
        elif item.type == _VOLUME:
            kind = _text(item.properties.get('volume_type'))
            volumes[_number(item.properties.get('size')), kind] += 1
        elif item.type in _ADDRESSES:
            addresses[_text(item.properties.get(_ADDRESSES[item.type]))] += 1
    return Contents(servers=dict(servers), volumes=dict(volumes), addresses=dict(addresses))


def check_volumes(contents: Contents) -> None:
    """Check that room for all volumes can be booked.

    :raises climate.exceptions.InvalidInput: if it is not known before where they will lie
    """
    for size, volume_type in contents.volumes:
        if not size or not volume_type:
            raise exceptions.InvalidInput(
                'No room can be booked for the volumes of the template: size or volume_type of '
                'one is not known beforehand. With guarantee: false it can do without'
            )


def flavors(contents: Contents, compute: Compute) -> dict[str, str]:
    """Return the ids of the flavors of all servers, by how the template names them.

    :raises climate.exceptions.InvalidInput: if one is not known before, or not there
    """
    return {name: _flavor(name, compute) for name in contents.servers}


def _flavor(name: str, compute: Compute) -> str:
    if not name:
        raise exceptions.InvalidInput(
            'No room can be booked for the servers of the template: the flavor of one is not '
            'known beforehand. With guarantee: false it can do without'
        )
    # Heat takes an id as well as a name, in this order.
    found = compute.find_flavor(name)
    if found is None:
        found = next((item for item in compute.list_flavors() if item.name == name), None)
    if found is None:
        raise exceptions.InvalidInput(f"Flavor '{name[:255]}' of the template not found")
    return found.id


def _text(value: Any) -> str:
    """Return a name, or '' if it is not known before."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ''


def _number(value: Any) -> int:
    text = _text(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def by_id(contents: Contents, flavors: Mapping[str, str]) -> Contents:
    """Return contents whose servers are told by the ids of their flavors.

    :param flavors: the ids, by how the template names them
    """
    servers: Counter[str] = Counter()
    for name, amount in contents.servers.items():
        servers[flavors[name]] += amount
    return dataclasses.replace(contents, servers=dict(servers))
