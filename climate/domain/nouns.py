# SPDX-License-Identifier: Apache-2.0

"""The words that people use for the resources of a type."""

from __future__ import annotations

from typing import Final
from typing import NamedTuple


class Nouns(NamedTuple):
    """What one resource of a type is called, and several of them: ``host``, ``hosts``."""

    one: str
    many: str


RESOURCES: Final = Nouns('resource', 'resources')
"""The words for resources of types that have no words of their own."""


def of_plural(many: str) -> Nouns:
    """Return the words for a type of which only the plural is known: ``licences``."""
    if many.endswith('s') and not many.endswith('ss'):
        return Nouns(many[:-3] + 'y' if many.endswith('ies') else many[:-1], many)
    return Nouns(many, many)
