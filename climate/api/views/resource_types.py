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

"""Resource types as JSON."""

from __future__ import annotations

from typing import Any

from climate.api import dates
from climate.api.microversions import Microversion
from climate.api.microversions import V1_7
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
