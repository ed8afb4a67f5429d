# SPDX-License-Identifier: Apache-2.0
"""The rules of the database against a plain sweep over all rows.

Beginning with what is right, a statement is refused if and only if something
would be wrong after it.
"""

from __future__ import annotations

import dataclasses
import logging
from typing import Any
from typing import ClassVar

import hypothesis
import sqlalchemy as sa
from hypothesis import strategies as st
from oslo_db import exception as oslo_exception

from climate.db.migrations import migration
from climate.db.schema import guards
from climate.db.schema.guards import Rule
from climate.domain.resources import Inventory
from tests import services
from tests.functional.db import cases

HOSTS = 2
CLASSES = ('VCPU', 'DISK_GB')
# Ten and a half, of which ten can be had.
TOTAL, RESERVED, RATIO = 8, 1, 1.5
HOURS = range(8)
# Most on one, so that there is a crowd.
_HOSTS = st.sampled_from((0, 0, 0, 1))

_tables = migration.metadata().tables


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """An allocation; hosts by number, times in hours."""

    host: int
    resource_class: str | None
    amount: int
    start: int
    end: int
    state: str

    def values(self, ids: list[int]) -> dict[str, Any]:
        """Return the columns."""
        return {
            'resource_id': ids[self.host],
            'resource_class': self.resource_class,
            'amount': self.amount,
            'start_date': cases.at(self.start),
            'end_date': cases.at(self.end),
            'state': self.state,
        }


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExpectedRows:
    """What should be in the database.

    :ivar totals: by host and class
    :ivar gone: the hosts that are deleted
    """

    rows: tuple[Row, ...]
    totals: dict[tuple[int, str], int]
    gone: frozenset[int] = frozenset()

    def right(self) -> bool:
        """Whether nothing is booked twice, at any instant."""
        return all(
            self._right(
                host, [row for row in self.rows if row.host == host and hour in _hours(row)]
            )
            for host in range(HOSTS)
            for hour in HOURS
        )

    def _right(self, host: int, rows: list[Row]) -> bool:
        if not rows:
            return True
        if host in self.gone or (len(rows) > 1 and any(row.resource_class is None for row in rows)):
            return False
        return all(
            sum(row.amount for row in rows if row.resource_class == name)
            <= max(0, (self.totals[host, name] - RESERVED) * RATIO)
            for name in CLASSES
        )


def _hours(row: Row) -> range:
    return range(row.start, row.end) if row.state != 'released' else range(0)


@st.composite
def _rows(draw: Any) -> Row:
    start = draw(st.sampled_from(HOURS[:-1]))
    return Row(
        host=draw(_HOSTS),
        resource_class=draw(st.sampled_from((None, *CLASSES, *CLASSES))),
        amount=draw(st.integers(1, 6)),
        start=start,
        end=draw(st.integers(start + 1, HOURS[-1])),
        state=draw(st.sampled_from(('booked', 'booked', 'held', 'released'))),
    )


_FIELDS = ('host', 'resource_class', 'amount', 'time', 'state')
_CHANGES = st.tuples(
    st.just('change'),
    st.integers(0, 99),
    _rows(),
    st.sets(st.sampled_from(_FIELDS), min_size=1, max_size=2),
)
_STEPS = st.one_of(
    st.tuples(st.just('insert'), st.lists(_rows(), min_size=1, max_size=3)),
    _CHANGES,
    _CHANGES,
    st.tuples(st.just('stock'), _HOSTS, st.sampled_from(CLASSES), st.integers(1, 9)),
    st.tuples(st.just('delete'), _HOSTS, st.booleans()),
)


