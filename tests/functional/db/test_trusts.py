# SPDX-License-Identifier: Apache-2.0

"""Trusts that are not deleted yet, on each engine."""

from __future__ import annotations

import dataclasses

from climate.domain.lifecycles import LeaseStatus
from tests import services
from tests.functional.db import cases


@services.on_each_engine(cases.StoreCase)
class _Trusts:
    """The same on each engine."""

    def left(self, hours: float, lease_id: str | None = None) -> list[tuple[str, str | None]]:
        """Return what is left, of no lease if it was made before an hour."""
        with self.store.reading() as tx:
            return [(item.id, item.lease_id) for item in tx.trusts.left(cases.at(hours), lease_id)]

    def test_what_nothing_needs(self) -> None:
        over, gone, fine = (self.add(cases.lease(1, 2)) for _ in range(3))
        for lease, facts in (
            (over, {'status': LeaseStatus.TERMINATED}),
            (gone, {'deleted_at': cases.NOW}),
            (fine, {'status': LeaseStatus.ACTIVE}),
        ):
            changed = dataclasses.replace(lease, **facts)
            self.store.run(lambda tx, changed=changed: tx.leases.update(changed))
        for name in ('a', 'b', 'c', 'd', 'e', 'f'):
            self.store.run(lambda tx, name=name: tx.trusts.add(name))
        for name, lease_id in (('a', over.id), ('b', gone.id), ('c', fine.id), ('d', 'purged')):
            self.store.run(lambda tx, name=name, lease_id=lease_id: tx.trusts.give(name, lease_id))
        self.store.run(lambda tx: tx.trusts.forget('f'))
        self.assertEqual([('a', over.id), ('b', gone.id)], self.left(-1))
        found = self.left(1)
        self.assertEqual([('a', over.id), ('b', gone.id), ('d', 'purged'), ('e', None)], found)
        self.assertEqual(([('b', gone.id)], []), (self.left(1, gone.id), self.left(1, fine.id)))
