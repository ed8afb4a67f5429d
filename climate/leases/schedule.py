# SPDX-License-Identifier: Apache-2.0

"""The events of a lease, given its dates: pure functions."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import uuid
from collections.abc import Iterable
from typing import Any

from climate.domain import events
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.lifecycles import EVENT
from climate.domain.lifecycles import EventState
from climate.domain.lifecycles import EventTrigger
from climate.domain.lifecycles import LeaseStatus
from climate.domain.payloads import AnnouncementPayload
from climate.domain.payloads import Payload
from climate.domain.requests import EventDraft
from climate.leases.settings import LeasingSettings


class Preparation(enum.Enum):
    """When to run the effects that come before the start."""

    NEVER = 'never'
    SHORTLY_BEFORE = 'shortly before'
    WITH_NOTICE = 'with notice'
    """So early that those whose servers are in the way get their notice."""
    AT_ONCE = 'at once'


def preparation(plugins: Iterable[Any]) -> Preparation:
    """Return when to prepare a lease with resource types of these plugins."""
    known = list(plugins)
    if any(plugin.prepares_at_once for plugin in known):
        return Preparation.AT_ONCE
    if any(plugin.evicts for plugin in known):
        return Preparation.WITH_NOTICE
    if any(plugin.prepares for plugin in known):
        return Preparation.SHORTLY_BEFORE
    return Preparation.NEVER


_NEVER = datetime.timedelta(0)
# Which of several warnings moves with the end: the first in this order.
_PREFERRED = (EventState.IN_PROGRESS, EventState.UNDONE, EventState.DONE)


def new_event(
    lease_id: str,
    kind: EventKind,
    time: datetime.datetime,
    *,
    due: datetime.datetime | None = None,
    payload: Payload = events.NO_PAYLOAD,
) -> Event:
    """Return an event that has yet to happen."""
    return Event(
        id=str(uuid.uuid4()),
        lease_id=lease_id,
        kind=kind,
        time=time,
        due=time if due is None else due,
        payload=payload,
    )


def initial(
    lease: Lease,
    drafts: Iterable[EventDraft],
    *,
    prepares: Preparation,
    now: datetime.datetime,
    settings: LeasingSettings,
) -> list[Event]:
    """Return the events of a new lease, in the order in which they happen."""
    times = [
        (EventKind.START, lease.period.start),
        (EventKind.END, lease.period.end),
        (EventKind.BEFORE_END, before_end_time(lease, settings)),
        (EventKind.PREPARE, _prepare_time(lease, prepares, now, settings)),
        *((draft.kind, draft.time) for draft in drafts),
    ]
    wanted: list[tuple[EventKind, datetime.datetime, Payload]] = [
        *((kind, time, events.NO_PAYLOAD) for kind, time in times if time is not None),
        *(
            (EventKind.BEFORE_START, time, payload)
            for time, payload in _announcements(lease, now, settings)
        ),
    ]
    planned = [
        Event(
            id=str(uuid.uuid4()),
            lease_id=lease.id,
            kind=kind,
            time=time,
            due=time,
            payload=payload,
            created_at=now,
        )
        for kind, time, payload in wanted
    ]
    return sorted(planned, key=events.order)


def _announcements(
    lease: Lease, now: datetime.datetime, settings: LeasingSettings
) -> list[tuple[datetime.datetime, AnnouncementPayload]]:
    """Return when to announce the start; times in the past are left out.

    Only the announcement that resources need to get ready comes at once instead.
    """
    planned = [
        (time, AnnouncementPayload(seconds_to_start=offset))
        for time, offset in sorted(_offsets(lease, settings).items())
        if time > now
    ]
    start = lease.period.start
    if lease.lead_time and start - datetime.timedelta(seconds=lease.lead_time) <= now < start:
        left = int((start - now).total_seconds())
        planned.insert(0, (now, AnnouncementPayload(seconds_to_start=left, at_once=True)))
    return planned


def _at_once(event: Event) -> bool:
    return isinstance(event.payload, AnnouncementPayload) and event.payload.at_once


def _offsets(lease: Lease, settings: LeasingSettings) -> dict[datetime.datetime, int]:
    """Return when to announce the start, and how many seconds before it that is."""
    wanted = lease.notify_before_start
    if wanted is None:
        wanted = settings.notify_before_start
    if lease.lead_time:
        wanted = (*wanted, lease.lead_time)
    return {lease.period.start - datetime.timedelta(seconds=offset): offset for offset in wanted}


def before_end_time(lease: Lease, settings: LeasingSettings) -> datetime.datetime | None:
    """Return when to warn of the end of the lease; None for never."""
    if lease.before_end_date is not None:
        return lease.before_end_date
    ahead = settings.yield_notice if lease.is_cut else settings.notify_before_end
    return max(lease.period.end - ahead, lease.period.start) if ahead else None


def firm_before(lease: Lease, prepares: Preparation, settings: LeasingSettings) -> int | None:
    """Return how many seconds before its start a lease stops moving.

    That is before its resources begin to get ready.

    :param lease: with what was requested, and with its lead time
    :returns: None for a lease with a fixed start
    """
    if not lease.is_flexible:
        return None
    return max(
        lease.firm_before or 0,
        int(settings.firm_before.total_seconds()),
        lease.lead_time or 0,
        int(_ahead(prepares, settings).total_seconds()),
    )


def _prepare_time(
    lease: Lease, prepares: Preparation, now: datetime.datetime, settings: LeasingSettings
) -> datetime.datetime | None:
    if prepares is Preparation.NEVER or lease.period.start <= now:
        return None
    if prepares is Preparation.AT_ONCE:
        return now
    ahead = _ahead(prepares, settings)
    return max(lease.period.start - ahead, now) if ahead else None


def _ahead(prepares: Preparation, settings: LeasingSettings) -> datetime.timedelta:
    """Return how long before its start a lease is prepared; zero for never, and for at once."""
    if prepares is Preparation.WITH_NOTICE:
        return max(settings.prepare_lead_time, settings.yield_notice)
    return settings.prepare_lead_time if prepares is Preparation.SHORTLY_BEFORE else _NEVER


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Rescheduling:
    """How the events of a lease change with its dates."""

    changed: tuple[Event, ...] = ()
    added: tuple[Event, ...] = ()
    removed: tuple[str, ...] = ()


def rescheduled(
    old: Lease,
    new: Lease,
    *,
    prepares: Preparation,
    now: datetime.datetime,
    settings: LeasingSettings,
) -> Rescheduling:
    """Return how the events of *old* change with the dates of *new*.

    An event that a manager is about to finish is left alone: a change locks the row of
    the lease, and what is under way was right when it began.
    """
    changed: list[Event] = []
    added: list[Event] = []
    removed: list[str] = []
    for event in old.events:
        if event.state is EventState.UNDONE and event.kind is EventKind.START:
            changed += _moved(event, new.period.start)
        elif event.open and event.kind is EventKind.END:
            changed += _moved(event, new.period.end)
    if old.status is LeaseStatus.PENDING:
        _reannounce(old, new, now, settings, added, removed)
        _reprepare(old, new, prepares, now, settings, changed, added, removed)
    _retell_end(old, new, now, settings, changed, added, removed)
    return Rescheduling(changed=tuple(changed), added=tuple(added), removed=tuple(removed))


def _moved(event: Event, time: datetime.datetime) -> list[Event]:
    if event.time == time:
        return []
    return [
        dataclasses.replace(
            event.untried(),
            time=time,
            due=time,
            attempts=0,
            error=None,
            # A warning is sent again at its new time. A preparation stays marked as
            # begun: the deletion of the lease has to undo it.
            begun_at=None if event.kind is EventKind.BEFORE_END else event.begun_at,
            state=EVENT.table[event.state, EventTrigger.REARM]
            if event.state is not EventState.IN_PROGRESS
            else event.state,
        )
    ]


def _reannounce(
    old: Lease,
    new: Lease,
    now: datetime.datetime,
    settings: LeasingSettings,
    added: list[Event],
    removed: list[str],
) -> None:
    waiting = {
        event.time: event
        for event in old.events
        if event.kind is EventKind.BEFORE_START and event.state is EventState.UNDONE
    }
    same = (old.period.start, old.lead_time) == (new.period.start, new.lead_time)
    times = _offsets(new, settings)
    # What is still right stays, even if it is late: if managers were down, a
    # change of the lease must not drop what they have not announced yet.
    kept = {time for time, event in waiting.items() if time in times or (same and _at_once(event))}
    removed += [event.id for time, event in waiting.items() if time not in kept]
    added += [
        new_event(new.id, EventKind.BEFORE_START, time, payload=payload)
        for time, payload in _announcements(new, now, settings)
        if time not in kept and not (same and payload.at_once)
    ]


def reannounced(
    old: Lease, new: Lease, *, now: datetime.datetime, settings: LeasingSettings
) -> Rescheduling:
    """Return how the announcements of a pending lease change with its resources."""
    added: list[Event] = []
    removed: list[str] = []
    _reannounce(old, new, now, settings, added, removed)
    return Rescheduling(added=tuple(added), removed=tuple(removed))


def _drop(old: Lease, kind: EventKind, removed: list[str]) -> None:
    removed += [
        event.id for event in old.events if event.kind is kind and event.state is EventState.UNDONE
    ]


def _reprepare(
    old: Lease,
    new: Lease,
    prepares: Preparation,
    now: datetime.datetime,
    settings: LeasingSettings,
    changed: list[Event],
    added: list[Event],
    removed: list[str],
) -> None:
    time = _prepare_time(new, prepares, now, settings)
    present = [event for event in old.events if event.kind is EventKind.PREPARE]
    if time is None:
        # It starts now: what has not begun would remain in its history until the former time.
        removed += [
            event.id
            for event in present
            if event.state is EventState.UNDONE and event.begun_at is None
        ]
        return
    if not present:
        added.append(new_event(new.id, EventKind.PREPARE, time))
    for event in present:
        if event.state is EventState.UNDONE:
            changed += _moved(event, time)


def _retell_end(
    old: Lease,
    new: Lease,
    now: datetime.datetime,
    settings: LeasingSettings,
    changed: list[Event],
    added: list[Event],
    removed: list[str],
) -> None:
    time = before_end_time(new, settings)
    present = [event for event in old.events if event.kind is EventKind.BEFORE_END]
    if time is None:
        _drop(old, EventKind.BEFORE_END, removed)
        return
    movable = [event for event in present if event.state is not EventState.ERROR]
    if not movable:
        # A failed warning stays so; it gets a successor if that can be in time.
        if all(event.time != time and time > now for event in present):
            added.append(new_event(new.id, EventKind.BEFORE_END, time))
        return
    # One end has one warning, even where earlier releases wrote two.
    warning = min(movable, key=lambda event: (_PREFERRED.index(event.state), event.id))
    removed += [
        event.id for event in movable if event is not warning and event.state is EventState.UNDONE
    ]
    # A warning that was sent, or is being sent, is sent again only if its new time is
    # still to come, not if the lease is shortened past it.
    interrupted = warning.state is EventState.IN_PROGRESS and warning.begun_at is None
    if warning.state is EventState.UNDONE or interrupted or time > now:
        changed += _moved(warning, time)
