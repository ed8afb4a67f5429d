# SPDX-License-Identifier: Apache-2.0

"""Says in simpler words what generators of clients cannot read.

They then generate a client for every operation. What is lost refuses fewer requests than the
API, which refuses the others itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.api.http import json_schema
from climate.api.http.json_schema import Json
from climate.api.openapi import characters

# Those below are conditions on other fields, which generators leave out.
_CONDITIONS: Final = frozenset({'if', 'then', 'else', 'not'})


def simpler(schema: Any, own: str = '') -> Any:
    """Return a schema without lists of lists, recursion and objects as default values.

    :param own: the name of the component that the schema is, '' for none
    """
    if isinstance(schema, list):
        return [simpler(one, own) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    if own and schema == json_schema.ref(own):
        return characters.any_value()
    simple: Json = {
        key: value if key in _CONDITIONS else simpler(value, own) for key, value in schema.items()
    }
    if isinstance(simple.get('default'), Mapping | list):
        del simple['default']
    values = simple.get('enum')
    if isinstance(values, list) and values and all(isinstance(one, list) for one in values):
        del simple['enum']
        simple |= _any_of_them(values)
    return simple


def _any_of_them(values: list[list[Any]]) -> Json:
    """Return the schema of a list of some of the values in lists."""
    known = sorted({one for value in values for one in value})
    longest = max(map(len, values))
    return {
        'type': 'array',
        'items': {'type': 'string', 'enum': known},
        'maxItems': longest,
        'uniqueItems': True,
    }
