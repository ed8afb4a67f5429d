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

"""Changes a lease, wholly or not at all."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.db.books import Books
from climate.db.store import Transaction
from climate.domain import events
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
from climate.leasing import following
from climate.leasing import notices
from climate.leasing import reading
from climate.leasing import schedule
from climate.leasing.judging import Plan
from climate.leasing.lines import Line
from climate.leasing.lines import Lines
from climate.leasing.making import Made
from climate.leasing.making import Making
from climate.leasing.making import NeedsMaking
from climate.leasing.settings import LeasingSettings


class NeedsLook(Exception):
    """The cloud has to be looked at for a changed request, outside of the transaction.

    :ivar update: which goes on with what is seen
    :ivar plugin: whose request it is
    :ivar reservation_id: whose it is
    :ivar request: as it was changed
    :ivar project_id: of the lease
    """

    def __init__(
        self, update: Update, plugin: Any, reservation_id: str, request: Any, project_id: str
    ) -> None:
        super().__init__(reservation_id)
        self.update = update
        self.project_id = project_id
        self.plugin = plugin
        self.reservation_id = reservation_id
        self.request = request


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Changed(Plan):
    """A change that is not written yet.

    :ivar old: the lease as it is
    :ivar lines: what becomes of its reservations
    :ivar desk: None if only the name changes
    :ivar planned_in: the transaction of the choice; it has the lease locked
    """

    old: Lease
    lines: tuple[Line, ...] = ()
    desk: booking.Booking | None = None
    planned_in: Transaction


class Update:
    """One change that somebody wants.

    :ivar trust_id: of the trust that the lease is to have from now on; None for
        the one that it has
    """

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
        self._seen: dict[str, tuple[Any, Any]] = {}
        self.trust_id: str | None = None
        self.made = Made()

    def saw(self, look: NeedsLook, request: Any) -> None:
        """Go on with what the cloud said of a changed request."""
        self._seen[look.reservation_id] = (look.request, request)

    def plan(self, tx: Transaction, rng: random.Random) -> Changed:
        """Check the change and choose what it needs.

        :raises climate.exceptions.ClimateError: if it cannot be
        :raises NeedsLook: if it is to be tried again, with what the cloud says
        :raises climate.leasing.making.NeedsMaking: if the caller has to make
            something first
        """
        old = tx.leases.get(self._lease_id, self._project_id, lock=True)
        self._check_state(old)
        if not self._more_than_a_name():
            return Changed(lease=old, old=old, judged=False, planned_in=tx)
        period = dates.changed_period(old, self._change, tx.now)
        new = dates.replaced(
            old,
            **self._words(old),
            period=period,
            trust_id=self.trust_id or old.trust_id,
            # What was said was said of another start.
            readiness=old.readiness if period.start == old.period.start else None,
            before_end_date=dates.changed_before_end(old, self._change, period),
            notify_before_start=(
                old.notify_before_start
                if self._change.notify_before_start is UNSET
                else self._change.notify_before_start
            ),
        )
        ids = [reservation.id for reservation in old.reservations]
        current = tx.allocations.live_of(ids) if ids else []
        desk = booking.Booking(tx, self._settings, rng, changing=ids)
        lines = self._made(old, self._lines(tx, desk, old, period, current))
        allocations = tuple(item for line in lines for item in (*line.kept, *line.added))
        return Changed(
            lease=dates.replaced(
                new,
                reservations=tuple(line.new for line in lines),
                lead_time=tx.properties.lead_time({item.resource_id for item in allocations}),
            ),
            allocations=allocations,
            old=old,
            had=tuple(current),
            limits=self._settings.limits.of(old.project_id),
            lines=tuple(lines),
            desk=desk,
            planned_in=tx,
        )

    def write(self, tx: Transaction, plan: Changed, charge_id: str | None) -> Lease:
        """Write the change.

        :raises climate.exceptions.ClimateError: if it cannot be any more
        :raises climate.leasing.booking.LostRace: if it is to be tried again
        """
        if tx is not plan.planned_in:
            self._still_so(tx, plan)
        if plan.desk is None:
            return self._rename(tx, plan.old)
        touched = {
            item.resource_id
            for line in plan.lines
            for item in (*line.kept, *line.leaving, *line.dropped)
        }
        self._book(plan.desk.take(tx, touched), tx, plan)
        return self._write(tx, plan, charge_id)

    def _still_so(self, tx: Transaction, plan: Changed) -> None:
        """Lock the lease again, and see whether it is as it was."""
        now = tx.leases.get(self._lease_id, self._project_id, lock=True)
        ids = [reservation.id for reservation in now.reservations]
        current = tuple(tx.allocations.live_of(ids)) if ids and plan.desk else plan.had
        if now != plan.old or current != plan.had:
            raise booking.LostRace

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

    def _words(self, old: Lease) -> dict[str, Any]:
        """Return what can be changed whatever becomes of the lease."""
        change = self._change
        return {
            'name': old.name if change.name is None else change.name,
            'notices': old.notices if change.notices is UNSET else change.notices,
        }

    def _rename(self, tx: Transaction, old: Lease) -> Lease:
        new = dates.replaced(old, **self._words(old))
        if new == old:
            return old
        new = dates.replaced(new, updated_at=tx.now)
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
        self,
        tx: Transaction,
        desk: booking.Booking,
        lease: Lease,
        period: Period,
        current: list[Allocation],
    ) -> list[Line]:
        bodies = self._bodies(lease)
        desk.occupy(current)
        lines = Lines(tx, desk, self._settings, lease, period, private=self._caller.all_projects)
        changed = []
        for place, reservation in enumerate(lease.reservations):
            plugin = booking.plugin_of(self._plugins, reservation.resource_type)
            before = reading.load(plugin, reservation)
            request = self._request(lease, plugin, reservation, before, bodies)
            mine = [item for item in current if item.reservation_id == reservation.id]
            with booking.naming(lease.reservations, place):
                changed.append(lines.line(plugin, reservation, before, request, mine))
        return changed

    def _made(self, lease: Lease, lines: list[Line]) -> list[Line]:
        """Return the lines with what was made for them; it is made anew where it changes."""
        found, missing = [], []
        for line in lines:
            plugin = booking.plugin_of(self._plugins, line.new.resource_type)
            request = plugin.load(line.new.request)
            what = plugin.makes(request)
            if what == plugin.makes(plugin.load(line.old.request)):
                found.append(line)
                continue
            facts = self.made.facts(line.new.id, what)
            if what is not None and facts is None:
                missing.append(
                    Making(
                        plugin=plugin,
                        request=request,
                        reservation_id=line.new.id,
                        project_id=lease.project_id,
                        what=what,
                        booked=True,
                    )
                )
            new = dataclasses.replace(line.new, facts={**line.new.facts, **(facts or {})})
            found.append(dataclasses.replace(line, new=new))
        if missing and self._caller.project_id != lease.project_id:
            # What is made in another project would be of no use.
            raise exceptions.Conflict('Only members of its project can make such a change')
        if missing:
            raise NeedsMaking(missing)
        return found

    def _request(
        self,
        lease: Lease,
        plugin: Any,
        reservation: Reservation,
        before: Any,
        bodies: Mapping[str, Mapping[str, Any]],
    ) -> Any:
        body = bodies.get(reservation.id)
        if body is None:
            return before
        if reservation.part_of is not None:
            raise exceptions.InvalidInput(
                f'Reservation {reservation.id} is a part of reservation {reservation.part_of} '
                'and changes with the dates of the lease only'
            )
        wanted = body.get('resource_type')
        if wanted is not None and wanted != plugin.resource_type:
            raise exceptions.CantUpdateParameter(param='resource_type')
        running = lease.status is LeaseStatus.ACTIVE
        request = plugin.change(before, body, strict=self._change.strict, running=running)
        if not plugin.inspects or request == before:
            return request
        asked, seen = self._seen.get(reservation.id, (None, None))
        if asked != request:
            raise NeedsLook(self, plugin, reservation.id, request, lease.project_id)
        return seen

    # -- writing

    def _book(self, books: Books, tx: Transaction, plan: Changed) -> None:
        """Write what becomes of the allocations.

        All that goes goes first, and what comes comes last, so that nothing is
        over capacity in between.
        """
        dropped = [item.id for line in plan.lines for item in line.dropped]
        books.remove([number for number in dropped if number is not None])
        stays = {line.old.id for line in plan.lines if line.kept}
        gone = set(dropped)
        ids = [
            item.id
            for item in plan.had
            if item.reservation_id in stays and item.id is not None and item.id not in gone
        ]
        period = booking.from_now(plan.lease.period, tx.now)
        # What is in use keeps the instant at which it came into use.
        start = None if plan.old.status is LeaseStatus.ACTIVE else period.start
        books.move(ids, start=start, end=period.end)
        books.insert(item for line in plan.lines for item in line.added)

    def _write(self, tx: Transaction, plan: Changed, charge_id: str | None) -> Lease:
        old, new, lines = plan.old, plan.lease, plan.lines
        for line in lines:
            if _seen(line.new) != line.old:
                tx.reservations.update(_seen(line.new))
        timetable = self._reschedule(tx, old, new)
        status = old.status
        moves = any(line.added or line.leaving or line.follows for line in lines)
        if old.status is LeaseStatus.ACTIVE and moves:
            status = LEASE.after(old.status, LeaseTrigger.CHANGE)
            leaving = [item for line in lines for item in line.leaving]
            before = {line.old.id: line.old.request for line in lines if line.new != line.old}
            event = following.new_event(tx, new, plan.had, leaving, before, charge_id)
            timetable.append(event)
        written = dates.replaced(
            new,
            status=status,
            reservations=tuple(_seen(line.new) for line in lines),
            events=tuple(sorted(timetable, key=events.order)),
            next_due=events.next_due(timetable),
            updated_at=tx.now,
        )
        tx.leases.update(written)
        if self.trust_id is not None:
            tx.trusts.give(self.trust_id, written.id)
        notices.tell(tx, self._plugins, 'lease.update', written)
        return written

    def _reschedule(self, tx: Transaction, old: Lease, new: Lease) -> list[events.Event]:
        moved = schedule.rescheduled(
            old,
            new,
            prepares=schedule.preparation(
                self._plugins[item.resource_type] for item in old.reservations
            ),
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


def _seen(reservation: Reservation) -> Reservation:
    """Return *reservation* as one whose owner has seen what became of it."""
    return dataclasses.replace(reservation, resources_changed=False)
