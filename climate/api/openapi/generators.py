# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Says in simpler words what generators of clients cannot read.

They then generate a client for every operation. What is lost refuses fewer requests than the
API, which refuses the others itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.api.openapi import characters
from climate.api.openapi import schemas
from climate.api.openapi.schemas import Json

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
    if own and schema == schemas.ref(own):
        return characters.any_value()
    found: Json = {
        key: value if key in _CONDITIONS else simpler(value, own) for key, value in schema.items()
    }
    if isinstance(found.get('default'), Mapping | list):
        del found['default']
    values = found.get('enum')
    if isinstance(values, list) and values and all(isinstance(one, list) for one in values):
        del found['enum']
        found |= _any_of_them(values)
    return found


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
