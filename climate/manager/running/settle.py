# SPDX-License-Identifier: Apache-2.0

"""Writes the outcome of a job, in one transaction.

What happened to the lease meanwhile takes precedence: if it is being deleted,
the event is closed, the facts that the effects left are kept, and the deletion
continues from there.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
from typing import Any

from climate import exceptions
from climate.booking.writing import delete
from climate.booking.writing import ends
from climate.booking.writing import move
from climate.context import Working
from climate.db.transactions.store import Transaction
from climate.domain import events
from climate.domain.copies import with_changes
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.lifecycles import EventTrigger
from climate.domain.lifecycles import LEASE
from climate.domain.lifecycles import LeaseStatus
from climate.domain.lifecycles import LeaseTrigger
from climate.domain.lifecycles import ReservationTrigger
from climate.enforcement.base import Ending
from climate.enforcement.filters import Filters
from climate.leases import following
from climate.leases import history
from climate.leases import notices
from climate.leases import readiness
from climate.leases import schedule
from climate.leases import states
from climate.leases.jobs import Job
from climate.leases.jobs import Report
from climate.leases.settings import LeasingSettings
from climate.manager.running import fail
from climate.manager.running import yielding
from climate.resources import changes

LOG = logging.getLogger(__name__)


class EventSettler:
    """Settles jobs on behalf of one manager."""

    def __init__(
        self,
        plugins: notices.Plugins,
        settings: LeasingSettings,
        owner: str,
        filters: Filters | None = None,
    ) -> None:
        self._plugins = plugins
        self._settings = settings
        self._owner = owner
        self._filters = filters or Filters()
        self._finish = {
            EventKind.PREPARE: self._prepared,
            EventKind.START: self._started,
            EventKind.UPDATE: self._updated,
            EventKind.CHECK: self._checked,
            EventKind.BEFORE_END: self._warned,
            EventKind.END: self._ended,
            EventKind.UNDO: self._undone,
            EventKind.DELETE: self._deleted,
        }
        # These may wait for as long as they would be retried, and no longer.
        self._bounded = frozenset({EventKind.START, EventKind.UPDATE})
        self._fail = {
            EventKind.PREPARE: self._prepare_failed,
            EventKind.START: self._start_failed,
            EventKind.UPDATE: self._update_failed,
            EventKind.CHECK: self._check_failed,
            EventKind.BEFORE_END: self._fail_and_notify,
        }

    def settle(self, tx: Transaction, job: Job, report: Report) -> bool:
        """Write the outcome of *job*.

        :returns: whether more events of the lease are due now; if not, or if the
            claim has expired meanwhile, this manager no longer has the lease
        """
        with Working(job.subject):
            return self._settle(tx, job, report)

    def _settle(self, tx: Transaction, job: Job, report: Report) -> bool:
        stored = tx.leases.claimed(job.lease.id, self._owner)
        if stored is None:
            LOG.warning('Lease %s: it was deleted, or another manager has claimed it', job.lease.id)
            return False
        lease = _with_facts(stored, report)
        event = next((item for item in lease.events if item.id == job.event.id), job.event)
        event = event.settled(tx.now, self._settings.effect_deadline)
        overtaken = lease.status is LeaseStatus.DELETING and job.event.kind is not EventKind.DELETE
        if overtaken:
            lease = tx.events.keep(lease, delete.cancelled(event))
        elif event.kind is EventKind.BEFORE_END and event.time != job.event.time:
            # The end was moved meanwhile, and the warning with it: the effect was
            # for an end that will not come.
            lease = tx.events.keep(
                lease, event.after(EventTrigger.POSTPONE, attempts=0, error=None)
            )
        else:
            lease = self._conclude(tx, lease, event, report)
        settled = next((item for item in lease.events if item.id == event.id), event)
        history.record(tx, job, report, settled)
        if stored.trust_id is not None and report.trust_deleted:
            tx.trusts.forget(stored.trust_id)
        if lease.status is not stored.status:
            LOG.info('Lease %s: %s, it is %s now', lease.id, event.kind, lease.status)
        if lease.deleted_at is not None:
            tx.claims.release(self._owner, lease.id)
            return False
        return self._save(tx, stored, lease)

    def _save(self, tx: Transaction, old: Lease, new: Lease) -> bool:
        states.update(tx, old, new)
        due = events.next_due(new.events)
        more = due is not None and due <= tx.now
        tx.leases.update(with_changes(new, next_due=due), unclaim=not more)
        return more

    def _conclude(self, tx: Transaction, lease: Lease, event: Event, report: Report) -> Lease:
        error = report.error
        if error is not None and event.forced:
            LOG.error('Lease %s: %s is forced; left: %s', lease.id, event.kind, error.message)
        elif error is not None:
            return self._failed(tx, lease, event, error)
        if event.kind in self._bounded and report.overdue(event, self._settings.effect_deadline):
            late = exceptions.Transient(f'it took too long: {report.why}')
            return self._failed(tx, lease, event, late)
        if report.again is not None:
            # Without a pause it keeps its place before events that are due later.
            due = tx.now + report.again if report.again else event.due
            return self._postpone(tx, lease, report.with_progress(event), due, report.why or None)
        return self._finish[event.kind](tx, lease, event, report)

    def _failed(
        self, tx: Transaction, lease: Lease, event: Event, error: exceptions.EffectError
    ) -> Lease:
        if isinstance(error, exceptions.ResourceUnusable) and changes.note(
            tx, error.facts['resource_id'], error.facts['reason']
        ):
            # The next attempt moves to another resource, however late it is.
            tried = dataclasses.replace(event, attempts=event.attempts + 1)
            return self._postpone(tx, lease, tried, tx.now, error.message)
        hopeless = event.expired(self._settings.effect_deadline) or isinstance(
            error, exceptions.Permanent
        )
        give_up = None if event.undoing else self._fail.get(event.kind)
        ends = hopeless and (give_up is not None or not event.effect.failure_notified)
        if ends or events.is_news(event.attempts + 1):
            LOG.warning(
                'Lease %s: %s failed%s (attempt %d): %s',
                lease.id,
                event.kind,
                ' for good' * hopeless,
                event.attempts + 1,
                error.message,
            )
        if hopeless and give_up is not None:
            return give_up(tx, lease, event, error)
        if hopeless and not event.effect.failure_notified:
            # An effect that takes back is retried indefinitely, but users have to know.
            lease, event = self._notify_failure(tx, lease, event, error)
        pause = events.backoff(
            event.attempts + 1, self._settings.retry_first_pause, self._settings.retry_longest_pause
        )
        tried = dataclasses.replace(event, attempts=event.attempts + 1)
        return self._postpone(tx, lease, tried, tx.now + pause, error.message)

    # -- shared by all outcomes

    def _postpone(
        self, tx: Transaction, lease: Lease, event: Event, due: datetime.datetime, why: str | None
    ) -> Lease:
        return tx.events.keep(lease, event.after(EventTrigger.POSTPONE, due=due, error=why))

    def _notify(self, tx: Transaction, name: str, lease: Lease, event: Event, **more: Any) -> None:
        notices.notify(tx, self._plugins, name, lease, event=event, **more)

    def _notify_failure(
        self, tx: Transaction, lease: Lease, event: Event, error: exceptions.EffectError
    ) -> tuple[Lease, Event]:
        event = dataclasses.replace(event.failure_notified(), error=error.message)
        ends = event.kind in (EventKind.END, EventKind.DELETE)
        if ends and (lease.status, LeaseTrigger.FAIL) in LEASE.table:
            lease = dataclasses.replace(lease, status=LEASE.table[lease.status, LeaseTrigger.FAIL])
        self._notify(tx, 'lease.event.error', lease, event, reason=error.message)
        return lease, event

    # -- successes

    def _prepared(self, tx: Transaction, lease: Lease, event: Event, report: Report) -> Lease:
        yielding.warn(tx, lease, report.evicts)
        return tx.events.keep(lease, event.after(EventTrigger.FINISH))

    def _started(self, tx: Transaction, lease: Lease, event: Event, _report: Report) -> Lease:
        done = event.after(EventTrigger.FINISH)
        lease = with_changes(
            tx.events.keep(lease, done),
            status=LEASE.table[lease.status, LeaseTrigger.STARTED],
            reservations=states.reservations(lease, ReservationTrigger.STARTED),
        )
        self._notify(tx, 'lease.event.start_lease', lease, done)
        readiness.at_start(tx, self._plugins, lease, done)
        if not self._settings.check_interval:
            return lease
        check = schedule.new_event(
            lease.id, EventKind.CHECK, tx.now + self._settings.check_interval
        )
        tx.events.insert([check])
        return with_changes(lease, events=(*lease.events, check))

    def _updated(self, tx: Transaction, lease: Lease, event: Event, report: Report) -> Lease:
        gone = following.added(event) if event.undoing else following.removed(event)
        if report.kept_slots and not event.undoing:
            settled = following.given_up(tx, self._plugins, lease, gone, report.kept_slots)
            gone = settled.amounts
            if settled.complaints:
                why = '; '.join(settled.complaints)
                self._notify(tx, 'lease.event.error', lease, event, reason=why)
        if gone:
            tx.allocations.give_back(gone)
        if event.undoing:
            ends.undone(tx, self._plugins, self._filters, lease, event)
        done = event.after(EventTrigger.FAIL if event.undoing else EventTrigger.FINISH)
        lease = tx.events.keep(lease, done)
        if not event.undoing:
            lease = move.moved(tx, self._plugins, lease, event)
        others = any(item.open and item.kind is EventKind.UPDATE for item in lease.events)
        if others or (lease.status, LeaseTrigger.CHANGED) not in LEASE.table:
            return lease
        return dataclasses.replace(lease, status=LEASE.table[lease.status, LeaseTrigger.CHANGED])

    def _checked(self, tx: Transaction, lease: Lease, event: Event, report: Report) -> Lease:
        for line in report.repaired:
            LOG.warning('Lease %s: repaired: %s', lease.id, line)
        missing = any(item.missing_resources for item in lease.reservations)
        lease = dataclasses.replace(lease, degraded=missing)
        return self._check_again(tx, lease, event, None)

    def _check_again(self, tx: Transaction, lease: Lease, event: Event, why: str | None) -> Lease:
        next_time = tx.now + self._settings.check_interval
        again = event.after(
            EventTrigger.POSTPONE,
            due=next_time,
            time=next_time,
            error=why,
            attempts=0,
            begun_at=None,
        )
        return tx.events.keep(lease, again)

    def _warned(self, tx: Transaction, lease: Lease, event: Event, _report: Report) -> Lease:
        return tx.events.keep(lease, event.after(EventTrigger.FINISH))

    def _ended(self, tx: Transaction, lease: Lease, event: Event, _report: Report) -> Lease:
        yielding.measure(tx, self._plugins, lease, event)
        if lease.rest and not event.forced:
            return yielding.yielded(tx, self._plugins, self._settings, lease, event)
        ends.over(tx, self._plugins, self._filters, lease, Ending.ENDED)
        tx.allocations.release([reservation.id for reservation in lease.reservations])
        if lease.may_hold_rest:
            tx.rests.release(lease.id)
        done = event.after(EventTrigger.FINISH)
        lease = tx.events.keep(lease, done)
        for item in lease.events:
            if item.open:
                lease = tx.events.keep(lease, delete.cancelled(item))
        lease = dataclasses.replace(
            lease,
            status=LEASE.table[lease.status, LeaseTrigger.ENDED],
            reservations=states.reservations(lease, ReservationTrigger.ENDED),
        )
        self._notify(tx, 'lease.event.end_lease', lease, done)
        return lease

    def _undone(self, tx: Transaction, lease: Lease, event: Event, _report: Report) -> Lease:
        # A lease that was only prepared keeps its booking: it has yet to start.
        if lease.status is not LeaseStatus.PENDING:
            tx.allocations.release([reservation.id for reservation in lease.reservations])
        return tx.events.keep(lease, event.after(EventTrigger.FINISH))

    def _deleted(self, tx: Transaction, lease: Lease, event: Event, _report: Report) -> Lease:
        lease = tx.events.keep(lease, event.after(EventTrigger.FINISH))
        return delete.finish(tx, self._plugins, self._filters, lease)

    # -- failures

    def _prepare_failed(
        self, tx: Transaction, lease: Lease, event: Event, error: exceptions.EffectError
    ) -> Lease:
        """Undo what was prepared; the start does all of it again."""
        lost = self._fail_and_notify(tx, lease, event, error)
        return fail.undo(tx, lost)

    def _fail_and_notify(
        self, tx: Transaction, lease: Lease, event: Event, error: exceptions.EffectError
    ) -> Lease:
        lost = event.after(EventTrigger.FAIL, error=error.message)
        self._notify(tx, 'lease.event.error', lease, lost, reason=error.message)
        return tx.events.keep(lease, lost)

    def _start_failed(
        self, tx: Transaction, lease: Lease, event: Event, error: exceptions.EffectError
    ) -> Lease:
        return fail.start(tx, self._plugins, self._filters, lease, event, error.message)

    def _update_failed(
        self, tx: Transaction, lease: Lease, event: Event, error: exceptions.EffectError
    ) -> Lease:
        return fail.update(tx, self._plugins, lease, event, error.message)

    def _check_failed(
        self, tx: Transaction, lease: Lease, event: Event, error: exceptions.EffectError
    ) -> Lease:
        if not lease.degraded:
            lease = dataclasses.replace(lease, degraded=True)
            self._notify(tx, 'lease.degraded', lease, event, reason=error.message)
        return self._check_again(tx, lease, event, error.message)


def _with_facts(lease: Lease, report: Report) -> Lease:
    """Return *lease* with the facts that effects left, even in a job that failed."""
    facts = {
        step.reservation_id: step.outcome.facts
        for step in report.steps
        if step.outcome is not None and step.outcome.facts
    }
    if not facts:
        return lease
    reservations = []
    for reservation in lease.reservations:
        merged = {**reservation.facts, **facts.get(reservation.id, {})}
        known = {key: value for key, value in merged.items() if value is not None}
        reservations.append(dataclasses.replace(reservation, facts=known))
    return dataclasses.replace(lease, reservations=tuple(reservations))
