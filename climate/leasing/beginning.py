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

"""Takes up the next due event of a claimed lease, in one transaction.

Messages need nothing but the outbox and are told on the spot; an event with
effects is marked as begun, its resources as held, and handed to the caller.
"""

from __future__ import annotations

import dataclasses
import datetime
import random
from collections.abc import Iterable

from climate.db.store import Transaction
from climate.domain import events
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
from climate.enforcement.gate import Gate
from climate.leasing import following
from climate.leasing import history
from climate.leasing import moving
from climate.leasing import notices
from climate.leasing import patience
from climate.leasing import schedule
from climate.leasing import states
from climate.leasing.deleting import cancelled
from climate.leasing.handover import Handover
from climate.leasing.jobs import Job
from climate.leasing.settings import LeasingSettings
from climate.plugins.base import Work

# What a lease goes through when an effect on it begins. A lease that is being
# deleted stays so, and one in ERROR is cleaned up without looking any better.
_BEGINS = {
    EventKind.START: LeaseTrigger.START,
    EventKind.END: LeaseTrigger.END,
    EventKind.DELETE: LeaseTrigger.DELETE,
}
_HOLDS = frozenset({EventKind.START, EventKind.UPDATE})
_TOLD = {
    EventKind.BEFORE_START: 'lease.event.before_start_lease',
    EventKind.NOTIFICATION: 'lease.event.notification',
    EventKind.BEFORE_END: 'lease.event.before_end_lease',
}
# In which states of the lease an effect makes sense. Elsewhere another event
# has taken its place: the end covers whatever is still open when it comes, a
# deletion covers everything.
_S = LeaseStatus
_RUNS_IN = {
    EventKind.PREPARE: frozenset({_S.PENDING}),
    EventKind.START: frozenset({_S.PENDING, _S.STARTING}),
    EventKind.UPDATE: frozenset({_S.UPDATING}),
    EventKind.CHECK: frozenset({_S.ACTIVE, _S.UPDATING}),
    EventKind.BEFORE_END: frozenset({_S.ACTIVE, _S.UPDATING}),
    EventKind.END: frozenset(_S) - {_S.DELETING, _S.DELETED, _S.TERMINATED},
    # Of what was prepared for a lease that has not started, or of a start.
    EventKind.UNDO: frozenset({_S.PENDING, _S.ERROR}),
    EventKind.DELETE: frozenset({_S.DELETING, _S.ERROR}),
}
_NOT_STARTED = frozenset({_S.PENDING, _S.STARTING})
# What gives or looks goes by what the lease is to have after a change; what
# takes back takes back everything.
_FOLLOWS = frozenset({EventKind.UPDATE, EventKind.CHECK, EventKind.BEFORE_END})
_REVERSED = frozenset({EventKind.END, EventKind.UNDO, EventKind.DELETE})


