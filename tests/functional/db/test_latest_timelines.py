# SPDX-License-Identifier: Apache-2.0

"""A few whole resources are chosen from the timeline as it was read last, and checked.

It takes about four seconds.
"""

from __future__ import annotations

import datetime
import random
from typing import Any

from climate import exceptions
from climate.booking.leases import Leases
from climate.db.resources.properties import LEAD_TIME
from climate.db.timelines.timelines import Timelines
from climate.db.transactions.store import Store
from climate.domain.leases import Lease
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.leases.settings import LeasingSettings
from climate.plugins.host.plugin import PhysicalHost
from tests import services
from tests.functional.db import cases

CALLER = Caller(user_id='u', project_id='p')
# In two blocks.
HOSTS = 260


@services.on_each_engine(cases.StoreCase)
class LatestCase:
    """One process with a timeline, and another one."""

    def setUp(self) -> None:
        super().setUp()
        self.timelines = Timelines(datetime.timedelta(0))
        self.store.timelines = self.timelines
        self.hosts = self.add_hosts(HOSTS)
        self.leases = self._leases(self.store)
        self.other = cases.connect(self.url, self.clock)
        self.addCleanup(self.other.close)
        self.rivals = self._leases(self.other)
        self.create(1)

    def _leases(self, store: Store) -> Leases:
        plugins: dict[str, Any] = {cases.TYPE: PhysicalHost()}
        rng = random.Random(5)
        return Leases(store, plugins, self.clock, LeasingSettings(), lambda: None, rng)

    def create(self, number: int, leases: Leases | None = None) -> Lease:
        """Lease so many hosts for an hour."""
        period = cases.hours(1, 2)
        wanted = {'resource_type': cases.TYPE, 'min': number, 'max': number}
        draft = LeaseDraft(name='n', start=period.start, end=period.end, reservations=(wanted,))
        return (leases or self.leases).create(CALLER, draft)

    def booked(self) -> list[int]:
        """Return the hosts of all leases, sorted."""
        with self.other.reading() as tx:
            found = tx.session.exec_driver_sql('SELECT resource_id FROM allocations')
            return sorted(row[0] for row in found)

    def counted(self, what: str) -> int:
        """Return a counter of the timelines."""
        return self.timelines.counts.found[what]

    def test_it_is_not_compared(self) -> None:
        before = self.counted('validated')
        for _ in range(3):
            self.create(1)
        self.assertEqual(before, self.counted('validated'))
        self.assertEqual(4, len(set(self.booked())))

    def test_another_process_has_booked_all_but_one(self) -> None:
        self.create(HOSTS - 2, self.rivals)
        self.create(1)
        self.assertEqual(sorted(self.hosts), self.booked())
        self.assertEqual(0, self.counted('lost'))

    def test_another_process_has_booked_everything(self) -> None:
        self.create(HOSTS - 1, self.rivals)
        self.assertRaises(exceptions.NotEnoughResources, self.create, 1)
        self.assertEqual(sorted(self.hosts), self.booked())

    def test_a_refusal_is_never_old(self) -> None:
        """What has been released since is found."""
        lease = self.create(HOSTS - 1, self.rivals)
        self.assertRaises(exceptions.NotEnoughResources, self.create, 1)
        self.rivals.delete(CALLER, lease.id, CALLER.project_id)
        self.create(1)

    def test_hosts_that_may_not_be_booked_any_more(self) -> None:
        free = sorted(set(self.hosts) - set(self.booked()))
        self.other.run(lambda tx: [tx.resources.set_reservable(host, False) for host in free[:-1]])
        self.create(1)
        self.assertIn(free[-1], self.booked())

    def test_hosts_that_are_gone(self) -> None:
        free = sorted(set(self.hosts) - set(self.booked()))
        self.other.run(lambda tx: [tx.resources.delete(host) for host in free[:-1]])
        self.create(1)
        self.assertIn(free[-1], self.booked())

    def test_hosts_that_take_longer_since(self) -> None:
        def slow(tx: Any) -> None:
            for host in self.hosts:
                tx.properties.set_capability(host, LEAD_TIME, '90')
                tx.resources.touch(host)

        self.other.run(slow)
        self.assertEqual(90, self.create(1).lead_time)
