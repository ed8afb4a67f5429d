# SPDX-License-Identifier: Apache-2.0

"""What requirements on the resources of a type can choose from."""

from __future__ import annotations

from typing import Final
from typing import NamedTuple

MOST_PROPERTIES: Final = 200
MOST_TRAITS: Final = 1000
MOST_VALUES: Final = 100
"""The most values of a property that are choices; it is no choice if it has more."""
LONGEST_VALUE: Final = 255
"""The longest value that is a choice, in characters."""


class PropertyChoices(NamedTuple):
    """A property, and how many resources have which value of it.

    :ivar private: whether only privileged callers may see it
    :ivar values: with the number of resources of each, in natural order; empty if they
        are more than :data:`MOST_VALUES`
    :ivar number: how many values there are
    """

    name: str
    private: bool
    values: tuple[tuple[str, int], ...]
    number: int


class TraitChoice(NamedTuple):
    """A trait, and how many resources have it."""

    name: str
    resources: int


class Choices(NamedTuple):
    """The choices for a type: the first properties and traits in order of their names."""

    properties: tuple[PropertyChoices, ...]
    traits: tuple[TraitChoice, ...]
