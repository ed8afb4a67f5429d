# SPDX-License-Identifier: Apache-2.0

"""Resource types as JSON."""

from __future__ import annotations

from typing import Any

from climate.api.http import dates
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_7
from climate.api.views import resources
from climate.domain.resource_types import ResourceType
from climate.plugins.titles import titled


def resource_type(value: ResourceType, version: Microversion) -> dict[str, Any]:
    """Return a type; fields of declarations are null for types of plugins."""
    declared = value.declaration
    noun = declared.noun if declared else None
    shown = {
        'name': value.name,
        'description': value.description,
        'origin': value.origin.value,
        'exclusive': value.exclusive,
        'noun': value.nouns.many if version >= V1_7 else noun,
        'classes': list(value.classes),
        'inventories': resources.inventories(declared.classes) if declared else None,
        'announce': list(declared.announce) if declared else None,
        'reservation_schema': titled(value.request_schema)
        if version >= V1_7
        else value.request_schema,
        'resource_schema': value.resource_schema,
        'created_at': dates.write_record(declared.created_at if declared else None, version),
        'updated_at': dates.write_record(declared.updated_at if declared else None, version),
    }
    if version >= V1_7:
        shown['noun_one'] = value.nouns.one
    return shown
