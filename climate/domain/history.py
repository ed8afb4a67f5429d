# SPDX-License-Identifier: Apache-2.0
"""The history of a lease: what its effects did, for its owner."""

from __future__ import annotations

import dataclasses
import datetime
import enum

from climate.domain.events import Event
from climate.domain.leases import Lease


class Effect(enum.StrEnum):
    """The purpose of an effect in the cloud."""

    PREPARE = 'prepare'
    START = 'start'
    UPDATE = 'update'
    CHECK = 'check'
    BEFORE_END = 'before_end'
    END = 'end'
    UNDO = 'undo'


class StepState(enum.StrEnum):
    """The outcome of an effect.

    ``waiting``: an operation is under way in the cloud; ``failed``: the last
    attempt failed, and another one follows if the event is still awaited;
    ``undone``: the effect was reversed.
    """

    DONE = 'done'
    WAITING = 'waiting'
    FAILED = 'failed'
    UNDONE = 'undone'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One action of an effect, in words.

    :ivar at: when it was recorded (aware UTC)
    """

    at: datetime.datetime
    text: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class HistoryStep:
    """One effect on one reservation, with all its attempts.

    :ivar event_id: the event that ran it
    :ivar reservation_id: None if it concerned the lease as a whole
    :ivar resource_type: of the reservation; None likewise
    :ivar attempts: how often it ran
    :ivar waiting_for: the operation under way; None if there is none
    :ivar error: why it last failed, even if it succeeded later
    :ivar lines: its actions, oldest first
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
class DeletedObject:
    """An object of a user that Climate has deleted, or is about to.

    :ivar lease_id: the lease for which it was deleted; '' if none is known
    :ivar event: the kind of the event that deleted it; '' for a repair
    :ivar object_type: such as ``server``
    :ivar object_id: its id in the cloud
    :ivar project_id: the project that owned it, not always that of the lease; '' if unknown
    :ivar host: the host on which it ran; '' for none
    :ivar at: when the request was sent for the first time (aware UTC)
    """

    lease_id: str
    reservation_id: str | None
    event_id: str | None
    event: str
    object_type: str
    object_id: str
    name: str
    project_id: str
    host: str
    reason: str
    at: datetime.datetime


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class EvictedServer:
    """A server of another project on a resource of a lease that has not started.

    :ivar user_id: the user who created it
    :ivar host: where it runs
    """

    id: str
    name: str
    project_id: str
    user_id: str
    host: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class History:
    """The past and pending operations of a lease in the cloud.

    :ivar steps: in the order in which they began
    :ivar awaited: in the order in which they are due
    """

    lease: Lease
    steps: tuple[HistoryStep, ...]
    awaited: tuple[Event, ...]
