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

"""What one reservation needs, as the choice is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from collections.abc import Mapping
from typing import Any

from climate.db.matching import Match
from climate.domain.periods import Period
from climate.plugins import base


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """What one reservation needs.

    :ivar minimum: how many slots at least, beyond what it keeps
    :ivar maximum: how many slots at most, beyond what it keeps
    :ivar private: whether the caller may ask for private properties
    :ivar own: slots by resource id that it has and gives up if others are
        chosen: it would rather have the same again
    :ivar only: ids of the only resources that will do; None for any
    :ivar never: ids of resources that will not do
    """

    search: base.Search
    plugin: base.Plugin[Any]
    request: Any
    period: Period
    minimum: int
    maximum: int
    private: bool
    own: Mapping[int, int] = dataclasses.field(default_factory=dict)
    only: Collection[int] | None = None
    never: Collection[int] = ()

    @property
    def match(self) -> Match:
        """What a resource must be."""
        return Match(
            resource_type=self.search.resource_type,
            requirement=self.search.requirement,
            required_traits=self.search.required_traits,
            forbidden_traits=self.search.forbidden_traits,
            private=self.private,
        )

    def match_named(self, names: Collection[str]) -> Match:
        """Return :attr:`match` of resources of these names."""
        return dataclasses.replace(self.match, names=names)
