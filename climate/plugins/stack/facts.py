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

"""The facts that Climate records for a reservation of a stack."""

from __future__ import annotations

import dataclasses

from climate.domain.facts import Facts


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StackFacts(Facts):
    """The facts of a reservation of a stack.

    :ivar stack_id: the id in Heat of a stack that the lease created
    :ivar before: the state of an existing stack before its lease, ``running`` or
        ``suspended``
    :ivar started: whether its start is complete
    :ivar over: whether all actions of its end are complete
    :ivar snapshot_id: the id in Heat of the latest snapshot
    """

    stack_id: str | None = None
    before: str | None = None
    started: bool = False
    over: bool = False
    snapshot_id: str | None = None
