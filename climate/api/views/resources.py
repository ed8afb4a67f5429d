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

"""Resources of any type as JSON."""

from __future__ import annotations

from typing import Any

from climate.api import dates
from climate.api.microversions import Microversion
from climate.api.microversions import V1_6
from climate.domain.resources import Inventory
from climate.domain.resources import Resource


def resource(value: Resource, version: Microversion) -> dict[str, Any]:
    """Return a resource."""
    return {
        'id': str(value.id),
        'resource_type': value.resource_type,
        'name': value.name,
        'reservable': value.reservable and not value.disabled and value.failed_at is None,
        'disabled': value.disabled,
        'failed_at': dates.write(value.failed_at, version),
        'attributes': dict(value.attributes),
        'properties': dict(value.capabilities),
        'inventories': inventories(value.inventories),
        'traits': sorted(value.traits),
        'created_at': dates.write_record(value.created_at, version),
        'updated_at': dates.write_record(value.updated_at, version),
        **({'degraded': value.degraded or None} if version >= V1_6 else {}),
    }


def inventories(values: tuple[Inventory, ...]) -> dict[str, Any]:
    """Return inventories by resource class."""
    return {
        item.resource_class: {
            'total': item.total,
            'reserved': item.reserved,
            'allocation_ratio': item.allocation_ratio,
            'min_unit': item.min_unit,
            'max_unit': item.max_unit,
            'step_size': item.step_size,
        }
        for item in sorted(values, key=lambda item: item.resource_class)
    }
