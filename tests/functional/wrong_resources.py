# SPDX-License-Identifier: Apache-2.0

"""Good requests about resources and their types, as in :mod:`wrong`."""

from __future__ import annotations

from tests.functional import wrong
from tests.functional.wrong import Case

TYPED = {'reservations[0].resource_type': 'resource type'}
DESCRIPTION = {*wrong.TEXTS, 'missing', 'empty text'}
SUPPLY = {
    'properties': {'missing', 'empty object', 'object'},
    'properties.server': {*wrong.PROPERTY, 'missing', 'null'},
    'inventories': {'missing', 'empty object'},
    'inventories.SEAT': wrong.OPTIONAL,
}
COUNTED = {'resource_type': 'custom:licence', 'amount': 2, 'resources': {'SEAT': 2}}
CASES = {
    'declare a type': Case(
        'POST',
        '/v1/resource-types',
        {
            'name': 'custom:new',
            'description': 'd',
            'exclusive': False,
            'noun': 'n',
            'classes': {'SEAT': {'total': 9, 'min_unit': 1, 'max_unit': 4, 'reserved': 1}},
            'announce': ['server'],
        },
        version='1.2',
        # What is not said to be counted is whole, and has no classes.
        called={'exclusive': 'classes', 'classes.SEAT': 'classes'},
        accepted={
            'description': DESCRIPTION,
            'noun': {*wrong.TEXTS, 'missing'},
            'classes.SEAT': {'zero'},
            'classes.SEAT.reserved': {'missing', 'zero'},
            **dict.fromkeys(('classes.SEAT.min_unit', 'classes.SEAT.max_unit'), wrong.OPTIONAL),
            'announce': {'missing', 'empty list'},
            'announce[0]': {*wrong.TEXTS, 'missing'},
        },
    ),
    'change a type': Case(
        'PUT',
        '/v1/resource-types/custom:free',
        {'description': 'd', 'classes': {'SEAT': 9}},
        version='1.2',
        accepted={'description': DESCRIPTION, 'classes': {'missing'}, 'classes.SEAT': {'zero'}},
        called={'classes.SEAT': 'classes'},
    ),
    'register a resource': Case(
        'POST',
        '/v1/resources',
        {'resource_type': 'custom:licence', 'name': 'cfd', 'attributes': {}}
        | {'properties': {'server': 'x'}}
        | {'inventories': {'SEAT': {'total': 4, 'allocation_ratio': 1.5}}},
        version='1.2',
        accepted={
            **SUPPLY,
            'name': wrong.TEXTS,
            'attributes': {'missing', 'empty object'},
            'inventories.SEAT.allocation_ratio': {'missing', 'fraction'},
        },
        called={'resource_type': 'resource type', 'attributes': 'a'},
    ),
    'change a resource': Case(
        'PUT',
        '/v1/resources/4',
        {'properties': {'server': 'x'}, 'inventories': {'SEAT': 7}, 'disabled': False},
        version='1.2',
        accepted={**SUPPLY, 'disabled': {'missing', 'true'}},
    ),
    'register a floating IP': Case(
        'POST',
        '/v1/floatingips',
        {'floating_network_id': '{network}', 'floating_ip_address': '203.0.113.200'},
        called={'floating_network_id': 'network', 'floating_ip_address': 'IP'},
    ),
    'lease what is counted': Case(
        'POST',
        wrong.LEASES,
        {
            **{key: value for key, value in wrong.LEASE_1_1.items() if key != 'events'},
            'reservations': [{**COUNTED, 'spread': 'any', 'resource_properties': ''}],
        },
        version='1.2',
        called={**TYPED, 'duration': 'end_date', 'reservations[0].resources.SEAT': 'resources'},
        accepted={
            **wrong.RESERVED,
            **wrong.NOTIFIED,
            'before_end_date': wrong.NOTHING,
            'reservations[0].resources': wrong.NOTHING,
            'reservations[0].spread': {*wrong.NOTHING, 'empty text'},
            'reservations[0].resource_properties': wrong.NO_REQUIREMENT,
        },
    ),
    'lease what is whole': Case(
        'POST',
        wrong.LEASES,
        {'name': 'l', 'start_date': '2030-02-01 00:00', 'end_date': '2030-02-02 00:00'}
        | {'reservations': [{'resource_type': 'custom:microscope', 'min': 1, 'max': 2}]},
        accepted=wrong.RESERVED,
        called=TYPED,
    ),
}
