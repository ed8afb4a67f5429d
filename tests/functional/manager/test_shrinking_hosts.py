# SPDX-License-Identifier: Apache-2.0

"""Hosts that lose a part of their capacity, by chance."""

from __future__ import annotations

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from climate import exceptions
from climate.domain.leases import Lease
from climate.upkeep.health import HostHealth
from tests.functional.manager import harness
from tests.functional.manager import test_resource_changes

HOUR = 3600
SLOT = 4
SHRINKS = 'compute-1'
bookings = st.lists(
    # Whether it starts at once, its first hour, its hours, its slots.
    st.tuples(st.booleans(), st.integers(1, 6), st.integers(1, 6), st.integers(1, 2)),
    min_size=1,
    max_size=4,
)


class TestShrinking(test_resource_changes.ChangesCase):
    """What no longer fits moves, and nothing else."""

    def setUp(self) -> None:
        super().setUp()
        self.others = {self.host(name).id or 0 for name in ('compute-2', 'compute-3')}

    def book(self, wanted: list[tuple[bool, int, int, int]]) -> dict[str, Lease]:
        """Book leases on the host that will shrink; return those that fit."""
        now, store = self.site.seconds(), self.site.store
        store.run(lambda tx: tx.failures.fail(self.others))
        found = {}
        for at_once, first, length, slots in wanted:
            start = now if at_once else now + first * HOUR
            try:
                lease = self.create(start, now + (first + length) * HOUR, amount=slots)
            except exceptions.NotEnoughResources:
                continue
            found[lease.id] = lease
        self.site.until(now + 60)
        seen_at = self.site.clock.now()
        store.run(lambda tx: tx.failures.recover(self.others, seen_at))
        return found

    def shrink(self, slots: int) -> None:
        """Lower the number of slots that the host has room for, and let managers notice."""
        self.cloud.add_hypervisor(SHRINKS, vcpus=slots * SLOT)
        self.repair()
        HostHealth(self.site.store, self.site.clock, self.site.plugins).look(self.cloud)
        self.heal()
        self.repair()

    def used(self, leases: dict[str, Lease], hour: int) -> int:
        """Return how many slots the host has given away at an hour after the booking."""
        then = self.begun + hour * HOUR + 120
        return sum(
            item.amount // SLOT
            for lease in leases.values()
            for item in self.site.allocations(lease)
            if (item.resource_name, item.resource_class) == (SHRINKS, 'VCPU')
            and item.period.start.timestamp() <= then < item.period.end.timestamp()
        )

    @settings(max_examples=12)
    @given(bookings, st.integers(1, 3))
    def test_only_what_no_longer_fits_moves(
        self, wanted: list[tuple[bool, int, int, int]], slots: int
    ) -> None:
        self.begun = self.site.clock.now().timestamp()
        leases = self.book(wanted)
        full = {hour: self.used(leases, hour) for hour in range(13)}
        self.shrink(slots)
        kept = {hour: self.used(leases, hour) for hour in range(13)}
        over = {hour for hour in kept if kept[hour] > slots}
        active = {one for one in leases if self.site.status(leases[one]) == 'ACTIVE'}
        for lease_id, lease in leases.items():
            moved = SHRINKS not in self.on(lease)
            self.assertFalse(moved and lease_id in active, 'an active one has moved')
            hours = range(int(lease.period.length.total_seconds() // HOUR))
            first = round((lease.period.start.timestamp() - self.begun) / HOUR)
            amount = lease.reservations[0].request['amount']
            if moved:
                tight = any(kept[first + hour] + amount > slots for hour in hours)
                self.assertTrue(tight, 'one has moved that had room')
        self.assertEqual(not over, not self.host(SHRINKS).unusable)
        self.assertTrue(over or max(full.values()) <= slots or full != kept)
        degraded = {one for one in active if self.site.now(leases[one]).degraded}
        self.assertEqual(bool(over), bool(degraded))
        self.forget(leases)

    def forget(self, leases: dict[str, Lease]) -> None:
        """Delete the leases, and give the host back what it had."""
        for lease_id in leases:
            self.leases.delete(harness.CALLER, lease_id, None)
        self.site.until(self.site.seconds() + 60)
        self.cloud.add_hypervisor(SHRINKS, vcpus=16)
        self.refresh(SHRINKS)
        self.assertFalse(self.host(SHRINKS).unusable)
