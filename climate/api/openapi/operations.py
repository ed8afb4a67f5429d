# SPDX-License-Identifier: Apache-2.0

"""What each operation answers: its status, and the component or object in its body."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from collections.abc import Mapping
from http import HTTPStatus
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

OPERATIONS: Final[Mapping[Key, Operation]] = {
    ('GET', '/availability'): Operation(
        answers=_shows('availability', 'Availability'), headers=_TAGGED
    ),
    ('GET', '/calendar'): Operation(answers=_shows('calendar', 'Calendar'), headers=_TAGGED),
    ('GET', '/feeds'): Operation(answers=_page('feeds', 'Feed')),
    ('POST', '/feeds'): Operation(
        answers=_shows('feed', 'NewFeed', HTTPStatus.CREATED), headers=('Idempotency-Key',)
    ),
    ('GET', '/feeds/{feed_id}'): Operation(answers=_shows('feed', 'Feed')),
    ('DELETE', '/feeds/{feed_id}'): Operation(answers=_GONE),
    ('GET', '/me'): Operation(answers=_shows('me', 'Caller')),
    ('GET', '/leases'): Operation(
        answers=_page('leases', 'ListedLease'),
        query=queries.LEASES,
        headers=_TAGGED,
    ),
    ('POST', '/leases'): Operation(
        answers={**_shows('lease', 'Lease', HTTPStatus.CREATED), **_REHEARSED},
        headers=('Idempotency-Key', 'Prefer'),
        conflicts=True,
    ),
    ('GET', '/leases/{lease_id}'): Operation(answers=_shows('lease', 'Lease'), headers=_TAGGED),
    ('PUT', '/leases/{lease_id}'): Operation(
        answers={
            200: {'anyOf': [record({'lease': ref('Lease')}), record({'dry_run': ref('Rehearsal')})]}
        },
        headers=_CHANGES,
        conflicts=True,
    ),
    ('DELETE', '/leases/{lease_id}'): Operation(
        answers={202: None, **_GONE}, headers=(*_CHANGES, 'Prefer'), conflicts=True
    ),
    ('POST', '/leases/{lease_id}/reallocate'): Operation(
        answers=_shows('lease', 'Lease'), headers=_CHANGES, conflicts=True
    ),
    ('GET', '/leases/{lease_id}/history'): Operation(answers=_shows('history', 'History')),
    ('GET', '/leases/{lease_id}/extension'): Operation(
        answers=_shows('extension', 'Extension'), conflicts=True
    ),
    ('POST', '/leases/{lease_id}/readiness'): Operation(
        answers=_shows('lease', 'Lease'), headers=_CHANGES, conflicts=True
    ),
    ('GET', '/maintenances'): Operation(answers=_shows('maintenances', listed(ref('Maintenance')))),
    ('POST', '/maintenances'): Operation(
        answers=_shows('maintenance', 'Maintenance', HTTPStatus.CREATED),
        headers=('Idempotency-Key',),
        conflicts=True,
    ),
    ('GET', '/maintenances/{maintenance_id}'): Operation(
        answers=_shows('maintenance', 'Maintenance')
    ),
    ('PUT', '/maintenances/{maintenance_id}'): Operation(
        answers=_shows('maintenance', 'Maintenance')
    ),
    ('DELETE', '/maintenances/{maintenance_id}'): Operation(answers=_GONE),
    ('POST', '/offers'): Operation(
        answers={200: _OFFERS}, headers=('Idempotency-Key',), conflicts=True
    ),
    ('GET', '/offers/{offer_id}'): Operation(answers=_shows('offer', 'StoredOffer')),
    ('DELETE', '/offers/{offer_id}'): Operation(answers=_GONE, conflicts=True),
    ('GET', '/resource-types'): Operation(
        answers=_shows('resource_types', listed(ref('ResourceType')))
    ),
    ('POST', '/resource-types'): Operation(
        answers=_shows('resource_type', 'ResourceType', HTTPStatus.CREATED), conflicts=True
    ),
    ('GET', '/resource-types/{type_name}'): Operation(
        answers=_shows('resource_type', 'ResourceType')
    ),
    ('PUT', '/resource-types/{type_name}'): Operation(
        answers=_shows('resource_type', 'ResourceType'), conflicts=True
    ),
    ('DELETE', '/resource-types/{type_name}'): Operation(answers=_GONE, conflicts=True),
    ('GET', '/resources'): Operation(
        answers=_page('resources', 'Resource'), query=queries.RESOURCES
    ),
    ('POST', '/resources'): Operation(
        answers=_shows('resource', 'Resource', HTTPStatus.CREATED), conflicts=True
    ),
    ('GET', '/resources/{resource_id}'): Operation(answers=_shows('resource', 'Resource')),
    ('PUT', '/resources/{resource_id}'): Operation(
        answers=_shows('resource', 'Resource'), conflicts=True
    ),
    ('DELETE', '/resources/{resource_id}'): Operation(answers=_GONE, conflicts=True),
    ('POST', '/resources/{resource_id}/refresh'): Operation(
        answers=_shows('resource', 'Resource'), conflicts=True
    ),
    ('GET', '/resources/allocations'): Operation(
        answers=_shows('allocations', listed(ref('AllocationOfAny')))
    ),
    ('GET', '/resources/{resource_id}/allocations'): Operation(
        answers=_shows('allocation', 'AllocationOfAny')
    ),
    ('GET', '/resources/properties'): Operation(answers=_PROPERTIES),
    ('PATCH', '/resources/properties/{property_name}'): Operation(
        answers=_shows('resource_property', 'ChangedProperty')
    ),
    ('GET', '/usage'): Operation(answers=_shows('usage', 'Usage')),
    ('GET', '/webhooks'): Operation(answers=_page('webhooks', 'Webhook')),
    ('POST', '/webhooks'): Operation(
        answers=_shows('webhook', 'NewWebhook', HTTPStatus.CREATED), headers=('Idempotency-Key',)
    ),
    ('GET', '/webhooks/{webhook_id}'): Operation(answers=_shows('webhook', 'Webhook')),
    ('PUT', '/webhooks/{webhook_id}'): Operation(answers=_shows('webhook', 'ChangedWebhook')),
    ('DELETE', '/webhooks/{webhook_id}'): Operation(answers=_GONE),
    ('GET', '/webhooks/{webhook_id}/deliveries'): Operation(
        answers=_page('deliveries', 'Delivery')
    ),
    ('POST', '/webhooks/{webhook_id}/redeliver'): Operation(
        answers=_shows('redelivered', json_schema.COUNT, HTTPStatus.ACCEPTED)
    ),
    ('POST', '/webhooks/{webhook_id}/test'): Operation(
        answers=_shows('delivery_id', json_schema.UUID, HTTPStatus.ACCEPTED)
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
        ('GET', path): Operation(answers=_shows(collection.noun, listed(ref(one)))),
        ('POST', path): Operation(
            answers=_shows(collection.item, one, HTTPStatus.CREATED), conflicts=True
        ),
        ('GET', item): Operation(answers=shows),
        ('DELETE', item): Operation(answers=_GONE, conflicts=True),
    }
    if not collection.properties:
        return operations
    return operations | {
        ('PUT', item): Operation(answers=shows, conflicts=True),
        ('GET', f'{path}/allocations'): Operation(
            answers=_shows('allocations', listed(ref('Allocation')))
        ),
        ('GET', f'{item}/allocation'): Operation(answers=_shows('allocation', 'Allocation')),
        ('GET', f'{path}/properties'): Operation(answers=_PROPERTIES),
        ('PATCH', f'{path}/properties/{{property_name}}'): Operation(
            answers=_shows('resource_property', 'ChangedProperty')
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
