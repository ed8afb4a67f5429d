# SPDX-License-Identifier: Apache-2.0

"""The characters allowed in texts, names and ids."""

from __future__ import annotations

import enum
import re
import uuid
from typing import Final

# Written with escapes, as in JSON schemas.
SURROGATES: Final = r'\ud800-\udfff'
"""Halves of surrogate pairs, which are no characters; not every regular expression knows them."""
_DIRECTIONS: Final = r'\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069'
_BEYOND: Final = rf'\u007f-\u009f\u2028\u2029{SURROGATES}{_DIRECTIONS}'
CONTROL: Final = re.compile(rf'[\u0000-\u001f{_BEYOND}]')
"""A character that moves the cursor, ends a line, changes the direction of the text around it,
or cannot be stored in a database."""
_CONTROL_IN_LINES: Final = re.compile(rf'[\u0000-\u0008\u000b\u000c\u000e-\u001f{_BEYOND}]')
_DIRECTION: Final = re.compile(f'[{_DIRECTIONS}]')


class Characters(enum.Enum):
    """Which characters a text may have.

    ``ONE_LINE``: no control characters; ``LINES``: also tabs and line ends; ``ANY``: all that a
    database can store, since only programs read it. From the strictest to the laxest.
    """

    ONE_LINE = CONTROL
    LINES = _CONTROL_IN_LINES
    ANY = re.compile(rf'[\u0000{SURROGATES}]')


ONE_LINE: Final = Characters.ONE_LINE


def misfit(text: str, allowed: Characters = ONE_LINE) -> str | None:
    """Return why *text* has a character that is not allowed; None if it has none."""
    if text.isprintable():
        return None
    match = allowed.value.search(text)
    if match is None:
        return None
    if _DIRECTION.match(match[0]):
        return 'characters that change the direction of text are not allowed'
    return 'control characters are not allowed'


def escaped(text: str, allowed: Characters = ONE_LINE) -> str:
    """Return *text* with an escape such as ``\\x1b`` for each character that is not allowed."""
    if text.isprintable():
        return text
    return allowed.value.sub(lambda one: one[0].encode('unicode_escape').decode('ascii'), text)


_UUID = re.compile('[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}')


def without_controls(name: str) -> str:
    """Return a name with spaces in place of control characters."""
    return CONTROL.sub(' ', name)


def uuid_of(text: str) -> str | None:
    """Return an id in the form that OpenStack services use; None if it is not a UUID.

    The form is canonical: two different texts never identify the same object.
    """
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return None


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID with dashes, as URLs contain it."""
    return _UUID.fullmatch(text) is not None
