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

"""What is remembered with a reservation of a stack."""

from __future__ import annotations

import dataclasses

from climate.domain.facts import Facts


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StackFacts(Facts):
    """The facts of a reservation of a stack.

    :ivar stack_id: Heat's id of a stack that was made
    :ivar before: what a stack that exists was before its lease, ``running`` or
        ``suspended``
    :ivar started: whether it has run for the lease
    :ivar over: whether all actions of its end are done
    :ivar snapshot_id: Heat's id of the latest snapshot
    """

    stack_id: str | None = None
    before: str | None = None
    started: bool = False
    over: bool = False
    snapshot_id: str | None = None
