# SPDX-License-Identifier: Apache-2.0

"""Capabilities in bodies: properties of resources that operators set."""

from __future__ import annotations

import json
from collections.abc import Container
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate import exceptions
from climate.api.http import bodies

LONGEST_NAME: Final = 64
LONGEST_VALUE: Final = 16383
MOST_CAPABILITIES: Final = 1000


def read(values: Mapping[str, Any], reserved: Container[str]) -> dict[str, str | None]:
    """Return capabilities as text.

    :param reserved: names that are refused
    :raises climate.exceptions.InvalidInput: naming the capability and why
    """
    if len(values) > MOST_CAPABILITIES:
        raise exceptions.InvalidInput(f'At most {MOST_CAPABILITIES} extra capabilities are allowed')
    return {_name(name, reserved): _text(name, value) for name, value in values.items()}


def _name(name: str, reserved: Container[str]) -> str:
    shown = bodies.printable(name)
    if len(name) > LONGEST_NAME:
        raise exceptions.ExtraCapabilityTooLong(
            f'{exceptions.ExtraCapabilityTooLong.template} ({shown}): '
            f'at most {LONGEST_NAME} characters are allowed'
        )
    if not name.strip():
        raise exceptions.MalformedParameter.of(
            f'{shown!r}', 'the name of an extra capability cannot be empty'
        )
    bodies.name(shown, name)
    if name in reserved:
        raise exceptions.MalformedParameter.of(shown, 'an extra capability cannot have this name')
    return name


def _text(name: str, value: Any) -> str | None:
    if value is None:
        return None
    # Requirements compare with the text that users write, such as True or 16.
    text = value if isinstance(value, str) else str(value)
    if isinstance(value, dict | list):
        text = json.dumps(value, sort_keys=True)
    if len(text) > LONGEST_VALUE:
        raise exceptions.MalformedParameter.of(
            bodies.printable(name), f'at most {LONGEST_VALUE} characters are allowed'
        )
    return text
