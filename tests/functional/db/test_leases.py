# SPDX-License-Identifier: Apache-2.0
"""Lists of leases: what is asked for, in the order asked for, each once."""

from __future__ import annotations

import dataclasses
import random
import uuid

import sqlalchemy as sa

from climate import exceptions
from climate.db.administration import purge
from climate.db.schema.tables import LEASES
from climate.db.transactions.store import Transaction
from climate.domain.leases import AllocationState
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.listed import ListedLease
from climate.domain.requests import LeaseQuery
from climate.domain.requests import SORT_KEYS
from tests import services
from tests.databases import fetch
from tests.functional.db import cases

_STATES = (LeaseStatus.PENDING, LeaseStatus.ACTIVE, LeaseStatus.TERMINATED)


@services.on_each_engine(
    cases.StoreCase,
    engines=(services.SQLITE, services.MARIADB, services.POSTGRESQL, services.PSYCOPG2),
)
class Leases:
    """One store, many leases."""

    def fill(self, count: int = 40) -> list[Lease]:
        """Write random leases, many of them alike, some of them deleted; return the others."""
        rng = random.Random(5)
        made = []
        for _ in range(count):
            start = rng.randrange(5)
            lease = cases.lease(
                start,
                start + rng.randrange(1, 4),
                id=str(uuid.UUID(int=rng.getrandbits(128))),
                name=rng.choice(('a', 'A', 'b ', 'b', 'é')),
                project_id=rng.choice(('p', 'q')),
                status=rng.choice(_STATES),
                deleted_at=cases.NOW if rng.random() < 0.2 else None,
            )
            self.clock.move_to(cases.at(rng.randrange(4)))
            self.add(lease)
            made.append(dataclasses.replace(lease, created_at=self.clock.now()))
        return [lease for lease in made if lease.deleted_at is None]

    def page(self, **wanted: object) -> tuple[list[ListedLease], bool]:
        """Return a page of leases, and whether there are more."""
        query = LeaseQuery(**{'project_id': None, **wanted})
        return fetch(self.store, lambda tx: tx.lease_lists.page(query, 100))

    def ids(self, **wanted: object) -> set[str]:
        """Return the ids of the leases that are asked for."""
        return {lease.id for lease in self.page(**wanted)[0]}

    def test_a_lease_comes_back_as_it_went(self) -> None:
        lease = cases.lease(
            notify_before_start=(60, 30), before_end_date=cases.at(1.5), degraded=True
        )
        self.add(lease)
        found = fetch(self.store, lambda tx: tx.leases.get(lease.id))
        stamped = dataclasses.replace(
            lease,
            reservations=tuple(
                dataclasses.replace(item, created_at=cases.NOW) for item in lease.reservations
            ),
            events=tuple(dataclasses.replace(item, created_at=cases.NOW) for item in lease.events),
        )
        self.assertEqual(stamped, found)

    def test_others_leases_and_deleted_ones_are_not_found(self) -> None:
        lease = self.add(cases.lease())
        gone = self.add(cases.lease(deleted_at=cases.NOW))
        with self.store.reading() as tx:
            self.assertEqual(lease.id, tx.leases.get(lease.id, 'p').id)
            self.assertRaises(exceptions.NotFound, tx.leases.get, lease.id, 'q')
            self.assertRaises(exceptions.NotFound, tx.leases.get, gone.id)
            self.assertIsNone(tx.leases.find(gone.id))

    def test_filters(self) -> None:
        leases = self.fill()
        bound = cases.at(3)
        for wanted, right in (
            ({}, lambda lease: True),
            ({'project_id': 'q'}, lambda lease: lease.project_id == 'q'),
            ({'status': 'ACTIVE'}, lambda lease: lease.status == 'ACTIVE'),
            ({'name': 'a'}, lambda lease: lease.name == 'a'),
            ({'name': 'b'}, lambda lease: lease.name == 'b'),
            ({'start_before': bound}, lambda lease: lease.period.start < bound),
            ({'start_after': bound}, lambda lease: lease.period.start > bound),
            ({'end_before': bound}, lambda lease: lease.period.end < bound),
            ({'end_after': bound}, lambda lease: lease.period.end > bound),
            ({'resource_type': cases.TYPE}, lambda lease: True),
            ({'resource_type': 'floatingip'}, lambda lease: False),
            (
                {'project_id': 'p', 'status': 'PENDING', 'end_after': bound},
                lambda lease: (
                    (lease.project_id, lease.status) == ('p', 'PENDING')
                    and lease.period.end > bound
                ),
            ),
        ):
            expected = {lease.id for lease in leases if right(lease)}
            self.assertEqual(expected, self.ids(**wanted), wanted)
            self.assertEqual(expected, self.ids(limit=1000, **wanted), wanted)

    def test_pages_are_complete_ordered_and_without_repetition(self) -> None:
        leases = self.fill()
        rng = random.Random(9)
        for key in SORT_KEYS:
            for direction in ('asc', 'desc'):
                sort = ((key, direction), (rng.choice(SORT_KEYS), rng.choice(('asc', 'desc'))))
                whole, _ = self.page(sort=sort)
                self.assertEqual({lease.id for lease in leases}, {lease.id for lease in whole})
                paged, marker, more = [], None, True
                while more:
                    page, more = self.page(sort=sort, marker=marker, limit=rng.randrange(1, 9))
                    paged += page
                    marker = page[-1].id
                self.assertEqual([lease.id for lease in whole], [lease.id for lease in paged], sort)
                # Texts are in the order of their code points, on every engine.
                values = [getattr(lease, key.removesuffix('_date')) for lease in whole]
                self.assertEqual(sorted(values, reverse=direction == 'desc'), values, sort)

    def test_an_unknown_marker_is_refused(self) -> None:
        self.add(cases.lease(project_id='q', id='theirs'))
        for marker, project in (('nobody', None), ('theirs', 'p')):
            with self.assertRaisesRegex(exceptions.InvalidInput, 'marker'):
                self.page(marker=marker, project_id=project, limit=1)

    def test_purge_forgets_what_ended_long_ago(self) -> None:
        (host,) = self.add_hosts(1)
        old = self.book([host], -30, -20, state=AllocationState.RELEASED)
        done = dataclasses.replace(old, status=LeaseStatus.TERMINATED)
        self.store.run(lambda tx: tx.leases.update(done))
        deleted = self.add(cases.lease(deleted_at=cases.at(-20)))
        kept = [self.book([host], 1, 2), self.add(cases.lease(deleted_at=cases.at(-1)))]
        before = cases.at(-10)
        self.assertEqual(2, purge.purge(self.store, before, dry_run=True))
        self.assertEqual(1, purge.purge(self.store, before, deleted_only=True))
        self.assertEqual(1, purge.purge(self.store, before))
        self.assertEqual(0, purge.purge(self.store, before))
        self.assertNotEqual(deleted.id, old.id)
        tables = cases.migration.metadata().tables
        with self.store.engine.connect() as connection:
            for name, count in (('leases', 2), ('reservations', 2), ('events', 4)):
                self.assertEqual(count, len(connection.execute(tables[name].select()).all()), name)
            self.assertEqual(1, len(connection.execute(tables['allocations'].select()).all()))
        self.assertEqual({kept[0].id}, self.ids())


@services.on_each_engine(cases.StoreCase, 'TestLock', engines=services.DATABASE_SERVERS)
class _Lock:
    """On SQLite a transaction that may write excludes all others."""

    def test_lease_that_is_about_to_change_is_locked(self) -> None:
        lease = self.add(cases.lease(1, 2))
        row = sa.select(LEASES.c.id).where(LEASES.c.id == lease.id)

        def is_free() -> bool:
            with self.store.engine.connect() as other:
                return other.scalar(row.with_for_update(skip_locked=True)) is not None

        def change(tx: Transaction) -> tuple[bool, bool]:
            tx.leases.get(lease.id)
            before = is_free()
            tx.leases.get(lease.id, lock=True)
            return before, is_free()

        self.assertEqual((True, False), self.store.run(change))
        self.assertTrue(is_free())
