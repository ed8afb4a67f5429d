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

"""``/v1/floatingips``: floating IPs in the form that clients of Blazar know."""

from __future__ import annotations

from typing import Any
from typing import Final

from climate.domain.resources import Resource
from climate.plugins.collection import ResourceCollection
from climate.plugins.floating_ip.names import RESOURCE_TYPE


def _show(address: Resource) -> dict[str, Any]:
    attributes = address.attributes
    return {
        'floating_network_id': attributes.get('floating_network_id'),
        'subnet_id': attributes.get('subnet_id'),
        'floating_ip_address': attributes.get('floating_ip_address'),
    }


FLOATING_IPS: Final = ResourceCollection(
    resource_type=RESOURCE_TYPE,
    path='floatingips',
    noun='floatingips',
    item='floatingip',
    item_id='floatingip_id',
    show=_show,
    schema={
        'type': 'object',
        'required': ['floating_network_id', 'floating_ip_address'],
        'properties': {
            'floating_network_id': {'type': 'string', 'minLength': 1, 'maxLength': 255},
            'floating_ip_address': {'type': 'string', 'minLength': 1, 'maxLength': 64},
        },
    },
    attributes=('floating_network_id', 'floating_ip_address'),
    strict=True,
    # Clients parse the dates in their long form here, and only here.
    exact_when_created=True,
)
