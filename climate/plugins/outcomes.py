# SPDX-License-Identifier: Apache-2.0

"""The input and the outcomes of effects."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any

from climate.domain.history import EvictedServer
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.resources import Resource
from climate.exceptions import texts


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """The input of an effect.

    :ivar allocations: the allocations that the reservation should have, in id order
    :ivar leaving: allocations that it has and loses with this change, in addition to
        *allocations*; see :attr:`Done.kept`
    :ivar resources: the resources of both
    :ivar undone: resources that a change was to add and that its undoing must
        remove, as far as the reservation has them by now
    :ivar forced: whether servers on the resources that it loses may be deleted
    :ivar parts: the reservations that are parts of this one, see
        :meth:`climate.plugins.contract.Plugin.parts`; they start before it and
        end after it
    :ivar now: the instant at which the effect began (aware UTC)
    :ivar since: the instant at which it began for the first time; *now*
        unless it was tried before, or had to wait
    """

    lease: Lease
    reservation: Reservation
    allocations: tuple[Allocation, ...]
    resources: tuple[Resource, ...]
    now: datetime.datetime
    since: datetime.datetime
    leaving: tuple[Allocation, ...] = ()
    undone: tuple[Resource, ...] = ()
    forced: bool = False
    parts: tuple[Work, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """The cloud is in the desired state.

    :ivar facts: changes of the facts of the reservation; a None removes a fact
    :ivar repaired: descriptions of the repairs, a line each (``check`` only)
    :ivar evicts: servers of other projects that the start will delete (``prepare`` only)
    :ivar kept: slots by resource id that the reservation keeps, if an effect
        released others than those in ``Work.leaving``, such as unused ones;
        None if it released just those. The number stays the same.
    :ivar steps: steps completed so far, for the history of the lease: a line
        each, such as ``image 3f… was made``. The history joins the steps of all
        attempts of an effect and drops repeated lines, so an effect can report
        everything that it finds done each time. No secrets.
    """

    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    repaired: tuple[str, ...] = ()
    evicts: tuple[EvictedServer, ...] = ()
    kept: Mapping[int, int] | None = None
    steps: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Clean the texts, which may quote another service."""
        if self.repaired or self.steps:
            object.__setattr__(self, 'repaired', tuple(map(texts.clean, self.repaired)))
            object.__setattr__(self, 'steps', tuple(map(texts.clean, self.steps)))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Again:
    """An operation is in progress: repeat the effect after a while.

    :ivar after: how long to wait
    :ivar why: the reason, for the log and for operators
    :ivar facts: as in :class:`Done`
    :ivar steps: as in :class:`Done`
    :ivar time_limit: how long a start or a change may take in total, from
        ``Work.since``, where that is longer than the usual limit
    """

    after: datetime.timedelta
    why: str = ''
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    steps: tuple[str, ...] = ()
    time_limit: datetime.timedelta = datetime.timedelta(0)

    def __post_init__(self) -> None:
        """Clean the texts, which may quote another service."""
        object.__setattr__(self, 'why', texts.clean(self.why))
        if self.steps:
            object.__setattr__(self, 'steps', tuple(map(texts.clean, self.steps)))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Records:
    """The reservations and resources in the database, to compare the cloud with.

    :ivar alive: ids of the reservations that may have objects in the cloud
    :ivar ended: ids of the reservations whose lease has ended or is deleted
    :ivar resources: all resources of the requested types
    """

    alive: frozenset[str]
    ended: frozenset[str]
    resources: tuple[Resource, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SweepFinding:
    """An object in the cloud that should not exist, or should be different.

    :ivar what: a description, such as ``aggregate 3f… of a lease that is over``
    :ivar done: what was done about it; '' if nothing was
    """

    what: str
    done: str = ''

    def __post_init__(self) -> None:
        """Clean the description, which may quote another service."""
        object.__setattr__(self, 'what', texts.clean(self.what))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Reported:
    """How the cloud has a registered resource now.

    :ivar known: the resource as it is registered
    :ivar now: the resource as the cloud reports it; None if it does not have it
    :ivar trouble: why leases cannot use it, whatever its capacity; '' if they can
    :ivar taken: what others have made of it, which is in the way unless a lease has it now:
        then it may be what the lease had made, and its checks handle it
    :ivar works: whether the cloud says that it is in order
    """

    known: Resource
    now: Resource | None = None
    trouble: str = ''
    taken: str = ''
    works: bool = True


Outcome = Done | Again
