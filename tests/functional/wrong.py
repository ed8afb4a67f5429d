# SPDX-License-Identifier: Apache-2.0

"""Good requests, and what is wrong in the place of each of their fields."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator
from typing import Any

from climate.testing.fields import MISSING as MISSING
from climate.testing.fields import WRONG as WRONG
from tests.functional import http


@dataclasses.dataclass(frozen=True)
class Case:
    """A good request, and what else its fields may be.

    :ivar accepted: by field, the values of WRONG that are no mistake there
    :ivar called: what the text of a refusal calls a field, if not by its name
    """

    method: str
    path: str
    body: dict[str, Any]
    _: dataclasses.KW_ONLY
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
LIST = {*NOTHING, 'empty list'}
OPTIONAL = {'missing'}
NO_LIST = {'missing', 'empty list'}
SPOKEN = {*TEXTS, 'missing'}
RESERVATION = {
    'reservations[0].hypervisor_properties': NO_REQUIREMENT,
    'reservations[0].resource_properties': NO_REQUIREMENT,
    'reservations[0].before_end': {*NOTHING, 'empty text'},
}
# What the fields of each lease that is created may be.
RESERVED = {'name': TEXTS, 'reservations': LIST, 'reservations[0]': OPTIONAL}
CREATED = {**RESERVED, 'before_end_date': NOTHING, 'events': LIST}
NOTIFIED = {'notify_before_start': {*LIST, 'list'}, 'notify_before_start[0]': OPTIONAL}

DAY = {'start_date': '2030-02-01T00:00:00Z', 'end_date': '2030-02-02T00:00:00Z'}
HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
LEASE_1_1 = {
    **{key: value for key, value in http.LEASE.items() if key != 'end_date'},
    'start_date': DAY['start_date'],
    'duration': '1d',
    'notify_before_start': [60],
}
MORE_HOSTS = {'id': '{reservation_id}', 'min': 1, 'max': 3}
MORE_HOSTS |= {'hypervisor_properties': '[">", "$vcpus", "1"]', 'resource_properties': ''}
CHANGES = {'name': 'renamed', 'before_end_date': '2030-02-01 12:00', 'reservations': [MORE_HOSTS]}
CHANGES |= {'start_date': '2030-02-01 06:00', 'end_date': '2030-02-01 18:00'}
SIZES = {'vcpus': 2, 'memory_mb': 1024, 'disk_gb': 10}
SLOTS = {'amount': 2, 'affinity': 'None'}
INSTANCES = {'resource_type': 'virtual:instance', **SIZES, **SLOTS, 'resource_properties': ''}
FLAVOR = {'resource_type': 'flavor:instance', 'flavor_id': '1', **SLOTS}
NO_AFFINITY = {*NOTHING, 'empty text', 'blank text'}
# A property is free text; other values are written as text.
PROPERTY = {*WRONG} - {'too large', 'enormous', 'long text', 'NUL', 'surrogate', 'deep'}

LEASES = '/v1/leases'
LEASE = '/v1/leases/{lease_id}'
CASES = {
    'create a lease': Case(
        'POST',
        LEASES,
        {**http.LEASE, 'before_end_date': '2030-02-01 18:00'},
        accepted={**CREATED, **RESERVATION, 'events[0]': OPTIONAL},
    ),
    'create a lease at 1.1': Case(
        'POST',
        LEASES,
        LEASE_1_1,
        version='1.1',
        # Without a duration it is the end that is missed.
        called={'duration': 'end_date'},
        accepted={**CREATED, **RESERVATION, **NOTIFIED, 'events[0]': OPTIONAL},
    ),
    'create a lease at 1.3': Case(
        'POST',
        LEASES,
        {'name': 'l', **DAY, 'notices': ['error', 'started']},
        version='1.3',
        accepted={'name': TEXTS, 'notices': LIST, 'notices[0]': OPTIONAL, 'notices[1]': OPTIONAL},
    ),
    'update a lease at 1.3': Case(
        'PUT',
        LEASE,
        {'notices': ['error']},
        version='1.3',
        accepted={'notices': LIST, 'notices[0]': OPTIONAL},
    ),
    'create a lease at 1.4': Case(
        'POST',
        LEASES,
        {'name': 'l', **DAY, 'dry_run': True},
        version='1.4',
        accepted={'name': TEXTS, 'dry_run': {'missing', 'true'}},
    ),
    'ask for offers': Case(
        'POST',
        '/v1/offers',
        {'duration': '1h', 'earliest': DAY['start_date'], 'latest': DAY['end_date']}
        | {'limit': 2, 'hold': '60s', 'prefer': 'cheapest', 'reservations': [HOST]},
        version='1.4',
        # A default takes the place of what is left out.
        accepted=dict.fromkeys(('earliest', 'latest', 'limit', 'hold', 'prefer'), OPTIONAL),
    ),
    'say what is ready': Case(
        'POST',
        f'{LEASE}/readiness',
        {'ready': ['compute-1'], 'waiting': ['compute-2'], 'by': 'power', 'detail': 'it boots'},
        version='1.3',
        accepted={
            **dict.fromkeys(('ready', 'waiting'), NO_LIST),
            **dict.fromkeys(('ready[0]', 'waiting[0]'), SPOKEN),
            'by': TEXTS,
            'detail': {*SPOKEN, 'empty text'},
        },
    ),
    'create a lease of instances': Case(
        'POST',
        LEASES,
        {**http.LEASE, 'events': [], 'reservations': [INSTANCES]},
        accepted={
            **CREATED,
            'reservations[0].disk_gb': {'zero'},
            'reservations[0].affinity': {*NO_AFFINITY, 'true'},
            'reservations[0].resource_properties': NO_REQUIREMENT,
        },
    ),
    'create a lease of a flavor': Case(
        'POST',
        LEASES,
        {**http.LEASE, 'events': [], 'reservations': [FLAVOR]},
        called={'reservations[0].flavor_id': 'Flavor'},
        accepted={**CREATED, 'reservations[0].affinity': NO_AFFINITY},
    ),
    'update a lease': Case(
        'PUT',
        LEASE,
        CHANGES,
        accepted={
            **dict.fromkeys(('start_date', 'end_date', 'before_end_date'), NOTHING),
            **dict.fromkeys(('reservations[0].min', 'reservations[0].max'), NOTHING),
            **RESERVED,
            **RESERVATION,
            'name': {*TEXTS, *NOTHING},
        },
    ),
    'update a lease at 1.1': Case(
        'PUT',
        LEASE,
        {'name': 'renamed', 'duration': 7200, 'notify_before_start': [60]},
        version='1.1',
        accepted={'name': {*TEXTS, 'missing'}, 'duration': OPTIONAL, **NOTIFIED},
    ),
    'register a host': Case(
        'POST',
        '/v1/os-hosts',
        {'name': 'compute-4', 'gpu': 'x'},
        called={'name': 'Host'},
        accepted={'gpu': PROPERTY},
    ),
    'change a host': Case(
        'PUT',
        '/v1/os-hosts/1',
        {'gpu': 'x', 'colour': 'red'},
        accepted={'gpu': PROPERTY, 'colour': PROPERTY},
    ),
    'announce a maintenance': Case(
        'POST',
        '/v1/maintenances',
        {'resource_id': 1, **DAY, 'reason': 'a new fan'},
        version='1.2',
        called={'resource_id': 'resource_name'},
        accepted={'start_date': {'the past'}, 'reason': {*TEXTS, 'missing', 'empty text'}},
    ),
    'make a property private': Case(
        'PATCH', '/v1/os-hosts/properties/rack', {'private': False}, accepted={'private': {'true'}}
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
