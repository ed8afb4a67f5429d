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

"""What people call the resources of a type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# Those of the API from microversion 1.7 on, without a request for them.
_NOUNS: Final[Mapping[str, tuple[str, str]]] = {
    'physical:host': ('host', 'hosts'),
    'physical:storage': ('storage pool', 'storage pools'),
    'virtual:instance': ('server', 'servers'),
    'flavor:instance': ('server', 'servers'),
    'virtual:server': ('own server', 'own servers'),
    'virtual:stack': ('stack', 'stacks'),
    'virtual:volume': ('volume', 'volumes'),
    'virtual:floatingip': ('floating IP', 'floating IPs'),
    'network': ('network', 'networks'),
}


def counted(amount: str, resource_type: str) -> str:
    """Return an amount of a type, such as ``2 hosts`` or ``1-4 hosts``.

    :param amount: '' if a reservation of the type has none
    """
    name = resource_type.removeprefix('custom:')
    one, many = _NOUNS.get(resource_type, (name, name))
    if not amount:
        return one
    return f'{amount} {one if amount == "1" else many}'
