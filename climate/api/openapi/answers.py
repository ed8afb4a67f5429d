# SPDX-License-Identifier: Apache-2.0

"""The components that answers consist of, at each microversion."""

from __future__ import annotations

from typing import Final

from climate.api.http import json_schema
from climate.api.http import microversions
from climate.api.http.json_schema import BOOLEAN
from climate.api.http.json_schema import by_name
from climate.api.http.json_schema import choice
from climate.api.http.json_schema import COUNT
from climate.api.http.json_schema import Json
from climate.api.http.json_schema import listed
from climate.api.http.json_schema import or_null
from climate.api.http.json_schema import record
from climate.api.http.json_schema import ref
from climate.api.http.json_schema import RESOURCE_ID
from climate.api.http.json_schema import TEXT
from climate.api.http.json_schema import WHOLE
from climate.api.openapi import calendar
from climate.api.openapi import hooks
from climate.api.openapi import leases
from climate.api.views import fields
from climate.api.views import histories
from climate.api.views import maintenances
from climate.api.views import offers
from climate.api.views import properties
from climate.api.views import queue
from climate.domain.choices import MOST_VALUES
from climate.domain.offers import OfferKind

_TIME: Final = ref('Time')
_TIME_OR_NULL: Final = or_null(_TIME)
_RECORD_TIME: Final = or_null(ref('RecordTime'))
_CREATED: Final[Json] = {'created_at': _RECORD_TIME, 'updated_at': _RECORD_TIME}
_ZONED: Final[Json] = {'type': 'string', 'format': 'date-time'}
_ANY_OBJECT: Final[Json] = {'type': 'object'}


def components(version: microversions.Microversion) -> dict[str, Json]:
    """Return the components at a microversion, by name."""
    return {
        **_times(version),
        **_errors(version),
        **leases.components(version),
        **_history(version),
        **_offers(version),
        **_resources(version),
        **_allocations(version),
        **_availability(version),
        **calendar.components(),
        **hooks.components(version),
    }


def _times(version: microversions.Microversion) -> dict[str, Json]:
    if version >= microversions.V1_1:
        return {'Time': _ZONED, 'RecordTime': _ZONED}
    day, time = r'^\d{4}-\d{2}-\d{2}', r'\d{2}:\d{2}:\d{2}'
    # The time of creation is in the long form in the answer to the creation of an address.
    return {
        'Time': {**TEXT, 'pattern': rf'{day}T{time}\.\d{{6}}$'},
        'RecordTime': {**TEXT, 'pattern': rf'{day}(?: {time}|T{time}\.\d{{6}})$'},
    }


def _errors(version: microversions.Microversion) -> dict[str, Json]:
    fields: Json = {'error_code': WHOLE, 'error_message': TEXT, 'error_name': TEXT}
    optional: Json = {}
    if version >= microversions.V1_1:
        counts = dict.fromkeys(('reservation', 'matched', 'free'), COUNT)
        reason = {'resource_type': TEXT, **counts, 'first_blocker_ends': _TIME, 'detail': TEXT}
        optional['reasons'] = listed(record(reason, optional=reason))
    if version >= microversions.V1_4:
        optional['alternatives'] = listed({'anyOf': [ref('StoredOffer'), ref('Offer')]})
    return {'ApiError': record({**fields, **optional}, optional=optional)}


def _history(version: microversions.Microversion) -> dict[str, Json]:
    history: Json = {
        'lease_id': json_schema.UUID,
        'steps': listed(record(fields.properties(histories.STEP, version))),
        'awaited': listed(record(fields.properties(histories.AWAITED, version))),
    }
    return {'History': record(history)}


def _offers(version: microversions.Microversion) -> dict[str, Json]:
    optional: Json = {
        'requirements': listed(record(fields.properties(offers.REQUIREMENT, version))),
        'cost': {'type': 'number'},
        'resources': COUNT,
    }
    offer: Json = {
        'start_date': _TIME,
        'end_date': _TIME,
        'reason': choice(OfferKind),
        'reservations': listed(record(fields.properties(offers.RESERVATION, version))),
        'blocked_before': listed(ref('Shortage')),
        **optional,
    }
    if version >= microversions.V1_8:
        offer['displaced'] = COUNT
    stored: Json = {
        'id': json_schema.UUID,
        **offer,
        'expires_at': _TIME_OR_NULL,
        'held_until': _TIME_OR_NULL,
        'lease_id': or_null(TEXT),
    }
    return {
        'Offer': record(offer, optional=optional),
        'StoredOffer': record(stored, optional=optional),
        **_extensions(version),
    }


