# SPDX-License-Identifier: Apache-2.0

"""The properties and attributes of ``OS::Climate::Lease``, as Heat describes them."""

from __future__ import annotations

from typing import Final

from heat.engine import attributes
from heat.engine import constraints
from heat.engine import properties

from climate.heat import bodies
from climate.heat import waits

WAIT_FOR: Final = 'wait_for'
_INSTANT: Final = 'ISO 8601 with a zone, such as 2030-01-31T09:00:00Z; UTC without one'
_LENGTH: Final = 'such as 90m, 4h or PT1H30M'


def _text(description: str, *limits: constraints.Constraint) -> properties.Schema:
    kind = properties.Schema.STRING
    return properties.Schema(kind, description, constraints=list(limits), update_allowed=True)


def _items(kind: str, description: str, *, fixed: bool = False) -> properties.Schema:
    return properties.Schema(
        properties.Schema.LIST,
        description,
        schema=properties.Schema(kind),
        update_allowed=not fixed,
    )


PROPERTIES: Final = {
    bodies.NAME: _text(
        'The name of the lease; that of the resource in the stack by default.',
        constraints.Length(min=1, max=80),
    ),
    bodies.START: _text(
        f'The start, {_INSTANT}; or now. Without a start and an end, the lease starts as soon '
        'as there are resources.'
    ),
    bodies.END: _text(f'The end, {_INSTANT}. Without a start, the lease starts now.'),
    bodies.DURATION: _text(f'The length instead of the end, {_LENGTH}.'),
    'earliest': _text(f'The first start of a lease without one, {_INSTANT}.'),
    'latest': _text(f'The last end of a lease without a start, {_INSTANT}.'),
    bodies.FIRM: _text(
        'Makes a lease without a start flexible: until so long before its start, it moves forward '
        f'into what becomes free, {_LENGTH}.'
    ),
    bodies.WAIT: properties.Schema(
        properties.Schema.BOOLEAN,
        'Whether a lease without a start waits if there is no room in its window, instead of '
        'failing. It is flexible.',
        update_allowed=True,
    ),
    bodies.PREEMPTIBLE: properties.Schema(
        properties.Schema.BOOLEAN,
        'Whether a lease without a start is in time slices, and gives up its place for leases of '
        'other projects that are not. It is flexible.',
        update_allowed=True,
    ),
    bodies.YIELD: _text(
        'What becomes of a preemptible lease between two slices: suspend, requeue or end; by '
        'default the first of these that its resource types can do.'
    ),
    bodies.SHORTEST: _text(f'How long a slice of a preemptible lease lasts at least, {_LENGTH}.'),
    bodies.UNTIL: _text(f'Until when it waits for room at most, {_INSTANT}.'),
    'prefer': _text(
        'Which offer is the best if there is no start: soonest, cheapest, fewest_resources or same.'
    ),
    'property': _text('The property that all resources share if same is preferred.'),
    bodies.RESERVATIONS: properties.Schema(
        properties.Schema.LIST,
        'What to lease: a map for each reservation, as in the API, with resource_type. Its label '
        'names it in attributes of this resource.',
        required=True,
        constraints=[constraints.Length(min=1)],
        schema=properties.Schema(properties.Schema.MAP),
        update_allowed=True,
    ),
    bodies.EVENTS: _items(
        properties.Schema.MAP, 'Further notifications, as in the API.', fixed=True
    ),
    'before_end_date': _text(f'When you are notified of the end, {_INSTANT}.'),
    'notify_before_start': _items(
        properties.Schema.INTEGER, 'Seconds before the start at which to send notifications.'
    ),
    'notices': _items(properties.Schema.STRING, 'The emails that you receive.'),
    WAIT_FOR: properties.Schema(
        properties.Schema.STRING,
        'Whether the resource is complete when the lease is booked, or when it is active.',
        default=waits.ACTIVE,
        constraints=[constraints.AllowedValues([waits.BOOKED, waits.ACTIVE])],
        update_allowed=True,
    ),
}


def _attribute(kind: str, description: str) -> attributes.Schema:
    # The service changes a lease without Heat, so that a stored value would be out of date.
    return attributes.Schema(description, cache_mode=attributes.Schema.CACHE_NONE, type=kind)


RESERVATION_IDS: Final = 'reservation_ids'
RESOURCES: Final = 'resources'
ATTRIBUTES: Final = {
    **{
        name: _attribute(attributes.Schema.STRING, description)
        for name, description in {
            'name': 'The name.',
            'status': 'Such as PENDING, ACTIVE or TERMINATED.',
            'start_date': 'The start, ISO 8601 in UTC.',
            'end_date': 'The end, ISO 8601 in UTC.',
            'project_id': 'The project.',
            'user_id': 'The user.',
        }.items()
    },
    'degraded': _attribute(
        attributes.Schema.BOOLEAN, 'Whether resources are missing or were replaced.'
    ),
    'reservations': _attribute(attributes.Schema.LIST, 'The reservations, as in the API.'),
    'events': _attribute(attributes.Schema.LIST, 'The events, as in the API.'),
    RESERVATION_IDS: _attribute(
        attributes.Schema.MAP,
        'The id of each reservation by its label, and of the first of each type by the type.',
    ),
    RESOURCES: _attribute(
        attributes.Schema.MAP, 'The names of the resources of each reservation, by the same keys.'
    ),
}