class Beginner:
    """Begins events on behalf of one manager."""

    def __init__(
        self,
        plugins: notices.Plugins,
        settings: LeasingSettings,
        owner: str,
        gate: Gate | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self._plugins = plugins
        self._settings = settings
        self._owner = owner
        self._handover = Handover(plugins, settings, gate or Gate(), rng or random.Random())

    def begin(self, tx: Transaction, lease_id: str, *, moves: bool = True) -> Job | None:
        """Take up the next due event.

        :param moves: whether a start that has waited for long may be moved to
            other resources
        :returns: the job; None if nothing is due any more, the lease is gone,
            or the claim has run out and somebody else has it
        :raises climate.leasing.booking.LostRace: if it is to be tried again
        """
        lease = tx.leases.claimed(lease_id, self._owner)
        job = None if lease is None else self._next(tx, lease, moves)
        if job is None:
            tx.claims.release(self._owner, lease_id)
        return job

    def check(self, tx: Transaction, lease: Lease) -> Job:
        """Return a check of an active lease that is none of its events."""
        event = self._begun(schedule.new_event(lease.id, EventKind.CHECK, tx.now), tx)
        ids = [reservation.id for reservation in lease.reservations]
        return Job(lease=lease, event=event, works=self._works(tx, lease, event, ids))

    def _next(self, tx: Transaction, lease: Lease, moves: bool) -> Job | None:
        while True:
            due = [event for event in lease.events if event.open and event.due <= tx.now]
            if not due:
                self._save(tx, lease)
                return None
            event = min(due, key=events.order)
            if event.kind not in events.EFFECTS:
                lease = self._tell(tx, lease, event)
            elif event.kind is EventKind.BEFORE_END and lease.status in _NOT_STARTED:
                lease = self._after_start(tx, lease, event)
            elif lease.status not in _RUNS_IN[event.kind]:
                lease = states.keep(tx, lease, cancelled(event))
            elif event.kind is EventKind.START and lease.period.end <= tx.now:
                lease = self._miss(tx, lease, event)
            elif moves and self._handover.moved(tx, lease, event):
                return None
            else:
                waiting = self._handover.pause(tx, lease, event)
                if waiting is None:
                    return self._take_up(tx, self._unstarted(tx, lease, event), event)
                lease = waiting

    def _save(self, tx: Transaction, lease: Lease) -> None:
        due = events.next_due(lease.events)
        if due != lease.next_due:
            tx.leases.update(dataclasses.replace(lease, next_due=due))

    def _tell(self, tx: Transaction, lease: Lease, event: Event) -> Lease:
        notices.tell(tx, self._plugins, _TOLD[event.kind], lease, event=event)
        return states.keep(tx, lease, _finished(event))

    def _miss(self, tx: Transaction, lease: Lease, event: Event) -> Lease:
        """The whole period passed before it could start: there is nothing to start."""
        tried = event.error or 'no manager was there to start it'
        missed = dataclasses.replace(
            event,
            state=EVENT.after(self._begun(event, tx).state, EventTrigger.FAIL),
            error=f'the lease had ended before it could start; {tried}',
        )
        notices.tell(
            tx, self._plugins, 'lease.event.error', lease, event=missed, reason=missed.error
        )
        history.note(tx, missed, StepState.FAILED, error=missed.error)
        return states.keep(tx, lease, missed)

    def _unstarted(self, tx: Transaction, lease: Lease, event: Event) -> Lease:
        """A start that is still being tried when the end comes has failed."""
        if event.kind is EventKind.END:
            for item in lease.events:
                if item.open and item.kind is EventKind.START:
                    lease = self._miss(tx, lease, item)
        return lease

    def _after_start(self, tx: Transaction, lease: Lease, event: Event) -> Lease:
        """A short lease is warned of its end as it starts, but not before it has."""
        starts = [item.due for item in lease.events if item.open and item.kind is EventKind.START]
        if not starts:
            return states.keep(tx, lease, cancelled(event))
        due = min(starts) + datetime.timedelta(microseconds=1)
        return states.keep(tx, lease, dataclasses.replace(event, due=due))

    def _take_up(self, tx: Transaction, lease: Lease, event: Event) -> Job:
        if event.kind is EventKind.BEFORE_END and event.begun_at is None:
            # The warning is what people count on; the action comes after it,
            # perhaps in many steps, and is not told again with each of them.
            notices.tell(tx, self._plugins, _TOLD[event.kind], lease, event=event)
        begun = self._begun(event, tx)
        lease = states.keep(tx, lease, begun)
        trigger = _BEGINS.get(event.kind)
        # An end that has failed for long is shown as ERROR until it works.
        told = event.payload.get('told')
        if trigger is not None and not told and LEASE.allows(lease.status, trigger):
            lease = dataclasses.replace(lease, status=LEASE.after(lease.status, trigger))
        ids = [reservation.id for reservation in lease.reservations]
        if event.kind in _HOLDS and ids and not following.undone(event):
            tx.allocations.hold(ids)
        # The event stays due: a manager that takes over finds it at once.
        lease = dataclasses.replace(lease, next_due=begun.due)
        tx.leases.update(lease)
        works = self._works(tx, lease, begun, ids)
        return Job(lease=lease, event=begun, works=works, first=event.begun_at is None)

    def _begun(self, event: Event, tx: Transaction) -> Event:
        unfinished = datetime.timedelta(seconds=self._settings.retry_longest_pause)
        return dataclasses.replace(
            patience.taken_up(event, tx.now, unfinished),
            state=EVENT.after(event.state, EventTrigger.BEGIN),
            begun_at=event.begun_at or tx.now,
        )

    def _works(
        self, tx: Transaction, lease: Lease, event: Event, ids: list[str]
    ) -> tuple[Work, ...]:
        current = tx.allocations.live_of(ids) if ids else []
        changing = lease.events if event.kind in _FOLLOWS else ()
        allocations, leaving = following.split(changing, current)
        undone = following.undone(event)
        resource_ids = {item.resource_id for item in current}
        resources = tx.resources.with_ids(resource_ids) if resource_ids else []
        works = [
            Work(
                lease=lease,
                reservation=reservation,
                allocations=_of(reservation, allocations),
                leaving=() if undone else _of(reservation, leaving),
                resources=_resources(
                    reservation, resources, (*allocations, *(() if undone else leaving))
                ),
                now=tx.now,
                since=tx.now - patience.tried(event),
                undone=_resources(reservation, resources, leaving) if undone else (),
                forced=moving.forced(event),
            )
            for reservation in lease.reservations
        ]
        works = [
            dataclasses.replace(
                work,
                parts=tuple(
                    part for part in works if part.reservation.part_of == work.reservation.id
                ),
            )
            for work in works
        ]
        return tuple(reversed(works) if event.kind in _REVERSED else works)


def _of(reservation: Reservation, items: Iterable[Allocation]) -> tuple[Allocation, ...]:
    return tuple(item for item in items if item.reservation_id == reservation.id)


def _resources(
    reservation: Reservation, resources: Iterable[Resource], items: Iterable[Allocation]
) -> tuple[Resource, ...]:
    ids = {item.resource_id for item in _of(reservation, items)}
    return tuple(resource for resource in resources if resource.id in ids)


def _finished(event: Event) -> Event:
    begun = EVENT.after(event.state, EventTrigger.BEGIN)
    return dataclasses.replace(event, state=EVENT.after(begun, EventTrigger.FINISH))
