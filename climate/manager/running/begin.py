# SPDX-License-Identifier: Apache-2.0

"""Begins the next due event of a claimed lease, in one transaction.

Notifications only need the outbox and are written at once. An event with effects
is marked as begun and its resources as held; the caller gets it as a job.
"""

from __future__ import annotations

import dataclasses
import datetime
import random
from collections.abc import Callable
from collections.abc import Iterable

from climate.booking.writing.delete import cancelled
from climate.context import WorkContext
from climate.context import Working
from climate.db.transactions.store import Transaction
from climate.domain import events
from climate.domain.copies import with_changes
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.history import StepState
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.lifecycles import EVENT
from climate.domain.lifecycles import EventTrigger
from climate.domain.lifecycles import LEASE
from climate.domain.lifecycles import LeaseStatus
from climate.domain.lifecycles import LeaseTrigger
from climate.domain.resources import Resource
from climate.enforcement.filters import Filters
from climate.leases import following
from climate.leases import history
from climate.leases import notices
from climate.leases import schedule
from climate.leases.jobs import Job
from climate.leases.settings import LeasingSettings
from climate.manager.running.handover import Handover
from climate.manager.running.rescue import Rescue
from climate.messaging import schemas
from climate.plugins.contract import Work

# How the status of a lease changes when an effect begins. A lease that is being
# deleted stays DELETING, and one that an UNDO cleans up stays in ERROR.
_BEGINS = {
    EventKind.START: LeaseTrigger.START,
    EventKind.END: LeaseTrigger.END,
    EventKind.DELETE: LeaseTrigger.DELETE,
}
_NOTIFICATIONS = {
    EventKind.BEFORE_START: 'lease.event.before_start_lease',
    EventKind.NOTIFICATION: 'lease.event.notification',
    EventKind.BEFORE_END: 'lease.event.before_end_lease',
}
# The states of a lease in which an effect makes sense. In other states another
# event has replaced it: an end covers whatever is still open when it comes, and
# a deletion covers everything.
_S = LeaseStatus
_RUNS_IN = {
    EventKind.PREPARE: frozenset({_S.PENDING}),
    EventKind.START: frozenset({_S.PENDING, _S.STARTING}),
    EventKind.UPDATE: frozenset({_S.UPDATING}),
    EventKind.CHECK: frozenset({_S.ACTIVE, _S.UPDATING}),
    EventKind.BEFORE_END: frozenset({_S.ACTIVE, _S.UPDATING}),
    EventKind.END: frozenset(_S) - {_S.DELETING, _S.DELETED, _S.TERMINATED},
    # Reverses what was prepared for a lease that has not started, or a failed start.
    EventKind.UNDO: frozenset({_S.PENDING, _S.ERROR}),
    EventKind.DELETE: frozenset({_S.DELETING, _S.ERROR}),
}
_NOT_STARTED = frozenset({_S.PENDING, _S.STARTING})
# Effects that give or check see what the lease will have after a change; effects
# that take back see everything.
_FOLLOWS = frozenset({EventKind.UPDATE, EventKind.CHECK, EventKind.BEFORE_END})
_REVERSED = frozenset({EventKind.END, EventKind.UNDO, EventKind.DELETE})


Resumes = Callable[[Transaction, Lease], datetime.datetime | None]
"""Forecasts when a lease that yields will resume; see :mod:`climate.booking.planning.queue`."""


