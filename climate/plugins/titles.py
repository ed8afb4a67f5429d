# SPDX-License-Identifier: Apache-2.0

"""What forms call the fields of reservations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import Final

_TITLES: Final[Mapping[str, str]] = {
    'affinity': 'On one host',
    'amount': 'Number',
    'before_end': 'Before the end',
    'block_device_mapping': 'Disks',
    'disk_gb': 'Disk (GiB)',
    'flavor_id': 'Flavor',
    'guarantee': 'Book room',
    'hypervisor_properties': 'Reported properties',
    'image_id': 'Image',
    'key_name': 'Key pair',
    'max': 'At most',
    'memory_mb': 'Memory (MiB)',
    'min': 'At least',
    'network_description': 'Description',
    'network_id': 'Network',
    'network_name': 'Name',
    'network_properties': 'Properties of the segment',
    'on_end': 'At the end',
    'required_floatingips': 'Addresses',
    'resource_properties': 'Properties',
    'resources': 'Units',
    'room_only': 'Room only',
    'server_id': 'Server',
    'size': 'Size (GiB)',
    'snapshot_id': 'Snapshot',
    'source_volid': 'Volume to copy',
    'stack_id': 'Stack',
    'vcpus': 'Processors',
    'volume_id': 'Volume',
}
_COMMON: Final = 'resource_type'


def title(key: str) -> str:
    """Return what a form calls a field: by default, the words of its key."""
    words = key.replace('_', ' ').strip()
    return _TITLES.get(key) or words[:1].upper() + words[1:]


def titled(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a reservation with a title for each field that has none."""
    fields = schema.get('properties', {})
    return {
        **schema,
        'properties': {
            key: field if key == _COMMON else {'title': title(key), **field}
            for key, field in fields.items()
        },
    }
