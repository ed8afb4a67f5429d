# SPDX-License-Identifier: Apache-2.0
"""What the database refuses by itself, whoever writes: plain SQL, no service."""

from __future__ import annotations

import threading
from typing import Any

import sqlalchemy as sa
from oslo_db import exception as oslo_exception

from climate import exceptions
from climate.db.migrations import migration
from climate.db.schema import guards
from climate.db.schema.guards import Rule
from climate.domain.resources import Inventory
from tests import services
from tests.databases import fetch
from tests.functional.db import cases
from tests.functional.db import unguarded

# Ten units in all: (8 - 1) * 1.5, rounded down.
VCPU = Inventory(resource_class='VCPU', total=8, reserved=1, allocation_ratio=1.5)
WHOLE = None
_ROW = 'reservation_id, resource_id, resource_class, amount, start_date, end_date, state'
_INSERT = f'INSERT INTO allocations ({_ROW}) VALUES '
_ENOUGH = 30
# PyMySQL's word for a refusal is one that oslo.db leaves as it is.
_REFUSED = (oslo_exception.DBError, sa.exc.DBAPIError)


def instant(hour: float) -> str:
    """Return an hour from now as people type it."""
    return f"'{cases.at(hour).strftime('%Y-%m-%d %H:%M:%S.%f')}'"


