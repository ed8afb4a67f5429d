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

"""What a request looks for, what there is to choose from, and what is chosen."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from climate.allocation.requirements import Requirement
from climate.domain.resources import Candidate
from climate.domain.resources import Share
from climate.domain.resources import Spread


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """Which resources a request can use, and how many slots of them.

    :ivar resource_type: of the resources; need not be that of the plugin
    :ivar minimum: how many slots at least
    :ivar maximum: how many slots at most
    :ivar requirement: what a resource must fulfil; None if any will do
    :ivar noun: what the resources are called in a refusal, such as ``hosts``
    :ivar demand: units by resource class that a slot takes; empty if a slot is
        a whole resource
    :ivar spread: how the slots lie on resources
    :ivar required_traits: traits that a resource must have
    :ivar forbidden_traits: traits that it must not have
    :ivar names: resources of these names have to be among the chosen; only for
        whole resources
    """

    resource_type: str
    minimum: int
    maximum: int
    requirement: Requirement | None = None
    noun: str = 'resources'
    demand: Mapping[str, int] = dataclasses.field(default_factory=dict)
    spread: Spread = Spread.ANY
    required_traits: frozenset[str] = frozenset()
    forbidden_traits: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Needs:
    """What follows from a request, as the methods of its plugin return it.

    :ivar stored: the request as JSON values
    """

    search: Search
    stored: Mapping[str, Any]
    parts: Sequence[Mapping[str, Any]] = ()
    things: Sequence[str] = ()
    makes: str | None = None
    roles: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """The resources that match a search and have room for the whole period.

    :ivar start: start of the wanted period
    :ivar end: end of the wanted period
    :ivar minimum: how many more slots are needed at least; 0 if a change keeps
        enough
    :ivar maximum: how many more are wanted at most
    """

    search: Search
    start: datetime.datetime
    end: datetime.datetime
    minimum: int
    maximum: int
    candidates: tuple[Candidate, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Pick:
    """The slots chosen, at most one share for each candidate."""

    shares: tuple[Share, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class NotEnough:
    """There was no choice that fulfils the request."""

    reason: str
