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

"""What operators configure of ``virtual:stack``."""

from __future__ import annotations

import dataclasses
import datetime

from climate.conf.settings import option
from climate.conf.settings import seconds
from climate.conf.settings import Settings


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StackSettings(Settings):
    """What operators configure.

    :ivar longest: bytes that what a stack is made of may have
    :ivar create: how long the making of a stack may take
    :ivar snapshot: how long a snapshot may take
    :ivar action: how long anything else may take
    :ivar poll: longest time between two looks
    :ivar roles: that users delegate for a stack to be made
    :ivar guarantee: what room is booked for: ``servers``, ``volumes``,
        ``floating_ips``
    """

    longest: int = option('virtual:stack', 'max_template_bytes')
    create: datetime.timedelta = option('virtual:stack', 'create_timeout', seconds)
    snapshot: datetime.timedelta = option('virtual:stack', 'snapshot_timeout', seconds)
    action: datetime.timedelta = option('virtual:stack', 'action_timeout', seconds)
    poll: datetime.timedelta = option('virtual:stack', 'poll', seconds)
    roles: frozenset[str] = option('trusts', 'roles', frozenset)
    guarantee: frozenset[str] = option('virtual:stack', 'guarantee', frozenset)
