# SPDX-License-Identifier: Apache-2.0

"""Slots of hosts that fail move to others, and lie on hosts as they are to."""

from __future__ import annotations

from collections import Counter
from typing import Any

from climate.cloud.base import ServerDraft
from climate.domain.leases import Lease
from climate.domain.requests import Reallocation
from climate.upkeep.health import HostHealth
from climate.upkeep.rehoming import Rehoming
from tests.functional.manager import harness
from tests.functional.manager import test_instances


class TestHealing(test_instances._Test):
    """Three hosts, one of which fails."""

    def contents(self) -> dict[str, Any]:
        """What is left in the cloud at the end is not looked at here."""
        return {}

    def fail(self, host: str) -> None:
        self.cloud.set_hypervisor(host, state='down')
        HostHealth(self.site.store, self.site.clock, self.site.plugins).look(self.cloud)

    def heal(self) -> None:
        Rehoming(self.site.store, self.site.plugins, self.site.settings).round(self.cloud)
        self.site.work()

    def places(self, lease: Lease) -> dict[str, int]:
        """Return how many slots a lease has on each host."""
        found: Counter[str] = Counter()
        for item in self.site.allocations(lease):
            if item.resource_class == 'VCPU':
                found[item.resource_name] += item.amount // 4
        return dict(found)

    def flags(self, lease: Lease) -> tuple[bool, bool, bool]:
        found = self.site.now(lease)
        (reservation,) = found.reservations
        return found.degraded, reservation.missing_resources, reservation.resources_changed

    def test_slots_that_may_lie_anywhere(self) -> None:
        lease = self.create(3600, 7200, amount=6)
        before = self.places(lease)
        failed = max(before, key=lambda name: before[name])
        self.fail(failed)
        self.heal()
        after = self.places(lease)
        self.assertNotIn(failed, after)
        self.assertEqual(6, sum(after.values()))
        self.assertEqual((False, False, False), self.flags(lease))

    def test_slots_that_lie_together_move_together(self) -> None:
        lease = self.create(3600, 7200, amount=3, affinity='True')
        ((failed, count),) = self.places(lease).items()
        self.fail(failed)
        self.heal()
        ((other, moved),) = self.places(lease).items()
        self.assertNotEqual(failed, other)
        self.assertEqual((3, 3), (count, moved))

    def test_slots_that_lie_apart_stay_apart_or_where_they_are(self) -> None:
        lease = self.create(3600, 7200, amount=2, affinity='False')
        first, second = self.places(lease)
        self.fail(first)
        self.heal()
        after = self.places(lease)
        self.assertEqual((1, 1), tuple(after.values()))
        self.assertNotIn(first, after)
        self.assertIn(second, after)
        self.fail(second)
        self.heal()
        self.assertEqual(after, self.places(lease))
        self.assertEqual((True, True, False), self.flags(lease))

    def active(self) -> tuple[Lease, str]:
        """Return an active lease of two slots on one host, and the host."""
        lease = self.create(amount=2, affinity='True')
        self.assertEqual('ACTIVE', self.site.settled(lease))
        (host,) = self.places(lease)
        return lease, host

    def boot(self, lease: Lease) -> None:
        draft = ServerDraft(name='s', flavor_id=lease.reservations[0].id)
        self.cloud.of_caller(f'alice:{harness.PROJECT}').compute.create_server(draft)

    def test_in_use(self) -> None:
        lease, failed = self.active()
        self.fail(failed)
        self.heal()
        self.assertEqual('ACTIVE', self.site.status(lease))
        self.assertNotIn(failed, self.places(lease))
        self.assertEqual((False, False, True), self.flags(lease))
        self.boot(lease)
        (server,) = self.cloud.servers()
        self.assertEqual(self.places(lease).keys(), {server.host})

    def swap(self, lease: Lease, host: str, forced: bool) -> None:
        wanted = Reallocation(
            reservation_id=lease.reservations[0].id, resource_name=host, forced=forced
        )
        self.leases.reallocate(lease.id, harness.PROJECT, wanted)
        self.site.until(self.site.seconds() + 60)

    def test_another_host_by_hand(self) -> None:
        lease, host = self.active()
        self.boot(lease)
        self.swap(lease, host, forced=False)
        self.assertEqual({host: 2}, self.places(lease))
        self.assertIn('servers use', self.site.bus.last('lease.event.error')['reason'])
        self.swap(lease, host, forced=True)
        self.assertNotIn(host, self.places(lease))
        self.assertEqual([], list(self.cloud.servers()))
        self.assertEqual((False, False, True), self.flags(lease))
