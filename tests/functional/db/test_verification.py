# SPDX-License-Identifier: Apache-2.0

"""The verification in SQL, held against one that looks at each hour by itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import hypothesis
import sqlalchemy as sa
from hypothesis import strategies as st

from climate import exceptions
from climate.db.booking import verification
from climate.db.booking.verification import Addition
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.leases import AllocationState
from climate.domain.maintenances import MaintenanceDraft
from climate.domain.resources import Inventory
from tests import services
from tests.databases import fetch
from tests.functional.db import cases
from tests.functional.db import plans

STOCK = (
    # Nine and three quarters, of which nine can be given away.
    Inventory(resource_class='VCPU', total=8, reserved=1, allocation_ratio=9.75 / 7),
    Inventory(resource_class='MEMORY_MB', total=6),
)
CAPACITY = {'VCPU': 9, 'MEMORY_MB': 6}
CLOSED = ({}, {}, {'reservable': False}, {'disabled': True})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """An allocation, in hours.

    :ivar new: hours at its end that are new; None if all of it is
    :ivar mine: whether it is of the reservation that is booked for
    """

    start: int
    end: int
    resource_class: str | None
    amount: int
    state: AllocationState
    new: int | None
    mine: bool

    @property
    def live(self) -> bool:
        return self.state is not AllocationState.RELEASED


@st.composite
def rows(draw: Callable) -> Row:
    start = draw(st.integers(-4, 10))
    length = draw(st.integers(1, 5))
    name = draw(st.sampled_from(['VCPU', 'VCPU', 'MEMORY_MB', 'CUSTOM_NONE', None]))
    return Row(
        start=start,
        end=start + length,
        resource_class=name,
        amount=1 if name is None else draw(st.integers(1, 5)),
        state=draw(st.sampled_from(AllocationState)),
        new=draw(st.sampled_from([0, 0, None, min(2, length)])),
        mine=draw(st.booleans()),
    )


@st.composite
def hosts(draw: Callable) -> tuple[dict, list[Row], tuple[int, int] | None]:
    """A host: what is said of it, what is booked, and when it is in maintenance."""
    out = draw(st.one_of(st.none(), st.tuples(st.integers(-4, 10), st.integers(1, 4))))
    return draw(st.sampled_from(CLOSED)), draw(st.lists(rows(), max_size=6)), out


def window(row: Row, pause: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the hours that are new of a row, and those with the time for cleaning."""
    if row.new is None:
        return (row.start, row.end), (row.start - pause, row.end + pause)
    return (row.end - row.new, row.end), (row.end - row.new, row.end + pause)


def is_bad(host: tuple, row: Row, pause: int) -> bool:
    """Say whether a new row, or what is new of it, cannot be borne."""
    said, booked, out = host
    (start, end), (clear_start, clear_end) = window(row, pause)
    if said and row.new is None:
        return True
    if out is not None and out[0] < end and start < out[0] + out[1]:
        return True
    for other in booked:
        if other is row or None not in (row.resource_class, other.resource_class):
            continue
        if other.live and other.start < clear_end and clear_start < other.end:
            return True
        if not other.live and not other.mine and clear_start < other.end <= start:
            return True
    if row.resource_class is None:
        return False
    for hour in range(start, end):
        used = sum(
            other.amount
            for other in booked
            if other.live
            and other.resource_class == row.resource_class
            and other.start <= hour < other.end
        )
        if used > CAPACITY.get(row.resource_class, 0):
            return True
    return False


