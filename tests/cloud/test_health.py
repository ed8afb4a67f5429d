# SPDX-License-Identifier: Apache-2.0

"""Nova-computes that fail: their hosts are not leased, and leases move off them."""

from __future__ import annotations

from tests.cloud.base import CloudTest
from tests.cloud.base import reservation
from tests.cloud.waiting import until

# Nova notices after a minute that a service is dead, and is asked every minute.
NOTICED = 180.0


class HealthTest(CloudTest):
    """Two hosts, one of which fails."""

    hosts = 2

    def test_forced_down_before_and_during_a_lease(self) -> None:
        lease = self.book(self.alice, 30)
        host = self.leased(lease)
        self.force(host, down=True)
        notification = self.bus.wait_for(lease['id'], 'lease.rehomed', 30)['payload']
        other = self.leased(lease)
        self.assertNotEqual(host, other)
        self.assertEqual(([host], [other]), (notification['from'], notification['to']))
        self.assertFalse(self.reservable(host))
        self.await_active(self.alice, lease)
        self.assertEqual([other], self.members(reservation(lease)))
        self.force(host, down=False)
        until(lambda: self.reservable(host), NOTICED, f'{host} is back')
        # With a server on it, the host of an active lease is left alone.
        server = self.boot(self.alice, lease)
        self.assertEqual('ACTIVE', self.alice.settled(server))
        self.force(other, down=True)
        self.bus.wait_for(lease['id'], 'lease.degraded', 30)
        self.assertTrue(self.alice.lease(lease['id'])['degraded'])
        self.assertEqual([other], self.members(reservation(lease)))
        self.force(other, down=False)
        until(lambda: self.is_whole(lease), NOTICED, 'all is in order again')
        self.assertEqual('ACTIVE', self.alice.status(server))

    def test_a_process_that_died_is_found_by_asking(self) -> None:
        host = self.lent[0]
        self.house.stop(self.compute_process(host))
        until(lambda: not self.reservable(host), NOTICED, f'{host} is out of the pool')
        self.house.start(self.compute_process(host))
        until(lambda: self.reservable(host), NOTICED, f'{host} is back')

    def leased(self, lease: dict) -> str:
        """Return the only host that a lease has, by name."""
        rows = self.admin.call('GET', '/os-hosts/allocations').json()['allocations']
        (name,) = (
            row['resource_name']
            for row in rows
            if any(one['lease_id'] == lease['id'] for one in row['reservations'])
        )
        return str(name)

    def is_whole(self, lease: dict) -> bool:
        """Whether a lease is as it should be."""
        return not self.alice.lease(lease['id'])['degraded']

    def force(self, host: str, *, down: bool) -> None:
        """Tell Nova that the nova-compute of a host is down, or may be up again."""
        compute = self.admin.sdk.compute
        service = self.compute_service(host)
        if down:
            self.addCleanup(
                compute.update_service_forced_down, service, host, 'nova-compute', forced=False
            )
        compute.update_service_forced_down(service, host, 'nova-compute', forced=down)