class EventStarter:
    """Begins events on behalf of one manager.

    :param resumes: None for no forecasts
    """

    def __init__(
        self,
        plugins: notices.Plugins,
        settings: LeasingSettings,
        owner: str,
        filters: Filters | None = None,
        rng: random.Random | None = None,
        resumes: Resumes | None = None,
    ) -> None:
        self._plugins = plugins
        self._resumes = resumes
        self._settings = settings
        self._owner = owner
        self._unfinished = datetime.timedelta(seconds=settings.retry_longest_pause)
        rng = rng or random.Random()
        self._handover = Handover(plugins, settings, filters or Filters(), rng)
        self._rescue = Rescue(plugins, settings, rng)

    def begin(self, tx: Transaction, lease_id: str, *, moves: bool = True) -> Job | None:
        """Begin the next due event.

        :param moves: whether a start that has waited long may move to other
            resources
        :returns: the job; None if nothing is due any more, the lease was deleted,
            or another manager has taken over the claim
        :raises climate.booking.choosing.choose.LostRace: if the caller has to try again
        """
        lease = tx.leases.claimed(lease_id, self._owner)
        job = None
        if lease is not None:
            with Working(WorkContext(lease.id, origin=lease.origin)):
                job = self._next(tx, lease, moves)
        if job is None:
            tx.claims.release(self._owner, lease_id)
        return job

    def check(self, tx: Transaction, lease: Lease) -> Job:
        """Return a check of an active lease in addition to its scheduled ones."""
        event = schedule.new_event(lease.id, EventKind.CHECK, tx.now)
        event = event.taken_up(tx.now, self._unfinished)
        ids = [reservation.id for reservation in lease.reservations]
        return Job(lease=lease, event=event, works=self._works(tx, lease, event, ids))

    def _next(self, tx: Transaction, lease: Lease, moves: bool) -> Job | None:
        while True:
            event = events.first_due(lease.events, tx.now)
            if event is None:
                self._save(tx, lease)
                return None
            if event.kind not in events.EFFECTS:
                lease = self._notify(tx, lease, event)
            elif event.kind is EventKind.BEFORE_END and lease.status in _NOT_STARTED:
                lease = self._after_start(tx, lease, event)
            elif lease.status not in _RUNS_IN[event.kind]:
                lease = tx.events.keep(lease, cancelled(event))
            elif event.kind is EventKind.START and lease.period.end <= tx.now:
                lease = self._miss(tx, lease, event)
            # A start that has waited before has the reason as its error.
            elif moves and event.error and self._moved(tx, lease, event):
                return None
            elif self._blocked(tx, lease, event):
                lease = self._handover.pause(tx, lease, event)
            else:
                return self._take_up(tx, self._fail_open_start(tx, lease, event), event)

    def _moved(self, tx: Transaction, lease: Lease, event: Event) -> bool:
        return self._rescue.moved(tx, lease, event) or self._handover.moved(tx, lease, event)

    def _save(self, tx: Transaction, lease: Lease) -> None:
        due = events.next_due(lease.events)
        if due != lease.next_due:
            tx.leases.update(dataclasses.replace(lease, next_due=due))

    def _blocked(self, tx: Transaction, lease: Lease, event: Event) -> bool:
        """Whether a previous lease still has what an effect touches."""
        ids = [reservation.id for reservation in lease.reservations]
        if not ids or not self._touches(lease, event):
            return False
        tx.allocations.lock_resources(ids)
        cleaning_time = self._settings.cleaning_time
        return (
            bool(tx.allocations.holders(ids))
            or tx.allocations.crowded(ids)
            or (bool(cleaning_time) and bool(tx.handovers.cleaned(ids, cleaning_time)))
        )

    def _touches(self, lease: Lease, event: Event) -> bool:
        """Whether an effect touches what a previous lease may still have.

        An early preparation does, such as shelving a server; an undo does not,
        because it only releases.
        """
        if event.kind is not EventKind.PREPARE:
            return _gives(event)
        plugins = (self._plugins.get(each.resource_type) for each in lease.reservations)
        return any(plugin is not None and plugin.prepares_at_once for plugin in plugins)

    def _notify(self, tx: Transaction, lease: Lease, event: Event) -> Lease:
        notices.notify(tx, self._plugins, _NOTIFICATIONS[event.kind], lease, event=event)
        return tx.events.keep(lease, _finished(event))

    def _miss(self, tx: Transaction, lease: Lease, event: Event) -> Lease:
        """Fail a start that did not happen within the period of the lease."""
        tried = event.error or 'no manager tried to start it'
        missed = dataclasses.replace(
            event,
            state=EVENT.table[EVENT.table[event.state, EventTrigger.BEGIN], EventTrigger.FAIL],
            error=f'the lease had ended before it could start; {tried}',
        )
        notices.notify(
            tx, self._plugins, 'lease.event.error', lease, event=missed, reason=missed.error
        )
        history.note(tx, missed, StepState.FAILED, error=missed.error)
        return tx.events.keep(lease, missed)

    def _fail_open_start(self, tx: Transaction, lease: Lease, event: Event) -> Lease:
        """Fail a start that is still being tried when the end comes."""
        if event.kind is EventKind.END:
            for item in lease.events:
                if item.open and item.kind is EventKind.START:
                    lease = self._miss(tx, lease, item)
        return lease

    def _after_start(self, tx: Transaction, lease: Lease, event: Event) -> Lease:
        """Postpone the warning of the end of a short lease until just after its start."""
        starts = [item.due for item in lease.events if item.open and item.kind is EventKind.START]
        if not starts:
            return tx.events.keep(lease, cancelled(event))
        due = min(starts) + datetime.timedelta(microseconds=1)
        return tx.events.keep(lease, dataclasses.replace(event, due=due))

    def _take_up(self, tx: Transaction, lease: Lease, event: Event) -> Job:
        if event.kind is EventKind.BEFORE_END and event.begun_at is None:
            # Users rely on the warning, so it comes before the action, and only
            # once even if the action takes many steps.
            self._warn(tx, lease, event)
        status = _begun_status(lease, event)
        begun = event.taken_up(tx.now, self._unfinished)
        lease = tx.events.keep(lease, begun)
        ids = [reservation.id for reservation in lease.reservations]
        if ids and _gives(event):
            tx.allocations.mark_held(ids)
        # The event stays due: a manager that takes over finds it at once.
        lease = with_changes(lease, status=status, next_due=begun.due)
        tx.leases.update(lease)
        works = self._works(tx, lease, begun, ids)
        return Job(lease=lease, event=begun, works=works, first=event.begun_at is None)

    def _warn(self, tx: Transaction, lease: Lease, event: Event) -> None:
        """Notify subscribers that a lease ends, or yields."""
        if not lease.rest:
            notices.notify(tx, self._plugins, _NOTIFICATIONS[event.kind], lease, event=event)
            return
        # Before anything is written: it reads timelines.
        resumes_at = self._resumes(tx, lease) if self._resumes else None
        notices.notify(
            tx, self._plugins, schemas.YIELDING, lease, event=event, resumes_at=resumes_at
        )

    def _works(
        self, tx: Transaction, lease: Lease, event: Event, ids: list[str]
    ) -> tuple[Work, ...]:
        current = tx.allocations.live_of(ids) if ids else []
        allocations: tuple[Allocation, ...] = tuple(current)
        leaving: tuple[Allocation, ...] = ()
        undone: tuple[Allocation, ...] = ()
        if event.kind in _FOLLOWS:
            allocations, leaving = following.split(lease.events, current)
            if event.undoing:
                leaving, undone = (), leaving
        tried, change = event.tried, event.change
        resource_ids = {item.resource_id for item in current}
        resources = tx.resources.with_ids(resource_ids) if resource_ids else []
        works = [
            Work(
                lease=lease,
                reservation=reservation,
                allocations=_of(reservation, allocations),
                leaving=_of(reservation, leaving),
                resources=_resources(reservation, resources, (*allocations, *leaving)),
                now=tx.now,
                since=tx.now - tried,
                undone=_resources(reservation, resources, undone),
                forced=change is not None and change.forced,
            )
            for reservation in lease.reservations
        ]
        if any(reservation.part_of is not None for reservation in lease.reservations):
            works = [dataclasses.replace(work, parts=_parts(work, works)) for work in works]
        return tuple(reversed(works) if event.kind in _REVERSED else works)


