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

"""Notifications for filters that judge leases, such as a service that charges."""

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
    :ivar judge: name of the filter
    :ivar payload: the body of the question, JSON
    :ivar due: when to send the notification; in the state ``asked``, when an
        undecided question expires (aware UTC)
    :ivar seq: the position in the order of writing; None before it is written
    """

    charge_id: str
    judge: str
    lease_id: str
    state: ChargeState
    payload: Mapping[str, Any]
    due: datetime.datetime
    attempts: int = 0
    error: str | None = None
    seq: int | None = None
    created_at: datetime.datetime | None = None
