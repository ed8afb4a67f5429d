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
