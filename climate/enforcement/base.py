# SPDX-License-Identifier: Apache-2.0

"""The interface of filters, which check leases by more than availability.

A filter checks a lease before it is booked or changed, and is notified of the
outcome afterwards. It receives values and has no access to the database. A
filter that queries another service sets :attr:`Filter.waits`: it then runs
between two transactions, never inside one. Its notifications are stored: each is
delivered at least once, even if a process dies, and a filter receives those of a
lease in the order of its changes.
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
    """The action that a filter checks."""

    CREATE = 'create'
    UPDATE = 'update'


class Ending(enum.StrEnum):
    """Why a lease has ended."""

    ENDED = 'ended'
    DELETED = 'deleted'
    START_FAILED = 'start_failed'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class AllocatedLease:
    """A lease with its present or proposed allocations.

    :ivar resources: those of the allocations
    :ivar descriptions: descriptions of the reservations by their plugins, by id
    """

    lease: Lease
    allocations: tuple[Allocation, ...] = ()
    resources: tuple[Resource, ...] = ()
    descriptions: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class FilterQuestion:
    """A request that can be met if the filters allow it.

    :ivar id: identifies the question in the notification of its outcome
    :ivar user_id: the user who requests it
    :ivar now: the instant (aware UTC)
    :ivar terms: the proposed lease
    :ivar current: the present lease; None for a new one
    :ivar undone: whether the change was allowed and booked, then undone; the
        terms are then those of the restored lease
    """

    id: str
    action: Action
    user_id: str
    now: datetime.datetime
    terms: AllocatedLease
    current: AllocatedLease | None = None
    undone: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class End:
    """A lease that has ended.

    :ivar ended_at: when it ceased to be usable (aware UTC)
    :ivar used: how long it was usable
    """

    id: str
    terms: AllocatedLease
    ending: Ending
    ended_at: datetime.datetime
    used: datetime.timedelta


class Filter(abc.ABC):
    """The base class of filters.

    :cvar waits: whether it waits for something outside the process
    """

    waits: ClassVar[bool] = False

    @classmethod
    @abc.abstractmethod
    def from_conf(cls, conf: Any) -> Filter:
        """Return the filter that *conf* (an oslo.config ConfigOpts) configures.

        :raises ValueError: if the configuration is not valid
        """

    @property
    def notified_of(self) -> frozenset[ChargeState]:
        """The states of which it is notified; none unless it waits."""
        return frozenset()

    @property
    def longest_check(self) -> float:
        """The maximum duration of a check, in seconds."""
        return 0.0

    @abc.abstractmethod
    def check_create(self, question: FilterQuestion) -> None:
        """Check a new lease.

        :raises climate.exceptions.LimitExceeded: if it is refused
        """

    @abc.abstractmethod
    def check_update(self, question: FilterQuestion) -> None:
        """Check a change of a lease.

        :raises climate.exceptions.LimitExceeded: if it is refused
        """

    def note(self, question: FilterQuestion) -> Mapping[str, Any]:
        """Return the data of a question for later notifications, as JSON values."""
        return {}

    def note_end(self, end: End) -> Mapping[str, Any]:
        """Return the data of an end for its notification, as JSON values."""
        return {}

    def notify(self, charge: Charge) -> None:
        """Receive the outcome of a question, or the end of a lease.

        Called again until it returns, so the same notification can arrive twice.

        :raises climate.exceptions.Transient: to be notified again later
        """
        raise NotImplementedError(f'{type(self).__name__} does not receive notifications')