class Guards:
    """On every engine."""

    def prepare(self) -> None:
        """Write two hosts and a lease."""
        self.host, self.other = self.add_hosts(2, inventories=(VCPU,))
        self.reservation = self.add(cases.lease()).reservations[0].id

    def row(
        self,
        resource_class: str | None,
        start: float,
        end: float,
        amount: int = 1,
        state: str = 'booked',
        host: int | None = None,
    ) -> str:
        """Return a row as SQL."""
        name = 'NULL' if resource_class is None else f"'{resource_class}'"
        values = (
            f"'{self.reservation}'",
            str(host or self.host),
            name,
            str(amount),
            instant(start),
            instant(end),
            f"'{state}'",
        )
        return f'({", ".join(values)})'

    def sql(self, text: str) -> None:
        """Run a statement that is taken."""
        with self.store.engine.begin() as connection:
            connection.exec_driver_sql(text)

    def taken(self, *rows: str) -> None:
        """Insert rows that are taken."""
        self.sql(_INSERT + ', '.join(rows))

    def refused(self, rule: Rule, text: str) -> None:
        """Run a statement that is refused, and see that nothing has changed."""
        before = self.rows()
        error = self.assertRaises(_REFUSED, self.sql, text)
        self.assertIs(rule, guards.broken(error), f'{text}: {error}')
        self.assertEqual(before, self.rows())

    def rows(self) -> list[Any]:
        """Return all that is there."""
        with self.store.engine.connect() as connection:
            found = [
                connection.execute(sa.select(table).order_by(table.c.id)).all()
                for name in ('allocations', 'inventories', 'resources')
                for table in [migration.metadata().tables[name]]
            ]
        return found

    # -- wholes

    def test_a_whole_is_alone(self) -> None:
        self.taken(self.row(WHOLE, 1, 3))
        for wrong in ((1, 3), (0, 2), (2, 4), (0, 4), (1.5, 2)):
            self.refused(Rule.WHOLE, _INSERT + self.row(WHOLE, *wrong))
            self.refused(Rule.WHOLE, _INSERT + self.row('VCPU', *wrong))
        self.taken(self.row(WHOLE, 0, 1), self.row(WHOLE, 3, 4))
        self.taken(self.row(WHOLE, 1, 3, host=self.other))

    def test_a_part_excludes_wholes(self) -> None:
        self.taken(self.row('VCPU', 1, 3))
        self.refused(Rule.WHOLE, _INSERT + self.row(WHOLE, 2, 4))
        self.taken(self.row('VCPU', 2, 4), self.row(WHOLE, 4, 5), self.row(WHOLE, 0, 1))

    def test_rows_of_one_statement_are_compared(self) -> None:
        for rows in (
            (self.row(WHOLE, 1, 3), self.row(WHOLE, 2, 4)),
            (self.row(WHOLE, 1, 3), self.row('VCPU', 2, 4)),
            (self.row('VCPU', 1, 3), self.row(WHOLE, 2, 4)),
        ):
            self.refused(Rule.WHOLE, _INSERT + ', '.join(rows))
        rows = (self.row('VCPU', 1, 3, 6), self.row('VCPU', 2, 4, 6))
        self.refused(Rule.CAPACITY, _INSERT + ', '.join(rows))

    def test_what_was_given_back_is_in_nobodys_way(self) -> None:
        self.taken(self.row(WHOLE, 1, 3, state='released'), self.row(WHOLE, 1, 3))
        self.taken(self.row('VCPU', 1, 3, 99, state='released'))
        # What was given back before it began ends before it begins.
        self.taken(self.row(WHOLE, 3, 1, state='released'))
        self.sql("UPDATE allocations SET state = 'released'")
        self.taken(self.row('VCPU', 1, 3, 10))

    def test_wholes_that_grow(self) -> None:
        self.taken(self.row(WHOLE, 1, 2), self.row(WHOLE, 3, 4, state='held'))
        mine = f' WHERE start_date = {instant(1)}'
        change = 'UPDATE allocations SET '
        self.refused(Rule.WHOLE, f'{change} end_date = {instant(3.5)}{mine}')
        self.refused(Rule.WHOLE, f'{change} start_date = {instant(1)} WHERE NOT ({mine[6:]})')
        self.sql(f'{change} end_date = {instant(3)}{mine}')
        self.sql(f'{change} end_date = {instant(1.5)}{mine}')
        self.taken(self.row(WHOLE, 1, 2, host=self.other), self.row(WHOLE, 3, 4, state='released'))
        self.refused(Rule.WHOLE, f'{change} resource_id = {self.host}')
        self.refused(Rule.WHOLE, f"{change} state = 'booked'")

    # -- capacity

    def test_a_class_is_not_overbooked(self) -> None:
        self.refused(Rule.CAPACITY, _INSERT + self.row('VCPU', 1, 2, 11))
        self.taken(self.row('VCPU', 1, 2, 10))
        self.refused(Rule.CAPACITY, _INSERT + self.row('VCPU', 1.5, 3))
        self.taken(self.row('VCPU', 2, 3, 10), self.row('VCPU', 0, 1, 10))

    def test_one_instant_in_the_middle_counts(self) -> None:
        self.taken(self.row('VCPU', 0, 4, 3), self.row('VCPU', 2, 3, 4), self.row('VCPU', 4, 8, 7))
        self.refused(Rule.CAPACITY, _INSERT + self.row('VCPU', 1, 7, 4))
        # Never at once: more in sum than there is, less at each instant.
        self.taken(self.row('VCPU', 1, 7, 3))
        self.refused(Rule.CAPACITY, _INSERT + self.row('VCPU', 2.9, 3))
        self.taken(self.row('VCPU', 3, 4, 4))

    def test_a_class_that_is_not_there(self) -> None:
        self.refused(Rule.CAPACITY, _INSERT + self.row('DISK_GB', 1, 2))
        self.taken(self.row('DISK_GB', 1, 2, 0))

    def test_parts_that_grow(self) -> None:
        self.taken(self.row('VCPU', 1, 2, 6), self.row('VCPU', 2, 3, 5))
        change, mine = 'UPDATE allocations SET ', ' WHERE amount = 6'
        self.refused(Rule.CAPACITY, f'{change} end_date = {instant(2.5)}{mine}')
        self.refused(Rule.CAPACITY, f'{change} amount = 11{mine}')
        self.sql(f'{change} amount = 10{mine}')
        self.sql(f'{change} amount = 6 WHERE amount = 10')
        self.refused(Rule.WHOLE, f'{change} resource_class = NULL, end_date = {instant(2.5)}{mine}')
        self.refused(Rule.CAPACITY, f"{change} resource_class = 'DISK_GB'{mine}")
        self.taken(self.row('VCPU', 1, 2, 6, host=self.other))
        self.refused(Rule.CAPACITY, f'{change} resource_id = {self.host}{mine}')
        self.taken(self.row('VCPU', 1, 2, 7, state='released'))
        self.refused(Rule.CAPACITY, f"{change} state = 'held' WHERE amount = 7")

    def test_what_gets_less_is_never_refused(self) -> None:
        with unguarded.unguarded(self.store.engine):
            self.taken(self.row('VCPU', 1, 4, 9), self.row('VCPU', 2, 6, 8))
        change, mine = 'UPDATE allocations SET ', ' WHERE amount = 8'
        self.sql(f"{change} state = 'held'")
        self.sql(f'{change} amount = 7 WHERE amount = 8')
        mine = ' WHERE amount = 7'
        # It may grow where there is room, whatever is wrong elsewhere.
        self.sql(f'{change} end_date = {instant(8)}{mine}')
        self.refused(Rule.CAPACITY, f'{change} start_date = {instant(1)}{mine}')
        self.refused(Rule.CAPACITY, f'{change} amount = 8{mine}')
        self.sql(f'{change} start_date = {instant(3)}{mine}')
        self.sql(f"{change} state = 'released', end_date = {instant(3.5)}{mine}")
        self.sql('DELETE FROM allocations')

    def test_a_lease_that_moves_is_not_in_its_own_way(self) -> None:
        self.taken(self.row('VCPU', 1, 3, 6), self.row('VCPU', 1, 3, 4))
        self.sql(f'UPDATE allocations SET start_date = {instant(2)}, end_date = {instant(4)}')
        self.sql(f'UPDATE allocations SET start_date = {instant(7)}, end_date = {instant(9)}')
        self.taken(self.row(WHOLE, 2, 4))

    # -- supply

    def test_supply_does_not_shrink_below_what_is_booked(self) -> None:
        self.taken(self.row('VCPU', 1, 3, 4), self.row('VCPU', 2, 4, 4), self.row('VCPU', 5, 6, 7))
        mine = f' WHERE resource_id = {self.host}'
        for wrong in (
            'UPDATE inventories SET total = 6',
            'UPDATE inventories SET reserved = 3',
            'UPDATE inventories SET allocation_ratio = 1.1',
            "UPDATE inventories SET resource_class = 'PCPU'",
            'DELETE FROM inventories',
        ):
            self.refused(Rule.SUPPLY, wrong + mine)
        self.refused(Rule.SUPPLY, f'UPDATE resources SET deleted = id WHERE id = {self.host}')
        self.sql(f'UPDATE inventories SET total = 7, reserved = 1{mine}')
        self.sql("UPDATE allocations SET state = 'released'")
        self.sql(f'DELETE FROM inventories{mine}')
        self.sql('UPDATE resources SET deleted = id')

    def test_what_is_deleted_is_not_allocated(self) -> None:
        self.taken(self.row('VCPU', 3, 4, state='released'))
        self.sql(f'UPDATE resources SET deleted = id WHERE id = {self.host}')
        self.refused(Rule.DELETED, _INSERT + self.row(WHOLE, 1, 2))
        self.refused(Rule.DELETED, _INSERT + self.row('VCPU', 1, 2))
        rows = (self.row('VCPU', 1, 2, host=self.other), self.row('VCPU', 1, 2))
        self.refused(Rule.DELETED, _INSERT + ', '.join(rows))
        self.refused(Rule.DELETED, "UPDATE allocations SET state = 'held'")
        self.taken(rows[0], self.row(WHOLE, 1, 2, state='released'))
        change = f'UPDATE allocations SET resource_id = {self.host}'
        self.refused(Rule.DELETED, f'{change} WHERE resource_id = {self.other}')
        self.sql('UPDATE resources SET deleted = 0')
        self.taken(self.row(WHOLE, 1, 2))

    def test_supply_that_grows_or_stays_is_not_verified(self) -> None:
        with unguarded.unguarded(self.store.engine):
            self.taken(self.row('VCPU', 1, 3, 40))
        self.sql('UPDATE inventories SET total = 9, max_unit = 3')
        self.refused(Rule.SUPPLY, f'UPDATE inventories SET total = 8 WHERE resource_id={self.host}')
        self.sql(f'UPDATE resources SET disabled = reservable WHERE id = {self.host}')

    def test_inventories_are_replaced_in_their_place(self) -> None:
        self.taken(self.row('VCPU', 1, 3, 4))
        disk = Inventory(resource_class='DISK_GB', total=5)
        more = Inventory(resource_class='VCPU', total=4)

        def replace(*new: Inventory) -> dict[str, int]:
            self.store.run(lambda tx: tx.book([self.host]).restock(self.host, new))
            (found,) = fetch(self.store, lambda tx: tx.resources.with_ids([self.host]))
            return {item.resource_class: item.total for item in found.inventories}

        self.assertEqual({'VCPU': 4, 'DISK_GB': 5}, replace(disk, more))
        self.assertRaises(exceptions.Conflict, replace, disk)
        self.sql("UPDATE allocations SET state = 'released'")
        self.assertEqual({'DISK_GB': 5}, replace(disk))

    # -- what the service makes of it

    def test_the_service_answers_that_others_were_first(self) -> None:
        self.taken(self.row(WHOLE, 1, 3))
        text = sa.text(_INSERT + self.row(WHOLE, 1, 3))
        error = self.assertRaises(
            exceptions.BookedMeanwhile, self.store.run, lambda tx: tx.session.execute(text)
        )
        self.assert_has(error, code=409, message=exceptions.BookedMeanwhile().message)

    def test_other_errors_are_left_alone(self) -> None:
        text = 'INSERT INTO resources (name) VALUES (NULL)'
        self.assertIsNone(guards.broken(self.assertRaises(_REFUSED, self.sql, text)))
        self.assertIsNone(guards.broken(ValueError('climate_capacity: no')))


