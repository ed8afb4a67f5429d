# SPDX-License-Identifier: Apache-2.0

"""Has preemptible leases yield to those that are not, early enough that their place is empty.

A slice that runs ends before the other lease begins: after a notice, and with the time that
yielding takes. What is left waits for its next slice. Of a lease that has to end in time, what is
left is held at once, or it does not yield.
"""

from __future__ import annotations

import dataclasses
import datetime
import operator
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Final

from climate.booking.choosing.choose import Choice
from climate.booking.planning import moves
from climate.booking.planning import replanning
from climate.booking.planning.replanning import MovableLease
from climate.booking.planning.yield_times import Estimator
from climate.booking.requests.context import Context
from climate.booking.writing import change as changes
from climate.booking.writing.change import Changed
from climate.booking.writing.revise import Revision
from climate.db.transactions.store import Transaction
from climate.domain.events import EventKind
from climate.domain.history import StepState
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import YieldMode
from climate.domain.lifecycles import LeaseStatus
from climate.domain.periods import Period
from climate.leases import history

MOST: Final = 50
"""How many leases can be preempted at once."""

_SECOND: Final = datetime.timedelta(seconds=1)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Preempting:
    """Whose leases a lease may preempt.

    :ivar project_id: its own
    :ivar own: whether also those of its own project
    :ivar in_time: only those that have to end in time, and still will
    :ivar rank: the highest priority that they have
    """

    project_id: str
    own: bool = False
    in_time: bool = False
    rank: int = 0

    def may_have(self, lease: Lease) -> bool:
        """Whether a preemptible lease may have to yield."""
        if lease.latest is None:
            in_time = not self.in_time
        else:
            # What has to end in time begins again, or goes on, in time.
            in_time = lease.may_hold_rest
        return in_time and lease.yields is not None and (self.own or not self._is_own(lease))

    def _is_own(self, lease: Lease) -> bool:
        return lease.project_id == self.project_id


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Preempted:
    """A preemptible lease that is firm, or runs.

    :ivar period: what is left to it if it runs; None if it has to have another place
    """

    one: MovableLease
    period: Period | None

    @property
    def kept(self) -> list[Allocation]:
        """Its allocations in that period."""
        if self.period is None:
            return []
        return [dataclasses.replace(item, period=self.period) for item in self.one.allocations]


def found(
    tx: Transaction,
    context: Context,
    whose: Preempting,
    period: Period,
    resource_types: Collection[str],
) -> list[Preempted]:
    """Return what can be preempted in a period, what was requested last first."""
    padded = period.padded(context.settings.cleaning_time)
    leases = [
        lease
        for lease in tx.leases.preemptible(resource_types, padded, MOST, whose.rank)
        if whose.may_have(lease)
    ]
    return list(_victims(tx, context, leases, period))


def _victims(
    tx: Transaction, context: Context, leases: Sequence[Lease], period: Period
) -> Iterator[Preempted]:
    estimator = Estimator(tx, context)
    for one in replanning.read(tx, context, leases):
        if one.lease.status is LeaseStatus.PENDING:
            if one.is_movable:
                yield Preempted(one=one, period=None)
            continue
        left = _left(context, one.lease, period.start - estimator.of_lease(one.lease), tx.now)
        if left is not None:
            yield Preempted(one=one, period=left)


def _left(
    context: Context, lease: Lease, until: datetime.datetime, now: datetime.datetime
) -> Period | None:
    """Return what is left of a slice that ends at an instant; None if that is too soon."""
    settings = context.settings
    length = (until - settings.cleaning_time - lease.period.start) // _SECOND * _SECOND
    end = lease.period.start + length
    if end < now + settings.yield_notice or end >= lease.period.end:
        return None
    return Period(start=lease.period.start, end=end)


def more(found: Sequence[Preempted]) -> Iterator[Sequence[Preempted]]:
    """Yield ever more of what can be preempted, the last request first."""
    number = 1
    while number < 2 * len(found):
        yield found[:number]
        number *= 2


def begin(tx: Transaction, some: Iterable[Preempted]) -> None:
    """Leave out of the timelines what these leases would give up."""
    assert tx.rearrangement is not None
    for each in some:
        tx.rearrangement.remove(each.one.everything)
        tx.rearrangement.add(each.kept)


def cut(
    tx: Transaction, context: Context, some: Iterable[Preempted]
) -> tuple[list[Changed], list[MovableLease]]:
    """Return the changes of those that really are in the way; the others keep their slices.

    :param some: that run, as :func:`begin` has left them out
    :returns: also what is left of those that have to end in time
    """
    rearranged = tx.rearrangement
    assert rearranged is not None
    changed, left = list[Changed](), list[MovableLease]()
    for each in sorted(some, key=operator.attrgetter('one.lease.turn')):
        rearranged.remove(each.kept)
        stays = True
        for resource_type, allocations in dataclasses.replace(each.one, rest=()).by_type():
            tx.timeline(resource_type)
            stays = stays and rearranged.has_room(resource_type, allocations)
        rearranged.add(each.one.allocations if stays else each.kept)
        lease = each.one.lease
        if not stays:
            changed.append(_changed(tx, context, each))
            lease = changed[-1].lease
        if lease.holds_rest:
            left.append(remainder(tx, context, each.one, lease))
    return changed, left


def remainder(tx: Transaction, context: Context, one: MovableLease, lease: Lease) -> MovableLease:
    """Return what is left of a lease after its present slice.

    :param one: as it is
    :param lease: as it will be
    """
    left = lease.length
    if lease.yields is YieldMode.SUSPEND or lease.status is LeaseStatus.PENDING:
        left -= lease.period.length
    first = lease.period.end + replanning.between(tx, context, lease)
    rest = dataclasses.replace(
        lease,
        earliest=first,
        period=Period(start=first, end=first + left),
        time_left=left // _SECOND,
    )
    return dataclasses.replace(one, lease=rest, allocations=(), whole=lease)


def with_rests(
    tx: Transaction, context: Context, resource_types: Collection[str], period: Period, most: int
) -> list[MovableLease]:
    """Return what is held of leases in a period, after their present slices.

    :param most: the highest priority that they may have
    """
    ids = tx.rests.whose(resource_types, period, MOST)
    leases = tx.leases.with_ids(ids) if ids else []
    return [
        remainder(tx, context, one, one.lease)
        for one in replanning.movable(tx, context, leases)
        if one.rest and one.lease.rank <= most
    ]


def _changed(tx: Transaction, context: Context, each: Preempted) -> Changed:
    old, had = each.one.lease, each.one.allocations
    assert each.period is not None
    revisions = [
        Revision(
            old=reservation,
            new=reservation,
            kept=tuple(item for item in had if item.reservation_id == reservation.id),
        )
        for reservation in old.reservations
    ]
    new = moves.to(old, each.period)
    ids = tuple(reservation.id for reservation in old.reservations)
    nothing = Choice(generations={}, chosen=(), changing=ids)
    work = changes.ChangeWork(context=context, caller=new.caller, new=new)
    return work.changed(tx, old, had, revisions, nothing)


def write(tx: Transaction, context: Context, cut: Changed) -> None:
    """Write the new end of a slice."""
    new = moves.to(cut.old, cut.lease.period)
    lease = changes.ChangeWork(context=context, caller=new.caller, new=new).write(tx, cut)
    end = next(event for event in lease.events if event.kind is EventKind.END)
    text = f'yields at {lease.period.end:%Y-%m-%dT%H:%M:%SZ}: others need its resources'
    if lease.holds_rest:
        text += '; what is left of it is held'
    history.note(tx, end, StepState.DONE, text=text)
