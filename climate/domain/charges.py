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

"""What is to be told to whoever judges leases, such as a service that charges."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections.abc import Mapping
from typing import Any


class ChargeState(enum.StrEnum):
    """What a charge waits for.

    ``asked``: the judge was asked, or is about to be, and nobody knows yet
    whether the lease comes of it; ``commit``: to be told that it did;
    ``release``: to be told that it did not, or was undone; ``end``: to be told
    that the lease is over.
    """

    ASKED = 'asked'
    COMMIT = 'commit'
    RELEASE = 'release'
    END = 'end'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Charge:
    """One message to one judge.

    :ivar charge_id: the same in the question and in what is told of it later
    :ivar judge: name of the filter that is told
    :ivar payload: the body of the question, JSON
    :ivar due: when it is to be told; of one that was asked, when it is taken
        back unless it was decided (aware UTC)
    :ivar seq: the place in the order of writing; None before it was written
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
