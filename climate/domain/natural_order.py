# SPDX-License-Identifier: Apache-2.0

"""The order in which people expect names: ``compute-2`` before ``compute-10``."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 255
"""The most characters of a key."""

_NUMBER: Final = re.compile('[0-9]+', re.ASCII)


def sort_key(name: str) -> str:
    """Return a text by which names are sorted character by character.

    Case does not matter. Before each number stands how many digits it has, so that shorter
    numbers come first; names that differ only in leading zeros have the same key.
    """
    return _NUMBER.sub(_counted, name.casefold())[:LONGEST]


def _counted(match: re.Match[str]) -> str:
    digits = match[0].lstrip('0')
    return f'{len(digits):03}{digits}'
