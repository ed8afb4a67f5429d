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
