# SPDX-License-Identifier: Apache-2.0

"""Properties of resources as JSON."""

from __future__ import annotations

from typing import Any

from climate.api.http import dates
from climate.api.http.microversions import Microversion
from climate.domain.choices import Choices
from climate.domain.resources import PropertyKey


def name(value: PropertyKey) -> dict[str, Any]:
    """Return a property for a list of names."""
    return {'property': value.name}


def detail(value: PropertyKey) -> dict[str, Any]:
    """Return a property with its values."""
    return {'property': value.name, 'private': value.private, 'values': list(value.values)}


def choices(value: Choices) -> dict[str, Any]:
    """Return the properties and traits that requirements can choose from."""
    return {
        'resource_properties': [
            {
                'property': one.name,
                'private': one.private,
                'values': [{'value': text, 'resources': number} for text, number in one.values],
                'values_count': one.number,
            }
            for one in value.properties
        ],
        'traits': [{'trait': one.name, 'resources': one.resources} for one in value.traits],
    }


def record(value: PropertyKey, version: Microversion) -> dict[str, Any]:
    """Return a property for the response to a change.

    Clients parse created_at in the long form here, and only here.
    """
    return {
        'id': value.id,
        'resource_type': value.resource_type,
        'property_name': value.name,
        'private': value.private,
        'created_at': dates.write(value.created_at, version),
        'updated_at': dates.write(value.updated_at, version),
    }
