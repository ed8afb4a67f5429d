# SPDX-License-Identifier: Apache-2.0

"""The payloads of events: frozen values, one class for each kind of payload.

:mod:`climate.db.leases.events` stores them.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any
from typing import Final

_NOTHING: Final = datetime.timedelta(0)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Payload:
    """The payload of an event that needs no facts."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class AnnouncementPayload(Payload):
    """The payload of an announcement of a start.

    :ivar seconds_to_start: from the announcement to the start
    :ivar at_once: whether it was already due when it was created, because the
        resources need more time to get ready than is left
    """

    seconds_to_start: int = 0
    at_once: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class EffectPayload(Payload):
    """The payload of an event with effects.

    :ivar tried: how long managers have tried it, or have waited for its turn
    :ivar tried_until: the instant up to which *tried* is counted (aware UTC)
    :ivar tried_when_well: *tried* when it was last under way without a failure
    :ivar wait_notified: whether the owner was notified that it has to wait
    :ivar failure_notified: whether the owner was notified that it keeps failing
    """

    tried: datetime.timedelta = _NOTHING
    tried_until: datetime.datetime | None = None
    tried_when_well: datetime.timedelta = _NOTHING
    wait_notified: bool = False
    failure_notified: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class EndPayload(EffectPayload):
    """The payload of an end or a deletion.

    :ivar forced: whether an operator forces the end despite failures
    """

    forced: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Move:
    """Resources that replace one that a reservation gives up.

    :ivar left: name of the resource that it gives up
    :ivar came: names of those that replace it
    :ivar reason: for people
    """

    reservation_id: str
    left: str
    came: tuple[str, ...]
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ChangePayload(EffectPayload):
    """The payload of a change of a running lease: all that making or undoing it needs.

    :ivar added: ids of the allocations that the change added, by reservation id
    :ivar removed: amounts that the lease gives up, by allocation id, by reservation id
    :ivar before: the requests that were changed, without their secrets, by reservation id
    :ivar charge_id: of the question with which filters allowed the change
    :ivar moves: the resources to replace, if the change moves reservations
    :ivar forced: whether a move may take away what runs on the resources
    :ivar undoing: whether the change is being undone
    """

    added: Mapping[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)
    removed: Mapping[str, Mapping[int, int]] = dataclasses.field(default_factory=dict)
    before: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    charge_id: str | None = None
    moves: tuple[Move, ...] = ()
    forced: bool = False
    undoing: bool = False
