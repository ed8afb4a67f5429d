# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The claim on a repair, and what a repair looks for, on each engine."""

from __future__ import annotations

import dataclasses

from climate.domain.leases import AllocationState
from climate.domain.lifecycles import LeaseStatus
from tests import services
from tests.functional.db import cases


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
        with self.store.reading() as tx:
            self.assertEqual(cases.at(1), tx.chores.begun_at('x'))

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
            strays = {item.lease_id: item.resource_name for item in tx.oddities.strays()}
            self.assertEqual({over.id: 'compute-1', gone.id: 'compute-2'}, strays)
            self.assertEqual([gone.id], [item.lease_id for item in tx.oddities.strays(gone.id)])
            self.assertEqual([fine.id], tx.oddities.active())
            alive, ended = tx.oddities.reservations()
            self.assertEqual({over.reservations[0].id, gone.reservations[0].id}, ended)
            self.assertEqual(3, len(alive))
            self.assertEqual(2, len(tx.oddities.forgotten()))
            self.assertEqual([late.id], tx.oddities.forgotten(late.id))

    def test_a_claimed_lease_is_not_forgotten(self) -> None:
        late = self.add(cases.lease(3, 4, next_due=None))
        until = cases.at(1)
        self.assertTrue(self.store.run(lambda tx: tx.claims.take_one('a', until, late.id)))
        self.assertFalse(self.store.run(lambda tx: tx.claims.take_one('b', until, late.id)))
        with self.store.reading() as tx:
            self.assertEqual([], tx.oddities.forgotten())
        self.clock.move_to(cases.at(2))
        self.assertTrue(self.store.run(lambda tx: tx.claims.take_one('b', until, late.id)))


class TestSqlite(_Repairs, cases.StoreCase):
    """On SQLite."""

    kind = services.SQLITE


class TestMariadb(_Repairs, cases.StoreCase):
    """On MariaDB."""

    kind = services.MARIADB


class TestPostgresql(_Repairs, cases.StoreCase):
    """On PostgreSQL."""

    kind = services.POSTGRESQL
