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

"""Reads the fields of a reservation's body, as real clients send them.

Numbers come as integers or as text, requirements as JSON text, as a list, as
an empty text or as null. Whatever cannot be read is named in the error.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.allocation import requirements
from climate.domain import names

MAX_COUNT = 2**31 - 1

COUNT: Mapping[str, Any] = {
    'oneOf': [
        {'type': 'integer', 'minimum': 1, 'maximum': MAX_COUNT},
        {'type': 'string', 'pattern': '^[0-9]{1,10}$'},
    ]
}
SIZE: Mapping[str, Any] = {
    'oneOf': [
        {'type': 'integer', 'minimum': 0, 'maximum': MAX_COUNT},
        {'type': 'string', 'pattern': '^[0-9]{1,10}$'},
    ]
}
AFFINITY: Mapping[str, Any] = {'type': ['boolean', 'string', 'null']}
REQUIREMENT: Mapping[str, Any] = {'type': ['string', 'array', 'null']}
LONGEST_TEXT = 255
TEXT: Mapping[str, Any] = {'type': ['string', 'integer', 'null'], 'maxLength': LONGEST_TEXT}
# PostgreSQL cannot store NUL, and no engine can store half a surrogate pair.
_UNSTORABLE = re.compile('[\x00\ud800-\udfff]')


def known(
    body: Mapping[str, Any],
    schema: Mapping[str, Any],
    *,
    strict: bool,
    also: Collection[str] = (),
) -> None:
    """Refuse keys that *schema* does not have, if *strict*.

    :raises climate.exceptions.MalformedParameter: naming the first such key
    """
    if not strict:
        return
    unknown = sorted(set(body) - set(schema['properties']) - set(also))
    if unknown:
        raise exceptions.MalformedParameter(
            f"Malformed parameter reservations: '{unknown[0]}' is not a field of "
            f'{schema["properties"]["resource_type"]["const"]}'
        )


def count(body: Mapping[str, Any], key: str, *, least: int = 1) -> int:
    """Return a number of things, at least *least*.

    :raises climate.exceptions.MissingParameter: if it is missing or empty
    :raises climate.exceptions.MalformedParameter: if it is no such number
    """
    value = body.get(key)
    if value is None or value == '':
        raise exceptions.MissingParameter(param=key)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 10:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise exceptions.MalformedParameter(
            f'Malformed parameter {key}: {_shown(value)} is not a whole number'
        )
    if not least <= value <= MAX_COUNT:
        raise exceptions.MalformedParameter(
            f'Malformed parameter {key}: it must be between {least} and {MAX_COUNT}'
        )
    return value


def text(body: Mapping[str, Any], key: str, *, required: bool = False, lines: bool = False) -> str:
    """Return a text, '' if there is none.

    Clients that read ``key=123`` from a command line send a number.

    :param required: refuse an empty one
    :param lines: whether it may have several lines, and is no name
    :raises climate.exceptions.MissingParameter: if it is *required* and empty
    :raises climate.exceptions.MalformedParameter: if it is no text, or too long
    """
    value = body.get(key)
    if value is None:
        value = ''
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_COUNT:
        value = str(value)
    if not isinstance(value, str) or _UNSTORABLE.search(value):
        raise exceptions.MalformedParameter(
            f'Malformed parameter {key}: {_shown(value)} is not a text'
        )
    if not lines and names.has_controls(value):
        raise exceptions.MalformedParameter(
            f'Malformed parameter {key}: {_shown(value)} has control characters'
        )
    if len(value) > LONGEST_TEXT:
        raise exceptions.MalformedParameter(
            f'Malformed parameter {key}: it is longer than {LONGEST_TEXT} characters'
        )
    if required and not value.strip():
        raise exceptions.MissingParameter(param=key)
    return value


def identifier(body: Mapping[str, Any], key: str, noun: str) -> str:
    """Return the id of something in the cloud as the cloud writes it, '' if there is none.

    :param noun: what it is the id of, such as ``a volume``
    :raises climate.exceptions.MalformedParameter: if it is no UUID
    """
    value = text(body, key).strip()
    found = names.uuid_of(value) if value else ''
    if found is None:
        raise exceptions.MalformedParameter(
            f'Malformed parameter {key}: it is not the id of {noun}'
        )
    return found


def affinity(body: Mapping[str, Any], key: str) -> bool | None:
    """Return whether servers are to be together; None if it does not matter.

    Clients send a truth value, its name, ``None``, an empty text or null.

    :raises climate.exceptions.MalformedParameter: if it is none of these
    """
    value = body.get(key)
    if value is None or isinstance(value, bool):
        return value
    words = {'true': True, 'false': False, 'none': None, '': None}
    word = value.strip().lower() if isinstance(value, str) else value
    if not isinstance(word, str) or word not in words:
        raise exceptions.MalformedParameter(
            f'Malformed parameter {key}: {_shown(value)} is not true, false or none'
        )
    return words[word]


def requirement(body: Mapping[str, Any], key: str) -> str:
    """Return a requirement expression as JSON text, '' if there is none.

    :raises climate.exceptions.MalformedRequirements: if it cannot be read
    """
    value = body.get(key)
    if value is None or value in ('', []):
        return ''
    if not isinstance(value, str | list):
        raise exceptions.MalformedRequirements(
            f'Malformed requirements {key}: {_shown(value)} is not an expression'
        )
    try:
        parsed = requirements.parse(value)
    except requirements.RequirementError as error:
        raise exceptions.MalformedRequirements(f'Malformed requirements {key}: {error}') from None
    if parsed is None:
        return ''
    return value if isinstance(value, str) else requirements.dumps(parsed)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + '...'
