# SPDX-License-Identifier: Apache-2.0

"""What each operation answers: its status, and the component or object in its body."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from typing import Final

from climate.api.http import json_schema
from climate.api.http import queries
from climate.api.http.json_schema import Json
from climate.api.http.json_schema import listed
from climate.api.http.json_schema import record
from climate.api.http.json_schema import ref
from climate.api.http.json_schema import TEXT
from climate.plugins.collection import ResourceCollection

Key = tuple[str, str]
"""A method, and a path below ``/v1``."""

_LINKS: Final = listed(record({'rel': TEXT, 'href': TEXT}))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """The answers of one operation, beyond those that all have.

    :ivar answers: schema of the body by status; None for no body
    :ivar query: names of its query parameters, where the handler checks them itself
    :ivar headers: names of the headers that it reads
    :ivar conflicts: whether it may answer 409
    """

    answers: Mapping[int, Json | None]
    query: Collection[str] = ()
    headers: tuple[str, ...] = ()
    conflicts: bool = False


def _shows(key: str, schema: Json | str, status: int = HTTPStatus.OK) -> dict[int, Json | None]:
    shown = ref(schema) if isinstance(schema, str) else schema
    return {int(status): record({key: shown})}


def _page(key: str, component: str) -> dict[int, Json | None]:
    links = f'{key}_links'
    return {200: record({key: listed(ref(component)), links: _LINKS}, optional=(links,))}


_GONE: Final[dict[int, Json | None]] = {204: None}
_TAGGED: Final = ('If-None-Match',)
_CHANGES: Final = ('If-Match',)
_OFFERS: Final = record({'offers': listed(ref('StoredOffer')), 'searched_until': ref('Time')})
_REHEARSED: Final = _shows('dry_run', 'Rehearsal')
_PROPERTIES: Final[dict[int, Json | None]] = {200: ref('Properties')}


def _created(key: str, schema: str) -> dict[int, Json | None]:
    return _shows(key, schema, HTTPStatus.CREATED)


def _op(answers: Mapping[int, Json | None], *headers: str, **others: Any) -> Operation:
    return Operation(answers=answers, headers=headers, **others)


# Of what others may have changed, or booked, meanwhile.
_contested = functools.partial(_op, conflicts=True)


OPERATIONS: Final[Mapping[Key, Operation]] = {
    ('GET', '/availability'): _op(_shows('availability', 'Availability'), *_TAGGED),
    ('GET', '/calendar'): _op(_shows('calendar', 'Calendar'), *_TAGGED),
    ('GET', '/feeds'): _op(_page('feeds', 'Feed')),
    ('POST', '/feeds'): _op(_created('feed', 'NewFeed'), 'Idempotency-Key'),
    ('GET', '/feeds/{feed_id}'): _op(_shows('feed', 'Feed')),
    ('DELETE', '/feeds/{feed_id}'): _op(_GONE),
    ('GET', '/me'): _op(_shows('me', 'Caller')),
    ('GET', '/leases'): _op(_page('leases', 'ListedLease'), *_TAGGED, query=queries.LEASES),
    ('POST', '/leases'): _contested(
        {**_created('lease', 'Lease'), **_REHEARSED}, 'Idempotency-Key', 'Prefer'
    ),
    ('GET', '/leases/{lease_id}'): _op(_shows('lease', 'Lease'), *_TAGGED),
    ('PUT', '/leases/{lease_id}'): _contested(
        {200: {'anyOf': [record({'lease': ref('Lease')}), record({'dry_run': ref('Rehearsal')})]}},
        *_CHANGES,
    ),
    ('DELETE', '/leases/{lease_id}'): _contested({202: None, **_GONE}, *_CHANGES, 'Prefer'),
    ('POST', '/leases/{lease_id}/reallocate'): _contested(_shows('lease', 'Lease'), *_CHANGES),
    ('GET', '/leases/{lease_id}/history'): _op(_shows('history', 'History')),
    ('GET', '/leases/{lease_id}/extension'): _contested(_shows('extension', 'Extension')),
    ('POST', '/leases/{lease_id}/readiness'): _contested(_shows('lease', 'Lease'), *_CHANGES),
    ('GET', '/maintenances'): _op(_shows('maintenances', listed(ref('Maintenance')))),
    ('POST', '/maintenances'): _contested(
        _created('maintenance', 'Maintenance'), 'Idempotency-Key'
    ),
    ('GET', '/maintenances/{maintenance_id}'): _op(_shows('maintenance', 'Maintenance')),
    ('PUT', '/maintenances/{maintenance_id}'): _op(_shows('maintenance', 'Maintenance')),
    ('DELETE', '/maintenances/{maintenance_id}'): _op(_GONE),
    ('POST', '/offers'): _contested({200: _OFFERS}, 'Idempotency-Key'),
    ('GET', '/offers/{offer_id}'): _op(_shows('offer', 'StoredOffer')),
    ('DELETE', '/offers/{offer_id}'): _contested(_GONE),
    ('GET', '/resource-types'): _op(_shows('resource_types', listed(ref('ResourceType')))),
    ('POST', '/resource-types'): _contested(_created('resource_type', 'ResourceType')),
    ('GET', '/resource-types/{type_name}'): _op(_shows('resource_type', 'ResourceType')),
    ('PUT', '/resource-types/{type_name}'): _contested(_shows('resource_type', 'ResourceType')),
    ('DELETE', '/resource-types/{type_name}'): _contested(_GONE),
    ('GET', '/resources'): _op(_page('resources', 'Resource'), query=queries.RESOURCES),
    ('POST', '/resources'): _contested(_created('resource', 'Resource')),
    ('GET', '/resources/{resource_id}'): _op(_shows('resource', 'Resource')),
    ('PUT', '/resources/{resource_id}'): _contested(_shows('resource', 'Resource')),
    ('DELETE', '/resources/{resource_id}'): _contested(_GONE),
    ('POST', '/resources/{resource_id}/refresh'): _contested(_shows('resource', 'Resource')),
    ('GET', '/resources/allocations'): _op(_shows('allocations', listed(ref('AllocationOfAny')))),
    ('GET', '/resources/{resource_id}/allocations'): _op(_shows('allocation', 'AllocationOfAny')),
    ('GET', '/resources/properties'): _op(_PROPERTIES),
    ('PATCH', '/resources/properties/{property_name}'): _op(
        _shows('resource_property', 'ChangedProperty')
    ),
    ('GET', '/queue'): _op(_page('queue', 'QueuedLease')),
    ('GET', '/usage'): _op(_shows('usage', 'Usage')),
    ('GET', '/webhooks'): _op(_page('webhooks', 'Webhook')),
    ('POST', '/webhooks'): _op(_created('webhook', 'NewWebhook'), 'Idempotency-Key'),
    ('GET', '/webhooks/{webhook_id}'): _op(_shows('webhook', 'Webhook')),
    ('PUT', '/webhooks/{webhook_id}'): _op(_shows('webhook', 'ChangedWebhook')),
    ('DELETE', '/webhooks/{webhook_id}'): _op(_GONE),
    ('GET', '/webhooks/{webhook_id}/deliveries'): _op(_page('deliveries', 'Delivery')),
    ('POST', '/webhooks/{webhook_id}/redeliver'): _op(
        _shows('redelivered', json_schema.COUNT, HTTPStatus.ACCEPTED)
    ),
    ('POST', '/webhooks/{webhook_id}/test'): _op(
        _shows('delivery_id', json_schema.UUID, HTTPStatus.ACCEPTED)
    ),
}
"""The operations of all types; those of collections follow from their declarations."""


def of_collection(collection: ResourceCollection) -> dict[Key, Operation]:
    """Return the operations of a collection that a resource type declares."""
    path = f'/{collection.path}'
    item = f'{path}/{{{collection.item_id}}}'
    one = component(collection)
    shows = _shows(collection.item, one)
    operations = {
        ('GET', path): _op(_shows(collection.noun, listed(ref(one)))),
        ('POST', path): _contested(_shows(collection.item, one, HTTPStatus.CREATED)),
        ('GET', item): _op(shows),
        ('DELETE', item): _contested(_GONE),
    }
    if not collection.properties:
        return operations
    return operations | {
        ('PUT', item): _contested(shows),
        ('GET', f'{path}/allocations'): _op(_shows('allocations', listed(ref('Allocation')))),
        ('GET', f'{item}/allocation'): _op(_shows('allocation', 'Allocation')),
        ('GET', f'{path}/properties'): _op(_PROPERTIES),
        ('PATCH', f'{path}/properties/{{property_name}}'): _op(
            _shows('resource_property', 'ChangedProperty')
        ),
    }


def component(collection: ResourceCollection) -> str:
    """Return the name of the component that describes a resource of a collection."""
    return ''.join(word.capitalize() for word in collection.item.split('_'))


def item() -> Json:
    """Return that component; the keys of a type, and properties, are of any type."""
    time = json_schema.or_null(ref('RecordTime'))
    fields: Json = {
        'id': json_schema.RESOURCE_ID,
        'reservable': json_schema.BOOLEAN,
        'created_at': time,
        'updated_at': time,
    }
    return record(fields, closed=False)
