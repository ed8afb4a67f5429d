# SPDX-License-Identifier: Apache-2.0

"""Resources of the collections that resource types declare, as JSON."""

from __future__ import annotations

from typing import Any

from climate.api.http import dates
from climate.api.http.microversions import Microversion
from climate.domain.resources import Resource
from climate.plugins.collection import ResourceCollection


def item(collection: ResourceCollection, value: Resource, version: Microversion) -> dict[str, Any]:
    """Return a resource; properties, if the collection has any, are keys of their own."""
    return {
        **(value.capabilities if collection.properties else {}),
        # Clients accept the id of a host only as a string of digits.
        'id': str(value.id),
        **collection.show(value),
        'reservable': value.reservable and not value.disabled and value.failed_at is None,
        'created_at': dates.write_record(value.created_at, version),
        'updated_at': dates.write_record(value.updated_at, version),
    }


def created(
    collection: ResourceCollection, value: Resource, version: Microversion
) -> dict[str, Any]:
    """Return a resource for the response to its registration."""
    shown = item(collection, value, version)
    if collection.exact_when_created:
        shown['created_at'] = dates.write(value.created_at, version)
        shown['updated_at'] = dates.write(value.updated_at, version)
    return shown
