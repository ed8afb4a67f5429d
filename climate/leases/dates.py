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

"""What a change makes of the dates and words of a lease: pure checks."""

from __future__ import annotations

import dataclasses
import datetime

from climate import exceptions
from climate.domain import periods
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.periods import Period
from climate.domain.requests import LeaseChange
from climate.domain.requests import UNSET


def only_words(change: LeaseChange) -> bool:
    """Whether a change is only of words, which can change in any state of the lease."""
    return (
        change.start is None
        and change.end is None
        and change.before_end_date is UNSET
        and change.notify_before_start is UNSET
        and not change.reservations
    )


def with_words(lease: Lease, change: LeaseChange) -> Lease:
    """Return *lease* with the words of *change*: its name, and its notices."""
    return dataclasses.replace(
        lease,
        name=lease.name if change.name is None else change.name,
        notices=lease.notices if change.notices is UNSET else change.notices,
    )


def changed(lease: Lease, change: LeaseChange, now: datetime.datetime) -> Lease:
    """Return *lease* with the words and dates of *change*.

    :raises climate.exceptions.InvalidInput: with the text clients expect
    :raises climate.exceptions.OutsideLease: if an event lies outside the lease
    """
    period = changed_period(lease, change, now)
    return dataclasses.replace(
        with_words(lease, change),
        period=period,
        # Readiness was reported for the former start.
        readiness=lease.readiness if period.start == lease.period.start else None,
        before_end_date=changed_before_end(lease, change, period),
        notify_before_start=(
            lease.notify_before_start
            if change.notify_before_start is UNSET
            else change.notify_before_start
        ),
    )


def changed_period(lease: Lease, change: LeaseChange, now: datetime.datetime) -> Period:
    """Return the period that *change* gives *lease*.

    :raises climate.exceptions.InvalidInput: with the text clients expect
    """
    start, end = change.start or lease.period.start, change.end or lease.period.end
    # A client that speaks in minutes says the same dates without their seconds.
    if start == periods.floored(lease.period.start, change.grain):
        start = lease.period.start
    if end == periods.floored(lease.period.end, change.grain):
        end = lease.period.end
    today = periods.floored(change.asked_at or now, change.grain)
    started = lease.status is not LeaseStatus.PENDING
    if start != lease.period.start:
        if started:
            raise exceptions.InvalidInput('Cannot modify the start date of already started leases')
        if start < today:
            raise exceptions.InvalidInput('Start date must be later than current date')
    if end != lease.period.end and (end < today or end < start):
        raise exceptions.InvalidInput('End date must be later than current and start date')
    if started and end <= now and end != lease.period.end:
        # "Until now" from a client that speaks in minutes.
        end = now
    if end <= start:
        raise exceptions.InvalidPeriod
    return Period(start=start, end=end)


def changed_before_end(
    lease: Lease, change: LeaseChange, period: Period
) -> datetime.datetime | None:
    """Return when to notify the user of the end after *change*.

    A date given earlier moves with the end, and into the new period if it
    would lie outside; a date given now must lie inside.

    :raises climate.exceptions.OutsideLease: if it does not
    """
    if change.before_end_date is not UNSET:
        check_before_end(change.before_end_date, period.start, period.end)
        return change.before_end_date
    if lease.before_end_date is None:
        return None
    moved = lease.before_end_date + (period.end - lease.period.end)
    return min(max(moved, period.start), period.end)


def check_before_end(
    instant: datetime.datetime | None, start: datetime.datetime, end: datetime.datetime
) -> None:
    """Check when to notify the user of the end.

    :raises climate.exceptions.OutsideLease: if that is not from *start* to *end*
    """
    if instant is not None and not start <= instant <= end:
        raise exceptions.OutsideLease(f'{exceptions.OutsideLease.template} (before_end_date)')
