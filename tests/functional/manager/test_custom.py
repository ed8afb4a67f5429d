# SPDX-License-Identifier: Apache-2.0

"""The life of leases of what operators declare, with several processes."""

from __future__ import annotations

import dataclasses
from typing import Any

from climate import exceptions
from climate.booking.leases import Leases
from climate.domain.leases import Lease
from climate.domain.requests import LeaseChange
from climate.domain.requests import LeaseDraft
from climate.domain.requests import ReservationChange
from climate.domain.resource_types import Declaration
from climate.domain.resources import Inventory
from climate.domain.resources import ResourceDraft
from climate.resources.catalog import Catalog
from climate.resources.registrar import Registrar
from climate.resources.types import ResourceTypes
from tests import base
from tests import services
from tests.functional.manager import harness

SEATS = (Inventory(resource_class='SEAT', total=4),)
LICENCE = Declaration(
    name='custom:licence', exclusive=False, noun='licences', classes=SEATS, announce=('server',)
)


@services.on_each_engine(engines=services.DATABASE_SERVERS)
class CustomCase(base.TestCase):
    """A site, and another process that learns of types from its database only."""

    kind = services.SQLITE

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(harness.Site(database=self.kind))
        self.site.plugins = self.catalog()
        self.site.manager = self.site.add_manager()
        self.elsewhere = self.catalog()
        self.types = ResourceTypes(self.site.store, self.elsewhere)
        site = self.site
        parts = (site.store, site.plugins, site.clock, site.settings)
        self.leases = Leases(*parts, lambda: None)

    def catalog(self) -> Any:
        """Return the types as a process sees them that has just started."""
        return Catalog(self.site.store, {'physical:host': self.site._plugin()})

    def register(self, **facts: Any) -> int:
        """Register a licence server."""
        draft = ResourceDraft(
            resource_type='custom:licence',
            name=facts.pop('name', 'cae'),
            capabilities={'server': 'port@host', 'other': 'x'},
            **facts,
        )
        registrar = Registrar(self.site.store, self.elsewhere, self.site.cloud)
        return registrar.register_resource(draft)

    def lease(self, **body: Any) -> Lease:
        """Lease licences from the tenth second on."""
        draft = LeaseDraft(
            name='l',
            start=harness.at(10),
            end=harness.at(100),
            reservations=({'resource_type': 'custom:licence', **body},),
            strict=True,
        )
        return self.leases.create(harness.CALLER, draft)

    def allocated(self, lease: Lease) -> Any:
        """Return what a lease is shown to have."""
        reservation = self.site.now(lease).reservations[0]
        plugin: Any = self.site.plugins['custom:licence']
        return plugin.describe(reservation)['allocated']

    def test_from_the_declaration_to_the_end(self) -> None:
        self.types.create(LICENCE)
        self.register()
        lease = self.lease(amount=3)
        self.assertEqual([], self.allocated(lease))
        self.assertEqual('ACTIVE', self.site.status_at(20, lease))
        (one,) = self.allocated(lease)
        self.assertEqual(('cae', {'SEAT': 3}), (one['name'], one['resources']))
        self.assertEqual({'server': 'port@host'}, one['properties'])
        notification = self.site.bus.last('lease.event.start_lease')['reservations'][0]['request']
        self.assertEqual([one], notification['allocated'])
        self.assertRaises(exceptions.NotEnoughResources, self.lease, amount=2)
        self.assertEqual('TERMINATED', self.site.status_at(101, lease))
        self.assertEqual([], self.allocated(lease))

    def test_a_running_lease_gives_up_and_gets_more(self) -> None:
        self.types.create(LICENCE)
        self.register()
        lease = self.lease(amount=2)
        self.site.until(20)
        for amount in (4, 1):
            self.change(lease, amount=amount)
            self.assertEqual('ACTIVE', self.site.settled(lease))
            self.assertEqual({'SEAT': amount}, self.allocated(lease)[0]['resources'])
        self.site.leases = self.leases
        self.site.delete(lease)
        self.assertEqual('gone', self.site.settled(lease))

    def test_a_running_lease_gives_up_whole_things(self) -> None:
        self.types.create(dataclasses.replace(LICENCE, exclusive=True, classes=()))
        for name in ('one', 'two'):
            self.register(name=name)
        lease = self.lease(amount=2)
        self.site.until(20)
        self.assertEqual(['one', 'two'], [item['name'] for item in self.allocated(lease)])
        self.change(lease, amount=1)
        self.assertEqual('ACTIVE', self.site.settled(lease))
        (left,) = self.allocated(lease)
        self.assertEqual([left['name']], [item.resource_name for item in self.held(lease)])
        self.assertRaises(exceptions.NotEnoughResources, self.lease, amount=2)
        self.lease(amount=1)

    def held(self, lease: Lease) -> Any:
        """Return the allocations of a lease."""
        return self.site.allocations(lease)

    def change(self, lease: Lease, **body: Any) -> None:
        """Change the reservation of a lease."""
        change = ReservationChange(id=lease.reservations[0].id, body=body)
        wanted = LeaseChange(reservations=(change,))
        self.leases.update(harness.CALLER, lease.id, harness.PROJECT, wanted)

    def test_a_type_that_is_declared_again_is_read_again(self) -> None:
        self.types.create(LICENCE)
        # Read here before it is changed elsewhere.
        self.assertIn('custom:licence', self.site.plugins)
        self.assertRaises(exceptions.NotEnoughResources, self.lease, amount=1)
        self.types.update(
            'custom:licence', lambda old: dataclasses.replace(old, exclusive=True, classes=())
        )
        self.register()
        self.assertRaises(exceptions.InvalidInput, self.lease, amount=1, resources={'SEAT': 1})
        (allocation,) = self.site.allocations(self.lease(amount=1))
        self.assertEqual(None, allocation.resource_class)

    def test_a_type_that_is_gone_is_gone_everywhere(self) -> None:
        self.types.create(LICENCE)
        self.assertIn('custom:licence', self.site.plugins)
        self.types.delete('custom:licence')
        self.assertRaises(exceptions.UnsupportedResourceType, self.lease, amount=1)
        self.assertRaises(exceptions.UnsupportedResourceType, self.register)

    def test_what_is_used_cannot_change(self) -> None:
        self.types.create(LICENCE)
        resource = self.register()
        self.assertRaises(exceptions.ResourceTypeInUse, self.types.delete, 'custom:licence')
        lease = self.lease(amount=1)
        self.site.until(101)
        Registrar(self.site.store, self.elsewhere, self.site.cloud).delete_resource(resource)
        self.types.delete('custom:licence')
        self.assertEqual('TERMINATED', self.site.status(lease))

    def test_types_are_found_where_they_are_written(self) -> None:
        self.types.create(LICENCE)

        def look(tx: Any) -> Any:
            tx.resource_types.update(dataclasses.replace(LICENCE, description='new'))
            return self.catalog()['custom:licence'].description

        # A reader waits for no writer, and sees what was there before.
        self.assertEqual('', self.site.store.run(look))
        self.assertEqual(['custom:licence', 'physical:host'], sorted(self.site.plugins))
        self.assertEqual(2, len(self.site.plugins))
        self.assertRaises(KeyError, self.site.plugins.__getitem__, 'custom:none')
