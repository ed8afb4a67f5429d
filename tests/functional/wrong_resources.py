# SPDX-License-Identifier: Apache-2.0

"""Good requests about resources and their types, as in :mod:`wrong`."""

from __future__ import annotations

from tests.functional.wrong import Case
from tests.functional.wrong import LEASE_1_1
from tests.functional.wrong import LEASES
from tests.functional.wrong import NO_REQUIREMENT
from tests.functional.wrong import NOTHING
from tests.functional.wrong import PROPERTY
from tests.functional.wrong import TEXTS

CASES = {
    'declare a type': Case(
        method='POST',
        path='/v1/resource-types',
        version='1.2',
        body={
            'name': 'custom:new',
            'description': 'd',
            'exclusive': False,
            'noun': 'n',
            'classes': {'SEAT': {'total': 9, 'min_unit': 1, 'max_unit': 4, 'reserved': 1}},
            'announce': ['server'],
        },
        # What is not said to be counted is whole, and has no classes.
        called={'exclusive': 'classes', 'classes.SEAT': 'classes'},
        accepted={
            'description': {*TEXTS, 'missing', 'empty text'},
            'noun': {*TEXTS, 'missing'},
            'classes.SEAT': {'zero'},
            'classes.SEAT.reserved': {'missing', 'zero'},
            'classes.SEAT.min_unit': {'missing'},
            'classes.SEAT.max_unit': {'missing'},
            'announce': {'missing', 'empty list'},
            'announce[0]': {*TEXTS, 'missing'},
        },
    ),
    'change a type': Case(
        method='PUT',
        path='/v1/resource-types/custom:free',
        version='1.2',
        body={'description': 'd', 'classes': {'SEAT': 9}},
        accepted={
            'description': {*TEXTS, 'missing', 'empty text'},
            'classes': {'missing'},
            'classes.SEAT': {'zero'},
        },
        called={'classes.SEAT': 'classes'},
    ),
    'register a resource': Case(
        method='POST',
        path='/v1/resources',
        version='1.2',
        body={
            'resource_type': 'custom:licence',
            'name': 'cfd',
            'attributes': {},
            'properties': {'server': 'x'},
            'inventories': {'SEAT': {'total': 4, 'allocation_ratio': 1.5}},
        },
        accepted={
            'name': TEXTS,
            'attributes': {'missing', 'empty object'},
            'properties': {'missing', 'empty object', 'object'},
            'properties.server': {*PROPERTY, 'missing', 'null'},
            'inventories': {'missing', 'empty object'},
            'inventories.SEAT': {'missing'},
            'inventories.SEAT.allocation_ratio': {'missing', 'fraction'},
        },
        called={'resource_type': 'resource type', 'attributes': 'a'},
    ),
    'change a resource': Case(
        method='PUT',
        path='/v1/resources/4',
        version='1.2',
        body={'properties': {'server': 'x'}, 'inventories': {'SEAT': 7}, 'disabled': False},
        accepted={
            'properties': {'missing', 'empty object', 'object'},
            'properties.server': {*PROPERTY, 'missing', 'null'},
            'inventories': {'missing', 'empty object'},
            'inventories.SEAT': {'missing'},
            'disabled': {'missing', 'true'},
        },
    ),
    'register a floating IP': Case(
        method='POST',
        path='/v1/floatingips',
        body={'floating_network_id': '{network}', 'floating_ip_address': '203.0.113.200'},
        called={'floating_network_id': 'network', 'floating_ip_address': 'IP'},
    ),
    'lease what is counted': Case(
        method='POST',
        path=LEASES,
        version='1.2',
        body={
            **{key: value for key, value in LEASE_1_1.items() if key != 'events'},
            'reservations': [
                {
                    'resource_type': 'custom:licence',
                    'amount': 2,
                    'resources': {'SEAT': 2},
                    'spread': 'any',
                    'resource_properties': '',
                }
            ],
        },
        called={
            'duration': 'end_date',
            'reservations[0].resource_type': 'resource type',
            'reservations[0].resources.SEAT': 'resources',
        },
        accepted={
            'name': TEXTS,
            'before_end_date': NOTHING,
            'notify_before_start': {*NOTHING, 'empty list', 'list'},
            'notify_before_start[0]': {'missing'},
            'reservations': {*NOTHING, 'empty list'},
            'reservations[0]': {'missing'},
            'reservations[0].resources': NOTHING,
            'reservations[0].spread': {*NOTHING, 'empty text'},
            'reservations[0].resource_properties': NO_REQUIREMENT,
        },
    ),
    'lease what is whole': Case(
        method='POST',
        path=LEASES,
        body={
            'name': 'l',
            'start_date': '2030-02-01 00:00',
            'end_date': '2030-02-02 00:00',
            'reservations': [{'resource_type': 'custom:microscope', 'min': 1, 'max': 2}],
        },
        accepted={
            'name': TEXTS,
            'reservations': {*NOTHING, 'empty list'},
            'reservations[0]': {'missing'},
        },
        called={'reservations[0].resource_type': 'resource type'},
    ),
}
