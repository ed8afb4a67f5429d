# SPDX-License-Identifier: Apache-2.0

"""``/v1/os-hosts``: hosts in the form that clients know."""

from __future__ import annotations

from typing import Any
from typing import Final

from climate.domain.resources import Resource
from climate.plugins.collection import ResourceCollection
from climate.plugins.host.names import RESOURCE_TYPE
from climate.plugins.host.resources import RESERVED_PROPERTIES


def _show(host: Resource) -> dict[str, Any]:
    attributes = host.attributes
    return {
        'hypervisor_hostname': attributes.get('hypervisor_hostname') or host.name,
        'hypervisor_type': attributes.get('hypervisor_type'),
        'hypervisor_version': attributes.get('hypervisor_version'),
        'vcpus': attributes.get('vcpus'),
        'cpu_info': attributes.get('cpu_info') or '',
        'memory_mb': attributes.get('memory_mb'),
        'local_gb': attributes.get('local_gb'),
        'service_name': attributes.get('service_name'),
        'status': None,
        'availability_zone': attributes.get('availability_zone') or '',
        'trust_id': None,
    }


HOSTS: Final = ResourceCollection(
    resource_type=RESOURCE_TYPE,
    path='os-hosts',
    noun='hosts',
    item='host',
    item_id='host_id',
    show=_show,
    schema={
        'type': 'object',
        'properties': {
            'name': {'type': 'string', 'minLength': 1, 'maxLength': 255},
            'id': {'type': ['string', 'integer'], 'minLength': 1, 'maxLength': 255},
        },
    },
    names=('name', 'id'),
    properties=True,
    reserved=RESERVED_PROPERTIES,
)
