# SPDX-License-Identifier: Apache-2.0

"""What the tests of the store have in common.

Making the tables takes an engine longer than most of these tests, so each
process makes them once per engine and each test empties them.
"""

from __future__ import annotations

import atexit
import datetime
import uuid
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from oslo_config import cfg

from climate.clock import Clock
from climate.clock import ManualClock
from climate.db.messages.outbox import OutboxRow
from climate.db.migrations import migration
from climate.db.transactions import store as stores
from climate.db.transactions.store import Store
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.periods import Period
from climate.domain.resources import Resource
from climate.testing import connection
from tests import base
from tests import services
from tests.functional.db import unguarded

TYPE = 'physical:host'
NOW = datetime.datetime(2030, 1, 1, 12, 0, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)

_made: dict[str, str] = {}


def configuration(url: str) -> cfg.ConfigOpts:
    """Return a configuration for the database at *url*."""
    conf = cfg.ConfigOpts()
    stores.register_opts(conf)
    conf([])
    connection.use(conf, url)
    return conf


def connect(url: str, clock: Clock | None = None, keys: Iterable[str] = ()) -> Store:
    """Return a store for the database at *url*.

    :param keys: its encryption keys, if it has any
    """
    conf = configuration(url)
    if keys:
        conf.set_override('encryption_keys', list(keys), group='database')
    return Store(conf, clock or ManualClock(NOW))


class StoreCase(base.TestCase):
    """A store with empty tables; heirs say on which engine.

    :ivar clock: stands at noon of the first of January 2030
    :cvar guarded: False for tests that write what the service never books
    """

    kind = services.SQLITE
    guarded = True

    def setUp(self) -> None:
        super().setUp()
        self.url = _database(self.kind)
        self.clock = ManualClock(NOW)
        self.store = connect(self.url, self.clock)
        self.addCleanup(self.store.close)
        empty(self.store.engine)
        if not self.guarded:
            self.enterContext(unguarded.unguarded(self.store.engine))
            self.addCleanup(empty, self.store.engine)

    def add_hosts(self, count: int, **facts: Any) -> list[int]:
        """Write hosts ``compute-1`` to ``compute-N``; return their ids."""
        return self.store.run(
            lambda tx: [
                tx.resources.insert(host(number, **facts)) for number in range(1, count + 1)
            ]
        )

    def add(self, lease: Lease, allocations: Iterable[Allocation] = ()) -> Lease:
        """Write a lease with its parts."""

        def write(tx: stores.Transaction) -> None:
            tx.leases.insert(lease)
            tx.reservations.insert(lease.reservations)
            put(tx, allocations)
            tx.events.insert(lease.events)

        self.store.run(write)
        return lease

    def book(self, resource_ids: Iterable[int], start: float, end: float, **facts: Any) -> Lease:
        """Write a lease that has resources between two hours from now.

        :param facts: of the allocations, such as their state
        """
        made = lease(start, end)
        period = hours(start, end)
        reservation_id = made.reservations[0].id
        taken = [allocation(reservation_id, number, period, **facts) for number in resource_ids]
        return self.add(made, taken)


def put(tx: stores.Transaction, allocations: Iterable[Allocation]) -> None:
    """Write allocations as they are, which no transaction of the service may: it is verified."""
    values = [
        {
            'reservation_id': item.reservation_id,
            'resource_id': item.resource_id,
            'resource_class': item.resource_class,
            'amount': item.amount,
            'start_date': item.period.start,
            'end_date': item.period.end,
            'state': item.state,
        }
        for item in allocations
    ]
    if values:
        tx.session.execute(sa.insert(migration.metadata().tables['allocations']), values)


def _database(kind: str) -> str:
    """Return the address of this process's database with tables."""
    if kind not in _made:
        database = services.Database(kind)
        database.setUp()
        atexit.register(database.cleanUp)
        store = connect(database.url)
        migration.sync(store.engine)
        store.close()
        _made[kind] = database.url
    return _made[kind]


def empty(engine: sa.Engine) -> None:
    """Remove every row."""
    with engine.begin() as connection:
        for table in reversed(migration.metadata().sorted_tables):
            connection.execute(sa.delete(table))


def at(hour: float) -> datetime.datetime:
    """Return the instant *hour* hours from now."""
    return NOW + hour * HOUR


def hours(start: float, end: float) -> Period:
    """Return the period between two hours from now."""
    return Period(start=at(start), end=at(end))


def host(number: int, **facts: Any) -> Resource:
    """Return a host that is not stored yet."""
    return Resource(resource_type=TYPE, name=f'compute-{number}', **facts)


def lease(start: float = 1, end: float = 2, **facts: Any) -> Lease:
    """Return a lease that is not stored yet, with one reservation and two events."""
    lease_id = facts.pop('id', None) or str(uuid.uuid4())
    known: dict[str, Any] = {
        'id': lease_id,
        'name': 'a lease',
        'user_id': 'u',
        'project_id': 'p',
        'period': hours(start, end),
        'next_due': at(start),
        'created_at': NOW,
        'reservations': (
            Reservation(
                id=str(uuid.uuid4()),
                lease_id=lease_id,
                resource_type=TYPE,
                request={'min': 1, 'max': 1},
            ),
        ),
        'events': (event(lease_id, EventKind.START, start), event(lease_id, EventKind.END, end)),
    }
    return Lease(**{**known, **facts})


def event(lease_id: str, kind: EventKind, hour: float, **facts: Any) -> Event:
    """Return an event that is not stored yet."""
    return Event(
        id=str(uuid.uuid4()), lease_id=lease_id, kind=kind, time=at(hour), due=at(hour), **facts
    )


def allocation(
    reservation_id: str, resource_id: int, period: Period, resource_class: Any = None, **facts: Any
) -> Allocation:
    """Return what a reservation has of a resource; all of it without a class."""
    facts |= {'reservation_id': reservation_id, 'resource_id': resource_id}
    return Allocation(period=period, resource_class=resource_class, **facts)


def notification(number: str, subject: str = 'a', created_at: Any = NOW) -> OutboxRow:
    """Return a notification that waits in the outbox."""
    kind = 'lease.create'
    return OutboxRow(id=number, subject=subject, event_type=kind, payload={}, created_at=created_at)
