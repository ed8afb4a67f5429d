# SPDX-License-Identifier: Apache-2.0

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
