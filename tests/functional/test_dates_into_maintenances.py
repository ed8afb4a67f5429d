# SPDX-License-Identifier: Apache-2.0

"""Changes of dates, and maintenances that are announced."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

from climate import exceptions
from climate.booking.leases import Leases
from climate.db.transactions.store import Transaction
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.maintenances import MaintenanceDraft
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.domain.requests import LeaseDraft
from climate.domain.resources import Inventory
from climate.leases.settings import LeasingSettings
from climate.plugins.host.plugin import PhysicalHost
from climate.upkeep.maintenances import Maintenances
from tests import services
from tests.functional.db import cases
from tests.functional.manager import slots
from tests.functional.manager import yard

CALLER = Caller(user_id='u', project_id='p')
STOCK = (Inventory(resource_class='VCPU', total=8),)
HOST = yard.hosts(1)
PART = yard.parts(1, {'VCPU': 8})


@services.on_each_engine(cases.StoreCase)
class Dates:
    """Two hosts, and a lease from one o'clock to two."""

    def setUp(self) -> None:
        super().setUp()
        self.hosts = self.add_hosts(2, inventories=STOCK)
        plugins = {slots.RESOURCE_TYPE: slots.Slots(), 'physical:host': PhysicalHost()}
        self.leases = Leases(
            self.store, plugins, self.clock, LeasingSettings(), lambda: None, random.Random(5)
        )

    def book_for(self, body: dict[str, Any]) -> Lease:
        draft = LeaseDraft(name='l', start=cases.at(1), end=cases.at(2), reservations=(body,))
        return self.leases.create(CALLER, draft)

    def run_now(self, lease: Lease) -> None:
        self.clock.move_to(lease.period.start)

        def write(tx: Transaction) -> None:
            tx.allocations.mark_held([item.id for item in lease.reservations])
            tx.leases.update(dataclasses.replace(lease, status=LeaseStatus.ACTIVE))

        self.store.run(write)

    def announce(self, host: int, start: float, end: float) -> None:
        draft = MaintenanceDraft(resource_id=host, period=cases.hours(start, end))
        Maintenances(self.store, lambda: None).create(CALLER, draft)

    def move(self, lease: Lease, start: float, end: float) -> None:
        change = LeaseChange(start=cases.at(start), end=cases.at(end))
        self.leases.update(CALLER, lease.id, 'p', change)

    def prolong(self, lease: Lease, end: float) -> None:
        self.leases.update(CALLER, lease.id, 'p', LeaseChange(end=cases.at(end)))

    def has(self, lease: Lease) -> int:
        with self.store.reading() as tx:
            (item,) = tx.allocations.live_of([one.id for one in lease.reservations])
        return item.resource_id

    def other(self, host: int) -> int:
        return next(each for each in self.hosts if each != host)

    def test_a_lease_that_has_not_begun_goes_to_another_host(self) -> None:
        for body in (HOST, PART):
            lease = self.book_for(body)
            host = self.has(lease)
            self.announce(host, 5, 7)
            self.move(lease, 5, 6)
            self.assertEqual(self.other(host), self.has(lease), body)
            # And where no host is left it stays as it was.
            self.announce(self.other(host), 8, 9)
            self.announce(host, 8, 9)
            self.assertRaises(exceptions.NotEnoughResources, self.move, lease, 8, 9)
            self.assertEqual(self.other(host), self.has(lease), body)
            self.leases.delete(CALLER, lease.id, 'p')
            with self.store.engine.begin() as connection:
                connection.execute(cases.migration.metadata().tables['maintenances'].delete())
            # Only a test ends them without raising the generations of the hosts.
            self.store.timelines.forget()

    def assert_not_prolonged(self, body: dict[str, Any]) -> None:
        lease = self.book_for(body)
        self.run_now(lease)
        host = self.has(lease)
        self.announce(host, 3, 4)
        self.prolong(lease, 3)
        error = self.assertRaises(exceptions.ResourceInMaintenance, self.prolong, lease, 3.5)
        self.assertEqual(
            f'compute-{self.hosts.index(host) + 1}, which the lease uses, is in maintenance from '
            '2030-01-01T15:00:00+00:00 to 2030-01-01T16:00:00+00:00',
            error.message,
        )

    def test_a_running_lease_is_not_prolonged_into_one(self) -> None:
        self.assert_not_prolonged(HOST)

    def test_a_running_lease_of_parts_is_not_prolonged_into_one(self) -> None:
        self.assert_not_prolonged(PART)

    def test_what_lies_in_one_already_can_be_made_shorter(self) -> None:
        for running in (False, True):
            lease = self.book_for(HOST)
            if running:
                self.run_now(lease)
            host = self.has(lease)
            self.announce(host, 1.5, 4)
            self.prolong(lease, 1.75)
            self.assertEqual(host, self.has(lease))
            self.leases.delete(CALLER, lease.id, 'p')
