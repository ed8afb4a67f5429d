# SPDX-License-Identifier: Apache-2.0

"""Applies changes to the dates, name and notices of a lease: pure functions."""

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
from climate.domain.requests import WindowChange


def only_details(change: LeaseChange) -> bool:
    """Whether only details change, which is possible until its deletion."""
    return (
        change.start is None
        and change.end is None
        and change.before_end_date is UNSET
        and change.notify_before_start is UNSET
        and not change.reservations
        and change.window == WindowChange()
    )


def changes_waiting(lease: Lease, change: LeaseChange) -> bool:
    """Whether the window of a lease that waits changes, or what it requests, or both.

    What has had a time slice has made things in the cloud for what it has requested.
    """
    others = dataclasses.replace(change, window=WindowChange(), reservations=())
    return (
        lease.status is LeaseStatus.WAITING
        and (change.window != WindowChange() or bool(change.reservations))
        and not (change.reservations and lease.events)
        and only_details(others)
    )


def changed_waiting(
    lease: Lease, change: LeaseChange, now: datetime.datetime, horizon: datetime.timedelta
) -> Lease:
    """Return a lease that waits with the details and the window of *change*.

    :param horizon: how far ahead it is booked if it may end at any time
    :raises climate.exceptions.MalformedParameter: if no period in the window is long enough
    """
    window = change.window
    if window.earliest is None:
        raise exceptions.MalformedParameter(
            'Malformed parameter earliest: a lease that waits has no start to fix'
        )
    start = lease.period.start if window.earliest is UNSET else window.earliest
    period = Period(start=start, end=start + (window.duration or lease.length))
    new = with_window(with_details(lease, change), change, period)
    latest = new.latest or now + horizon
    if max(start, now) + period.length > latest:
        raise exceptions.MalformedParameter(
            'Malformed parameter latest: a time at least duration after earliest is required'
        )
    return dataclasses.replace(new, period=period, time_left=_time_left(lease, change, period))


def with_details(lease: Lease, change: LeaseChange) -> Lease:
    """Return *lease* with the details of *change*: its name, its notices and its priority."""
    return dataclasses.replace(
        lease,
        name=lease.name if change.name is None else change.name,
        notices=lease.notices if change.notices is UNSET else change.notices,
        priority=lease.priority if change.priority is UNSET else change.priority or None,
    )


def changed(lease: Lease, change: LeaseChange, now: datetime.datetime) -> Lease:
    """Return *lease* with the details and dates of *change*.

    :raises climate.exceptions.InvalidInput: with the text clients expect
    :raises climate.exceptions.OutsideLease: if an event lies outside the lease
    """
    period = changed_period(lease, change, now)
    return dataclasses.replace(
        with_window(with_details(lease, change), change, period),
        period=period,
        # Readiness was reported for the former start.
        readiness=lease.readiness if period.start == lease.period.start else None,
        time_left=_time_left(lease, change, period),
        end_reason=lease.end_reason if period.end == lease.period.end else change.end_reason,
        before_end_date=changed_before_end(lease, change, period),
        notify_before_start=(
            lease.notify_before_start
            if change.notify_before_start is UNSET
            else change.notify_before_start
        ),
    )


def _time_left(lease: Lease, change: LeaseChange, period: Period) -> int | None:
    """Return what is left of a preemptible lease from the start of *period* on."""
    if lease.time_left is None or change.window.sliced:
        return lease.time_left
    if change.window.replans:
        return int(period.length.total_seconds())
    # An end that its user sets is the end of the lease.
    return lease.time_left if period == lease.period else None


def with_window(lease: Lease, change: LeaseChange, period: Period) -> Lease:
    """Return *lease* with the window that *change* gives it.

    :param period: of the changed lease. One that users choose fixes the start
    """
    window = change.window
    earliest, latest, before = window.earliest, window.latest, window.firm_before
    firm_before = int(before.total_seconds()) if isinstance(before, datetime.timedelta) else None
    fixes = lease.status is LeaseStatus.PENDING and period != lease.period and not window.replans
    if earliest is None or fixes:
        return dataclasses.replace(
            lease, earliest=None, latest=None, firm_before=None, yields=None, min_duration=None
        )
    return dataclasses.replace(
        lease,
        earliest=lease.earliest if earliest is UNSET else earliest,
        latest=lease.latest if latest is UNSET else latest,
        firm_before=lease.firm_before if before is UNSET else firm_before,
        wait_until=lease.wait_until if window.wait_until is UNSET else window.wait_until,
    )


def changed_period(lease: Lease, change: LeaseChange, now: datetime.datetime) -> Period:
    """Return the period that *change* gives *lease*.

    :raises climate.exceptions.InvalidInput: with the text clients expect
    """
    start, end = change.start or lease.period.start, change.end or lease.period.end
    # A client with a precision of minutes repeats dates without their seconds.
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
        # "Until now" from a client with a precision of minutes.
        end = now
    if end <= start:
        raise exceptions.InvalidPeriod
    return Period(start=start, end=end)


def changed_before_end(
    lease: Lease, change: LeaseChange, period: Period
) -> datetime.datetime | None:
    """Return when to notify the user of the end after *change*.

    A date set earlier moves with the end, and into the new period if it would lie
    outside. A date in the change must lie inside the new period.

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

    :raises climate.exceptions.OutsideLease: if it is not between *start* and *end*
    """
    if instant is not None and not start <= instant <= end:
        raise exceptions.OutsideLease(f'{exceptions.OutsideLease.template} (before_end_date)')
