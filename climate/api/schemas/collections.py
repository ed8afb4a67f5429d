# SPDX-License-Identifier: Apache-2.0

"""Bodies of the collections that resource types declare."""

from __future__ import annotations

from typing import Any
from typing import Final

from climate import exceptions
from climate.api.http import bodies
from climate.api.http import microversions
from climate.api.http.validation import Schema
from climate.api.http.validation import Validator
from climate.api.schemas import capabilities
from climate.domain.requests import ResourceChange
from climate.domain.resources import ResourceDraft
from climate.plugins.collection import ResourceCollection

_UPDATE: Final = Validator({'type': 'object', 'properties': {}})
_NAMED: Final = Validator(
    {'type': 'object', 'properties': {'name': {'type': 'string', 'minLength': 1, 'maxLength': 255}}}
)


def created(collection: ResourceCollection) -> dict[microversions.Microversion, Schema]:
    """Return the schemas of the body that registers a resource, by microversion."""
    closed = {'additionalProperties': False} if collection.strict else {}
    return {
        microversions.V1_0: collection.schema,
        microversions.V1_1: {**collection.schema, **closed},
    }


class CollectionSchemas:
    """Reads the bodies of one collection."""

    def __init__(self, collection: ResourceCollection) -> None:
        self._collection = collection
        self._create = {
            version: Validator(schema) for version, schema in created(collection).items()
        }

    def read_new(self, version: microversions.Microversion, body: dict[str, Any]) -> ResourceDraft:
        """Return the draft of a new resource.

        :raises climate.exceptions.InvalidInput: naming the field and why
        """
        self._create[max(known for known in self._create if known <= version)].check(body)
        collection = self._collection
        rest = dict(body)
        names = {key: rest.pop(key, None) for key in (*collection.names, *collection.attributes)}
        name = _name(collection, names)
        # A new resource has nothing to remove, so null is ignored.
        properties = capabilities.read(rest, collection.reserved) if collection.properties else {}
        return ResourceDraft(
            resource_type=collection.resource_type,
            name=bodies.name('name', name),
            attributes={key: names[key] for key in collection.attributes},
            capabilities={key: text for key, text in properties.items() if text is not None},
        )

    def read_change(
        self, version: microversions.Microversion, body: dict[str, Any]
    ) -> ResourceChange:
        """Return the change of a resource: its properties and, from 1.6 on, its name.

        :raises climate.exceptions.InvalidInput: naming the field and why
        """
        _UPDATE.check(body)
        # Clients send back the name of a host that they have read; before 1.6 it is ignored.
        changes = {key: value for key, value in body.items() if key != 'name'}
        name = None
        if version >= microversions.V1_6 and 'name' in body:
            _NAMED.check(body)
            name = bodies.name('name', body['name'])
        if not changes and name is None:
            raise exceptions.InvalidInput('No data to update')
        return ResourceChange(
            name=name, capabilities=capabilities.read(changes, self._collection.reserved)
        )


def _name(collection: ResourceCollection, values: dict[str, Any]) -> str:
    """Return the name of a resource; '' if its attributes identify it."""
    for key in collection.names:
        if values[key] is not None:
            return str(values[key])
    if collection.names:
        raise exceptions.MissingParameter(param=collection.names[0])
    return ''
