# SPDX-License-Identifier: Apache-2.0

"""Books flexible leases: at the soonest start at which there is room.

A flexible lease is booked like any other. Until it is firm, it can be booked again at another
start in its window, which is one transaction, too.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import functools
from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Iterator
from typing import Final

from climate import exceptions
from climate.booking.choosing.choose import LostRace
from climate.booking.offers.change_searches import ChangeSearch
from climate.booking.offers.offers import OfferSearch
from climate.booking.offers.period_searches import PeriodSearch
from climate.booking.planning import displacement
from climate.booking.planning import late_binding
from climate.booking.planning import slices
from climate.booking.planning import waiting
from climate.booking.planning.repacking import RoomRequest
from climate.booking.requests import changed_requests
from climate.booking.requests import new_leases
from climate.booking.requests import prepare
from climate.booking.requests.context import Context
from climate.booking.writing import change as changes
from climate.booking.writing import create
from climate.booking.writing import rehearsal
from climate.booking.writing.change import Changed
from climate.booking.writing.change import ChangeRequest
from climate.booking.writing.change import ChangeWork
from climate.booking.writing.create import Chosen
from climate.booking.writing.rehearsal import DryRun
from climate.db.transactions import expired_holds
from climate.db.transactions.store import Transaction
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.offers import Offer
from climate.domain.offers import OfferKind
from climate.domain.periods import Period
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.domain.requests import LeaseDraft
from climate.leases import dates

_SEARCHES: Final = 3


def book(context: Context, caller: Caller, draft: LeaseDraft) -> Lease:
    """Book a flexible lease.

    :raises climate.exceptions.InvalidInput: naming the field that is wrong
    :raises climate.exceptions.NotEnoughResources: if its window has no room for it
    :raises climate.exceptions.LeaseRefused: if a limit or a filter forbids it
    """
    if draft.id is not None and (found := create.earlier(context, draft.id)) is not None:
        return found
    expired_holds.release(context.store)
    return create.booked(_work(context, caller, draft))


def rehearse(context: Context, caller: Caller, draft: LeaseDraft) -> DryRun:
    """Return what :func:`book` would do.

    :raises climate.exceptions.ClimateError: if it would be refused
    """
    return rehearsal.rehearse(_work(context, caller, draft))


def _work(context: Context, caller: Caller, draft: LeaseDraft) -> FlexibleLeaseWork:
    new = new_leases.checked(context, caller, draft)
    return FlexibleLeaseWork(context=context, caller=caller, new=new)


@dataclasses.dataclass(frozen=True, kw_only=True)
class FlexibleLeaseWork(displacement.Displacing[Chosen], create.LeaseWork[Chosen]):
    """Books a new lease at the soonest start in its window."""

    def choose(self, tx: Transaction) -> Chosen | prepare.Missing:
        """Choose the start, and free resources, or else those of other flexible leases."""
        if self.new.draft.preemptible and self.new.draft.latest is None:
            return slices.first(tx, self)
        try:
            return self.free(tx)
        except exceptions.NotEnoughResources as error:
            start = self._start(tx)
            if start is None:
                found = self.unless_futile(
                    tx, functools.partial(self._in_place_of_others, tx, error)
                )
                if found is None and not self.new.draft.waits:
                    raise
                return found or waiting.unbooked(tx, self)
            found = self._sooner(tx, start)
        if found is not None:
            return found
        with _unless_booked():
            return self._at(start).free(tx)

    @property
    def key(self) -> Hashable:
        """What equal requests have in common."""
        return displacement.key(self.new)

    def _in_place_of_others(
        self, tx: Transaction, error: exceptions.NotEnoughResources
    ) -> Chosen | prepare.Missing | None:
        """Return a choice for which others move, or which needs several slices."""
        found = self._sooner(tx, None) or slices.several(tx, self)
        return found or self.displacing(tx, error)

    def room_requests(self, tx: Transaction) -> list[RoomRequest]:
        """Return what the lease needs at its first start."""
        return displacement.new_room_requests(self.context, self.new, tx.now)

    def _sooner(
        self, tx: Transaction, start: datetime.datetime | None
    ) -> Chosen | prepare.Missing | None:
        """Return a choice before a start for which other leases get other resources."""
        if not self.context.settings.rebind:
            return None
        draft = self.new.draft
        length = draft.end - draft.start
        latest = draft.latest or tx.now + self.context.settings.plan_horizon
        # The last start in the window counts, too.
        before = start or latest - length + datetime.timedelta.resolution
        needed = [one.needed for one in self.room_requests(tx)]
        for period in late_binding.periods(tx, needed, draft.start, before):
            found = self._at(period.start).rebinding(tx)
            if found is not None:
                return found
        return None

    def fixed(self, tx: Transaction) -> None:
        """Return None: it has no fixed start."""

    def free(self, tx: Transaction) -> Chosen | prepare.Missing:
        """Choose free resources at the first start."""
        return self.chosen(tx)

    def book(self, tx: Transaction, request: Chosen, charge_id: str | None) -> Lease:
        """Write the lease."""
        return create.LeaseWork.write(self, tx, request, charge_id)

    def displacing(
        self, tx: Transaction, error: exceptions.NotEnoughResources
    ) -> Chosen | prepare.Missing | None:
        """Return a choice at the first or the last start that displaces others."""
        draft = self.new.draft
        if draft.latest is None:
            return None
        for start in sorted({draft.start, draft.latest - (draft.end - draft.start)}):
            if not self.new.limits.allows_start(start, tx.now):
                break
            found = self._at(start).displacing(tx, error)
            if found is not None:
                return found
        return None

    def _at(self, start: datetime.datetime) -> displacement.FixedLeaseWork:
        """Return the work of booking it at one start."""
        draft = self.new.draft
        moved = dataclasses.replace(draft, start=start, end=start + (draft.end - draft.start))
        return displacement.FixedLeaseWork(
            context=self.context,
            caller=self.caller,
            new=dataclasses.replace(self.new, draft=moved),
            findings=self.findings,
            trust_id=self.trust_id,
        )

    def _start(self, tx: Transaction) -> datetime.datetime | None:
        """Return the soonest start at which there is room; None if there is none."""
        draft = self.new.draft
        latest = draft.latest or tx.now + self.context.settings.plan_horizon
        offer = _soonest(lambda: OfferSearch(tx, self.context, self.new), latest)
        return None if offer is None else offer.period.start


def change(
    context: Context, caller: Caller, lease_id: str, project_id: str | None, change: LeaseChange
) -> Lease:
    """Change a lease, whose new window decides when it is.

    :param project_id: None looks in every project
    :raises climate.exceptions.ClimateError: if it cannot be changed; it is then as before
    """
    return changes.booked(_change(context, caller, lease_id, project_id, change))


def rehearse_change(
    context: Context, caller: Caller, lease_id: str, project_id: str | None, change: LeaseChange
) -> DryRun:
    """Return what :func:`change` would do.

    :param project_id: None looks in every project
    :raises climate.exceptions.ClimateError: if it would be refused
    """
    return rehearsal.rehearse(_change(context, caller, lease_id, project_id, change))


def _change(
    context: Context, caller: Caller, lease_id: str, project_id: str | None, change: LeaseChange
) -> WindowChangeWork:
    new = ChangeRequest(caller=caller, lease_id=lease_id, project_id=project_id, change=change)
    return WindowChangeWork(context=context, caller=caller, new=new)


@dataclasses.dataclass(frozen=True, kw_only=True)
class WindowChangeWork(ChangeWork):
    """Changes a lease, and books it at the soonest start in its new window."""

    @property
    def last_end(self) -> datetime.datetime:
        """The last end that the lease can get."""
        latest = self.new.change.window.latest
        if isinstance(latest, datetime.datetime):
            return latest
        return self.context.clock.now() + self.context.settings.plan_horizon

    def choose(self, tx: Transaction) -> Changed | prepare.Missing:
        """Choose the start, and what the lease keeps, gets and gives up."""
        old = changed_requests.locked(tx, self.new.lease_id, self.new.project_id, self.new.change)
        if dates.changes_waiting(old, self.new.change):
            return self.changed_waiting(tx, old)
        changed_requests.check_state(old, self.new.change)
        period, latest = self._window(old, tx.now)
        first = self._at(period)
        try:
            return ChangeWork.choose(first, tx)
        except exceptions.NotEnoughResources:
            offer = _soonest(
                lambda: ChangeSearch(tx, self.context, first.new, self.findings), latest
            )
            if offer is None:
                raise
        with _unless_booked():
            return ChangeWork.choose(self._at(offer.period), tx)

    def _window(self, old: Lease, now: datetime.datetime) -> tuple[Period, datetime.datetime]:
        """Return the first period in the new window, and the latest end.

        :raises climate.exceptions.InvalidInput: if the lease has begun, or has no window
        """
        if old.status is not LeaseStatus.PENDING:
            raise exceptions.InvalidInput('Cannot modify the start date of already started leases')
        changed = dates.with_window(old, self.new.change, old.period)
        if changed.earliest is None:
            raise exceptions.InvalidInput('Malformed parameter latest: it requires earliest')
        length = self.new.change.window.duration or old.period.length
        start = max(changed.earliest, now)
        latest = changed.latest or now + self.context.settings.plan_horizon
        if start + length > latest:
            raise exceptions.MalformedParameter(
                'Malformed parameter latest: a time at least duration after earliest is required'
            )
        return Period(start=start, end=start + length), latest

    def _at(self, period: Period) -> WindowChangeWork:
        change = dataclasses.replace(self.new.change, start=period.start, end=period.end)
        return dataclasses.replace(self, new=dataclasses.replace(self.new, change=change))


def _soonest(search: Callable[[], PeriodSearch], latest: datetime.datetime) -> Offer | None:
    """Return the soonest period in which there is room; None if there is none.

    :param search: returns a search that reads what is booked now. Where its last candidate was
        booked meanwhile, another search finds a later one
    """
    for _ in range(_SEARCHES):
        found = search()
        offer = found.next(found.frame(latest), OfferKind.SOONEST)
        if offer is not None or not found.refused:
            return offer
    return None


@contextlib.contextmanager
def _unless_booked() -> Iterator[None]:
    """Look for another start if what was free when it was found is booked now.

    :raises climate.booking.choosing.choose.LostRace: if it is
    """
    try:
        yield
    except exceptions.NotEnoughResources as error:
        raise LostRace from error
