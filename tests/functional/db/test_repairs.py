# SPDX-License-Identifier: Apache-2.0

"""The claim on a repair, and what a repair looks for, on each engine."""

from __future__ import annotations

import dataclasses

from climate.domain.leases import AllocationState
from climate.domain.lifecycles import LeaseStatus
from tests import services
from tests.databases import fetch
from tests.functional.db import cases


@services.on_each_engine(cases.StoreCase)
class _Repairs:
    """The same on each engine."""

    def take(self, owner: str, **limits: object) -> bool:
        """Claim the chore for an hour."""
        until = self.clock.now() + cases.HOUR
        return self.store.run(lambda tx: tx.chores.take('x', owner, until, **limits))

    def test_one_at_a_time(self) -> None:
        self.assertTrue(self.take('a'))
        self.assertFalse(self.take('b'))
        self.assertFalse(self.store.run(lambda tx: tx.chores.renew('x', 'b', cases.at(9))))
        self.store.run(lambda tx: tx.chores.release('x', 'b'))
        self.assertFalse(self.take('b'))
        self.store.run(lambda tx: tx.chores.release('x', 'a'))
        self.assertTrue(self.take('b'))
        self.clock.move_to(cases.at(2))
        self.assertTrue(self.take('a'))
        self.assertFalse(self.store.run(lambda tx: tx.chores.renew('x', 'b', cases.at(9))))
        self.assertTrue(self.store.run(lambda tx: tx.chores.renew('x', 'a', cases.at(9))))

    def test_not_before_its_time(self) -> None:
        # Whoever comes first writes it down, and does nothing.
        self.assertFalse(self.take('a', not_since=cases.at(-1)))
        self.assertFalse(self.take('b', not_since=cases.at(-1)))
        self.clock.move_to(cases.at(1))
        self.assertTrue(self.take('b', not_since=cases.at(0)))
        self.store.run(lambda tx: tx.chores.release('x', 'b'))
        self.assertFalse(self.take('a', not_since=cases.at(0)))
        self.assertEqual(cases.at(1), fetch(self.store, lambda tx: tx.chores.begun_at('x')))

    def test_oddities(self) -> None:
        one, two, three = self.add_hosts(3)
        over = self.book([one], -3, -2, state=AllocationState.HELD)
        gone = self.book([two], 1, 2)
        fine = self.book([three], 1, 2)
        late = cases.lease(3, 4, next_due=None)
        self.add(late)
        self.add(dataclasses.replace(cases.lease(5, 6), next_due=cases.at(5.5)))
        for lease, facts in (
            (over, {'status': LeaseStatus.TERMINATED}),
            (gone, {'deleted_at': cases.NOW}),
            (fine, {'status': LeaseStatus.ACTIVE}),
        ):
            changed = dataclasses.replace(lease, **facts)
            self.store.run(lambda tx, changed=changed: tx.leases.update(changed))
        with self.store.reading() as tx:
            strays = {item.lease_id: item.resource_name for item in tx.inconsistencies.strays()}
            self.assertEqual({over.id: 'compute-1', gone.id: 'compute-2'}, strays)
            found = [item.lease_id for item in tx.inconsistencies.strays(gone.id)]
            self.assertEqual([gone.id], found)
            self.assertEqual([fine.id], tx.inconsistencies.active())
            alive, ended = tx.inconsistencies.reservations()
            self.assertEqual({over.reservations[0].id, gone.reservations[0].id}, ended)
            self.assertEqual(3, len(alive))
            self.assertEqual(2, len(tx.inconsistencies.forgotten()))
            self.assertEqual([late.id], tx.inconsistencies.forgotten(late.id))

    def test_a_claimed_lease_is_not_forgotten(self) -> None:
        late = self.add(cases.lease(3, 4, next_due=None))
        until = cases.at(1)
        self.assertTrue(self.store.run(lambda tx: tx.claims.take_one('a', until, late.id)))
        self.assertFalse(self.store.run(lambda tx: tx.claims.take_one('b', until, late.id)))
        self.assertEqual([], fetch(self.store, lambda tx: tx.inconsistencies.forgotten()))
        self.clock.move_to(cases.at(2))
        self.assertTrue(self.store.run(lambda tx: tx.claims.take_one('b', until, late.id)))