class GuardedDatabase:
    """A database, and what should be in it.

    :ivar taken: how many statements were
    :ivar refused: those that were not, by rule
    """

    def __init__(self, connection: sa.Connection, ids: list[int], reservation_id: str) -> None:
        self.connection = connection
        self.ids = ids
        self.reservation_id = reservation_id
        self.row_ids: list[int] = []
        totals = {(host, name): TOTAL for host in range(HOSTS) for name in CLASSES}
        self.expected = ExpectedRows(rows=(), totals=totals)
        self.taken = 0
        self.refused: list[Rule] = []

    def step(self, step: Any) -> None:
        """Run a statement, and see that it is refused if it has to be."""
        after, statement = getattr(self, f'_{step[0]}')(*step[1:])
        if statement is None:
            return
        savepoint = self.connection.begin_nested()
        try:
            self.connection.execute(statement)
        except (oslo_exception.DBError, sa.exc.DBAPIError) as error:
            savepoint.rollback()
            rule = guards.broken(error)
            assert rule is not None, error
            assert not after.right(), f'{rule} for {step} after {self.expected}'
            self.refused.append(rule)
            return
        savepoint.commit()
        assert after.right(), f'{step} was taken after {self.expected}'
        self.taken += 1
        self.expected = after
        table = _tables['allocations']
        self.row_ids = list(self.connection.scalars(sa.select(table.c.id).order_by(table.c.id)))

    def _insert(self, rows: list[Row]) -> Any:
        values = [row.values(self.ids) | {'reservation_id': self.reservation_id} for row in rows]
        after = dataclasses.replace(self.expected, rows=(*self.expected.rows, *rows))
        return after, sa.insert(_tables['allocations']).values(values)

    def _change(self, number: int, new: Row, fields: set[str]) -> Any:
        if not self.row_ids:
            return self.expected, None
        place = number % len(self.row_ids)
        names = fields - {'time'} | ({'start', 'end'} if 'time' in fields else set())
        rows = list(self.expected.rows)
        rows[place] = dataclasses.replace(rows[place], **{one: getattr(new, one) for one in names})
        table = _tables['allocations']
        statement = sa.update(table).where(table.c.id == self.row_ids[place])
        return dataclasses.replace(self.expected, rows=tuple(rows)), statement.values(
            rows[place].values(self.ids)
        )

    def _stock(self, host: int, name: str, total: int) -> Any:
        table = _tables['inventories']
        statement = sa.update(table).where(
            table.c.resource_id == self.ids[host], table.c.resource_class == name
        )
        totals = self.expected.totals | {(host, name): total}
        return dataclasses.replace(self.expected, totals=totals), statement.values(total=total)

    def _delete(self, host: int, gone: bool) -> Any:
        table = _tables['resources']
        statement = sa.update(table).where(table.c.id == self.ids[host])
        hosts = self.expected.gone | {host} if gone else self.expected.gone - {host}
        return dataclasses.replace(self.expected, gone=hosts), statement.values(
            deleted=self.ids[host] if gone else 0
        )


class Chances:
    """On every engine."""

    examples: ClassVar[int]

    def test_what_is_wrong_is_refused_and_nothing_else(self) -> None:
        stock = [
            Inventory(resource_class=name, total=TOTAL, reserved=RESERVED, allocation_ratio=RATIO)
            for name in CLASSES
        ]
        ids = self.add_hosts(HOSTS, inventories=tuple(stock))
        reservation_id = self.add(cases.lease()).reservations[0].id
        taken, refused = 0, set()
        # It writes a page about each refusal.
        log = logging.getLogger('oslo_db')
        self.addCleanup(log.setLevel, log.level)
        log.setLevel(logging.CRITICAL)

        @hypothesis.settings(
            max_examples=self.examples,
            deadline=None,
            database=None,
            # The same each time: what fails once fails again.
            derandomize=True,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        @hypothesis.given(steps=st.lists(_STEPS, min_size=15, max_size=40))
        def run(steps: list[Any]) -> None:
            nonlocal taken
            with self.store.engine.connect() as connection:
                outer = connection.begin()
                database = GuardedDatabase(connection, ids, reservation_id)
                for step in steps:
                    database.step(step)
                outer.rollback()
            taken += database.taken
            refused.update(database.refused)

        run()
        # It was about something: each rule was kept, and much was taken.
        self.assertEqual(set(Rule), refused)
        self.assertLess(self.examples, taken)


class TestSqlite(Chances, cases.StoreCase):
    """On SQLite."""

    examples = 60


class TestMariadb(Chances, cases.StoreCase):
    """On MariaDB."""

    kind = services.MARIADB
    examples = 12


class TestPostgresql(Chances, cases.StoreCase):
    """On PostgreSQL."""

    kind = services.POSTGRESQL
    examples = 12
