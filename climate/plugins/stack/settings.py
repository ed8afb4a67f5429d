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

"""The configuration of ``virtual:stack``."""

from __future__ import annotations

import dataclasses
import datetime

from climate.conf.settings import option
from climate.conf.settings import seconds
from climate.conf.settings import Settings


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StackSettings(Settings):
    """The configuration of the type.

    :ivar longest: maximum size of the ingredients of a stack, in bytes
    :ivar create: how long the creation of a stack may take
    :ivar snapshot: how long a snapshot may take
    :ivar action: how long any other action may take
    :ivar poll: longest interval between two checks
    :ivar roles: the roles that users delegate for the creation of a stack
    :ivar guarantee: the contents for which room is booked: ``servers``, ``volumes``,
        ``floating_ips``
    """

    longest: int = option('virtual:stack', 'max_template_bytes')
    create: datetime.timedelta = option('virtual:stack', 'create_timeout', seconds)
    snapshot: datetime.timedelta = option('virtual:stack', 'snapshot_timeout', seconds)
    action: datetime.timedelta = option('virtual:stack', 'action_timeout', seconds)
    poll: datetime.timedelta = option('virtual:stack', 'poll', seconds)
    roles: frozenset[str] = option('trusts', 'roles', frozenset)
    guarantee: frozenset[str] = option('virtual:stack', 'guarantee', frozenset)