def _extensions(version: microversions.Microversion) -> dict[str, Json]:
    extension: Json = {
        'end_date': _TIME,
        'blocked_by': listed(ref('Shortage')),
        'offers': listed(ref('Offer')),
        'searched_until': _TIME,
    }
    shortage = record(fields.properties(offers.SHORTAGE, version))
    queued = record({**fields.properties(queue.QUEUED, version), **queue.SCHEMA})
    return {'Shortage': shortage, 'Extension': record(extension), 'QueuedLease': queued}


def _resources(version: microversions.Microversion) -> dict[str, Json]:
    amounts = ('total', 'reserved', 'min_unit', 'max_unit', 'step_size')
    inventory: Json = {**dict.fromkeys(amounts, WHOLE), 'allocation_ratio': {'type': 'number'}}
    resource: Json = {
        'id': RESOURCE_ID,
        'resource_type': TEXT,
        'name': TEXT,
        'reservable': BOOLEAN,
        'disabled': BOOLEAN,
        'failed_at': _TIME_OR_NULL,
        'attributes': _ANY_OBJECT,
        'properties': by_name(or_null(TEXT)),
        'inventories': ref('Inventories'),
        'traits': listed(TEXT),
        **_CREATED,
    }
    if version >= microversions.V1_6:
        resource['degraded'] = or_null(TEXT)
    kind: Json = {
        'name': TEXT,
        'description': TEXT,
        'origin': TEXT,
        'exclusive': BOOLEAN,
        'noun': TEXT if version >= microversions.V1_7 else or_null(TEXT),
        'classes': listed(TEXT),
        'inventories': or_null(ref('Inventories')),
        'announce': or_null(listed(TEXT)),
        'reservation_schema': _ANY_OBJECT,
        'resource_schema': or_null(_ANY_OBJECT),
        **_CREATED,
    }
    if version >= microversions.V1_7:
        kind['noun_one'] = TEXT
    return {
        'Inventories': by_name(record(inventory)),
        'Resource': record(resource),
        'ResourceType': record(kind),
        'Maintenance': record(fields.properties(maintenances.MAINTENANCE, version)),
        **_properties(version),
    }


def _properties(version: microversions.Microversion) -> dict[str, Json]:
    detail: Json = {'property': TEXT, 'private': BOOLEAN, 'values': listed(TEXT)}
    names: Json = {'resource_properties': listed(ref('Property'))}
    schemas: dict[str, Json] = {'Properties': record(names)}
    if version >= microversions.V1_7:
        value = record({'value': TEXT, 'resources': COUNT})
        choices: Json = {
            **detail,
            'values': {**listed(value), 'maxItems': MOST_VALUES},
            'values_count': COUNT,
        }
        schemas['PropertyChoices'] = record(choices)
        schemas['TraitChoice'] = record({'trait': TEXT, 'resources': COUNT})
        traits = listed(ref('TraitChoice'))
        counted: Json = {'resource_properties': listed(ref('PropertyChoices')), 'traits': traits}
        schemas['Properties'] = {'anyOf': [record(counted), record(names)]}
    return {
        **schemas,
        'Property': record(detail, optional=('private', 'values')),
        'ChangedProperty': record(fields.properties(properties.CHANGED, version)),
    }


def _allocations(version: microversions.Microversion) -> dict[str, Json]:
    busy: Json = {'id': TEXT, 'lease_id': or_null(TEXT), 'start_date': _TIME, 'end_date': _TIME}
    if version >= microversions.V1_4:
        busy['held_until'] = _TIME_OR_NULL
    amounts = {**busy, 'resources': by_name(COUNT)}
    own: Json = {'resource_id': RESOURCE_ID}
    if version >= microversions.V1_1:
        own['resource_name'] = TEXT
    return {
        'Allocation': record({**own, 'reservations': listed(record(busy))}),
        'AllocationOfAny': record({**own, 'reservations': listed(record(amounts))}),
    }


def _availability(version: microversions.Microversion) -> dict[str, Json]:
    figures = listed(WHOLE)
    amounts: Json = {'free': figures, 'total': figures}
    if version >= microversions.V1_8:
        amounts['free_if_moved'] = figures
    group: Json = {
        'value': or_null(TEXT),
        'whole': ref('Figures'),
        'classes': by_name(ref('Figures')),
        'slots': or_null(ref('Figures')),
    }
    whole: Json = {
        'resource_type': TEXT,
        'start': _TIME,
        'end': _TIME,
        'step': COUNT,
        'buckets': COUNT,
        'resources': by_name(COUNT),
        'group_by': or_null(TEXT),
        'groups': listed(record(group)),
    }
    return {'Figures': record(amounts), 'Availability': record(whole)}