class Verification:
    """One engine against plain Python."""

    # Old bookings are drawn at random, and may be too many.
    guarded = False
    examples = 12

    def test_additions_are_verified_correctly(self) -> None:
        # Made for each engine: hypothesis wants one function to be one test.
        drawn = st.lists(hosts(), min_size=1, max_size=3)
        verified = hypothesis.given(drawn, st.integers(0, 2))(self._verified)
        hypothesis.settings(max_examples=self.examples)(verified)()

    def _verified(self, drawn: list[tuple], pause: int) -> None:
        def compare(tx: Transaction) -> None:
            mine, theirs = (self._reservation(tx) for _ in range(2))
            additions, expected = [], set()
            for number, host in enumerate(drawn):
                said, booked, out = host
                resource_id = tx.resources.insert(cases.host(number, inventories=STOCK, **said))
                if out is not None:
                    period = cases.hours(out[0], out[0] + out[1])
                    draft = MaintenanceDraft(resource_id=resource_id, period=period)
                    tx.maintenances.insert(str(number), resource_id, draft, 'op')
                for row in booked:
                    cases.put(tx, [_allocation(row, resource_id, mine if row.mine else theirs)])
                    if not row.live or row.new == 0:
                        continue
                    additions.append(_addition(row, resource_id, pause))
                    if is_bad(host, row, pause):
                        expected.add((resource_id, row.resource_class))
            found = verification.violations(tx.session, additions, own=[mine])
            self.assertEqual(expected, {(one.resource_id, one.resource_class) for one in found})

        self.store.run(compare, undone=True)

    def _reservation(self, tx: Transaction) -> str:
        lease = cases.lease()
        tx.leases.insert(lease)
        tx.reservations.insert(lease.reservations)
        return lease.reservations[0].id

    def test_a_changed_inventory_is_verified_against_all_bookings(self) -> None:
        (host,) = self.add_hosts(1, inventories=STOCK)
        for start, end in ((1, 3), (3, 5), (4, 6)):
            self.book([host], start, end, resource_class='VCPU', amount=2)
        self.book([host], 7, 8)

        def restock(total: int) -> None:
            less = Inventory(resource_class='VCPU', total=total)
            self.store.run(lambda tx: tx.book([host]).restock(host, [less]))

        restock(4)
        self.assertEqual(
            'Inventories of compute-1 cannot be changed: 4 units of VCPU are booked at one time',
            self.assertRaises(exceptions.InventoryInUse, restock, 3).message,
        )
        with self.assertRaises(exceptions.InventoryInUse):
            self.store.run(lambda tx: tx.book([host]).restock(host, []))

    def test_what_was_overbooked_before_is_no_fault_of_others(self) -> None:
        (host,) = self.add_hosts(1, inventories=STOCK)
        lease = self.book([host], 1, 3, resource_class='MEMORY_MB', amount=7)

        def grow(name: str, start: float, end: float) -> None:
            more = Allocation(
                reservation_id=lease.reservations[0].id,
                resource_id=host,
                resource_class=name,
                period=cases.hours(start, end),
            )
            self.store.run(lambda tx: tx.book([host]).insert([more]))

        grow('VCPU', 1, 3)
        grow('MEMORY_MB', 3, 4)
        self.assertRaises(verification.LostRace, grow, 'MEMORY_MB', 2, 4)

    def test_one_statement_whatever_is_booked(self) -> None:
        ids = self.add_hosts(30, inventories=STOCK)
        wide = cases.hours(1, 3)
        additions = [
            Addition(resource_id=number, resource_class=name, period=wide, clear=wide, fresh=True)
            for number in ids
            for name in ('VCPU', 'MEMORY_MB', None)
        ]
        with self.store.reading() as tx, plans.captured(self.store.engine) as statements:
            self.assertEqual([], verification.violations(tx.session, additions[:1]))
            self.assertEqual([], verification.violations(tx.session, additions))
        self.assertEqual(2, len(statements))

    def test_a_window_without_an_allocation_is_verified(self) -> None:
        (host,) = self.add_hosts(1, inventories=STOCK, disabled=True)
        wide = cases.hours(1, 3)
        added = Addition(
            resource_id=host, resource_class='VCPU', period=wide, clear=wide, fresh=True
        )
        (found,) = fetch(self.store, lambda tx: verification.violations(tx.session, [added]))
        self.assertEqual((host, 'is not open to bookings'), (found.resource_id, found.why))

    def test_what_goes_first_leaves_room(self) -> None:
        (host,) = self.add_hosts(1, inventories=STOCK)
        lease = self.book([host], 1, 3, resource_class='MEMORY_MB', amount=6)
        (old,) = fetch(self.store, lambda tx: tx.allocations.live_of([lease.reservations[0].id]))
        new = dataclasses.replace(old, period=cases.hours(2, 4))

        def swap(tx: Transaction) -> None:
            writer = tx.book([host])
            writer.remove([old.id])
            writer.insert([new])

        self.store.run(swap)
        table = cases.migration.metadata().tables['allocations']
        with self.store.engine.connect() as connection:
            found = connection.execute(sa.select(table.c.start_date, table.c.end_date)).all()
        self.assertEqual([(cases.at(2), cases.at(4))], [tuple(row) for row in found])


def _allocation(row: Row, resource_id: int, reservation_id: str) -> Allocation:
    period, facts = cases.hours(row.start, row.end), {'amount': row.amount, 'state': row.state}
    return cases.allocation(reservation_id, resource_id, period, row.resource_class, **facts)


def _addition(row: Row, resource_id: int, pause: int) -> Addition:
    hours, clear = window(row, pause)
    return Addition(
        resource_id=resource_id,
        resource_class=row.resource_class,
        period=cases.hours(*hours),
        clear=cases.hours(*clear),
        fresh=row.new is None,
    )


class TestSqlite(Verification, cases.StoreCase):
    """On SQLite."""

    examples = 80


class TestMariadb(Verification, cases.StoreCase):
    """On MariaDB."""

    kind = services.MARIADB

    def test_periods_are_compared_in_the_index(self) -> None:
        """Reading each allocation of a resource takes six times as long."""
        hosts = self.add_hosts(50, inventories=STOCK)
        for hour in range(1, 40, 2):
            self.book(hosts, hour, hour + 1, resource_class='VCPU', amount=1)
        wide = cases.hours(5, 7)
        additions = [
            Addition(resource_id=host, resource_class='VCPU', period=wide, clear=wide, fresh=True)
            for host in hosts
        ]
        with self.store.reading() as tx, plans.captured(self.store.engine) as statements:
            self.assertEqual([], verification.violations(tx.session, additions))
        (statement,) = statements
        rows = plans.plan(self.store.engine, statement).splitlines()
        (allocations,) = (row for row in rows if '| allocations |' in row)
        self.assertIn('Using index condition', allocations)


class TestPostgresql(Verification, cases.StoreCase):
    """On PostgreSQL."""

    kind = services.POSTGRESQL
