# SPDX-License-Identifier: Apache-2.0

"""Texts of other services, fit to be stored, logged and shown.

A service can put anything into an error or a name: a NUL byte, which PostgreSQL cannot
store, half of a surrogate pair, which no engine can, signs that reverse the text or move
the cursor, or a megabyte. Such a text is cleaned once, where it enters.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 1000
"""The longest text of another service that is kept, in characters."""

_UNSTORABLE: Final = re.compile('[\x00\ud800-\udfff]')
# Signs that move the cursor, end a line, or change the direction of a text.
_MOVING: Final = re.compile('[\x01-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]')
_REPLACEMENT: Final = '\ufffd'


def clean(text: str, longest: int = LONGEST) -> str:
    """Return a text of another service in one line, without signs that cannot be stored.

    :param longest: the most characters of the result; a longer text ends with ``…``
    """
    if len(text) > longest:
        text = f'{text[: longest - 1]}…'
    if text.isprintable():
        return text
    return _MOVING.sub(' ', _UNSTORABLE.sub(_REPLACEMENT, text))


def storable(text: str, most_bytes: int | None = None) -> str:
    """Return a text that every engine stores, otherwise unchanged.

    :param most_bytes: of the result in UTF-8; None for any number
    """
    if not text.isprintable():
        text = _UNSTORABLE.sub(_REPLACEMENT, text)
    if most_bytes is not None and len(text) * 4 > most_bytes:
        text = text.encode()[:most_bytes].decode(errors='ignore')
    return text
