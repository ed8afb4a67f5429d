# SPDX-License-Identifier: Apache-2.0

"""Measures what a manager has done, for metrics."""

from __future__ import annotations

import datetime
import enum

from climate import exceptions
from climate.domain import events
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.leases.jobs import Job
from climate.leases.jobs import Report
from climate.metrics import catalogue
from climate.metrics import recording

_LATE = frozenset({EventKind.START, EventKind.END})
# These fail if they wait for too long; the others wait indefinitely.
_BOUNDED = frozenset({EventKind.START, EventKind.UPDATE})


class EventOutcome(enum.StrEnum):
    """How a try of an event has ended."""

    DONE = 'done'
    WAITING = 'waiting'
    """Something in the cloud takes its time."""
    RETRIED = 'retried'
    """It failed, and is tried again."""
    FAILED = 'failed'
    """It failed for good or for too long, and its owner was notified."""


class AttemptOutcome(enum.StrEnum):
    """How an attempt to send an event to a webhook has ended."""

    ACCEPTED = 'accepted'
    REFUSED = 'refused'
    """The receiver answered, but not with a status from 200 to 299."""
    UNREACHABLE = 'unreachable'
    """There was no answer, or the address may not be reached."""


def attempted(seconds: float, status: int | None, error: str) -> None:
    """Record an attempt to send an event to a webhook.

    :param seconds: how long it took
    :param status: the HTTP status of the response; None without one
    :param error: why the event was not accepted; '' if it was
    """
    result = AttemptOutcome.UNREACHABLE if status is None else AttemptOutcome.REFUSED
    if not error:
        result = AttemptOutcome.ACCEPTED
    recording.observe(catalogue.WEBHOOK_ATTEMPTS, seconds, result.value)


def outcome(event: Event, report: Report, deadline: datetime.timedelta) -> EventOutcome:
    """Return how a try of an event has ended.

    :param event: as it is after the try
    :param deadline: how long a failing event is retried
    """
    bounded = event.kind in _BOUNDED and report.overdue(event, deadline)
    if report.error is None and not bounded:
        return EventOutcome.DONE if report.again is None else EventOutcome.WAITING
    permanent = isinstance(report.error, exceptions.Permanent)
    over = permanent or event.expired(deadline)
    return EventOutcome.FAILED if over else EventOutcome.RETRIED


def settled(job: Job, report: Report, deadline: datetime.timedelta, now: datetime.datetime) -> None:
    """Record a job whose outcome was committed.

    :param now: when it was committed (aware UTC)
    """
    if not recording.enabled():
        return
    event = job.event.settled(now, deadline)
    reached = outcome(event, report, deadline)
    recording.count(catalogue.EVENTS, event.kind.value, reached.value)
    if reached is EventOutcome.DONE and event.kind in _LATE:
        late = events.lateness(event, now).total_seconds()
        recording.observe(catalogue.LATENESS, late, event.kind.value)
        lease = job.lease
        if job.vacates and lease.yields is not None and event.begun_at is not None:
            takes = (now - event.begun_at).total_seconds()
            recording.observe(catalogue.YIELDS, max(takes, 0.0), lease.yields.value)
        if event.kind is EventKind.START and lease.earliest is not None:
            requested = lease.created_at or lease.earliest
            waited = now - max(lease.earliest, requested)
            recording.observe(catalogue.WAITS, max(waited.total_seconds(), 0.0))
