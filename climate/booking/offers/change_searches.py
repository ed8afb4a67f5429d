# SPDX-License-Identifier: Apache-2.0

"""Searches for periods in which a lease that exists could be, perhaps with other amounts."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

from climate import exceptions
from climate.allocation import shares
from climate.allocation.joint import SlotCondition
from climate.booking.choosing import candidates
from climate.booking.choosing.candidates import MatchingBlocks
from climate.booking.choosing.requirements import Requirements
from climate.booking.offers.period_searches import PeriodSearch
from climate.booking.requests import changed_requests
from climate.booking.requests import prepare
from climate.booking.requests.context import Context
from climate.booking.requests.prepare import Findings
from climate.booking.writing import commit
from climate.booking.writing import rehearsal
from climate.booking.writing.change import Changed
from climate.booking.writing.change import ChangeRequest
from climate.booking.writing.change import ChangeWork
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.offers import Offer
from climate.domain.offers import OfferKind
from climate.domain.periods import Period
from climate.domain.requests import Caller
from climate.domain.requests import UNSET
from climate.enforcement import limits
from climate.leases import dates


@contextlib.contextmanager
def searching(context: Context, new: ChangeRequest) -> Iterator[ChangeSearch]:
    """Open a search for periods of a changed lease, in a transaction that keeps nothing.

    :raises climate.exceptions.NotFound: if there is no such lease
    :raises climate.exceptions.ClimateError: if the lease cannot be changed in this way
    """
    findings = _findings(context, new)
    with context.store.reading(new.caller.budget) as tx:
        yield ChangeSearch(tx, context, new, findings)


def _findings(context: Context, new: ChangeRequest) -> Findings:
    """Return what the changed requests name in the cloud."""
    findings = prepare.NOTHING
    while new.change.reservations:
        with context.store.reading(new.caller.budget) as tx:
            try:
                work = ChangeWork(context=context, caller=new.caller, new=new, findings=findings)
                outcome = work.choose(tx)
            except (exceptions.NotEnoughResources, exceptions.ResourcesInUse):
                break
        if isinstance(outcome, Changed):
            break
        findings = rehearsal.inspected(context, new.caller, outcome, findings)
    return findings


class ChangeSearch(PeriodSearch):
    """Searches for periods of a changed lease, in one transaction.

    :param new: the change
    :param findings: what the changed requests name in the cloud
    :ivar old: the lease as it is
    :ivar has: its allocations
    """

    def __init__(
        self, tx: Transaction, context: Context, new: ChangeRequest, findings: Findings
    ) -> None:
        self.old = tx.leases.get(new.lease_id, new.project_id)
        changed_requests.check_state(self.old, new.change)
        self._new = new
        self._findings = findings
        ids = [one.id for one in self.old.reservations]
        self.has = tuple(tx.allocations.live_of(ids)) if ids else ()
        self._matching = MatchingBlocks(tx, self.has)
        period = dates.changed_period(self.old, new.change, tx.now).after(tx.now)
        needed = list(self._requirements(context, period))
        conditions = candidates.conditions(self._matching, needed)
        super().__init__(tx, context, period, needed, conditions)
        if self.running:
            # What is in use stays where it is.
            self.conditions = self._growing()

    @property
    def caller(self) -> Caller:
        """Who asks."""
        return self._new.caller

    @property
    def running(self) -> bool:
        """Whether the lease has begun."""
        return self.old.status is not LeaseStatus.PENDING

    def _requirements(self, context: Context, period: Period) -> Iterator[Requirements]:
        for one in changed_requests.read(
            context.plugins, self.old, self._new.change, self.caller.budget
        ):
            _, request = self._findings.inspected.get(one.reservation.id, (None, one.request))
            search = one.plugin.search(request)
            has = sum(self._slots(one.reservation.id, search.demand).values())
            if request == one.before:
                # A change of dates alone requires no more than it has.
                search = search.at_most(max(has, search.minimum))
            yield Requirements(
                reservation_id=one.reservation.id,
                search=search,
                plugin=one.plugin,
                request=request,
                period=period,
                padded=period.padded(context.settings.cleaning_time),
                minimum=search.minimum,
                maximum=search.maximum,
                private=self._new.caller.all_projects,
            )

    def _slots(self, reservation_id: str, demand: Mapping[str, int]) -> dict[int, int]:
        mine = [item for item in self.has if item.reservation_id == reservation_id]
        return shares.slots(mine, demand)

    def kept(self) -> list[SlotCondition]:
        """Return the conditions for the lease to keep exactly the resources that it has."""
        return [
            conditions
            for place, one in enumerate(self.needed)
            for conditions in candidates.kept(
                self._matching, place, one, self._slots(one.reservation_id, one.search.demand)
            )
        ]

    def _growing(self) -> list[SlotCondition]:
        """Return the conditions to keep what is in use, and for what more is requested."""
        more = []
        for one in self.needed:
            has = sum(self._slots(one.reservation_id, one.search.demand).values())
            missing = max(one.search.minimum - has, 0)
            search = dataclasses.replace(one.search, minimum=missing, names=())
            more.append(dataclasses.replace(one, search=search))
        return [*self.kept(), *candidates.conditions(MatchingBlocks(self.tx), more)]

    def least(self) -> list[int]:
        """Return how many slots each reservation keeps if it is to grow."""
        return [
            min(sum(self._slots(one.reservation_id, one.search.demand).values()), one.minimum)
            for one in self.needed
        ]

    @property
    def grows(self) -> bool:
        """Whether a reservation is to have more than it has."""
        return any(one.minimum > low for one, low in zip(self.needed, self.least(), strict=True))

    def changes(self, offer: Offer) -> bool:
        """Whether an offer is more than the lease as it is."""
        return bool(self._new.change.reservations) or not self.old.period.contains(offer.period)

    def trial(self, period: Period, most: Mapping[str, int] | None = None) -> Changed:
        """Choose resources as a change does, and check what limits and filters allow.

        :param most: the largest numbers of slots by reservation id
        :raises climate.exceptions.ClimateError: if the change would be refused
        """
        change = dataclasses.replace(
            self._new.change,
            start=None if self.running else period.start,
            end=period.end,
            before_end_date=UNSET,
            check=None,
        )
        new = dataclasses.replace(self._new, change=change, most=most or {})
        work = ChangeWork(context=self.context, caller=new.caller, new=new, findings=self._findings)
        found = work.choose(self.tx)
        if not isinstance(found, Changed):
            findings = rehearsal.inspected(self.context, new.caller, found, work.findings)
            found = dataclasses.replace(work, findings=findings).choose(self.tx)
        if not isinstance(found, Changed):
            raise exceptions.ServiceUnavailable
        with limits.refusing(found.old):
            found.limits.check_lease(found.lease, found.old, self.tx.now)
        limits.check_resources(self.tx, found.limits, found.lease, found.old, found.allocations)
        commit.check_filters(self.tx, self.context, new.caller, found)
        return found

    def _chosen(self, period: Period, needed: Sequence[Requirements]) -> tuple[Allocation, ...]:
        most = {
            one.reservation_id: one.maximum
            for one, requested in zip(needed, self.needed, strict=True)
            if one.maximum < requested.maximum
        }
        return self.trial(period, most).allocations

    def offer(self, period: Period, chosen: Sequence[Allocation], kind: OfferKind) -> Offer:
        """Return an offer of chosen resources, for the whole lease."""
        return super().offer(self.whole(period), chosen, kind)

    def whole(self, period: Period) -> Period:
        """Return the period of the lease of which *period* is what lies ahead."""
        return dataclasses.replace(period, start=self.old.period.start) if self.running else period

    def asked(self, place: int) -> int:
        """Return the place of a reservation in the lease."""
        return place


def replaces(changed: Changed) -> bool:
    """Whether a change takes or adds resources."""
    return any(one.added or one.dropped or one.leaving for one in changed.revisions)


def renewed(old: Lease, period: Period) -> Lease:
    """Return a lease of the same in another period, as filters see it."""
    return dataclasses.replace(old, period=period, status=LeaseStatus.PENDING)
