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

"""Changes a lease, wholly or not at all, in one transaction."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.allocation import changes
from climate.db.store import Transaction
from climate.domain import events
from climate.domain.events import EventKind
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.lifecycles import LEASE
from climate.domain.lifecycles import LeaseStatus
from climate.domain.lifecycles import LeaseTrigger
from climate.domain.periods import Period
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.domain.requests import UNSET
from climate.leasing import booking
from climate.leasing import dates
from climate.leasing import notices
from climate.leasing import schedule
from climate.leasing.settings import LeasingSettings


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Line:
    """One reservation and what becomes of it."""

    old: Reservation
    new: Reservation
    plugin: Any
    request: Any
    kept: tuple[Allocation, ...]
    dropped: tuple[Allocation, ...]
    added: tuple[Allocation, ...]


class Update:
    """One change that somebody wants."""

    def __init__(
        self,
        caller: Caller,
        lease_id: str,
        project_id: str | None,
        change: LeaseChange,
        plugins: notices.Plugins,
        settings: LeasingSettings,
    ) -> None:
        self._caller = caller
        self._lease_id = lease_id
        self._project_id = project_id
        self._change = change
        self._plugins = plugins
        self._settings = settings

    def book(self, tx: Transaction, rng: random.Random) -> Lease:
        """Check the change, choose what it needs, and write it.

        :raises climate.exceptions.ClimateError: if it cannot be; nothing is
            written then
        :raises climate.leasing.booking.LostRace: if it is to be tried again
        """
        old = tx.leases.get(self._lease_id, self._project_id, lock=True)
        self._check_state(old)
        if not self._more_than_a_name():
            return self._rename(tx, old)
        period = dates.changed_period(old, self._change, tx.now)
        new = dates.replaced(
            old,
            name=self._change.name if self._change.name is not None else old.name,
            period=period,
            before_end_date=dates.changed_before_end(old, self._change, period),
            notify_before_start=(
                old.notify_before_start
                if self._change.notify_before_start is UNSET
                else self._change.notify_before_start
            ),
        )
        lines = self._lines(tx, old, period, rng)
        return self._write(tx, old, new, lines)

    # -- checks

    def _more_than_a_name(self) -> bool:
        change = self._change
        return bool(
            change.start is not None
            or change.end is not None
            or change.before_end_date is not UNSET
            or change.notify_before_start is not UNSET
            or change.reservations
        )

    def _check_state(self, lease: Lease) -> None:
        if lease.status is LeaseStatus.DELETING:
            raise exceptions.InvalidState(state=lease.status, id=lease.id)
        if not self._more_than_a_name():
            return
        if lease.status is LeaseStatus.TERMINATED:
            raise exceptions.InvalidInput('Terminated leases can only be renamed')
        if lease.status not in (LeaseStatus.PENDING, LeaseStatus.ACTIVE):
            raise exceptions.InvalidState(state=lease.status, id=lease.id)

    def _rename(self, tx: Transaction, old: Lease) -> Lease:
        if self._change.name is None or self._change.name == old.name:
            return old
        new = dates.replaced(old, name=self._change.name, updated_at=tx.now)
        tx.leases.update(new)
        notices.tell(tx, self._plugins, 'lease.update', new)
        return new

    def _bodies(self, lease: Lease) -> Mapping[str, Mapping[str, Any]]:
        """Return the changes by reservation id."""
        bodies: dict[str, Mapping[str, Any]] = {}
        known = {reservation.id for reservation in lease.reservations}
        for change in self._change.reservations:
            if not change.id:
                raise exceptions.MissingParameter('Missing parameter reservation ID')
            bodies[change.id] = change.body
        unknown = sorted(set(bodies) - known)
        if unknown:
            raise exceptions.InvalidInput(
                'Please enter valid reservation IDs. Invalid reservation IDs are: '
                + ', '.join(unknown)
            )
        return bodies

    # -- choice

    def _lines(
        self, tx: Transaction, lease: Lease, period: Period, rng: random.Random
    ) -> list[_Line]:
        bodies = self._bodies(lease)
        ids = [reservation.id for reservation in lease.reservations]
        current = tx.allocations.live_of(ids) if ids else []
        desk = booking.Booking(tx, self._settings, rng)
        held = {allocation.resource_id for allocation in current}
        if held:
            desk.keep(tx.resources.generations(held), booking.from_now(period, tx.now))
        lines = [
            self._line(
                tx,
                lease,
                reservation,
                bodies.get(reservation.id),
                [item for item in current if item.reservation_id == reservation.id],
                period,
                desk,
            )
            for reservation in lease.reservations
        ]
        desk.take(ids)
        return lines

    def _line(
        self,
        tx: Transaction,
        lease: Lease,
        reservation: Reservation,
        body: Mapping[str, Any] | None,
        current: list[Allocation],
        period: Period,
        desk: booking.Booking,
    ) -> _Line:
        plugin = booking.plugin_of(self._plugins, reservation.resource_type)
        old_request = plugin.load(reservation.request)
        request = old_request if body is None else self._changed(plugin, old_request, body)
        wish = self._wish(tx, plugin, request, period, len(current), request != old_request)
        kept = self._kept(tx, lease, reservation, current, wish, request != old_request)
        added: tuple[Allocation, ...] = ()
        if kept.missing_maximum > 0:
            chosen = desk.choose(
                dataclasses.replace(
                    wish, minimum=kept.missing_minimum, maximum=kept.missing_maximum
                ),
                taken={item.resource_id for item in current},
            )
            added = tuple(booking.allocations(reservation.id, chosen, wish.period))
        return _Line(
            old=reservation,
            new=dataclasses.replace(reservation, request=plugin.dump(request)),
            plugin=plugin,
            request=request,
            kept=kept.kept,
            dropped=kept.dropped,
            added=added,
        )

    def _changed(self, plugin: Any, request: Any, body: Mapping[str, Any]) -> Any:
        wanted = body.get('resource_type')
        if wanted is not None and wanted != plugin.resource_type:
            raise exceptions.CantUpdateParameter(param='resource_type')
        return plugin.change(request, body, strict=self._change.strict)

    def _wish(
        self,
        tx: Transaction,
        plugin: Any,
        request: Any,
        period: Period,
        has: int,
        changed: bool,
    ) -> booking.Wish:
        """What the reservation needs in all; new dates alone ask for no more than it has."""
        search = plugin.search(request)
        return booking.Wish(
            plugin=plugin,
            request=request,
            period=booking.from_now(period, tx.now),
            minimum=search.minimum,
            maximum=search.maximum if changed else min(max(has, search.minimum), search.maximum),
            private=self._caller.all_projects,
        )

    def _kept(
        self,
        tx: Transaction,
        lease: Lease,
        reservation: Reservation,
        current: list[Allocation],
        wish: booking.Wish,
        changed: bool,
    ) -> changes.Kept:
        ids = {allocation.resource_id for allocation in current}
        good = set(ids)
        search = wish.plugin.search(wish.request)
        if ids and changed:
            good = tx.resources.matching(
                search.resource_type, ids, search.requirement, private=wish.private
            )
        if good:
            padded = wish.period.padded(self._settings.cleaning_time)
            good -= tx.allocations.clashes(good, padded, [reservation.id])
        try:
            return changes.keep(
                current,
                good,
                wish.minimum,
                wish.maximum,
                running=lease.status is LeaseStatus.ACTIVE,
            )
        except changes.WouldTakeRunning as error:
            refusal = exceptions.NotEnoughResources(search.noun)
            matched, free, ends = tx.resources.reasons(
                search.resource_type,
                wish.period.padded(self._settings.cleaning_time),
                search.requirement,
                private=wish.private,
            )
            refusal.matched, refusal.free, refusal.first_blocker_ends = matched, free, ends
            raise refusal from error

    # -- writing

    def _write(self, tx: Transaction, old: Lease, new: Lease, lines: list[_Line]) -> Lease:
        for line in lines:
            tx.allocations.remove([item.id for item in line.dropped if item.id is not None])
            if line.kept:
                self._move(tx, old, line, new.period)
            tx.allocations.insert(line.added)
            if line.new != line.old:
                tx.reservations.update(line.new)
        timetable = self._reschedule(tx, old, new)
        status = old.status
        if old.status is LeaseStatus.ACTIVE and any(line.added for line in lines):
            status = LEASE.after(old.status, LeaseTrigger.CHANGE)
            growth = _growth(tx, new, lines)
            tx.events.insert([growth])
            timetable.append(growth)
        written = dates.replaced(
            new,
            status=status,
            reservations=tuple(line.new for line in lines),
            events=tuple(sorted(timetable, key=events.order)),
            next_due=events.next_due(timetable),
            updated_at=tx.now,
        )
        tx.leases.update(written)
        notices.tell(tx, self._plugins, 'lease.update', written)
        return written

    def _move(self, tx: Transaction, old: Lease, line: _Line, period: Period) -> None:
        if old.status is LeaseStatus.ACTIVE:
            # What is in use keeps the instant at which it came into use.
            tx.allocations.end_at([line.old.id], period.end)
        else:
            tx.allocations.move([line.old.id], booking.from_now(period, tx.now))

    def _reschedule(self, tx: Transaction, old: Lease, new: Lease) -> list[events.Event]:
        moved = schedule.rescheduled(
            old,
            new,
            prepares=any(self._plugins[item.resource_type].prepares for item in old.reservations),
            now=tx.now,
            settings=self._settings,
        )
        for event in moved.changed:
            tx.events.update(event)
        tx.events.delete(moved.removed)
        tx.events.insert(moved.added)
        timetable = {event.id: event for event in old.events if event.id not in moved.removed}
        timetable.update({event.id: event for event in (*moved.changed, *moved.added)})
        return list(timetable.values())


def _growth(tx: Transaction, lease: Lease, lines: list[_Line]) -> events.Event:
    """The event that has the cloud follow, with all that is needed to undo it."""
    return schedule.new_event(
        lease.id,
        EventKind.UPDATE,
        tx.now,
        payload={
            'added': {
                line.old.id: [item.resource_id for item in line.added]
                for line in lines
                if line.added
            },
            'before': {
                line.old.id: dict(line.old.request) for line in lines if line.new != line.old
            },
        },
    )
