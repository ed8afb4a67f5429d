# SPDX-License-Identifier: Apache-2.0

"""Sixteen processes want the same, and the database shows who has it."""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from climate.clock import SystemClock
from climate.cmd import composition
from climate.db.transactions.store import Store
from climate.resources.registrar import Registrar
from climate.simulator import SimulatedCloud
from tests import drafts
from tests import services
from tests.functional import bodies
from tests.functional import racers
from tests.functional.db import cases
from tests.functional.racers import Request

DAY = datetime.datetime(2035, 6, 1, tzinfo=datetime.UTC)
HOURS = 200

_OVERLAPS = sa.text(
    """
    SELECT count(*) FROM allocations a JOIN allocations b
        ON b.resource_id = a.resource_id AND b.id > a.id
        AND b.start_date < a.end_date AND b.end_date > a.start_date
    WHERE a.state <> 'released' AND b.state <> 'released'
    """
)


def at(hour: float) -> str:
    """Return the instant so many hours into the day of the tests."""
    return (DAY + datetime.timedelta(hours=hour)).isoformat()


def create(start: float, end: float, name: str = 'a lease') -> Request:
    """Return a request for one host between two hours."""
    return Request(
        method='POST',
        path='/v1/leases',
        body=bodies.lease(name, at(start), at(end), bodies.hosts()),
    )


def overlaps(store: Store) -> int:
    """Return how many pairs of allocations of one host overlap."""
    with store.engine.connect() as connection:
        return int(connection.execute(_OVERLAPS).scalar_one())


class RaceCase:
    """One host, one database, sixteen processes.

    :cvar options: of all of them, by group and name
    """

    kind = ''
    options: Mapping[str, Any] = {}

    def setUp(self) -> None:
        super().setUp()
        database = self.useFixture(services.Database(self.kind))
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        core = composition.core(racers.configuration(database.url, self.options), SystemClock())
        self.store = core.store
        self.addCleanup(self.store.close)
        cases.migration.sync(self.store.engine)
        cloud = SimulatedCloud(folder.name, clock=core.clock)
        self.addCleanup(cloud.close)
        cloud.seed(20)
        self.registrar = Registrar(self.store, core.plugins, cloud)
        self.host = self.registrar.register_resource(drafts.host('compute-1'))
        self.racers = racers.racers()
        self.racers.open(database.url, folder.name, self.options)

    def overlaps(self) -> int:
        """Return how many pairs of allocations of one host overlap."""
        return overlaps(self.store)

    def booked(self) -> list[tuple[int, datetime.datetime, datetime.datetime]]:
        """Return ``(host, start, end)`` of every allocation."""
        table = cases.migration.metadata().tables['allocations']
        query = sa.select(table.c.resource_id, table.c.start_date, table.c.end_date)
        with self.store.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(query)]

    def lease_ids(self) -> dict[str, str]:
        """Return the ids of the leases by name."""
        table = cases.migration.metadata().tables['leases']
        with self.store.engine.connect() as connection:
            rows = connection.execute(sa.select(table.c.name, table.c.id))
            return {row.name: row.id for row in rows}
