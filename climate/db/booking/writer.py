# SPDX-License-Identifier: Apache-2.0

"""Writes bookings: the only place that creates or extends allocations."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.allocation import timeline
from climate.db.booking import verification
from climate.db.booking.verification import Addition
from climate.db.engine.prepared import prepared
from climate.db.resources.catalogue import Catalogue
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import INVENTORIES
from climate.db.schema.tables import RESOURCES
from climate.db.search.occupancy import ONE
from climate.db.search.occupancy import ZERO
from climate.db.statements import inserts
from climate.db.statements.repository import Repository
from climate.domain.leases import Allocation
from climate.domain.periods import Period
from climate.domain.resources import Inventory

# Built once, see leases.py.
_IDS: sa.BindParameter[Any] = sa.bindparam('ids', expanding=True)
_LOCK = (
    sa.select(RESOURCES.c.id, RESOURCES.c.generation)
    .where(RESOURCES.c.id.in_(_IDS), RESOURCES.c.deleted == 0)
    .order_by(RESOURCES.c.id)
    .with_for_update()
)
_RAISE = (
    sa.update(RESOURCES)
    .where(RESOURCES.c.id.in_(_IDS))
    .values(generation=RESOURCES.c.generation + 1)
)
# One statement for the lock and the new generation.
_RAISE_ONE = prepared(
    sa.update(RESOURCES)
    .where(RESOURCES.c.id == sa.bindparam('row_id'), RESOURCES.c.deleted == ZERO)
    .values(generation=RESOURCES.c.generation + ONE)
    .returning(RESOURCES.c.generation)
)
_RAISE_KNOWN = (
    sa.update(RESOURCES)
    .where(
        RESOURCES.c.id == sa.bindparam('row_id'),
        RESOURCES.c.generation == sa.bindparam('known'),
        RESOURCES.c.deleted == ZERO,
    )
    .values(generation=RESOURCES.c.generation + ONE)
)
_INSERT = prepared(sa.insert(ALLOCATIONS).inline())
_LIVE = sa.select(ALLOCATIONS).where(ALLOCATIONS.c.id.in_(_IDS), ALLOCATIONS.c.live == 1)


_NOTHING: Mapping[int, int] = {}


class NotLocked(RuntimeError):
    """The transaction has not locked the row of a resource that it books."""


@dataclasses.dataclass(kw_only=True, slots=True)
class PendingBookings:
    """What one transaction has booked, to be checked before it commits.

    :ivar generations: of the resources with locked rows, from before the lock
    :ivar additions: what was booked
    :ivar own: ids of the reservations for which it was booked
    :ivar inserted: the allocations that are new
    :ivar only_inserts: whether nothing else of the resources was changed through
        :class:`BookingWriter`
    """

    generations: dict[int, int] = dataclasses.field(default_factory=dict)
    additions: list[Addition] = dataclasses.field(default_factory=list)
    own: set[str] = dataclasses.field(default_factory=set)
    inserted: list[Allocation] = dataclasses.field(default_factory=list)
    only_inserts: bool = True

    def verify(self, session: sa.Connection) -> None:
        """Check that the resources have the capacity for all of it.

        :raises climate.db.booking.verification.LostRace: if they do not
        """
        verification.verify(session, self.additions, own=self.own)


class BookingWriter(Repository):
    """Books some resources, until the transaction ends.

    Locks their rows in id order, so that bookings cannot deadlock, and increments each
    generation. :meth:`climate.db.transactions.store.Store.run` checks the result before the commit.

    Remove first, then move, then insert: the capacity is then never exceeded in between.

    :param pending: of the transaction; None in a read-only one
    :param resource_ids: ids of all resources to book
    :param pause: the cleaning time between two allocations of one resource, if either
        has the whole of it
    :param own: ids of the reservations to book for; resources that they have released
        themselves need no cleaning
    :param known: generations of resources that were read a moment ago
    :raises RuntimeError: in a read-only transaction
    """

    def __init__(
        self,
        session: sa.Connection,
        now: datetime.datetime,
        pending: PendingBookings | None,
        resource_ids: Collection[int],
        *,
        pause: datetime.timedelta = datetime.timedelta(0),
        own: Collection[str] = (),
        known: Mapping[int, int] = _NOTHING,
    ) -> None:
        super().__init__(session, now)
        if pending is None:
            raise RuntimeError('a transaction that only reads cannot book')
        self._pending = pending
        self._pause = pause
        pending.own.update(own)
        self._lock(set(resource_ids) - set(pending.generations), known)

    @property
    def generations(self) -> dict[int, int]:
        """The generations of the locked resources from before the lock, by id.

        Deleted resources are missing. If a generation differs from that of a choice,
        the resource has changed since, for example in its properties.
        """
        return dict(self._pending.generations)

    def remove(self, ids: Collection[int]) -> None:
        """Delete allocations that were booked but never used."""
        if ids:
            self._pending.only_inserts = False
            self._delete_rows(ALLOCATIONS, ALLOCATIONS.c.id.in_(ids))

    def move(
        self, ids: Collection[int], *, start: datetime.datetime | None, end: datetime.datetime
    ) -> None:
        """Change the periods of live allocations.

        :param start: None if each keeps its start
        :raises NotLocked: if the row of one of the resources is not locked
        """
        if not ids:
            return
        self._pending.only_inserts = False
        rows = self._session.execute(_LIVE, {'ids': list(ids)}).all()
        moved = []
        for row in rows:
            old = Period(start=row.start_date, end=row.end_date)
            new = Period(start=start or row.start_date, end=end)
            if new != old:
                moved.append(row.id)
                self._add(row, self._grown(old, new), fresh=False)
        if moved:
            values = {'end_date': end} if start is None else {'start_date': start, 'end_date': end}
            self._update_rows(ALLOCATIONS, ALLOCATIONS.c.id.in_(moved), **values)

    def insert(self, new: Iterable[Allocation]) -> None:
        """Write new allocations, in one statement.

        :raises NotLocked: if the row of one of the resources is not locked
        """
        values = []
        for item in new:
            self._add(item, [(item.period, item.period.padded(self._pause))], fresh=True)
            self._pending.inserted.append(item)
            values.append(
                {
                    'reservation_id': item.reservation_id,
                    'resource_id': item.resource_id,
                    'resource_class': item.resource_class,
                    'amount': item.amount,
                    'start_date': item.period.start,
                    'end_date': item.period.end,
                    'state': item.state,
                }
            )
        if values:
            inserts.insert(self._session, _INSERT, values)

    def give(self, reservation_ids: Mapping[str, str]) -> None:
        """Give the live allocations of reservations to others, unchanged.

        :param reservation_ids: of the new reservations, by those of the old ones
        """
        self._pending.only_inserts = False
        for old, new in reservation_ids.items():
            theirs = (ALLOCATIONS.c.reservation_id == old, ALLOCATIONS.c.live == 1)
            self._update_rows(ALLOCATIONS, *theirs, reservation_id=new)

    def restock(self, resource_id: int, new: Iterable[Inventory]) -> None:
        """Replace the inventories of a resource.

        :raises NotLocked: if its row is not locked
        :raises climate.exceptions.InventoryInUse: if more is booked at one instant than
            the new inventories have
        """
        self._check_locked(resource_id)
        self._pending.only_inserts = False
        wanted = {item.resource_class: item for item in new}
        self._check_supply(resource_id, wanted)
        # Rows that stay are updated in place: the database refuses to delete the
        # inventory of an allocated class, even for a moment.
        mine = INVENTORIES.c.resource_id == resource_id
        has = set(self._session.scalars(sa.select(INVENTORIES.c.resource_class).where(mine)))
        gone = has - set(wanted)
        if gone:
            self._delete_rows(INVENTORIES, mine, INVENTORIES.c.resource_class.in_(gone))
        for name in sorted(has & set(wanted)):
            row = (mine, INVENTORIES.c.resource_class == name)
            self._update_rows(INVENTORIES, *row, **dataclasses.asdict(wanted[name]))
        added = [
            {'resource_id': resource_id, **dataclasses.asdict(item)}
            for name, item in wanted.items()
            if name not in has
        ]
        self._insert_rows(INVENTORIES, added)

    def _check_supply(self, resource_id: int, wanted: Mapping[str, Inventory]) -> None:
        for name, uses in Catalogue(self._session, self._now).uses(resource_id).items():
            window = Period(
                start=min(period.start for period, _ in uses),
                end=max(period.end for period, _ in uses),
            )
            booked = timeline.peak(uses, window)
            if booked > (wanted[name].capacity if name in wanted else 0):
                (named,) = self._session.scalars(
                    sa.select(RESOURCES.c.name).where(RESOURCES.c.id == resource_id)
                )
                raise exceptions.InventoryInUse(name=named, resource_class=name, booked=booked)

    def _lock(self, ids: set[int], known: Mapping[int, int]) -> None:
        if not ids or (len(ids) == 1 and self._locked(next(iter(ids)), known)):
            return
        rows = self._session.execute(_LOCK, {'ids': sorted(ids)})
        self._pending.generations.update({row.id: row.generation for row in rows})
        self._session.execute(_RAISE, {'ids': sorted(ids)})

    def _locked(self, resource_id: int, known: Mapping[int, int]) -> bool:
        """Lock one resource and raise its generation by one statement, if possible.

        On MariaDB, where no UPDATE returns a row, the generation must be known. On SQLite
        no other transaction can have changed it.
        """
        if self._session.dialect.name == 'postgresql':
            raised = self._session.scalar(_RAISE_ONE, {'row_id': resource_id})
            if raised is not None:
                self._pending.generations[resource_id] = raised - 1
            return True
        if resource_id not in known:
            return False
        generation = known[resource_id]
        values = {'row_id': resource_id, 'known': generation}
        if not self._session.execute(_RAISE_KNOWN, values).rowcount:
            return False
        self._pending.generations[resource_id] = generation
        return True

    def _check_locked(self, resource_id: int) -> None:
        if resource_id not in self._pending.generations:
            raise NotLocked(f'resource {resource_id} is not locked')

    def _add(self, item: Any, windows: Iterable[tuple[Period, Period]], *, fresh: bool) -> None:
        self._check_locked(item.resource_id)
        self._pending.own.add(item.reservation_id)
        self._pending.additions += [
            Addition(
                resource_id=item.resource_id,
                resource_class=item.resource_class,
                period=period,
                clear=clear,
                fresh=fresh,
            )
            for period, clear in windows
        ]

    def _grown(self, old: Period, new: Period) -> Iterator[tuple[Period, Period]]:
        """Yield the parts of *new* outside of *old*, each with its cleaning time if it has one."""
        padded = new.padded(self._pause)
        for part in new.beyond(old):
            start = padded.start if part.start == new.start else part.start
            end = padded.end if part.end == new.end else part.end
            yield part, Period(start=start, end=end)
