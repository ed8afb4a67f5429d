# SPDX-License-Identifier: Apache-2.0
"""Records what effects did, so that the owner of a lease can see it.

An effect on a reservation for an event is one step, however often it is tried, so
that the history of a lease that waits or fails for long does not grow. A check that
finds nothing wrong leaves no step.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable
from collections.abc import Mapping

from oslo_utils import strutils

from climate.db.leases.deletions import Deletions
from climate.db.transactions.store import Transaction
from climate.domain import events
from climate.domain.copies import with_changes
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.history import DeletedObject
from climate.domain.history import Effect
from climate.domain.history import History
from climate.domain.history import HistoryStep
from climate.domain.history import Line
from climate.domain.history import StepState
from climate.domain.leases import Lease
from climate.domain.lifecycles import EventState
from climate.leases.jobs import EffectResult
from climate.leases.jobs import Job
from climate.leases.jobs import Report
from climate.plugins.contract import Again
from climate.plugins.contract import Done

_EFFECTS = {
    EventKind.PREPARE: Effect.PREPARE,
    EventKind.START: Effect.START,
    EventKind.UPDATE: Effect.UPDATE,
    EventKind.CHECK: Effect.CHECK,
    EventKind.BEFORE_END: Effect.BEFORE_END,
    EventKind.END: Effect.END,
    EventKind.UNDO: Effect.UNDO,
    EventKind.DELETE: Effect.END,
}
# These events begin again at another time, under the same id.
_REPEATED = frozenset({EventKind.CHECK, EventKind.BEFORE_END})
_GIVES = frozenset({Effect.PREPARE, Effect.START})

_MOST_LINES = 50
_LONGEST = 1000


def record(tx: Transaction, job: Job, report: Report, event: Event) -> None:
    """Record the outcome of *job*.

    :param event: as it was settled
    """
    quiet = _quiet(job, report)
    if quiet and job.event.error is None and not job.lease.degraded:
        return
    lost = _given_up(job, event)
    effect = _effect(job)
    known = {} if _first(job) else _known(tx, job, effect)
    steps = [
        _after(
            known.get(step.reservation_id or None) or _new(tx, job, step, effect), step, tx, lost
        )
        for step in report.steps
    ]
    tx.steps.insert(step for step in steps if step.id is None and not quiet)
    tx.steps.update(step for step in steps if step.id is not None)
    if effect is Effect.UNDO:
        _undo(tx, job, steps)


def note(
    tx: Transaction, event: Event, state: StepState, *, text: str = '', error: str | None = None
) -> None:
    """Record a step that concerns a lease as a whole.

    :param event: the event that the step belongs to
    :param text: what was done or observed; '' for nothing
    """
    step = HistoryStep(
        lease_id=event.lease_id,
        event_id=event.id,
        reservation_id=None,
        resource_type=None,
        effect=_EFFECTS[event.kind],
        state=state,
        first_at=tx.now,
        last_at=tx.now,
        error=error,
        lines=_lines((), [text] if text else [], (), tx.now),
    )
    tx.steps.insert([step])


def show(tx: Transaction, lease_id: str, project_id: str | None) -> History:
    """Return the past and pending operations of a lease.

    :param project_id: None looks in every project
    :raises climate.exceptions.NotFound: if there is no such lease
    """
    lease = tx.leases.get(lease_id, project_id)
    awaited = tuple(
        dataclasses.replace(event, error=_clean(event.error))
        for event in sorted(lease.events, key=events.order)
        if event.open
    )
    going_on = {event.id for event in awaited}
    steps = tuple(_corrected(step, going_on) for step in tx.steps.of_lease(lease_id))
    deletions = Deletions(tx.session, tx.now).of_lease(lease_id)
    if deletions:
        steps = with_deletions(lease, steps, deletions, everything=project_id is None)
    return History(lease=lease, steps=steps, awaited=awaited)


def with_deletions(
    lease: Lease,
    steps: tuple[HistoryStep, ...],
    deleted: Iterable[DeletedObject],
    *,
    everything: bool,
) -> tuple[HistoryStep, ...]:
    """Return *steps* with a line for each object that was deleted.

    The lines are not stored with the steps, which a manager that dies does not write.

    :param everything: whether the reader sees all projects; otherwise the objects of other
        projects are not named
    """
    ordered = {(step.event_id, step.reservation_id): step for step in steps}
    types = {item.id: item.resource_type for item in lease.reservations}
    for each in deleted:
        key = _step_of(ordered, each)
        step = ordered.get(key) or _of_deletion(each, types.get(each.reservation_id or ''))
        text = _deleted(each, everything or each.project_id == lease.project_id)
        if all(line.text != text for line in step.lines):
            lines = sorted((*step.lines, Line(at=each.at, text=text)), key=lambda line: line.at)
            step = with_changes(step, lines=tuple(lines))
        ordered[key] = step
    return tuple(ordered.values())


def _step_of(
    steps: Mapping[tuple[str, str | None], HistoryStep], deleted: DeletedObject
) -> tuple[str, str | None]:
    """Return the step to which a deletion belongs: of its event, else of its effect."""
    key = (deleted.event_id or '', deleted.reservation_id)
    if key in steps:
        return key
    effect = _effect_of(deleted)
    for other, step in steps.items():
        if step.effect is effect and other[1] == deleted.reservation_id:
            return other
    return key


def _effect_of(deleted: DeletedObject) -> Effect:
    return _EFFECTS[EventKind(deleted.event)] if deleted.event else Effect.CHECK


def _of_deletion(deleted: DeletedObject, resource_type: str | None) -> HistoryStep:
    """Return the step of a deletion whose manager has not recorded one, or of a repair."""
    return HistoryStep(
        lease_id=deleted.lease_id,
        event_id=deleted.event_id or '',
        reservation_id=deleted.reservation_id,
        resource_type=resource_type,
        effect=_effect_of(deleted),
        state=StepState.DONE if not deleted.event else StepState.WAITING,
        first_at=deleted.at,
        last_at=deleted.at,
    )


def _deleted(deleted: DeletedObject, named: bool) -> str:
    host = f' on host {deleted.host}' if deleted.host else ''
    noun = deleted.object_type.replace('_', ' ')
    if not named:
        return f'deleted {noun}s of other projects{host}: {deleted.reason}'
    name = f' ({deleted.name})' if deleted.name else ''
    owner = f' of project {deleted.project_id}'
    return f'deleted {noun} {deleted.object_id}{name}{owner}{host}: {deleted.reason}'


def _corrected(step: HistoryStep, going_on: Iterable[str]) -> HistoryStep:
    """Return *step* as failed if it waits for an event that will not come."""
    if step.state is StepState.WAITING and step.event_id not in going_on:
        return dataclasses.replace(step, state=StepState.FAILED)
    return step


# -- the steps of a job


def _quiet(job: Job, report: Report) -> bool:
    """Whether the job is a check that found nothing wrong.

    It is of interest only if the last check found something.
    """
    return job.event.kind is EventKind.CHECK and all(
        isinstance(step.outcome, Done) and not step.outcome.steps and not step.outcome.repaired
        for step in report.steps
    )


def _event_id(job: Job) -> str:
    """Return the event of the step; all checks of a lease, scheduled or not, share one."""
    if job.event.kind is not EventKind.CHECK:
        return job.event.id
    ids = {event.kind: event.id for event in job.lease.events}
    return ids.get(EventKind.CHECK, ids[EventKind.START])


def _effect(job: Job) -> Effect:
    if job.event.kind is EventKind.UPDATE and job.event.undoing:
        return Effect.UNDO
    if job.event.kind in (EventKind.END, EventKind.DELETE) and not job.started:
        return Effect.UNDO
    return _EFFECTS[job.event.kind]


def _first(job: Job) -> bool:
    """Whether nothing can have been recorded about the effect yet."""
    return job.first and job.event.kind not in _REPEATED


def _known(tx: Transaction, job: Job, effect: Effect) -> Mapping[str | None, HistoryStep]:
    return {
        step.reservation_id: step
        for step in tx.steps.of_event(job.lease.id, _event_id(job))
        if step.effect is effect
    }


def _new(tx: Transaction, job: Job, step: EffectResult, effect: Effect) -> HistoryStep:
    types = {item.id: item.resource_type for item in job.lease.reservations}
    return HistoryStep(
        lease_id=job.lease.id,
        event_id=_event_id(job),
        reservation_id=step.reservation_id or None,
        resource_type=types.get(step.reservation_id),
        effect=effect,
        state=StepState.WAITING,
        attempts=0,
        first_at=job.event.begun_at or tx.now,
        last_at=tx.now,
    )


# -- the content of steps


def _given_up(job: Job, event: Event) -> str | None:
    """Return why the event was given up; None if it was not."""
    undoing = event.undoing and not job.event.undoing
    if event.state is EventState.ERROR or undoing:
        return event.error or 'it was given up'
    return None


def _after(
    known: HistoryStep, step: EffectResult, tx: Transaction, lost: str | None
) -> HistoryStep:
    """Return *known* after one more attempt.

    :param step: the outcome of the attempt

    :param lost: why the event was given up, if it was
    """
    outcome = step.outcome
    error = step.error.message if step.error is not None else None
    waiting = outcome.why if isinstance(outcome, Again) else None
    state = StepState.DONE
    if error is not None:
        state = StepState.FAILED
    elif waiting is not None:
        state, error = (StepState.WAITING, None) if lost is None else (StepState.FAILED, lost)
    return with_changes(
        known,
        state=state,
        attempts=known.attempts + 1,
        last_at=tx.now,
        waiting_for=_clean(waiting) if state is StepState.WAITING else None,
        error=_clean(error) or known.error,
        lines=_lines(
            known.lines,
            outcome.steps if outcome is not None else (),
            outcome.repaired if isinstance(outcome, Done) else (),
            tx.now,
        ),
    )


def _lines(
    known: tuple[Line, ...], done: Iterable[str], repaired: Iterable[str], now: datetime.datetime
) -> tuple[Line, ...]:
    """Return the lines with the new ones; only repairs can occur more than once."""
    lines = list(known)
    present = {line.text for line in known}
    for text in (_clean(text) for text in done):
        if text and text not in present:
            present.add(text)
            lines.append(Line(at=now, text=text))
    lines += [Line(at=now, text=f'repaired: {_clean(text)}') for text in repaired]
    return tuple(lines[-_MOST_LINES:])


def _clean(text: str | None) -> str | None:
    """Return *text*, shortened and without anything that looks like a secret."""
    return None if text is None else str(strutils.mask_password(text))[:_LONGEST]


def _undo(tx: Transaction, job: Job, steps: Iterable[HistoryStep]) -> None:
    ids = [
        step.reservation_id
        for step in steps
        if step.reservation_id is not None and step.state is StepState.DONE
    ]
    if not ids:
        return
    if job.event.kind is EventKind.UPDATE:
        tx.steps.undo(job.lease.id, ids, [Effect.UPDATE], job.event.id)
    else:
        tx.steps.undo(job.lease.id, ids, _GIVES)
