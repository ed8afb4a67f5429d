# SPDX-License-Identifier: Apache-2.0

"""Inventories in bodies: for each resource class an object, or only the total."""

from __future__ import annotations

from typing import Any
from typing import Final

from climate import exceptions
from climate.api.http import bodies
from climate.domain.resources import Inventory

_LARGEST: Final = 2**31 - 1
MOST_CLASSES: Final = 100


def schema(least: int) -> dict[str, Any]:
    """Return the schema of inventories by resource class.

    :param least: the smallest allowed total
    """
    whole = {'type': 'integer', 'minimum': 0, 'maximum': _LARGEST}
    positive = {**whole, 'minimum': 1}
    return {
        'type': 'object',
        'maxProperties': MOST_CLASSES,
        'propertyNames': {'pattern': '^[A-Z0-9_]{1,255}\\Z'},
        'additionalProperties': {
            'type': ['integer', 'object'],
            'minimum': least,
            'maximum': _LARGEST,
            'required': ['total'],
            'additionalProperties': False,
            'properties': {
                'total': {**whole, 'minimum': least},
                'reserved': whole,
                'allocation_ratio': {'type': 'number', 'exclusiveMinimum': 0, 'maximum': 10000},
                'min_unit': positive,
                'max_unit': positive,
                'step_size': positive,
            },
        },
    }


def read(field: str, value: dict[str, Any]) -> tuple[Inventory, ...]:
    """Return valid inventories, ordered by resource class.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    return tuple(_one(field, name, value[name]) for name in sorted(value))


def _one(field: str, name: str, value: Any) -> Inventory:
    facts = dict(value) if isinstance(value, dict) else {'total': value}
    # 4.0 is an integer in JSON, but not for a database.
    ratio = float(facts.pop('allocation_ratio', 1.0))
    amounts = {key: int(amount) for key, amount in facts.items()}
    item = Inventory(resource_class=name, allocation_ratio=ratio, **amounts)
    shown = bodies.printable(f'{field}.{name}')
    if item.reserved > item.total:
        raise exceptions.MalformedParameter.of(f'{shown}.reserved', 'at most the total is allowed')
    if item.min_unit > item.max_unit:
        raise exceptions.MalformedParameter.of(f'{shown}.min_unit', 'at most max_unit is allowed')
    return item
