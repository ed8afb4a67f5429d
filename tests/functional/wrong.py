# SPDX-License-Identifier: Apache-2.0

"""Good requests, and what is wrong in the place of each of their fields."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator
from typing import Any

from climate.testing.fields import MISSING
from climate.testing.fields import WRONG
from tests.functional import http

__all__ = ['MISSING', 'WRONG']


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """A good request, and what else its fields may be.

    :ivar accepted: by field, the values of WRONG that are no mistake there
    :ivar called: what the text of a refusal calls a field, if not by its name
    """

    method: str
    path: str
    body: dict[str, Any]
    version: str = '1.0'
    accepted: dict[str, set[str]] = dataclasses.field(default_factory=dict)
    called: dict[str, str] = dataclasses.field(default_factory=dict)

    def words(self, field: str) -> set[str]:
        """Return the words one of which a refusal of *field* must have."""
        last = field.rsplit('.', maxsplit=1)[-1].split('[', maxsplit=1)[0]
        spoken = last.replace('_', ' ')
        return {last, spoken, spoken.capitalize(), self.called.get(field, last)}


TEXTS = {'blank text', 'text', 'impossible date', 'year 1', 'year 10000', 'the past'}
NOTHING = {'missing', 'null'}
# A requirement may be left out in every way that clients do it.
NO_REQUIREMENT = {'missing', 'null', 'empty text', 'blank text', 'empty list'}
RESERVATION = {
    'reservations[0].hypervisor_properties': NO_REQUIREMENT,
    'reservations[0].resource_properties': NO_REQUIREMENT,
    'reservations[0].before_end': {'missing', 'null', 'empty text'},
}
LEASE_1_1 = {
    **{key: value for key, value in http.LEASE.items() if key != 'end_date'},
    'start_date': '2030-02-01T00:00:00Z',
    'duration': '1d',
    'notify_before_start': [60],
}
CHANGES = {
    'name': 'renamed',
    'start_date': '2030-02-01 06:00',
    'end_date': '2030-02-01 18:00',
    'before_end_date': '2030-02-01 12:00',
    'reservations': [
        {
            'id': '{reservation_id}',
            'min': 1,
            'max': 3,
            'hypervisor_properties': '[">", "$vcpus", "1"]',
            'resource_properties': '',
        }
    ],
}
INSTANCES = {
    'resource_type': 'virtual:instance',
    'vcpus': 2,
    'memory_mb': 1024,
    'disk_gb': 10,
    'amount': 2,
    'affinity': 'None',
    'resource_properties': '',
}
FLAVOR = {'resource_type': 'flavor:instance', 'flavor_id': '1', 'amount': 2, 'affinity': 'None'}
NO_AFFINITY = {'missing', 'null', 'empty text', 'blank text'}
# A property is free text; other values are written as text.
PROPERTY = {*WRONG} - {'too large', 'enormous', 'long text', 'NUL', 'surrogate', 'deep'}
LEASES = '/v1/leases'
LEASE = '/v1/leases/{lease_id}'

CASES = {
    'create a lease': Case(
        method='POST',
        path=LEASES,
        body={**http.LEASE, 'before_end_date': '2030-02-01 18:00'},
        accepted={
            'name': TEXTS,
            'before_end_date': NOTHING,
            'reservations': {*NOTHING, 'empty list'},
            'events': {*NOTHING, 'empty list'},
            'events[0]': {'missing'},
            'reservations[0]': {'missing'},
            **RESERVATION,
        },
    ),
    'create a lease at 1.1': Case(
        method='POST',
        path=LEASES,
        version='1.1',
        body=LEASE_1_1,
        # Without a duration it is the end that is missed.
        called={'duration': 'end_date'},
        accepted={
            'name': TEXTS,
            'before_end_date': NOTHING,
            'notify_before_start': {*NOTHING, 'empty list', 'list'},
            'notify_before_start[0]': {'missing'},
            'reservations': {*NOTHING, 'empty list'},
            'events': {*NOTHING, 'empty list'},
            'events[0]': {'missing'},
            'reservations[0]': {'missing'},
            **RESERVATION,
        },
    ),
    'create a lease at 1.3': Case(
        method='POST',
        path=LEASES,
        version='1.3',
        body={
            'name': 'l',
            'start_date': '2030-02-01T00:00:00Z',
            'end_date': '2030-02-02T00:00:00Z',
            'notices': ['error', 'started'],
        },
        accepted={
            'name': TEXTS,
            'notices': {*NOTHING, 'empty list'},
            'notices[0]': {'missing'},
            'notices[1]': {'missing'},
        },
    ),
    'update a lease at 1.3': Case(
        method='PUT',
        path=LEASE,
        version='1.3',
        body={'notices': ['error']},
        accepted={'notices': {*NOTHING, 'empty list'}, 'notices[0]': {'missing'}},
    ),
    'create a lease at 1.4': Case(
        method='POST',
        path=LEASES,
        version='1.4',
        body={
            'name': 'l',
            'start_date': '2030-02-01T00:00:00Z',
            'end_date': '2030-02-02T00:00:00Z',
            'dry_run': True,
        },
        accepted={'name': TEXTS, 'dry_run': {'missing', 'true'}},
    ),
    'ask for offers': Case(
        method='POST',
        path='/v1/offers',
        version='1.4',
        body={
            'duration': '1h',
            'earliest': '2030-02-01T00:00:00Z',
            'latest': '2030-02-02T00:00:00Z',
            'limit': 2,
            'hold': '60s',
            'prefer': 'cheapest',
            'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1}],
        },
        # A default takes the place of what is left out.
        accepted={
            'earliest': {'missing'},
            'latest': {'missing'},
            'limit': {'missing'},
            'hold': {'missing'},
            'prefer': {'missing'},
        },
    ),
    'say what is ready': Case(
        method='POST',
        path=f'{LEASE}/readiness',
        version='1.3',
        body={
            'ready': ['compute-1'],
            'waiting': ['compute-2'],
            'by': 'power',
            'detail': 'it boots',
        },
        accepted={
            'ready': {'missing', 'empty list'},
            'ready[0]': {*TEXTS, 'missing'},
            'waiting': {'missing', 'empty list'},
            'waiting[0]': {*TEXTS, 'missing'},
            'by': TEXTS,
            'detail': {*TEXTS, 'missing', 'empty text'},
        },
    ),
    'create a lease of instances': Case(
        method='POST',
        path=LEASES,
        body={**http.LEASE, 'events': [], 'reservations': [INSTANCES]},
        accepted={
            'name': TEXTS,
            'before_end_date': {*NOTHING},
            'reservations': {*NOTHING, 'empty list'},
            'events': {*NOTHING, 'empty list'},
            'reservations[0]': {'missing'},
            'reservations[0].disk_gb': {'zero'},
            'reservations[0].affinity': {*NO_AFFINITY, 'true'},
            'reservations[0].resource_properties': NO_REQUIREMENT,
        },
    ),
    'create a lease of a flavor': Case(
        method='POST',
        path=LEASES,
        body={**http.LEASE, 'events': [], 'reservations': [FLAVOR]},
        called={'reservations[0].flavor_id': 'Flavor'},
        accepted={
            'name': TEXTS,
            'before_end_date': {*NOTHING},
            'reservations': {*NOTHING, 'empty list'},
            'events': {*NOTHING, 'empty list'},
            'reservations[0]': {'missing'},
            'reservations[0].affinity': NO_AFFINITY,
        },
    ),
    'update a lease': Case(
        method='PUT',
        path=LEASE,
        body=CHANGES,
        accepted={
            'name': {*TEXTS, *NOTHING},
            'start_date': NOTHING,
            'end_date': NOTHING,
            'before_end_date': NOTHING,
            'reservations': {*NOTHING, 'empty list'},
            'reservations[0]': {'missing'},
            'reservations[0].min': NOTHING,
            'reservations[0].max': NOTHING,
            **RESERVATION,
        },
    ),
    'update a lease at 1.1': Case(
        method='PUT',
        path=LEASE,
        version='1.1',
        body={'name': 'renamed', 'duration': 7200, 'notify_before_start': [60]},
        accepted={
            'name': {*TEXTS, 'missing'},
            'duration': {'missing'},
            'notify_before_start': {*NOTHING, 'empty list', 'list'},
            'notify_before_start[0]': {'missing'},
        },
    ),
    'register a host': Case(
        method='POST',
        path='/v1/os-hosts',
        body={'name': 'compute-4', 'gpu': 'x'},
        called={'name': 'Host'},
        accepted={'gpu': PROPERTY},
    ),
    'change a host': Case(
        method='PUT',
        path='/v1/os-hosts/1',
        body={'gpu': 'x', 'colour': 'red'},
        accepted={'gpu': PROPERTY, 'colour': PROPERTY},
    ),
    'announce a maintenance': Case(
        method='POST',
        path='/v1/maintenances',
        version='1.2',
        body={
            'resource_id': 1,
            'start_date': '2030-02-01T00:00:00Z',
            'end_date': '2030-02-02T00:00:00Z',
            'reason': 'a new fan',
        },
        called={'resource_id': 'resource_name'},
        accepted={'start_date': {'the past'}, 'reason': {*TEXTS, 'missing', 'empty text'}},
    ),
    'make a property private': Case(
        method='PATCH',
        path='/v1/os-hosts/properties/rack',
        body={'private': False},
        accepted={'private': {'true'}},
    ),
}


def fields(value: Any, name: str = '') -> Iterator[str]:
    """Yield the name of everything inside *value*."""
    if isinstance(value, dict):
        inner = [(f'{name}.{key}' if name else key, one) for key, one in value.items()]
    elif isinstance(value, list):
        inner = [(f'{name}[{i}]', one) for i, one in enumerate(value)]
    else:
        inner = []
    for deeper, one in inner:
        yield deeper
        yield from fields(one, deeper)


def replaced(body: dict[str, Any], field: str, value: Any) -> dict[str, Any]:
    """Return *body* with another value, or none, in *field*."""
    body = copy.deepcopy(body)
    parts: list[Any] = [
        int(part) if part.isdigit() else part
        for part in field.replace('[', '.').replace(']', '').split('.')
    ]
    place: Any = body
    for part in parts[:-1]:
        place = place[part]
    if value is MISSING:
        del place[parts[-1]]
    else:
        place[parts[-1]] = value
    return body
