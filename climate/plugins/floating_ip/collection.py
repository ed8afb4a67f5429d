# SPDX-License-Identifier: Apache-2.0

"""``/v1/floatingips``: floating IPs in the form that clients of Blazar know."""

from __future__ import annotations

from typing import Any
from typing import Final

from climate.domain.resources import Resource
from climate.plugins.collection import ResourceCollection
from climate.plugins.floating_ip.names import RESOURCE_TYPE


def _show(address: Resource) -> dict[str, Any]:
    names = ('floating_network_id', 'subnet_id', 'floating_ip_address')
    return {name: address.attributes.get(name) for name in names}


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
