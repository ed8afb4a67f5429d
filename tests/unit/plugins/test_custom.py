# SPDX-License-Identifier: Apache-2.0

"""Reservations of what operators declare."""

from __future__ import annotations

import datetime
from typing import Any

from climate import exceptions
from climate.clock import ManualClock
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.periods import Period
from climate.domain.resource_types import Declaration
from climate.domain.resources import Inventory
from climate.domain.resources import Resource
from climate.domain.resources import ResourceDraft
from climate.domain.resources import Spread
from climate.plugins import contract
from climate.plugins.custom.plugin import Custom
from climate.simulator import SimulatedCloud
from tests.base import TestCase

NOW = datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC)
RACK = Declaration(name='custom:rack', noun='racks', announce=('place',))
LICENCE = Declaration(
    name='custom:licence',
    exclusive=False,
    noun='licences',
    classes=(
        Inventory(resource_class='CORE', total=0),
        Inventory(resource_class='SEAT', total=10, reserved=2),
    ),
)
SIMPLE = Declaration(
    name='custom:seat', exclusive=False, classes=(Inventory(resource_class='SEAT', total=10),)
)


class RequestTest(TestCase):
    """What clients send."""

    def parse(self, declaration: Declaration, **body: Any) -> Any:
        """Return the search of a reservation, after a way through the store."""
        plugin = Custom(declaration)
        request = plugin.parse({'resource_type': declaration.name, **body}, strict=True)
        self.assertEqual(request, plugin.load(plugin.dump(request)))
        return plugin.search(request)

    def refusal(self, declaration: Declaration, **body: Any) -> str:
        """Return why a reservation is refused."""
        return self.assertRaises(exceptions.InvalidInput, self.parse, declaration, **body).message

    def test_whole_resources(self) -> None:
        search = self.parse(RACK, min=1, max='3', resource_properties='["==", "$hall", "A"]')
        self.assert_has(search, resource_type='custom:rack', minimum=1, maximum=3)
        self.assertEqual(({}, 'racks'), (search.demand, search.noun))
        self.assertIsNotNone(search.requirement)
        search = self.parse(RACK, amount=2)
        self.assertEqual((2, 2), (search.minimum, search.maximum))

    def test_counted_ones(self) -> None:
        search = self.parse(LICENCE, amount=4, resources={'SEAT': '2', 'CORE': 8}, spread='apart')
        self.assertEqual((4, 4), (search.minimum, search.maximum))
        self.assertEqual({'SEAT': 2, 'CORE': 8}, search.demand)
        self.assertIs(Spread.APART, search.spread)

    def test_of_one_class_a_slot_is_a_unit(self) -> None:
        search = self.parse(SIMPLE, amount=4)
        self.assertEqual(({'SEAT': 1}, Spread.ANY), (search.demand, search.spread))

    def test_refusals(self) -> None:
        self.assertEqual('Missing parameter min', self.refusal(RACK))
        self.assertIn('amount', self.refusal(RACK, amount=2, min=1))
        self.assertIn('min/max', self.refusal(RACK, min=2, max=1))
        self.assertIn('resources', self.refusal(RACK, amount=2, resources={'SEAT': 1}))
        self.assertEqual('Missing parameter amount', self.refusal(LICENCE))
        self.assertEqual('Missing parameter resources', self.refusal(LICENCE, amount=1))
        for wrong in ({}, [], 'SEAT', 7):
            self.assertIn('resources', self.refusal(LICENCE, amount=1, resources=wrong))
        self.assertIn('VCPU', self.refusal(LICENCE, amount=1, resources={'VCPU': 1}))
        self.assertIn('SEAT', self.refusal(LICENCE, amount=1, resources={'SEAT': 0}))
        self.assertIn('spread', self.refusal(SIMPLE, amount=1, spread='wide'))
        self.assertIn('spread', self.refusal(SIMPLE, amount=1, spread=['any']))

    def test_changes(self) -> None:
        plugin = Custom(RACK)
        request = plugin.parse({'min': 1, 'max': 2})
        self.assertEqual(3, plugin.change(request, {'id': 'x', 'max': 3}, strict=True).maximum)
        self.assertEqual(4, plugin.change(request, {'amount': 4}).minimum)
        self.assertRaises(exceptions.InvalidRange, plugin.change, request, {'min': 3})
        plugin = Custom(LICENCE)
        request = plugin.parse({'amount': 1, 'resources': {'SEAT': 1}})
        changed = plugin.change(
            request,
            {
                'amount': 2,
                'resources': {'CORE': 4},
                'spread': 'together',
                'resource_properties': '["==", "$a", "b"]',
            },
        )
        self.assertEqual((2, {'CORE': 4}), (changed.maximum, changed.resources))
        self.assertIs(Spread.TOGETHER, changed.spread)
        self.assertEqual(changed, plugin.change(changed, {'min': 7, 'resources': None}))

    def test_an_empty_amount_changes_nothing(self) -> None:
        plugin = Custom(SIMPLE)
        request = plugin.parse({'amount': 2})
        self.assertEqual(request, plugin.change(request, {'amount': ''}, strict=True))

    def test_requests_outlast_the_declaration_that_a_process_read(self) -> None:
        now = Declaration(name=RACK.name, exclusive=False, classes=SIMPLE.classes)
        for old, new, body, resources in (
            (RACK, now, {'amount': 2}, {'SEAT': 1}),
            (now, RACK, {'min': 2, 'max': 2}, {}),
        ):
            stored = Custom(new).dump(Custom(new).parse(body))
            plugin = Custom(old)
            request = plugin.load(stored)
            self.assertEqual(stored, plugin.dump(request))
            search = plugin.search(request)
            self.assertEqual((2, 2, resources), (search.minimum, search.maximum, search.demand))
            changed = plugin.change(request, {'amount': 3})
            self.assertEqual((3, 3), (changed.minimum, changed.maximum))

    def test_it_cannot_be_installed(self) -> None:
        self.assertRaises(exceptions.ConfigurationError, Custom.from_conf, None)


