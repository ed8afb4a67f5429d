# SPDX-License-Identifier: Apache-2.0

"""Notifications for filters that check leases, such as a service that charges."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections.abc import Mapping
from typing import Any


class ChargeState(enum.StrEnum):
    """What a charge waits for.

    ``asked``: the filter has received the question, or is about to, and the
    outcome is not known yet. The others await a notification: ``commit`` that
    the lease was booked, ``release`` that it was not or was undone, ``end``
    that the lease has ended.
    """

    ASKED = 'asked'
    COMMIT = 'commit'
    RELEASE = 'release'
    END = 'end'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Charge:
    """One message to one filter.

    :ivar charge_id: the same in a question and in the notification of its outcome
    :ivar filter_name: name of the filter
    :ivar payload: the body of the question, JSON
    :ivar due: when to send the notification; in the state ``asked``, when an
        undecided question expires (aware UTC)
    :ivar seq: the position in the order of writing; None before it is written
    """

    charge_id: str
    filter_name: str
    lease_id: str
    state: ChargeState
    payload: Mapping[str, Any]
    due: datetime.datetime
    attempts: int = 0
    error: str | None = None
    seq: int | None = None
    created_at: datetime.datetime | None = None
