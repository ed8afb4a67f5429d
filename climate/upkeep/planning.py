# SPDX-License-Identifier: Apache-2.0

"""Moves flexible leases forward into what has become free, until they are firm.

In the order of their requests, each gets the soonest start in its window, in one pass over all of
them in memory. No lease moves for the sake of one that was requested later. Each move that a
pass decides is then written in a transaction of its own, which verifies as any change does.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
import operator
from collections import Counter
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any
from typing import Final

from climate import exceptions
from climate.booking.offers import change_searches
from climate.booking.offers.change_searches import ChangeSearch
from climate.booking.planning import moves
from climate.booking.planning import plans
from climate.booking.planning import rebound_moves
from climate.booking.planning import replanning
from climate.booking.planning import seekers
from climate.booking.planning import waiting
from climate.booking.planning.allowances import Allowances
from climate.booking.planning.gains import Gains
from climate.booking.planning.places import Place
from climate.booking.planning.plans import Plan
from climate.booking.planning.seekers import Seeker
from climate.booking.requests.context import Context
from climate.booking.writing import change as changes
from climate.booking.writing import commit
from climate.booking.writing import rests
from climate.booking.writing.change import Changed
from climate.db.transactions import expired_holds
from climate.db.transactions.store import Transaction
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.offers import OfferKind
from climate.domain.periods import Period
from climate.domain.requests import Caller

LOG = logging.getLogger(__name__)

_PLANNER = Caller(user_id='', project_id='', all_projects=True)
_REASON: Final = 'because there is room'
# Starts that a search finds are whole minutes.
_MINUTE: Final = datetime.timedelta(minutes=1)
_MICROSECOND: Final = datetime.timedelta(microseconds=1)
# The more one pass decides before it writes, the more of it others have overtaken.
_MOVES: Final = 64
# So many leases move at once for which others get other resources.
_MOST_REBOUND: Final = 32
# So often that is decided in a round if it cannot be written.
_FAILURES: Final = 5
_PASSES: Final = 64


class Planner:
    """Plans in rounds, on behalf of one manager.

    What it has read of leases and of free time it keeps for the next round.
    """

    def __init__(self, context: Context) -> None:
        # Filters have allowed the lease, and are not asked again about each move.
        self._context = dataclasses.replace(context, filters=context.filters.local)
        # What a plan has decided would be the same at another attempt.
        once = dataclasses.replace(context.settings, booking_attempts=1)
        self._decided = dataclasses.replace(self._context, settings=once)
        self._gains = Gains(context.settings.cleaning_time // _MICROSECOND)
        self._allowances = Allowances(context.settings.limits)
        self._known: dict[str, tuple[Any, Seeker | None]] = {}
        self._again: set[str] = set()
        self._seen: object = None
        self._tried: object = None

    def round(self, may_go_on: Callable[[], bool] = lambda: True) -> int:
        """Move leases that can begin earlier, and book those that wait; return how many.

        Those that have waited for too long end, and count, too. Nothing is looked for if nothing
        has changed since the last round.

        :param may_go_on: asked after each pass, since another manager may plan if this one takes
            too long
        :raises climate.exceptions.DatabaseUnavailable: if the database does not respond
        """
        expired_holds.release(self._context.store)
        done, failed = 0, Counter[str]()
        for _ in range(_PASSES):
            plan = self._pass()
            if plan is None:
                break
            stays = {one.lease.id for one in plan.steps if not self._take(one)}
            done += len(plan.steps) - len(stays)
            failed.update(stays)
            # What has changed twice at one instant looks as before: it is read again. Those that
            # stay again must not keep others from being looked at in this round.
            again = {one for one in stays if failed[one] == 1}
            for one in again:
                self._known.pop(one, None)
            self._again = {*plan.held, *plan.left, *again}
            if plan.left or again:
                self._seen = None
            elif len(stays) == len(plan.steps):
                break
            if not may_go_on():
                break
        self._again |= failed.keys()
        return done + self._rebound() + self._end_late()

    def _rebound(self) -> int:
        """Move leases for which others can get other resources; return how many moved.

        That is looked for if nothing else can be gained, and again if something has changed.
        """
        if not self._context.settings.rebind or self._seen in (None, self._tried):
            return 0
        self._tried = self._seen
        known = [one for _, one in self._known.values() if one is not None]
        found = sorted(known, key=operator.attrgetter('lease.turn'))
        most = _MOST_REBOUND
        for _ in range(_FAILURES):
            with self._context.store.reading() as tx:
                plan = rebound_moves.decided(tx, self._context, found, most)
            moved = [one.lease for one in plan if one.lease.period != one.old.period]
            if not moved or self._is_rebound(plan):
                return len(moved)
            # One that may not move must not keep others from it.
            if len(moved) == 1:
                found = [one for one in found if one.lease.id != moved[0].id]
            most = 1
        return 0

    def _is_rebound(self, plan: tuple[Changed, ...]) -> bool:
        first = plan[0]
        new = moves.to(first.old, first.lease.period)
        try:
            commit.book(
                rebound_moves.ReboundMoves(
                    context=self._decided, caller=new.caller, new=new, plan=plan, reason=_REASON
                )
            )
        except exceptions.DatabaseUnavailable:
            raise
        except exceptions.ClimateError as error:
            LOG.debug('Lease %s stays at its start: %s', first.lease.id, error.message)
            return False
        for one in plan:
            if one.lease.period != one.old.period:
                self._logged(one.old, one.lease.period)
        return True

    def _pass(self) -> Plan | None:
        """Decide what to do; None if nothing has changed since the last time."""
        with self._context.store.reading() as tx:
            planned = tx.leases.planned()
            state = planned, tx.resources.generation_sums()
            if state == self._seen and not self._allowances.is_due(tx.now):
                return None
            self._seen, again = None, self._again
            changed = [key for key, facts in planned.items() if self._facts(key) != facts]
            known = {key: self._known[key] for key in planned if key in self._known}
            for lease, seeker in self._read(tx, changed):
                known[lease.id] = planned[lease.id], seeker
            self._known = known
            found = [known[key][1] for key in planned if key in known]
            in_order = [one for one in found if one is not None]
            try:
                plan = plans.decided(
                    tx,
                    self._context,
                    self._gains,
                    self._allowances,
                    in_order,
                    {*changed, *again},
                    _MOVES,
                )
            except BaseException:
                # What has been looked at is not known any more.
                self.forget()
                raise
        self._seen = state
        return plan

    def _facts(self, lease_id: str) -> Any:
        return self._known[lease_id][0] if lease_id in self._known else None

    def forget(self) -> None:
        """Forget what has been read: the next round reads everything."""
        self._seen = None
        self._gains = Gains(self._context.settings.cleaning_time // _MICROSECOND)
        self._allowances = Allowances(self._context.settings.limits)
        self._known = {}

    def _read(
        self, tx: Transaction, lease_ids: Sequence[str]
    ) -> Iterator[tuple[Lease, Seeker | None]]:
        """Yield leases that have changed as seekers; None for one that cannot be read."""
        leases = tx.leases.with_ids(lease_ids) if lease_ids else []
        held = rests.held(tx, leases)
        for lease, has in zip(leases, replanning.allocations(tx, leases), strict=True):
            found = None
            try:
                rest = held.get(lease.id, ())
                found = seekers.of(self._context, replanning.of(self._context, lease, has, rest))
            except Exception:
                # It must not block the others.
                LOG.exception('Lease %s cannot be planned', lease.id)
            yield lease, found

    def _end_late(self) -> int:
        """Have leases end that have waited for too long; return how many."""
        now = self._context.clock.now()
        waits = [
            one.lease
            for _, one in self._known.values()
            if one is not None and one.lease.status is LeaseStatus.WAITING
        ]
        late = [one.id for one in waits if waiting.is_late(self._context, one, now)]
        return sum(self._end(lease_id) for lease_id in late)

    def _end(self, lease_id: str) -> bool:
        try:
            return self._context.store.run(lambda tx: waiting.end(tx, self._context, lease_id))
        except exceptions.NotFound:
            # It was deleted meanwhile.
            return False

    def _take(self, step: Place | Seeker) -> bool:
        """Write a step of a plan; return whether that was possible."""
        lease = step.lease
        try:
            if isinstance(step, Seeker):
                return self._advance(lease.id)
            if lease.status is LeaseStatus.WAITING:
                return self._booked(lease.id, step)
            return self._moved(lease, step)
        except exceptions.DatabaseUnavailable:
            raise
        except exceptions.ClimateError as error:
            LOG.info('Lease %s stays at its start: %s', lease.id, error.message)
        except Exception:
            # One lease that cannot be read must not block the others.
            LOG.exception('Lease %s cannot be planned', lease.id)
        return False

    def _moved(self, lease: Lease, place: Place) -> bool:
        new = moves.to(lease, place.period)
        # It ends before its trust does, wherever it is in its window.
        commit.book(
            moves.DecidedMove(
                context=self._decided,
                caller=new.caller,
                new=new,
                reason=_REASON,
                had=place.one.allocations,
                choice=place.choice,
                allocations=place.since(self._context.clock.now()),
            )
        )
        return self._logged(lease, place.period)

    def _logged(self, lease: Lease, period: Period) -> bool:
        LOG.info('Lease %s: begins at %s, not at %s', lease.id, period.start, lease.period.start)
        return True

    def _booked(self, lease_id: str, place: Place | None = None) -> bool:
        context = self._context if place is None else self._decided
        work = waiting.WaitingLeaseWork(
            context=context, caller=_PLANNER, lease_id=lease_id, place=place
        )
        try:
            lease = commit.book(work)
        except exceptions.NotEnoughResources:
            return False
        LOG.info('Lease %s: booked after waiting: %s', lease_id, lease)
        return True

    def _advance(self, lease_id: str) -> bool:
        """Search for the soonest start of a lease; return whether there is an earlier one.

        :raises climate.exceptions.ClimateError: if it cannot be moved now
        """
        with self._context.store.reading() as tx:
            lease = tx.leases.find(lease_id)
            now = tx.now
        if lease is not None and lease.status is LeaseStatus.WAITING:
            return self._booked(lease.id)
        if lease is None or lease.earliest is None or lease.is_firm(now):
            return False
        first = max(lease.earliest, now)
        if first >= lease.period.start:
            return False
        period = Period(start=first, end=first + lease.period.length)
        with change_searches.searching(self._context, moves.to(lease, period)) as search:
            found = self._earlier(search, lease)
        if found is None:
            return False
        new = moves.to(lease, found)
        changes.booked(
            moves.PlannedMove(context=self._context, caller=new.caller, new=new, reason=_REASON)
        )
        return self._logged(lease, found)

    def _earlier(self, search: ChangeSearch, lease: Lease) -> Period | None:
        frame = search.frame(lease.period.end - _MINUTE)
        offer = search.next(frame, OfferKind.SOONEST)
        return None if offer is None else offer.period
