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

"""What operators configure of leasing, as one value."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any

from climate.domain.health import HealActive
from climate.enforcement.limits import ProjectLimits


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LeasingSettings:
    """The options that decide which events a lease gets and how it is booked.

    :ivar cleaning_time: pause between two leases of one resource
    :ivar sample_size: free resources weighed beyond those needed
    :ivar booking_attempts: choices made before giving up a lost race
    :ivar notify_before_start: seconds before the start at which to tell
    :ivar notify_before_end: time before the end at which to tell; zero for never
    :ivar prepare_lead_time: how long before the start to prepare; zero for never
    :ivar check_interval: pause between two checks of an active lease; zero for never
    :ivar effect_deadline: how long a failing effect is tried again
    :ivar retry_first_pause: seconds after the first failure
    :ivar retry_longest_pause: seconds after many failures
    :ivar handover_pause: pause between two looks at what a start waits for
    :ivar handover_patience: how long a start waits for the lease before until
        it is moved to other resources
    :ivar heal_active: which reservations in use are moved off what is out
    :ivar limits: what projects may have
    :ivar trust_margin: how long after the end of a lease its trust expires
    :ivar heal_horizon: how far ahead what is promised on a resource that has
        failed is looked after; None without limit
    """

    cleaning_time: datetime.timedelta = datetime.timedelta(0)
    sample_size: int = 128
    booking_attempts: int = 20
    notify_before_start: tuple[int, ...] = (3600, 300, 60)
    notify_before_end: datetime.timedelta = datetime.timedelta(hours=1)
    prepare_lead_time: datetime.timedelta = datetime.timedelta(seconds=60)
    check_interval: datetime.timedelta = datetime.timedelta(seconds=300)
    effect_deadline: datetime.timedelta = datetime.timedelta(seconds=600)
    retry_first_pause: float = 1.0
    retry_longest_pause: float = 10.0
    handover_pause: datetime.timedelta = datetime.timedelta(seconds=0.25)
    handover_patience: datetime.timedelta = datetime.timedelta(seconds=60)
    heal_active: HealActive = HealActive.EMPTY
    heal_horizon: datetime.timedelta | None = datetime.timedelta(days=1)
    limits: ProjectLimits = dataclasses.field(default_factory=ProjectLimits)
    trust_margin: datetime.timedelta = datetime.timedelta(days=30)

    @classmethod
    def from_conf(cls, conf: Any) -> LeasingSettings:
        """Return the settings that *conf* (an oslo.config ConfigOpts) holds."""
        manager = conf.manager
        horizon = datetime.timedelta(seconds=conf.health.heal_horizon)
        return cls(
            cleaning_time=datetime.timedelta(seconds=conf.allocation.cleaning_time),
            sample_size=conf.allocation.sample_size,
            booking_attempts=conf.allocation.booking_attempts,
            notify_before_start=tuple(manager.notify_before_start),
            notify_before_end=datetime.timedelta(minutes=manager.minutes_before_end_lease),
            prepare_lead_time=datetime.timedelta(seconds=manager.prepare_lead_time),
            check_interval=datetime.timedelta(seconds=manager.check_interval),
            effect_deadline=datetime.timedelta(seconds=manager.effect_deadline),
            retry_first_pause=manager.retry_first_pause,
            retry_longest_pause=manager.retry_longest_pause,
            handover_pause=datetime.timedelta(seconds=manager.handover_pause),
            handover_patience=datetime.timedelta(seconds=manager.handover_patience),
            heal_active=HealActive(conf.health.heal_active),
            heal_horizon=horizon or None,
            limits=ProjectLimits.from_conf(conf),
            trust_margin=datetime.timedelta(seconds=conf.trusts.margin),
        )