class _Case(cases.StoreCase):
    """With hosts."""

    def setUp(self) -> None:
        super().setUp()
        self.prepare()


class TestSqlite(Guards, _Case):
    """On SQLite."""


@services.on_each_engine(_Case, engines=(services.MARIADB, services.POSTGRESQL, services.PSYCOPG2))
class _Consoles(Guards):
    """With two people who type at once."""

    def _typed(self, level: str, *rows: str) -> list[Rule | None]:
        """Type rows at two consoles; one statement of both is taken."""
        found = self._raced(level, _INSERT + rows[0], _INSERT + ', '.join(rows[1:]))
        self.assertEqual(1, len(self.rows()[0]))
        return found

    def _raced(self, level: str, one: str, two: str) -> list[Rule | None]:
        """Type statements at two consoles, the second before the first has committed."""
        engine = sa.create_engine(self.url, poolclass=sa.NullPool, isolation_level=level)
        found: list[Rule | None] = []
        with engine.connect() as first, engine.connect() as second:
            for each in (first, second):
                # At REPEATABLE READ this is what is seen from now on.
                each.exec_driver_sql('SELECT COUNT(*) FROM allocations').all()
            first.exec_driver_sql(one)

            def late() -> None:
                try:
                    second.exec_driver_sql(two)
                    second.commit()
                except sa.exc.DBAPIError as error:
                    found.append(guards.broken(error))
                    second.rollback()

            thread = threading.Thread(target=late)
            thread.start()
            # It waits for the first one, as it must. If it does not, all the
            # better for what this looks for.
            thread.join(0.3)
            first.commit()
            thread.join(_ENOUGH)
        return found

    def test_two_consoles_cannot_book_together(self) -> None:
        for level in ('READ COMMITTED', 'REPEATABLE READ'):
            for one, two, rule in (
                (WHOLE, WHOLE, Rule.WHOLE),
                (WHOLE, 'VCPU', Rule.WHOLE),
                ('VCPU', WHOLE, Rule.WHOLE),
                ('VCPU', 'VCPU', Rule.CAPACITY),
            ):
                found = self._typed(level, self.row(one, 1, 3, 6), self.row(two, 2, 4, 6))
                # PostgreSQL refuses a row that is not as it was seen.
                stale = self.kind != services.MARIADB and level == 'REPEATABLE READ'
                self.assertIn(found, [[rule], [None]] if stale else [[rule]], (level, one, two))
                self.sql('DELETE FROM allocations')

    def test_one_console_deletes_what_another_allocates(self) -> None:
        delete = f'UPDATE resources SET deleted = id WHERE id = {self.host}'
        insert = _INSERT + self.row(WHOLE, 1, 3)
        level = 'READ COMMITTED'
        self.assertEqual([Rule.DELETED], self._raced(level, delete, insert))
        self.sql('UPDATE resources SET deleted = 0')
        self.assertEqual([Rule.SUPPLY], self._raced(level, insert, delete))

    def test_the_last_row_of_a_statement_sees_what_the_first_could_not(self) -> None:
        # By the time the second row has waited, the statement is old.
        mine = self.row('VCPU', 2, 4, 6, host=self.other)
        rows = (self.row('VCPU', 1, 3, 6), self.row('VCPU', 2, 4, 6))
        self.assertEqual([Rule.CAPACITY], self._typed('READ COMMITTED', rows[0], mine, rows[1]))
