# SPDX-License-Identifier: Apache-2.0

"""Fills a database with a past and a future, fast.

Rows go past SQLAlchemy, in the way each engine takes most of them at once: a
benchmark of a million allocations has to be ready within a minute.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime
import io
import itertools
import random
import uuid
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any
from typing import ClassVar

import sqlalchemy as sa

from tests.functional.db import unguarded

RESOURCE_TYPE = 'physical:host'
HOUR = datetime.timedelta(hours=1)

_BATCH = 5000
_COPY_BATCH = 100_000
_EVENTS = ('start_lease', 'end_lease')
_STATUS = {'TERMINATED': 'deleted', 'ACTIVE': 'active', 'PENDING': 'pending'}
REQUEST = (
    '{"min": 1, "max": 1, "hypervisor_properties": "", "resource_properties": "",'
    ' "before_end": "default"}'
)

_UNCHECKED = {
    'sqlite': ('PRAGMA foreign_keys = OFF', 'PRAGMA synchronous = OFF'),
    'mysql': ('SET unique_checks = 0', 'SET foreign_key_checks = 0'),
    'mariadb': ('SET unique_checks = 0', 'SET foreign_key_checks = 0'),
}

Row = tuple[Any, ...]

LEASES = (
    'id, name, user_id, project_id, start_date, end_date, status, degraded, options, next_due,'
    ' created_at'
)
RESERVATIONS = (
    'id, lease_id, position, resource_type, status, request, facts, missing_resources,'
    ' resources_changed'
)
EVENTS = 'id, lease_id, kind, time, due, state, attempts, payload'
ALLOCATIONS = 'reservation_id, resource_id, resource_class, amount, start_date, end_date, state'


def insert(engine: sa.Engine, table: str, columns: str, rows: Iterable[Row]) -> None:
    """Write *rows* into *table*.

    :param columns: their names, separated by commas and a blank
    :param rows: texts, numbers and None; instants as :func:`text` writes them
    """
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        # The rows refer to each other as they should; to check it takes longer
        # than to write them.
        for statement in _UNCHECKED.get(engine.dialect.name, ()):
            cursor.execute(statement)
        if engine.dialect.name == 'postgresql':
            _copy(cursor, table, columns, rows)
        else:
            _insert_many(cursor, engine.dialect.name, table, columns, rows)
        connection.commit()
    finally:
        # Not given back to the pool as it is now.
        connection.invalidate()


def _copy(cursor: Any, table: str, columns: str, rows: Iterable[Row]) -> None:
    iterator = iter(rows)
    while batch := list(itertools.islice(iterator, _COPY_BATCH)):
        text = io.StringIO()
        # None is written as nothing, and nothing is what COPY takes for NULL.
        csv.writer(text).writerows(batch)
        with cursor.copy(f'COPY {table} ({columns}) FROM STDIN WITH (FORMAT csv)') as copy:
            copy.write(text.getvalue())


def _insert_many(cursor: Any, dialect: str, table: str, columns: str, rows: Iterable[Row]) -> None:
    mark = '?' if dialect == 'sqlite' else '%s'
    marks = ', '.join([mark] * len(columns.split(', ')))
    statement = f'INSERT INTO {table} ({columns}) VALUES ({marks})'
    iterator = iter(rows)
    while batch := list(itertools.islice(iterator, _BATCH)):
        # PyMySQL makes one statement of many rows of it.
        cursor.executemany(statement, batch)


def text(instant: datetime.datetime) -> str:
    """Return *instant* as all three engines read and SQLite stores it."""
    return instant.astimezone(datetime.UTC).strftime('%Y-%m-%d %H:%M:%S.%f')


def analyze(engine: sa.Engine) -> None:
    """Have the engine look at what there is, as it does by itself after a while."""
    with engine.connect().execution_options(isolation_level='AUTOCOMMIT') as connection:
        if engine.dialect.name in ('mysql', 'mariadb'):
            connection.exec_driver_sql(
                'ANALYZE TABLE resources, inventories, properties, leases, reservations,'
                ' allocations, events, outbox'
            ).all()
        elif engine.dialect.name == 'postgresql':
            # VACUUM marks the pages that an index alone can answer for.
            connection.exec_driver_sql('VACUUM (ANALYZE)')
        else:
            connection.exec_driver_sql('ANALYZE')


@dataclasses.dataclass(frozen=True, kw_only=True)
class Load:
    """What there is to be.

    Every host is taken for about one hour in three, over a stretch whose
    middle is *now*: half of the allocations have been given back, the others
    are still to come. Groups of hosts belong to the same lease.

    :ivar hosts: how many
    :ivar allocations: how many altogether
    :ivar group: how many hosts a lease has
    :ivar now: the present instant
    """

    hosts: int
    allocations: int
    now: datetime.datetime
    group: int = 10
    projects: int = 50

    reserved_type: ClassVar[str] = RESOURCE_TYPE
    request: ClassVar[str] = REQUEST

    @property
    def slots(self) -> int:
        """How many allocations each host has."""
        return self.allocations // self.hosts

    @property
    def leases(self) -> int:
        """How many leases that makes."""
        return -(-self.hosts // self.group) * self.slots

    def fill(self, engine: sa.Engine) -> None:
        """Write it, and have the engine look at it."""
        columns = 'id, resource_type, name, reservable, disabled, generation, deleted'
        numbers = range(1, self.hosts + 1)
        hosts = ((number, RESOURCE_TYPE, f'compute-{number}', 1, 0, 0, 0) for number in numbers)
        insert(engine, 'resources', columns, hosts)
        insert(engine, 'properties', 'resource_id, kind, name, value, number', self._properties())
        if engine.dialect.name == 'postgresql':
            with engine.begin() as connection:
                connection.exec_driver_sql(
                    "SELECT setval('resources_id_seq', (SELECT max(id) FROM resources))"
                ).all()
        # What is written is right, and to find that out takes longer.
        with unguarded.unguarded(engine):
            self._fill_leases(engine)
        analyze(engine)

    def _properties(self) -> Iterator[Row]:
        for number in range(1, self.hosts + 1):
            vcpus = (16, 32, 64, 128)[number % 4]
            yield (number, 'attribute', 'vcpus', str(vcpus), vcpus)
            yield (number, 'attribute', 'memory_mb', '262144', 262144)
            yield (number, 'attribute', 'hypervisor_type', 'QEMU', None)
            yield (number, 'capability', 'rack', f'r{number % 20}', None)

    def _fill_leases(self, engine: sa.Engine) -> None:
        leases = list(self._leases())
        insert(engine, 'leases', LEASES, (row for row, _ in leases))
        kind, rest = self.reserved_type, (self.request, '{}', 0, 0)
        reservations = ((row[0], row[0], 0, kind, _STATUS[row[6]], *rest) for row, _ in leases)
        insert(engine, 'reservations', RESERVATIONS, reservations)
        insert(engine, 'events', EVENTS, (event for row, _ in leases for event in _events(row)))
        insert(
            engine,
            'allocations',
            ALLOCATIONS,
            (found for row, hosts in leases for host in hosts for found in self._taken(row, host)),
        )

    def _taken(self, lease: Row, host: int) -> Iterator[Row]:
        """Return what a lease has of a host."""
        state = 'booked' if lease[9] else 'released'
        yield (lease[0], host, None, 1, lease[4], lease[5], state)

    def _leases(self) -> Iterator[tuple[Row, range]]:
        """Return each lease's row and its hosts, in the order they were made."""
        rng = random.Random(7)
        groups = [
            (
                range(first, min(first + self.group, self.hosts + 1)),
                datetime.timedelta(seconds=rng.randrange(3 * 3600)),
            )
            for first in range(1, self.hosts + 1, self.group)
        ]
        first = self.now - self.slots * 3 * HOUR / 2
        for slot in range(self.slots):
            for place, (hosts, phase) in enumerate(groups):
                start = first + slot * 3 * HOUR + phase
                end = start + HOUR * rng.uniform(0.75, 1.25)
                over = end <= self.now
                started = start <= self.now
                status = 'TERMINATED' if over else 'ACTIVE' if started else 'PENDING'
                number = str(uuid.UUID(int=rng.getrandbits(128)))
                owner = (f'user-{place % 200}', f'project-{place % self.projects}')
                next_due = None if over else text(end if started else start)
                facts = (text(start), text(end), status, 0, '{}', next_due)
                made_at = text(start - 24 * HOUR)
                yield (number, f'lease-{slot}-{place}', *owner, *facts, made_at), hosts


def _events(lease: Row) -> Iterator[Row]:
    for number, kind in enumerate(_EVENTS):
        due = lease[4 + number]
        done = lease[9] is None or (number == 0 and lease[6] == 'ACTIVE')
        event_id = f'{lease[0][:-1]}{number}x'[:36]
        yield (event_id, lease[0], kind, due, due, 'DONE' if done else 'UNDONE', 0, '{}')
