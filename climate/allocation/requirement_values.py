# SPDX-License-Identifier: Apache-2.0

"""Reads the keys and values of requirements."""

from __future__ import annotations

import decimal
import math
import re
from typing import Final

MAX_KEY: Final = 255
"""The maximum length of a key: that of a property name in the store."""

# PostgreSQL cannot store NUL, and no engine can store half a surrogate pair. No
# stored value equals such a text, and a query with one would fail.
_UNSTORABLE: Final = re.compile('[\x00\ud800-\udfff]')


class RequirementError(ValueError):
    """An expression cannot be read; the message says what is wrong and where."""


def at(where: str) -> str:
    """Return the end of a message: the place in the expression."""
    return f' at {where}' if where else ''


def short(value: object) -> str:
    """Return a value as messages show it: at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f'{text[:57]}...'


def key(node: object, where: str) -> str:
    """Return the name of a property in a comparison, without its ``$``."""
    if not isinstance(node, str) or not node.startswith('$') or node == '$':
        raise RequirementError(f'a key is written "$name", got {short(node)}{at(where)}')
    name = node[1:]
    if len(name) > MAX_KEY:
        raise RequirementError(f'a key longer than {MAX_KEY} characters{at(where)}')
    if _UNSTORABLE.search(name):
        raise RequirementError(f'a character that no key can have{at(where)}')
    return name


def value(node: object, where: str) -> str:
    """Return the constant of a comparison as text."""
    match node:
        case str():
            text = node
        case bool() | int():
            text = _whole(node, where)
        case float():
            text = _fraction(node, where)
        case _:
            raise RequirementError(
                f'a value is a text, a number or a boolean, got {short(node)}{at(where)}'
            )
    if _UNSTORABLE.search(text):
        raise RequirementError(f'a character that no value can have{at(where)}')
    return text


def _whole(number: int, where: str) -> str:
    try:
        return str(number)
    except ValueError:
        raise RequirementError(f'a number with too many digits{at(where)}') from None


def _fraction(number: float, where: str) -> str:
    """Write *number* without an exponent, so that it is compared as a number."""
    if not math.isfinite(number):
        raise RequirementError(f'{number} is not a number to compare with{at(where)}')
    text = repr(number)
    return format(decimal.Decimal(text), 'f') if 'e' in text else text
