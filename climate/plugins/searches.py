# SPDX-License-Identifier: Apache-2.0

"""The search of a request, the candidates that it finds, and the choice among them."""

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
    """The resources that a request can use, and the number of slots that it needs.

    :ivar resource_type: the type of the resources; it can differ from that of the plugin
    :ivar minimum: the smallest number of slots
    :ivar maximum: the largest number of slots
    :ivar requirement: the requirement on a resource; None if any will do
    :ivar noun: the name of the resources in an error, such as ``hosts``
    :ivar demand: units by resource class that a slot takes; empty if a slot is
        a whole resource
    :ivar spread: how the slots are distributed over resources
    :ivar required_traits: traits that a resource must have
    :ivar forbidden_traits: traits that it must not have
    :ivar names: names of resources that must be among the chosen; only for
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

    @classmethod
    def named(cls, resource_type: str, names: Sequence[str], noun: str) -> Search:
        """Return the search for some resources, which no other lease can have meanwhile."""
        amount = len(names)
        return cls(
            resource_type=resource_type,
            minimum=amount,
            maximum=amount,
            names=tuple(names),
            noun=noun,
        )

    def at_most(self, slots: int) -> Search:
        """Return this search for no more than a number of slots, but all names."""
        most = max(slots, len(self.names))
        return dataclasses.replace(
            self, minimum=min(self.minimum, most), maximum=min(self.maximum, most)
        )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Needs:
    """The requirements for booking a request, as the methods of its plugin return them.

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

    :ivar start: start of the requested period
    :ivar end: end of the requested period
    :ivar minimum: the smallest number of additional slots; 0 if a change keeps
        enough
    :ivar maximum: the largest number of additional slots
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
    """No choice of candidates fulfils the request."""

    reason: str