class ResourceTest(TestCase):
    """What operators register, and what users see of it."""

    def setUp(self) -> None:
        super().setUp()
        self.cloud = self.closing(SimulatedCloud(':memory:', clock=ManualClock(NOW)))

    def stock(self, *declared: Inventory) -> tuple[Inventory, ...]:
        """Return the inventories of a licence server."""
        draft = ResourceDraft(resource_type='custom:licence', name='x', inventories=declared)
        return Custom(LICENCE).discover(draft, self.cloud).inventories

    def test_missing_fields_have_the_defaults_of_the_type(self) -> None:
        cores = Inventory(resource_class='CORE', total=64)
        self.assertEqual((cores, LICENCE.classes[1]), self.stock(cores))

    def test_what_no_one_says_is_missing(self) -> None:
        error = self.assertRaises(exceptions.MissingParameter, self.stock)
        self.assertEqual('Missing parameter inventories.CORE', error.message)

    def test_what_the_type_does_not_have(self) -> None:
        cores = Inventory(resource_class='CORE', total=64)
        with self.assertRaisesRegex(exceptions.InvalidInput, 'VCPU'):
            self.stock(cores, Inventory(resource_class='VCPU', total=1))
        self.assertRaises(exceptions.InvalidInput, self.stock, cores, cores)

    def test_users_are_notified_of_what_they_have(self) -> None:
        plugin = Custom(RACK)
        facts = self.done(plugin.start(self.work(plugin), self.cloud))
        self.assertEqual(
            [{'id': '7', 'name': 'r7', 'resources': {'SEAT': 3}, 'properties': {'place': 'B2'}}],
            plugin.describe(self.reservation(plugin, facts))['allocated'],
        )
        self.assertEqual(facts, self.done(plugin.check(self.work(plugin), self.cloud)))
        facts = self.done(plugin.end(self.work(plugin), self.cloud))
        self.assertEqual([], plugin.describe(self.reservation(plugin, facts))['allocated'])

    def done(self, outcome: contract.Outcome) -> dict[str, Any]:
        """Return the facts of an effect."""
        assert isinstance(outcome, contract.Done)
        return dict(outcome.facts)

    def reservation(self, plugin: Custom, facts: dict[str, Any]) -> Reservation:
        """Return a reservation with facts."""
        request = plugin.dump(plugin.parse({'amount': 1}))
        return Reservation(
            id='r', lease_id='l', resource_type='custom:rack', request=request, facts=facts
        )

    def work(self, plugin: Custom) -> contract.Work:
        """Return an effect on a reservation that has a rack, and one that it gives up."""
        period = Period(start=NOW, end=NOW + datetime.timedelta(hours=1))
        reservation = self.reservation(plugin, {})
        return contract.Work(
            lease=Lease(
                id='l',
                name='l',
                user_id='u',
                project_id='p',
                period=period,
                reservations=(reservation,),
            ),
            reservation=reservation,
            allocations=tuple(
                Allocation(
                    reservation_id='r',
                    resource_id=7,
                    resource_class='SEAT',
                    amount=amount,
                    period=period,
                )
                for amount in (1, 2)
            ),
            resources=(
                Resource(
                    resource_type='custom:rack',
                    name='r7',
                    id=7,
                    capabilities={'place': 'B2', 'secret': 'x'},
                ),
                Resource(resource_type='custom:rack', name='r8', id=8),
            ),
            now=NOW,
            since=NOW,
        )
