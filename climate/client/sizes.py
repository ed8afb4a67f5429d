# SPDX-License-Identifier: Apache-2.0

"""Amounts of memory and disk as people write them."""

from __future__ import annotations

import re
from typing import Final

_SIZE: Final = re.compile(r'(\d{1,12})(?:([MGT])(?:iB|i|B)?)?')
_MEBIBYTES: Final = {'M': 1, 'G': 1024, 'T': 1024**2}


class SizeSyntaxError(ValueError):
    """An amount cannot be read; the message says what would be accepted."""


def mebibytes(text: str) -> int:
    """Return MiB; a number without a unit is MiB.

    :param text: such as ``512``, ``8G`` or ``1T``
    :raises SizeSyntaxError: if it cannot be read
    """
    return _read(text, 'M', '512M, 8G or 1T')


def gibibytes(text: str) -> int:
    """Return GiB; a number without a unit is GiB.

    :param text: such as ``40``, ``500G`` or ``2T``
    :raises SizeSyntaxError: if it cannot be read, or is no whole number of GiB
    """
    size = _read(text, 'G', '40G or 2T')
    if size % 1024:
        raise SizeSyntaxError(f'{text!r} is no whole number of GiB')
    return size // 1024


def _read(text: str, usual: str, accepted: str) -> int:
    match = _SIZE.fullmatch(text)
    if match is None:
        raise SizeSyntaxError(f'{text!r} is no size; write {accepted}')
    return int(match[1]) * _MEBIBYTES[match[2] or usual]
