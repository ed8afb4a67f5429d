# SPDX-License-Identifier: Apache-2.0

"""Properties of resources as JSON."""

from __future__ import annotations

from typing import Any
from typing import Final

from climate.api.http.json_schema import BOOLEAN
from climate.api.http.json_schema import or_null
from climate.api.http.json_schema import ref
from climate.api.http.json_schema import TEXT
from climate.api.http.microversions import Microversion
from climate.api.views import fields
from climate.api.views.fields import AnswerField
from climate.api.views.fields import PLAIN
from climate.domain.choices import Choices
from climate.domain.resources import PropertyKey

_TIME_OR_NULL: Final = or_null(ref('Time'))
CHANGED: Final = (
    AnswerField(name='id', write=PLAIN, schema=TEXT),
    AnswerField(name='resource_type', write=PLAIN, schema=TEXT),
    AnswerField(name='property_name', of='name', write=PLAIN, schema=TEXT),
    AnswerField(name='private', write=PLAIN, schema=BOOLEAN),
    AnswerField(name='created_at', write='date', schema=_TIME_OR_NULL),
    AnswerField(name='updated_at', write='date', schema=_TIME_OR_NULL),
)
"""The fields of a property in the answer to its change."""


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
    return fields.shown(CHANGED, version, value)
