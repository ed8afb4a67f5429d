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
from typing import Any


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StackSettings:
    """What operators configure.

    :ivar longest: bytes that what a stack is made of may have
    :ivar create: how long the making of a stack may take
    :ivar snapshot: how long a snapshot may take
    :ivar action: how long anything else may take
    :ivar poll: longest time between two looks
    :ivar roles: that users hand on for a stack to be made
    :ivar guarantee: what room is booked for: ``servers``, ``volumes``,
        ``floating_ips``
    """

    longest: int = 524288
    create: datetime.timedelta = datetime.timedelta(hours=1)
    snapshot: datetime.timedelta = datetime.timedelta(hours=1)
    action: datetime.timedelta = datetime.timedelta(minutes=30)
    poll: datetime.timedelta = datetime.timedelta(seconds=10)
    roles: frozenset[str] = frozenset({'member', 'reader'})
    guarantee: frozenset[str] = frozenset({'servers'})

    @classmethod
    def from_conf(cls, conf: Any) -> StackSettings:
        """Return what *conf* (an oslo.config ConfigOpts) says."""
        group = conf['virtual:stack']
        return cls(
            longest=group.max_template_bytes,
            create=datetime.timedelta(seconds=group.create_timeout),
            snapshot=datetime.timedelta(seconds=group.snapshot_timeout),
            action=datetime.timedelta(seconds=group.action_timeout),
            poll=datetime.timedelta(seconds=group.poll),
            roles=frozenset(conf.trusts.roles),
            guarantee=frozenset(group.guarantee),
        )
