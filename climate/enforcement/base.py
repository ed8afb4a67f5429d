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

"""The contract of a filter: what judges leases beyond what is free.

A filter is asked before a lease is booked or changed, and told afterwards
what came of it. It has no database and is handed values. One that asks
something outside of the process says so (:attr:`Filter.waits`): it is then
asked between two transactions and never inside one, and what it is to be told
later is written down, so that it is told whatever dies meanwhile, at least
once, each judge in the order in which things happened to a lease.
"""

from __future__ import annotations

import abc
import dataclasses
import datetime
import enum
from collections.abc import Mapping
from typing import Any
from typing import ClassVar

from climate.domain.charges import Charge
from climate.domain.charges import ChargeState
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.resources import Resource


class Action(enum.StrEnum):
    """What somebody wants to do."""

    CREATE = 'create'
    UPDATE = 'update'


class Ending(enum.StrEnum):
    """Why a lease is over."""

    ENDED = 'ended'
    DELETED = 'deleted'
    START_FAILED = 'start_failed'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """A lease with what it has, or would have.

    :ivar resources: those of the allocations
    :ivar descriptions: what the plugins say of the reservations, by id
    """

    lease: Lease
    allocations: tuple[Allocation, ...] = ()
    resources: tuple[Resource, ...] = ()
    descriptions: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """Something that somebody wants, and that can be had.

    :ivar id: by which filters are told later what came of it
    :ivar user_id: who wants it
    :ivar now: the instant (aware UTC)
    :ivar terms: the lease as it would be
    :ivar current: the lease as it is; None for a new one
    :ivar undone: that it was allowed and booked, but undone since; the terms
        are then those of the lease as it is again
    """

    id: str
    action: Action
    user_id: str
    now: datetime.datetime
    terms: Terms
    current: Terms | None = None
    undone: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class End:
    """A lease that is over.

    :ivar ended_at: until when it could be used (aware UTC)
    :ivar used: for how long it could be used
    """

    id: str
    terms: Terms
    ending: Ending
    ended_at: datetime.datetime
    used: datetime.timedelta


class Filter(abc.ABC):
    """One judge.

    :cvar waits: whether it waits for something outside of the process
    """

    waits: ClassVar[bool] = False

    @classmethod
    @abc.abstractmethod
    def from_conf(cls, conf: Any) -> Filter:
        """Return the filter as *conf* (an oslo.config ConfigOpts) wants it.

        :raises ValueError: if it cannot be used like that
        """

    @property
    def hears(self) -> frozenset[ChargeState]:
        """What it wants to be told afterwards; nothing unless it waits."""
        return frozenset()

    @property
    def patience(self) -> float:
        """The longest that a check takes, in seconds."""
        return 0.0

    @abc.abstractmethod
    def check_create(self, question: Question) -> None:
        """Judge a new lease.

        :raises climate.exceptions.LimitExceeded: if it is refused
        """

    @abc.abstractmethod
    def check_update(self, question: Question) -> None:
        """Judge a change of a lease.

        :raises climate.exceptions.LimitExceeded: if it is refused
        """

    def note(self, question: Question) -> Mapping[str, Any]:
        """Return what has to be known of a question later, as JSON values."""
        return {}

    def note_end(self, end: End) -> Mapping[str, Any]:
        """Return what has to be known of an end, as JSON values."""
        return {}

    def tell(self, charge: Charge) -> None:
        """Take note of what came of a question, or of an end.

        Called again until it returns, so the same may be told twice.

        :raises climate.exceptions.Transient: to be told again later
        """
        raise NotImplementedError(f'{type(self).__name__} hears of nothing')
