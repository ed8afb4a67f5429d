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
"""What the effects of a lease did, for its owner."""

from __future__ import annotations

import dataclasses
import datetime
import enum

from climate.domain.events import Event
from climate.domain.leases import Lease


class Effect(enum.StrEnum):
    """What was to be done in the cloud."""

    PREPARE = 'prepare'
    START = 'start'
    UPDATE = 'update'
    CHECK = 'check'
    BEFORE_END = 'before_end'
    END = 'end'
    UNDO = 'undo'


class StepState(enum.StrEnum):
    """What came of it.

    ``waiting``: something is under way in the cloud; ``failed``: the last
    attempt failed, and another one comes if the event is still awaited;
    ``undone``: whatever it did was taken back.
    """

    DONE = 'done'
    WAITING = 'waiting'
    FAILED = 'failed'
    UNDONE = 'undone'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One thing that an effect did, for people.

    :ivar at: when it was said (aware UTC)
    """

    at: datetime.datetime
    text: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class HistoryStep:
    """One effect on one reservation, with all its attempts.

    :ivar event_id: the event that it was for
    :ivar reservation_id: None if it was about the lease as a whole
    :ivar resource_type: of the reservation; None likewise
    :ivar attempts: how often it was run
    :ivar waiting_for: what is under way; None if nothing is
    :ivar error: why it failed last, also if it was done later
    :ivar lines: what it did, oldest first
    """

    lease_id: str
    event_id: str
    reservation_id: str | None
    resource_type: str | None
    effect: Effect
    state: StepState
    first_at: datetime.datetime
    last_at: datetime.datetime
    attempts: int = 1
    waiting_for: str | None = None
    error: str | None = None
    lines: tuple[Line, ...] = ()
    id: int | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class History:
    """What happened to a lease in the cloud, and what is still to happen.

    :ivar steps: in the order in which they were begun
    :ivar awaited: in the order in which they are due
    """

    lease: Lease
    steps: tuple[HistoryStep, ...]
    awaited: tuple[Event, ...]
