# SPDX-License-Identifier: Apache-2.0

"""Resources of any type as JSON."""

from __future__ import annotations

from typing import Any

from climate.api.http import dates
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_6
from climate.domain.copies import picked
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
        item.resource_class: picked(
            item, 'total', 'reserved', 'allocation_ratio', 'min_unit', 'max_unit', 'step_size'
        )
        for item in sorted(values, key=lambda item: item.resource_class)
    }
