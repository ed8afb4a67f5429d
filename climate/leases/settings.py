# SPDX-License-Identifier: Apache-2.0

"""The options of leasing, as one value."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable

from climate.conf.planner import Displace
from climate.conf.settings import days
from climate.conf.settings import minutes
from climate.conf.settings import option
from climate.conf.settings import part
from climate.conf.settings import seconds
from climate.conf.settings import Settings
from climate.domain.budgets import BudgetLimits
from climate.domain.health import HealActive
from climate.enforcement.limits import ProjectLimits
from climate.leases.prices import Prices


def _pairs(value: Iterable[str]) -> tuple[tuple[str, int], ...]:
    found = (item.split('=') for item in value)
    return tuple((name, int(number)) for name, number in found)


def _horizon(value: float) -> datetime.timedelta | None:
    return seconds(value) or None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LeasingSettings(Settings):
    """The options that decide which events a lease gets and how it is booked.

    :ivar cleaning_time: pause between two leases of one resource
    :ivar sample_size: free resources to compare in addition to those needed
    :ivar booking_attempts: how often to choose before giving up a lost race
    :ivar processor_seconds: the processor time of a request
    :ivar transaction_seconds: the time of a request in transactions
    :ivar conditions: how many conditions the requirements of a request have together
    :ivar offer_lifetime: how long an offer can be taken
    :ivar max_hold: the longest time for which an offer is held; zero for never
    :ivar notify_before_start: seconds before the start at which to announce it
    :ivar notify_before_end: time before the end at which to warn; zero for never
    :ivar prepare_lead_time: how long before the start to prepare; zero for never
    :ivar check_interval: pause between two checks of an active lease; zero for never
    :ivar effect_deadline: how long a failing effect is tried again
    :ivar retry_first_pause: seconds after the first failure
    :ivar retry_longest_pause: seconds after many failures
    :ivar handover_pause: pause between two checks of what a start waits for
    :ivar handover_patience: how long a start waits for the previous lease before
        it moves to other resources
    :ivar heal_active: which active reservations move off resources that are out of
        service
    :ivar limits: the limits of projects
    :ivar prices: by which offers can be compared
    :ivar trust_margin: how long after the end of a lease its trust expires
    :ivar heal_horizon: how far ahead bookings of a failed resource move; None for
        no limit
    :ivar firm_before: how long before its start a flexible lease stops moving
    :ivar displace: whether leases with a fixed start may take the place of flexible ones
    :ivar yield_notice: how long before it has to yield the owner of a preemptible lease is notified
    :ivar yield_seconds: how long it takes until it has given up a reservation, by resource type;
        it is learnt for those that are not there
    :ivar yield_samples: from how many of the last that have yielded
    :ivar yield_quantile: which part of them must not have taken longer
    :ivar rebind: whether leases that are not firm may get other resources for the sake of others
    :ivar plan_horizon: how far ahead a flexible lease without a latest end can be booked
    :ivar shortest_slice: the shortest slice of a preemptible lease without one of its own
    """

    cleaning_time: datetime.timedelta = option('allocation', 'cleaning_time', seconds)
    sample_size: int = option('allocation', 'sample_size')
    booking_attempts: int = option('allocation', 'booking_attempts')
    processor_seconds: float = option('allocation', 'request_processor_seconds')
    transaction_seconds: float = option('allocation', 'request_transaction_seconds')
    conditions: int = option('allocation', 'request_conditions')
    offer_lifetime: datetime.timedelta = option('allocation', 'offer_lifetime', seconds)
    max_hold: datetime.timedelta = option('allocation', 'max_hold', seconds)
    notify_before_start: tuple[int, ...] = option('manager', 'notify_before_start', tuple)
    notify_before_end: datetime.timedelta = option('manager', 'minutes_before_end_lease', minutes)
    prepare_lead_time: datetime.timedelta = option('manager', 'prepare_lead_time', seconds)
    check_interval: datetime.timedelta = option('manager', 'check_interval', seconds)
    effect_deadline: datetime.timedelta = option('manager', 'effect_deadline', seconds)
    retry_first_pause: float = option('manager', 'retry_first_pause')
    retry_longest_pause: float = option('manager', 'retry_longest_pause')
    handover_pause: datetime.timedelta = option('manager', 'handover_pause', seconds)
    handover_patience: datetime.timedelta = option('manager', 'handover_patience', seconds)
    heal_active: HealActive = option('health', 'heal_active', HealActive)
    heal_horizon: datetime.timedelta | None = option('health', 'heal_horizon', _horizon)
    firm_before: datetime.timedelta = option('planner', 'firm_before', seconds)
    displace: Displace = option('planner', 'displace', Displace)
    yield_notice: datetime.timedelta = option('planner', 'yield_notice', seconds)
    yield_seconds: tuple[tuple[str, int], ...] = option('planner', 'yield_seconds', _pairs)
    yield_samples: int = option('planner', 'yield_samples')
    yield_quantile: float = option('planner', 'yield_quantile')
    rebind: bool = option('planner', 'rebind')
    plan_horizon: datetime.timedelta = option('planner', 'horizon', days)
    shortest_slice: datetime.timedelta = option('planner', 'min_duration', seconds)
    limits: ProjectLimits = part(ProjectLimits)
    prices: Prices = part(Prices)
    trust_margin: datetime.timedelta = option('trusts', 'margin', seconds)

    @property
    def budget(self) -> BudgetLimits:
        """What one request may cost."""
        return BudgetLimits(
            processor_seconds=self.processor_seconds,
            transaction_seconds=self.transaction_seconds,
            conditions=self.conditions,
        )
