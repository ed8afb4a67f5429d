# SPDX-License-Identifier: Apache-2.0

"""A yard: a site whose hosts are wanted whole and in slots, by everybody at once."""

from __future__ import annotations

import datetime
import random
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from climate.domain.leases import Lease
from climate.domain.maintenances import MaintenanceDraft
from climate.domain.periods import Period
from climate.domain.requests import LeaseChange
from climate.domain.requests import ReservationChange
from climate.domain.resources import Spread
from climate.upkeep.maintenances import Maintenances
from climate.upkeep.rehoming import Rehoming
from tests import drafts
from tests.functional.manager import harness
from tests.functional.manager import slots
from tests.functional.manager import sweep

# Small, so that there is seldom enough: 7 and 24 units can be given away.
_INVENTORIES = (
    'UPDATE inventories SET total = 6, reserved = 1, allocation_ratio = 1.5, max_unit = 6'
    " WHERE resource_class = 'VCPU'",
    'UPDATE inventories SET total = 24, reserved = 0, allocation_ratio = 1.0, max_unit = 24'
    " WHERE resource_class = 'MEMORY_MB'",
)
# Events that only notify, and checks of what nothing changed, are left out: this
# is about what leases have.
SETTINGS = harness.changed(
    cleaning_time=datetime.timedelta(0),
    notify_before_start=(),
    notify_before_end=datetime.timedelta(0),
    check_interval=datetime.timedelta(0),
    effect_deadline=datetime.timedelta(seconds=40),
)
DEMANDS = ({'VCPU': 1}, {'VCPU': 2, 'MEMORY_MB': 5}, {'MEMORY_MB': 9}, {'VCPU': 3})


class Yard(harness.Site):
    """A site with slots, a ledger and small hosts."""

    def _setUp(self) -> None:
        super()._setUp()
        self.slots = slots.Slots()
        self.plugins[slots.RESOURCE_TYPE] = self.slots
        with self.store.engine.begin() as connection:
            for statement in _INVENTORIES:
                connection.execute(sa.text(statement))
            self.capacity = sweep.capacities(connection)
            found = connection.execute(sa.text('SELECT id FROM resources ORDER BY id'))
            self.resource_ids = [row.id for row in found]

    # -- users

    def book(self, start: float, end: float, bodies: Sequence[dict[str, Any]]) -> Lease:
        """Create a lease of several reservations, in seconds after noon."""
        draft = drafts.lease(
            harness.at(start),
            harness.at(end),
            *bodies,
            asked_at=min(harness.at(start), self.clock.now()),
        )
        return self.leases.create(harness.CALLER, draft)

    def change(
        self,
        lease: Lease,
        bodies: dict[int, dict[str, Any]],
        start: float | None = None,
        end: float | None = None,
    ) -> Lease:
        """Change dates and reservations, by their place."""
        change = LeaseChange(
            grain=datetime.timedelta(0),
            start=None if start is None else harness.at(start),
            end=None if end is None else harness.at(end),
            reservations=tuple(
                ReservationChange(id=lease.reservations[place].id, body=body)
                for place, body in bodies.items()
            ),
        )
        return self.leases.update(harness.CALLER, lease.id, harness.PROJECT, change)

    # -- hosts

    def fail(self, resource_id: int, *, failed: bool = True) -> None:
        """Have a host fail, or work again."""

        def write(tx: Any) -> None:
            if failed:
                tx.failures.fail([resource_id])
            else:
                tx.failures.recover([resource_id], tx.now + datetime.timedelta(microseconds=1))

        self.store.run(write)

    def heal(self) -> None:
        """Move what is promised on hosts that are out, or report it."""
        Rehoming(self.store, self.plugins, self.settings, random.Random(3)).round(self.cloud)

    def failed(self) -> set[int]:
        """Return the hosts that do not work."""
        with self.store.engine.connect() as connection:
            query = sa.text('SELECT id FROM resources WHERE failed_at IS NOT NULL')
            return {row.id for row in connection.execute(query)}

    def maintain(self, resource_id: int, start: float, end: float) -> None:
        """Take a host out for a period."""
        draft = MaintenanceDraft(
            period=Period(start=harness.at(start), end=harness.at(end)), resource_id=resource_id
        )
        Maintenances(self.store, wake=lambda: None).create(harness.CALLER, draft)

    def out(self, start: sweep.Instant, end: sweep.Instant) -> set[int]:
        """Return the hosts that are out at some time of a period (naive UTC)."""
        with self.store.engine.connect() as connection:
            query = sa.text('SELECT resource_id, start_date, end_date FROM maintenances').columns(
                start_date=sa.DateTime(), end_date=sa.DateTime()
            )
            return {
                row.resource_id
                for row in connection.execute(query)
                if row.start_date < end and start < row.end_date
            }

    # -- what there is

    def rows(self) -> list[sweep.Row]:
        """Return all allocations as they are written."""
        with self.store.engine.connect() as connection:
            return sweep.rows(connection)


def hosts(count: int, most: int | None = None) -> dict[str, Any]:
    """Return a body that asks for whole hosts."""
    return {'resource_type': 'physical:host', 'min': count, 'max': most or count, 'before_end': ''}


def parts(
    count: int,
    demand: dict[str, int] | None = None,
    *,
    most: int | None = None,
    spread: Spread = Spread.ANY,
    contrary: bool = False,
) -> dict[str, Any]:
    """Return a body that asks for slots."""
    return {
        'resource_type': slots.RESOURCE_TYPE,
        'min': count,
        'max': most or count,
        'demand': demand or {'VCPU': 1},
        'spread': spread.value,
        'contrary': contrary,
    }
