# SPDX-License-Identifier: Apache-2.0
"""Hosts that need a while to get ready, from their capability to the announcement."""

from __future__ import annotations

from climate.db.resources.properties import LEAD_TIME
from climate.db.transactions.store import Transaction
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.requests import Reallocation
from tests import base
from tests import services
from tests.functional.manager import harness
from tests.functional.manager.harness import PROJECT
from tests.functional.manager.harness import Site


@services.on_each_engine(base.TestCase, 'TestLeadTimeOn')
class _LeadTime:
    """Four hosts; each lease is announced a minute before its start."""

    def setUp(self) -> None:
        super().setUp()
        settings = harness.changed(notify_before_start=(60,))
        self.site = self.useFixture(Site(settings, database=self.kind))

    def slow(self, host: int, seconds: str | None) -> None:
        """Say how long a host takes."""

        def change(tx: Transaction) -> None:
            tx.book([host])
            tx.properties.set_capability(host, LEAD_TIME, seconds)

        self.site.store.run(change)

    def notice_times(self, lease: Lease) -> list[float]:
        """Return how many seconds after noon the start is announced."""
        return [
            (item.time - harness.NOW).total_seconds()
            for item in self.site.now(lease).events
            if item.kind is EventKind.BEFORE_START
        ]

    def test_the_slowest_counts(self) -> None:
        self.slow(1, '300')
        self.slow(2, '420.5')
        self.slow(3, 'long')
        self.slow(4, '-5')
        self.assertEqual(
            [3600 - 421, 3540], self.notice_times(self.site.create(3600, 7200, hosts=4))
        )
        self.site.until(3180)
        found = self.site.bus.last('lease.event.before_start_lease')['seconds_to_start']
        self.assertEqual(421, found)

    def test_a_type_without_a_lead_time(self) -> None:
        self.assertEqual([3540], self.notice_times(self.site.create(3600, 7200, hosts=4)))

    def test_a_change_brings_a_slow_host(self) -> None:
        lease = self.site.create(3600, 7200, hosts=1)
        for host in range(1, 5):
            self.slow(host, '600')
        self.site.update(lease, hosts=2)
        self.assertEqual([3000, 3540], self.notice_times(lease))
        self.assertEqual('ACTIVE', self.site.status_at(3700, lease))
        self.assertEqual(2, self.site.bus.received().count('before_start_lease'))

    def test_a_slow_host_takes_the_place_of_another(self) -> None:
        lease = self.site.create(3600, 7200, hosts=1)
        (had,) = self.site.allocations(lease)
        for host in {1, 2, 3, 4} - {had.resource_id}:
            self.slow(host, '600')
        wanted = Reallocation(reservation_id=had.reservation_id, resource_id=had.resource_id)
        self.site.leases.reallocate(lease.id, PROJECT, wanted)
        self.assertEqual([3000, 3540], self.notice_times(lease))
        self.site.until(3001)
        self.assertEqual(1, self.site.bus.received().count('before_start_lease'))
