# SPDX-License-Identifier: Apache-2.0

"""The schemas of bodies that each operation reads, from those that check them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.api.http import json_schema
from climate.api.http import texts
from climate.api.http.bodies import Texts
from climate.api.http.json_schema import Json
from climate.api.http.json_schema import portable
from climate.api.http.json_schema import ref
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_0
from climate.api.http.microversions import V1_1
from climate.api.http.microversions import V1_2
from climate.api.http.microversions import V1_3
from climate.api.http.microversions import V1_4
from climate.api.http.microversions import V1_5
from climate.api.http.microversions import V1_8
from climate.api.http.validation import Schema
from climate.api.http.validation import Validator
from climate.api.openapi import generators
from climate.api.openapi.characters import limited
from climate.api.schemas import collections
from climate.api.schemas import feeds
from climate.api.schemas import leases
from climate.api.schemas import maintenances
from climate.api.schemas import offers
from climate.api.schemas import placements
from climate.api.schemas import properties
from climate.api.schemas import readiness
from climate.api.schemas import reallocations
from climate.api.schemas import resource_types
from climate.api.schemas import resources
from climate.api.schemas import taken_offers
from climate.api.schemas import webhooks
from climate.domain.names import Characters
from climate.plugins.collection import ResourceCollection
from climate.plugins.contract import Plugin

Versions = Mapping[Microversion, Schema]
Plugins = Mapping[str, Plugin[Any]]


def _schemas(validators: Mapping[Microversion, Validator]) -> Versions:
    return {version: validator.schema for version, validator in validators.items()}


BODIES: Final[Mapping[tuple[str, str], Versions]] = {
    ('POST', '/leases'): {
        **leases.SCHEMAS['create'],
        V1_4: {'anyOf': [leases.CREATE_1_4, taken_offers.TAKE_1_4]},
        V1_8: {'anyOf': [leases.CREATE_1_8, taken_offers.TAKE_1_4]},
    },
    ('PUT', '/leases/{lease_id}'): leases.SCHEMAS['update'],
    ('POST', '/leases/{lease_id}/reallocate'): {V1_2: reallocations.SCHEMA},
    ('POST', '/leases/{lease_id}/readiness'): {V1_3: readiness.READINESS},
    ('POST', '/feeds'): {V1_5: feeds.CREATE},
    ('POST', '/maintenances'): {V1_2: maintenances.CREATE},
    ('PUT', '/maintenances/{maintenance_id}'): {V1_5: maintenances.UPDATE},
    ('POST', '/offers'): {V1_4: offers.CREATE},
    ('POST', '/resource-types'): _schemas(resource_types.CREATE),
    ('PUT', '/resource-types/{type_name}'): _schemas(resource_types.UPDATE),
    ('POST', '/resources'): {V1_2: resources.CREATE.schema},
    ('PUT', '/resources/{resource_id}'): _schemas(resources.UPDATE),
    ('PATCH', '/resources/properties/{property_name}'): properties.SCHEMAS,
    ('POST', '/webhooks'): {V1_5: webhooks.CREATE},
    ('PUT', '/webhooks/{webhook_id}'): {V1_5: webhooks.UPDATE},
    ('POST', '/webhooks/{webhook_id}/redeliver'): {V1_5: webhooks.REDELIVER},
}
"""Schemas by method and path, and by the microversion from which on each is used."""

BODILESS: Final = frozenset(
    {('POST', '/resources/{resource_id}/refresh'), ('POST', '/webhooks/{webhook_id}/test')}
)
"""Actions that read no body."""


def of_collection(collection: ResourceCollection) -> dict[tuple[str, str], Versions]:
    """Return the schemas of a collection that a resource type declares."""
    path, item = f'/{collection.path}', f'/{collection.path}/{{{collection.item_id}}}'
    schemas: dict[tuple[str, str], Versions] = {('POST', path): collections.created(collection)}
    if collection.properties:
        schemas['PUT', item] = {V1_0: {'type': 'object'}}
        schemas['PATCH', f'{path}/properties/{{property_name}}'] = properties.SCHEMAS
    return schemas


def component(resource_type: str) -> str:
    """Return the name of the component that describes a reservation of a type."""
    words = resource_type.replace(':', ' ').replace('_', ' ').replace('-', ' ').split()
    return 'Request' + ''.join(word.capitalize() for word in words)


def components(plugins: Plugins, version: Microversion) -> dict[str, Json]:
    """Return the components of requests, by name: a reservation of each resource type."""
    if version < V1_1:
        return {}
    schemas: dict[str, Json] = {}
    rule = texts.of_leases(plugins)['reservations']
    for name in sorted(plugins):
        _add(schemas, component(name), _request(plugins[name], version, rule))
    declared: Json = {
        'type': 'object',
        'description': 'A reservation of a declared type; GET /resource-types has its schema.',
        'required': ['resource_type'],
        'properties': {
            'resource_type': {
                'type': 'string',
                'minLength': 1,
                'maxLength': 64,
                'not': {'enum': sorted(plugins)},
            }
        },
    }
    if version >= V1_4:
        schemas['Placement'] = portable(limited(placements.PLACEMENT))
        declared['properties']['placement'] = ref('Placement')
    schemas['RequestDeclared'] = portable(limited(declared, rule))
    return {name: generators.simpler(schema, name) for name, schema in schemas.items()}


def _add(found: dict[str, Json], name: str, schema: Json) -> None:
    """Add a component; definitions inside it become components of their own.

    Types share some definitions; one that differs is named after its component.
    """
    names = {}
    for own, definition in schema.get('$defs', {}).items():
        shared = own[:1].upper() + own[1:]
        known = found.get(shared)
        renamed = json_schema.renamed(definition, {own: shared})
        if known is not None and known != renamed:
            shared = name + shared
        names[own] = shared
    for own, definition in schema.get('$defs', {}).items():
        found[names[own]] = json_schema.renamed(definition, names)
    rest = {key: value for key, value in schema.items() if key != '$defs'}
    found[name] = json_schema.renamed(rest, names)


def _request(plugin: Plugin[Any], version: Microversion, rule: Texts | Characters) -> Json:
    schema: Json = portable(limited(plugin.request_schema, rule))
    if version >= V1_4 and 'properties' in schema:
        schema = {**schema, 'properties': {**schema['properties'], 'placement': ref('Placement')}}
    return schema


def at(versions: Versions, version: Microversion, plugins: Plugins) -> Json:
    """Return the schema of a body at a microversion, with references to components."""
    schema: Any = versions[max(known for known in versions if known <= version)]
    if version >= V1_1:
        schema = _with_types(schema, plugins)
    limits: Json = portable(limited(schema, texts.of_leases(plugins)))
    return limits


def _with_types(schema: Any, plugins: Plugins) -> Any:
    """Return a schema in which reservations that name a type refer to those of the types."""
    if isinstance(schema, list):
        return [_with_types(one, plugins) for one in schema]
    if not isinstance(schema, dict):
        return schema
    copied = {key: _with_types(value, plugins) for key, value in schema.items()}
    if copied.get('required') == ['resource_type'] and 'additionalProperties' not in copied:
        names = [*(component(name) for name in sorted(plugins)), 'RequestDeclared']
        return {'anyOf': [ref(name) for name in names]}
    return copied
