# SPDX-License-Identifier: Apache-2.0

"""The list of resources of every type, and the types that operators declare."""

from __future__ import annotations

import dataclasses
from typing import Any

from climate import exceptions
from climate.domain.lifecycles import ReservationStatus
from climate.domain.requests import ResourceQuery
from climate.domain.resource_types import Declaration
from climate.domain.resources import Inventory
from climate.domain.resources import Resource
from tests import services
from tests.databases import fetch
from tests.functional.db import cases

SEATS = Inventory(resource_class='SEAT', total=10)
CORES = Inventory(resource_class='CUSTOM_CORE', total=64, allocation_ratio=1.5, max_unit=8)
LICENCE = Declaration(
    name='custom:licence',
    description='Seats',
    exclusive=False,
    noun='licences',
    classes=(CORES, SEATS),
    announce=('server',),
)


@services.on_each_engine(cases.StoreCase)
class Catalogue:
    """On every engine."""

    def put(self, name: str, resource_type: str = 'custom:licence') -> int:
        """Write a resource of a type, and return its id."""
        made = Resource(resource_type=resource_type, name=name, inventories=(SEATS,))
        return int(self.store.run(lambda tx: tx.resources.insert(made)))

    def page(self, **facts: Any) -> tuple[list[int], bool]:
        """Return ids, and whether there are more."""
        return fetch(self.store, lambda tx: tx.catalogue.page(ResourceQuery(**facts)))

    def use(self, resource: int, *uses: tuple[str | None, int, float, float]) -> Any:
        """Write a lease that has amounts of classes from hour to hour."""
        lease = cases.lease(min(use[2] for use in uses), max(use[3] for use in uses))
        reservation = lease.reservations[0].id
        taken = [
            cases.allocation(reservation, resource, cases.hours(start, end), name, amount=amount)
            for name, amount, start, end in uses
        ]
        return self.add(lease, taken)

    def test_pages_in_any_order(self) -> None:
        hosts = self.add_hosts(2)
        a, b, upper = self.put('a'), self.put('b'), self.put('B', 'custom:rack')
        self.assertEqual(([*hosts, a, b, upper], False), self.page(limit=5))
        self.assertEqual(([a, b], False), self.page(limit=5, resource_type='custom:licence'))
        self.assertEqual(([upper], False), self.page(limit=5, name='B'))
        order = (('resource_type', 'desc'), ('name', 'desc'))
        wanted = [*reversed(hosts), upper, b, a]
        seen: list[int] = []
        while True:
            ids, more = self.page(limit=2, sort=order, marker=seen[-1] if seen else None)
            seen += ids
            if not more:
                break
        self.assertEqual(wanted, seen)
        self.store.run(lambda tx: tx.resources.delete(b))
        self.assertEqual(([a], False), self.page(limit=5, resource_type='custom:licence'))
        # Of what is gone meanwhile, the place is still known.
        self.assertEqual(([upper], False), self.page(limit=5, marker=b))
        self.assertRaises(exceptions.InvalidInput, self.page, limit=5, marker=10**6)

    def test_a_type_is_known_by_the_id(self) -> None:
        one = self.put('a', 'custom:rack')
        with self.store.reading() as tx:
            self.assertEqual('custom:rack', tx.catalogue.type_of(one))
            self.assertEqual({one: 'a'}, tx.catalogue.names('custom:rack'))
            self.assertEqual({one: 'a'}, tx.catalogue.names(None))
            self.assertRaises(exceptions.NotFound, tx.catalogue.type_of, one + 1)

    def test_a_reservation_is_in_the_calendar_once_for_each_resource(self) -> None:
        has = [Inventory(resource_class=name, total=512) for name in ('VCPU', 'MEMORY_MB')]
        (host,) = self.add_hosts(1, inventories=has)
        lease = self.use(host, ('VCPU', 4, 1, 2), ('MEMORY_MB', 512, 1, 2), ('VCPU', 2, 1, 2))
        whole = self.use(host, (None, 1, 3, 4))
        taken = fetch(self.store, lambda tx: tx.allocations.calendar('physical:host'))
        parts = (lease.id, cases.hours(1, 2), {'VCPU': 6, 'MEMORY_MB': 512})
        found = [(one.lease_id, one.period, dict(one.amounts)) for one in taken]
        self.assertEqual([parts, (whole.id, cases.hours(3, 4), {})], found)

    def test_inventories_are_replaced(self) -> None:
        one = self.put('a')
        self.store.run(lambda tx: tx.book([one]).restock(one, [CORES]))
        with self.store.reading() as tx:
            self.assertEqual((CORES,), tx.resources.get('custom:licence', one).inventories)
        self.store.run(lambda tx: tx.book([one]).restock(one, []))
        self.store.run(lambda tx: tx.catalogue.set_disabled(one, True))
        found = fetch(self.store, lambda tx: tx.resources.get('custom:licence', one))
        self.assertEqual(((), True), (found.inventories, found.disabled))

    def test_declarations(self) -> None:
        self.store.run(lambda tx: tx.resource_types.insert(LICENCE))
        with self.store.reading() as tx:
            (found,) = tx.resource_types.all()
            self.assertEqual(found, tx.resource_types.find('custom:licence', lock=True))
            self.assertEqual(None, tx.resource_types.find('custom:Licence'))
        self.assertEqual(cases.NOW, found.created_at)
        for name in ('name', 'description', 'exclusive', 'noun', 'classes', 'announce', 'origin'):
            self.assertEqual(getattr(LICENCE, name), getattr(found, name))
        changed = Declaration(name='custom:licence', noun='seats')
        self.store.run(lambda tx: tx.resource_types.update(changed))
        now = fetch(self.store, lambda tx: tx.resource_types.find('custom:licence'))
        self.assertEqual(('seats', True, ()), (now.noun, now.exclusive, now.classes))
        self.store.run(lambda tx: tx.resource_types.delete('custom:licence'))
        self.assertEqual([], fetch(self.store, lambda tx: tx.resource_types.all()))

    def test_who_needs_a_type(self) -> None:
        def users(name: str) -> Any:
            return fetch(self.store, lambda tx: tx.resource_types.users(name))

        self.assertEqual('', users('physical:host'))
        (host,) = self.add_hosts(1)
        self.assertEqual('resources', users('physical:host'))
        lease = self.use(host, (None, 1, 1, 2))
        self.store.run(lambda tx: tx.allocations.release([lease.reservations[0].id]))
        self.store.run(lambda tx: tx.resources.delete(host))
        self.assertEqual(('reservations', ''), (users('physical:host'), users('custom:rack')))
        over = dataclasses.replace(lease.reservations[0], status=ReservationStatus.DELETED)
        self.store.run(lambda tx: tx.reservations.update(over))
        self.assertEqual('', users('physical:host'))
