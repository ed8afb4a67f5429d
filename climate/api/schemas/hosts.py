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

"""Bodies of hosts: a name and arbitrary capabilities."""

from __future__ import annotations

import json
from collections.abc import Collection
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate import exceptions
from climate.api import bodies
from climate.api.validation import Validator
from climate.plugins.host.resources import RESERVED_PROPERTIES

# What a host is shown with by itself; a capability of that name would hide it.
LONGEST_NAME: Final = 64
LONGEST_VALUE: Final = 16383
MOST_CAPABILITIES: Final = 1000

_CREATE = Validator(
    {
        'type': 'object',
        'properties': {
            'name': {'type': 'string', 'minLength': 1, 'maxLength': 255},
            'id': {'type': ['string', 'integer'], 'minLength': 1, 'maxLength': 255},
        },
    }
)
_UPDATE = Validator({'type': 'object', 'properties': {}})


def read_new(body: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the name and the capabilities of a new host.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    _CREATE.check(body)
    rest = dict(body)
    name, host_id = rest.pop('name', None), rest.pop('id', None)
    if name is None:
        name = host_id
    if name is None:
        raise exceptions.MissingParameter(param='name')
    # A new host has nothing to remove, so null is ignored.
    capabilities = read_capabilities(rest)
    return bodies.name('name', str(name)), {
        key: text for key, text in capabilities.items() if text is not None
    }


def read_change(body: dict[str, Any]) -> dict[str, str | None]:
    """Return the changed capabilities of a host; None removes one.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    _UPDATE.check(body)
    # Clients send back the name of a host that they have read; it cannot change.
    changes = {key: value for key, value in body.items() if key != 'name'}
    if not changes:
        raise exceptions.InvalidInput('No data to update')
    return read_capabilities(changes)


def read_capabilities(
    values: Mapping[str, Any], reserved: Collection[str] = RESERVED_PROPERTIES
) -> dict[str, str | None]:
    """Return capabilities as text.

    :param reserved: names that are refused
    :raises climate.exceptions.InvalidInput: naming the capability and why
    """
    if len(values) > MOST_CAPABILITIES:
        raise exceptions.InvalidInput(f'At most {MOST_CAPABILITIES} extra capabilities are allowed')
    return {_name(name, reserved): _text(name, value) for name, value in values.items()}


def _name(name: str, reserved: Collection[str]) -> str:
    shown = bodies.printable(name)
    if len(name) > LONGEST_NAME:
        raise exceptions.ExtraCapabilityTooLong(
            f'{exceptions.ExtraCapabilityTooLong.template} ({shown}): '
            f'at most {LONGEST_NAME} characters are allowed'
        )
    if not name.strip():
        raise exceptions.MalformedParameter(
            f'Malformed parameter {shown!r}: the name of an extra capability cannot be empty'
        )
    bodies.name(shown, name)
    if name in reserved:
        raise exceptions.MalformedParameter(
            f'Malformed parameter {shown}: an extra capability cannot have this name'
        )
    return name


def _text(name: str, value: Any) -> str | None:
    if value is None:
        return None
    # Requirements compare with the text that users write, such as True or 16.
    text = value if isinstance(value, str) else str(value)
    if isinstance(value, dict | list):
        text = json.dumps(value, sort_keys=True)
    if len(text) > LONGEST_VALUE:
        raise exceptions.MalformedParameter(
            f'Malformed parameter {bodies.printable(name)}: '
            f'at most {LONGEST_VALUE} characters are allowed'
        )
    return text