def _parts(whole: Work, works: Iterable[Work]) -> tuple[Work, ...]:
    return tuple(work for work in works if work.reservation.part_of == whole.reservation.id)


def _gives(event: Event) -> bool:
    """Whether an event gives the lease something that it does not have yet."""
    return event.kind is EventKind.START or (event.kind is EventKind.UPDATE and not event.undoing)


def _begun_status(lease: Lease, event: Event) -> LeaseStatus:
    """Return the status of *lease* once the effect of *event* has begun."""
    trigger = _BEGINS.get(event.kind)
    # A lease whose end has failed for long stays in ERROR until the end works.
    if trigger is None or event.effect.failure_notified:
        return lease.status
    return LEASE.table.get((lease.status, trigger), lease.status)


def _of(reservation: Reservation, items: Iterable[Allocation]) -> tuple[Allocation, ...]:
    return tuple(item for item in items if item.reservation_id == reservation.id)


def _resources(
    reservation: Reservation, resources: Iterable[Resource], items: Iterable[Allocation]
) -> tuple[Resource, ...]:
    ids = {item.resource_id for item in _of(reservation, items)}
    return tuple(resource for resource in resources if resource.id in ids)


def _finished(event: Event) -> Event:
    begun = EVENT.table[event.state, EventTrigger.BEGIN]
    return dataclasses.replace(event, state=EVENT.table[begun, EventTrigger.FINISH])
