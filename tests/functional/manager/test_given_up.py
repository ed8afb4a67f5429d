# SPDX-License-Identifier: Apache-2.0

"""What is released when an effect gave up something else than requested."""

from __future__ import annotations

from unittest import mock

from climate.domain.leases import Lease
from climate.leases import following
from climate.plugins.contract import Done
from climate.plugins.host.plugin import PhysicalHost
from tests.functional.manager.harness import SiteCase


class TestGivenUp(SiteCase):
    """Nothing is free that the cloud still uses, nor what was promised."""

    def setUp(self) -> None:
        super().setUp()
        self.lease = self.site.create(0, 3600, hosts=3, until=10)
        self.rows = self.site.allocations(self.lease)
        self.ids = [item.id or 0 for item in self.rows]
        self.hosts = [item.resource_id for item in self.rows]

    def given_up(self, *kept: int) -> following.GivenUp:
        """Tell an effect to give the last one up; it keeps these, by place."""
        left = {self.lease.reservations[0].id: {self.hosts[place]: 1 for place in kept}}
        facts = (self.site.plugins, self.lease, {self.ids[2]: 1}, left)
        return self.site.store.run(lambda tx: following.given_up(tx, *facts))

    def test_as_many_as_requested(self) -> None:
        for kept, goes in (((0, 1), 2), ((0, 2), 1), ((1, 2), 0)):
            found = self.given_up(*kept)
            self.assertEqual(({self.ids[goes]: 1}, ()), (found.amounts, found.complaints))

    def test_it_kept_more(self) -> None:
        found = self.given_up(0, 1, 2)
        self.assertEqual({}, found.amounts)
        (line,) = found.complaints
        self.assertIn(f'{self.lease.reservations[0].id} keeps 3 resources and not 2', line)

    def test_it_kept_less(self) -> None:
        found = self.given_up(0)
        self.assertEqual({self.ids[2]: 1}, found.amounts)
        self.assertIn('keeps 1 resources and not 2', found.complaints[0])
        # What it should have given up it has: nothing is free.
        found = self.given_up(2)
        self.assertEqual({}, found.amounts)

    def test_a_plugin_that_cannot_read_it(self) -> None:
        with mock.patch.object(PhysicalHost, 'load', side_effect=KeyError):
            found = self.given_up(0, 1)
        self.assertEqual({}, found.amounts)
        self.assertIn('cannot read it', found.complaints[0])

    def test_owners_are_notified(self) -> None:
        lease: Lease = self.site.create(20, 3600)
        self.site.until(30)
        (row,) = self.site.allocations(lease)
        self.site.delete(self.lease)
        self.site.work()
        self.site.update(lease, hosts=2)
        done = Done(kept={row.resource_id: 1})
        with mock.patch.object(PhysicalHost, 'start', return_value=done):
            self.site.work()
        self.assertEqual('ACTIVE', self.site.status(lease))
        self.assertEqual(2, len(self.site.allocations(lease)))
        notification = self.site.bus.last('lease.event.error')
        self.assertEqual(
            (lease.id, 'update_lease'), (notification['lease_id'], notification['event_type'])
        )
        self.assertIn('keeps 1 resources and not 2', notification['reason'])
