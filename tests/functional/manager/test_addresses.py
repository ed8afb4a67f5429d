# SPDX-License-Identifier: Apache-2.0
"""Leases of floating IPs, from HTTP to SQL and to the cloud."""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from typing import Any

from climate.cloud.base import FloatingIP as Found
from climate.domain.resources import ResourceDraft
from tests.databases import fetch
from tests.functional import bodies
from tests.functional.manager.harness import SETTINGS
from tests.functional.manager.neutron_case import END
from tests.functional.manager.neutron_case import NeutronCase
from tests.functional.manager.neutron_case import START

ADDRESSES = ('203.0.113.201', '203.0.113.202', '203.0.113.203')


class FloatingIPTest(NeutronCase):
    """``virtual:floatingip``."""

    def setUp(self) -> None:
        super().setUp()
        self.serve('virtual:floatingip')
        (self.public,) = (item for item in self.cloud.networks.networks() if item.external)
        for address in ADDRESSES:
            draft = ResourceDraft(
                resource_type='virtual:floatingip',
                attributes={'floating_network_id': self.public.id, 'floating_ip_address': address},
            )
            found = self.plugin.discover(draft, self.cloud)
            self.service.store.run(lambda tx, found=found: tx.resources.insert(found))

    def book(self, status: int = 201, start: datetime.datetime = START, **request: Any) -> Any:
        """Book some of the network."""
        return super().book(status, start, **{'network_id': self.public.id, 'amount': 1, **request})

    def found(self) -> dict[str, Found]:
        """Return the floating IPs that there are, by address."""
        return {item.address: item for item in self.cloud.networks.floating_ips()}

    def attach(self, *addresses: str) -> None:
        """Have the project make use of addresses."""
        inner = self.cloud.networks.add_network('inner', 'blue')
        subnet = self.cloud.networks.add_subnet(inner.id, '10.9.0.0/24')
        for address in addresses:
            port = self.cloud.networks.add_port(subnet.id, 'blue', 'server')
            self.cloud.networks.attach(self.found()[address].id, port.id)

    def test_addresses_that_neutron_no_longer_leaves_to_leases(self) -> None:
        known = fetch(self.service.store, lambda tx: tx.resources.of_type('virtual:floatingip'))
        self.assertEqual({''}, {one.trouble for one in self.plugin.report(known, self.cloud)})
        gone, moved, taken = known
        gone = dataclasses.replace(
            gone, attributes={**gone.attributes, 'floating_network_id': str(uuid.uuid4())}
        )
        moved = dataclasses.replace(
            moved, attributes={**moved.attributes, 'floating_ip_address': '198.51.100.7'}
        )
        pooled = dataclasses.replace(
            taken, attributes={**taken.attributes, 'floating_ip_address': '203.0.113.20'}
        )
        found = [one.trouble for one in self.plugin.report([gone, moved, pooled], self.cloud)]
        self.assertIn('there is no external network', found[0])
        self.assertEqual(
            ['it is in no subnet of its network', 'Neutron assigns it to others'], found[1:]
        )

    def take(self, address: str) -> None:
        """Make a floating IP of another project."""
        self.cloud.network.create_floating_ip(self.public.id, 'red', address=address)

    def test_an_address_that_others_use(self) -> None:
        self.assertEqual([], self.compared())
        self.take(ADDRESSES[0])
        (line,) = self.compared()
        self.assertIn('cannot be used: Neutron has a floating IP of it', line)
        self.assertIsNotNone(self.resource(ADDRESSES[0]).failed_at)
        self.book(409, amount=3)
        self.book(amount=2)
        self.cloud.network.delete_floating_ip(self.found()[ADDRESSES[0]].id)
        (line,) = self.compared()
        self.assertIn('is again as it is registered', line)
        self.assertIsNone(self.resource(ADDRESSES[0]).failed_at)

    def test_a_start_leaves_an_address_that_others_use(self) -> None:
        lease = self.book(amount=2)
        address = self.held()[0][0]
        self.take(address)
        self.until(START + datetime.timedelta(seconds=30))
        self.assertEqual('ACTIVE', self.now(lease)['status'])
        self.assertNotIn(address, [name for name, _ in self.held()])
        self.assertTrue(self.resource(address).unusable)
        self.assertEqual('red', self.found()[address].project_id)
        self.assertEqual([], self.compared())

    def test_what_an_active_lease_has_is_left_to_its_checks(self) -> None:
        self.started()
        (found,) = self.found().values()
        self.cloud.network.delete_floating_ip(found.id)
        self.take(found.address)
        self.assertEqual([], self.compared())

    def test_whole_life(self) -> None:
        lease = self.book(amount='2', required_floatingips=[ADDRESSES[2]])
        reservation = self.reservation(lease)
        self.assert_has(
            reservation, network_id=self.public.id, amount=2, required_floatingips=[ADDRESSES[2]]
        )
        self.assertEqual({}, self.found())
        self.until(START)
        found = self.found()
        self.assertEqual(2, len(found))
        self.assertIn(ADDRESSES[2], found)
        for item in found.values():
            self.assertEqual('blue', item.project_id)
            self.assertEqual({'blazar', f'reservation:{reservation["id"]}'}, item.tags)
        self.attach(ADDRESSES[2])
        self.until(END)
        self.assertEqual(('TERMINATED', {}), (self.now(lease)['status'], self.found()))
        self.assertEqual([], self.held())

    def test_not_enough_and_not_of_the_network(self) -> None:
        for request in (
            {'amount': 4},
            {'network_id': 'other'},
            {'required_floatingips': ['203.0.113.7']},
        ):
            refused = self.book(409, **request)
            self.assertEqual('NOT_ENOUGH_RESOURCES', refused['error_name'])
            self.assertEqual('Not enough floating IPs available', refused['error_message'])
        self.book(amount=2, required_floatingips=[ADDRESSES[0]])
        self.book(409, required_floatingips=[ADDRESSES[0]])
        self.book(409, amount=2)
        self.book()

    def test_wrong_requests(self) -> None:
        for name, request in (
            ('MISSING_PARAMETER', {'network_id': ''}),
            ('MALFORMED_PARAMETER', {'amount': 0}),
            ('INVALID_IP_FORMAT', {'required_floatingips': ['x']}),
            ('TOO_LONG_FLOATING_IPS', {'required_floatingips': list(ADDRESSES)}),
            ('MALFORMED_PARAMETER', {'colour': 'red'}),
        ):
            self.assertEqual(name, self.book(400, **request)['error_name'])

    def test_a_pending_lease_gets_others(self) -> None:
        lease = self.book(amount=2)
        (absent,) = set(ADDRESSES) - {name for name, _ in self.held()}
        self.change(lease, required_floatingips=[absent])
        self.assertIn(absent, [name for name, _ in self.held()])
        self.assertEqual(2, len(self.held()))
        self.change(lease, amount=1)
        self.assertEqual([(absent, 'booked')], self.held())
        self.change(lease, amount=3, required_floatingips=[])
        self.assertEqual(3, len(self.held()))
        refused = self.change(lease, 409, network_id='other')
        self.assertEqual('CANT_UPDATE_PARAMETER', refused['error_name'])

    def test_an_active_lease_grows(self) -> None:
        lease = self.started()
        self.change(lease, amount=3)
        self.later()
        self.assertEqual(set(ADDRESSES), set(self.found()))
        self.assertEqual([(name, 'held') for name in ADDRESSES], self.held())
        self.change(lease, 409, amount=4)

    def test_an_active_lease_gives_up_what_is_not_in_use(self) -> None:
        lease = self.started(amount=3)
        self.attach(*ADDRESSES[1:])
        self.change(lease, amount=2)
        self.later()
        self.assertEqual(set(ADDRESSES[1:]), set(self.found()))
        self.assertEqual([(name, 'held') for name in ADDRESSES[1:]], self.held())
        self.assertEqual('ACTIVE', self.now(lease)['status'])
        self.book(start=START + datetime.timedelta(minutes=1), required_floatingips=[ADDRESSES[0]])

    def test_a_change_that_would_hit_what_is_in_use_is_undone(self) -> None:
        lease = self.started(amount=2)
        self.attach(*self.found())
        before = self.found(), self.held()
        self.change(lease, amount=1)
        self.later(5)
        self.assertEqual(before, (self.found(), self.held()))
        self.assertEqual(
            ('ACTIVE', 2), (self.now(lease)['status'], self.reservation(lease)['amount'])
        )

    def test_growth_that_the_cloud_refuses_leaves_nothing(self) -> None:
        lease = self.started()
        before = self.found(), self.held()
        for trouble in ('quota', 'tags'):
            if trouble == 'quota':
                self.cloud.networks.set_quota('blue', 'floatingips', 2)
            else:
                self.cloud.networks.set_quota('blue', 'floatingips', None)
                self.cloud.fail('network.set_floating_ip_tags', error='permanent')
            self.change(lease, amount=3)
            self.later(5)
            self.assertEqual(before, (self.found(), self.held()), trouble)
            self.assertEqual(1, self.reservation(lease)['amount'])
            self.assertEqual('ACTIVE', self.now(lease)['status'])

    def test_a_check_makes_again_what_is_missing(self) -> None:
        lease = self.started()
        (found,) = self.found().values()
        self.cloud.network.delete_floating_ip(found.id)
        self.until(START + SETTINGS.check_interval)
        (again,) = self.found().values()
        self.assertEqual(found.address, again.address)
        self.assertFalse(self.now(lease)['degraded'])

    def test_an_active_lease_is_deleted(self) -> None:
        lease = self.started(amount=3)
        self.attach(*ADDRESSES[:1])
        self.send(204, 'DELETE', f'/v1/leases/{lease["id"]}')
        self.later(5)
        self.assertEqual(({}, []), (self.found(), self.held()))

    def test_one_lease_after_the_other_has_the_same_address(self) -> None:
        first = self.started(required_floatingips=[ADDRESSES[0]])
        second = self.send(
            201,
            'POST',
            '/v1/leases',
            bodies.lease(
                'l',
                END.isoformat(),
                (END + datetime.timedelta(hours=1)).isoformat(),
                {
                    'resource_type': 'virtual:floatingip',
                    'network_id': self.public.id,
                    'amount': 1,
                    'required_floatingips': [ADDRESSES[0]],
                },
            ),
        )['lease']
        self.until(END + datetime.timedelta(seconds=5))
        self.assertEqual('TERMINATED', self.now(first)['status'])
        self.assertEqual('ACTIVE', self.now(second)['status'])
        tag = f'reservation:{self.reservation(second)["id"]}'
        self.assertIn(tag, self.found()[ADDRESSES[0]].tags)

    def test_what_a_lease_has_left_is_removed(self) -> None:
        lease = self.started()
        self.assertEqual([], self.repaired())
        self.until(END)
        left = self.cloud.network.create_floating_ip(self.public.id, 'blue', address=ADDRESSES[0])
        mine = f'reservation:{self.reservation(lease)["id"]}'
        self.cloud.network.set_floating_ip_tags(left.id, {'blazar', mine})
        (found,) = self.repaired()
        self.assertIn(ADDRESSES[0], found)
        self.assertEqual(({}, []), (self.found(), self.repaired()))
