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

"""The input of effects, and their answers."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any

from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.resources import Resource


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """What an effect is about.

    :ivar allocations: what the reservation is to have, in id order
    :ivar leaving: what it has and is to give up with this change, in addition to
        *allocations*; see :attr:`Done.kept`
    :ivar resources: the resources of both
    :ivar undone: resources that were to come with a change which is being
        undone: whatever the reservation has got of them by now has to go
    :ivar forced: whether what runs on what is left may be taken away
    :ivar parts: the reservations that are parts of this one, see
        :meth:`climate.plugins.contract.Plugin.parts`; they have started
        when it starts, and it has ended when they end
    :ivar now: the instant at which the effect was begun (aware UTC)
    :ivar since: the instant at which it was begun for the first time; *now*
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
    """The cloud is as it should be.

    :ivar facts: what is to be remembered with the reservation; merged into
        what is known, a None removes
    :ivar repaired: what had to be repaired, a line each (``check`` only)
    :ivar kept: slots by resource id that the reservation keeps, if an effect
        gave up others than ``Work.leaving`` says, such as unused
        ones; None if it gave up just those. The number stays the same.
    :ivar steps: what was done by now, for the history of the lease: a line
        each, such as ``image 3f… was made``. Those of the same effect are put
        together, and a line that was said before is kept once: so an effect
        can say all that it finds done each time. No secrets.
    """

    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    repaired: tuple[str, ...] = ()
    kept: Mapping[int, int] | None = None
    steps: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Again:
    """Something is under way: come back after a while.

    :ivar after: how long to wait
    :ivar why: for the log and for people
    :ivar facts: as in :class:`Done`
    :ivar steps: as in :class:`Done`
    :ivar time_limit: how long a start or a change may take in all, from
        ``Work.since``, where that is longer than is waited otherwise
    """

    after: datetime.timedelta
    why: str = ''
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    steps: tuple[str, ...] = ()
    time_limit: datetime.timedelta = datetime.timedelta(0)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Records:
    """What the store knows, for those who compare the cloud with it.

    :ivar alive: ids of the reservations that may have something in the cloud
    :ivar ended: ids of the reservations whose lease is over or deleted
    :ivar resources: every resource of the types asked for
    """

    alive: frozenset[str]
    ended: frozenset[str]
    resources: tuple[Resource, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SweepFinding:
    """Something in the cloud that should not be there, or not be so.

    :ivar what: for people, such as ``aggregate 3f… of a lease that is over``
    :ivar done: what was done about it; '' if nothing was
    """

    what: str
    done: str = ''


Outcome = Done | Again
