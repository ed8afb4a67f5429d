# SPDX-License-Identifier: Apache-2.0

"""Reads the values of options that describe details of a reservation."""

from __future__ import annotations

import pathlib
from typing import Final

_AFFINITIES: Final = {'same': 'True', 'different': 'False', 'any': 'None'}


def names(text: str) -> list[str]:
    """Read names with commas between them."""
    return [each.strip() for each in text.split(',') if each.strip()]


def content(text: str) -> str:
    """Read the path of a file, and return its content.

    :raises ValueError: if it is not a text in UTF-8, or cannot be read
    """
    try:
        return pathlib.Path(text).read_text(encoding='utf-8')
    except OSError as error:
        raise ValueError(f'{text}: {error.strerror}') from None
    except UnicodeError:
        raise ValueError(f'{text}: not a text in UTF-8') from None


def parameter(text: str) -> dict[str, str]:
    """Read ``NAME=VALUE``.

    :raises ValueError: if it is something else
    """
    name, sign, value = text.partition('=')
    if not name or not sign:
        raise ValueError(f'{text!r} is no NAME=VALUE')
    return {name: value}


def affinity(text: str) -> str:
    """Read where servers are to be: ``same``, ``different`` or ``any``.

    :raises ValueError: if it is something else
    """
    if text not in _AFFINITIES:
        raise ValueError(f'{text!r} is unknown; write {", ".join(_AFFINITIES)}')
    return _AFFINITIES[text]
