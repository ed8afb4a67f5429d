# SPDX-License-Identifier: Apache-2.0
"""Leases of networks, from HTTP to SQL and to the cloud."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any

import fixtures

from climate.cloud.base import Network
from climate.cloud.base import Segment
from climate.domain.events import EventKind
from tests.databases import fetch
from tests.functional import http
from tests.functional.manager.neutron_case import END
from tests.functional.manager.neutron_case import NeutronCase
from tests.functional.manager.neutron_case import START


class NetworkTest(NeutronCase):
    """``network``."""

    def setUp(self) -> None:
        super().setUp()
        wired = {'network_type': 'vlan', 'physical_network': 'physnet1'}
        segments = [{**wired, 'segment_id': number} for number in (101, 102)]
        self.serve('network', *segments, {'network_type': 'vxlan', 'segment_id': 5000})

    def book(self, status: int = 201, start: datetime.datetime = START, **request: Any) -> Any:
        """Book one of them."""
        return super().book(status, start, **{'network_name': 'lab', **request})

    def found(self) -> list[Network]:
        """Return the networks of the project."""
        return [item for item in self.cloud.networks.networks() if item.project_id == 'blue']

    def take(self, number: int) -> Network:
        """Make a network of another project on a VLAN."""
        segment = Segment(network_type='vlan', physical_network='physnet1', segmentation_id=number)
        return self.cloud.network.create_network('theirs', 'red', segment)

    def test_a_segment_that_others_use(self) -> None:
        self.assertEqual([], self.compared())
        theirs = self.take(101)
        (line,) = self.compared()
        self.assertIn('cannot be used: Neutron has a network on it', line)
        self.assertTrue(self.resource(':101').unusable)
        self.cloud.network.delete_network(theirs.id)
        self.compared()
        self.assertIsNone(self.resource(':101').failed_at)

    def test_a_start_leaves_a_segment_that_others_use(self) -> None:
        lease = self.book(network_properties='["==", "$network_type", "vlan"]')
        ((number, _),) = self.held()
        self.take(int(number))
        self.until(START + datetime.timedelta(seconds=30))
        self.assertEqual('ACTIVE', self.now(lease)['status'])
        (made,) = self.found()
        self.assertEqual({101, 102}, {int(number), made.segment.segmentation_id})
        self.assertTrue(self.resource(f':{number}').unusable)

    def test_whole_life(self) -> None:
        lease = self.book(
            network_description='of mine', network_properties='["==", "$network_type", "vlan"]'
        )
        self.assertIsNone(self.reservation(lease)['network_id'])
        self.until(START)
        (made,) = self.found()
        reservation = self.reservation(lease)
        self.assertEqual(
            (reservation['network_id'], 'lab', 'of mine', 'vlan'),
            (made.id, made.name, made.description, made.segment.network_type),
        )
        self.assertEqual({'blazar', f'reservation:{reservation["id"]}'}, made.tags)
        subnet = self.cloud.networks.add_subnet(made.id, '10.9.0.0/24')
        self.cloud.networks.add_router(subnet.id, 'blue')
        self.cloud.networks.add_port(subnet.id, 'blue', 'server')
        self.change(lease, network_name='home')
        self.later()
        (renamed,) = self.found()
        self.assertEqual(dataclasses.replace(made, name='home'), renamed)
        self.assertEqual('ACTIVE', self.now(lease)['status'])
        self.until(END)
        self.assertEqual(('TERMINATED', []), (self.now(lease)['status'], self.found()))
        self.assertIsNone(self.reservation(lease)['network_id'])
        self.assertEqual([], self.held())

    def test_what_is_required_of_the_segment(self) -> None:
        vxlan = '["==", "$network_type", "vxlan"]'
        self.book(resource_properties=vxlan)
        refused = self.book(409, resource_properties=vxlan)
        self.assertEqual('Not enough networks available', refused['error_message'])
        lease = self.book(network_properties='["==", "$segment_id", "102"]')
        self.change(lease, network_properties='["==", "$segment_id", "101"]')
        self.assertEqual([('101', 'booked'), ('5000', 'booked')], self.held())
        self.until(START)
        numbers = sorted(item.segment.segmentation_id or 0 for item in self.found())
        self.assertEqual([101, 5000], numbers)
        refused = self.change(lease, 409, network_properties='')
        self.assertEqual('CANT_UPDATE_PARAMETER', refused['error_name'])

    def test_another_network_on_the_segment_is_waited_for(self) -> None:
        """Whose it is, only the log says."""
        log = self.useFixture(fixtures.FakeLogger())
        lease = self.book(network_properties='["==", "$segment_id", "101"]')
        segment = Segment(network_type='vlan', physical_network='physnet1', segmentation_id=101)
        stranger = self.cloud.network.create_network('red', 'red', segment)
        self.until(START + datetime.timedelta(seconds=30))
        self.assertEqual('STARTING', self.now(lease)['status'])
        events = fetch(self.service.store, lambda tx: tx.leases.find(lease['id']).events)
        (error,) = (item.error for item in events if item.kind is EventKind.START)
        self.assertIn('segment vlan:physnet1:101 is used', error or '')
        path = f'/v1/leases/{lease["id"]}/history'
        shown = http.send(self.service.app, 'GET', path, token=http.MEMBER, version='1.3')
        self.assertIn('is used by another network', shown.text)
        for secret in (stranger.id, ' of project red'):
            self.assertIn(secret, log.output)
            self.assertNotIn(secret, error or '')
            self.assertNotIn(secret, shown.text)
        self.cloud.network.delete_network(stranger.id)
        self.later(40)
        self.assertEqual('ACTIVE', self.now(lease)['status'])

    def test_wrong_requests(self) -> None:
        for name, request in (
            ('MISSING_PARAMETER', {'network_name': ''}),
            ('MALFORMED_REQUIREMENTS', {'network_properties': '["'}),
            ('MALFORMED_PARAMETER', {'before_end': 'email'}),
            ('MALFORMED_PARAMETER', {'colour': 'red'}),
        ):
            self.assertEqual(name, self.book(400, **request)['error_name'])

    def test_what_a_lease_has_left_is_removed(self) -> None:
        lease = self.book(network_properties='["==", "$segment_id", "101"]')
        self.until(START)
        (made,) = self.found()
        self.until(END)
        left = self.cloud.network.create_network('left', 'blue', made.segment)
        mine = f'reservation:{self.reservation(lease)["id"]}'
        self.cloud.network.set_network_tags(left.id, {'blazar', mine})
        subnet = self.cloud.networks.add_subnet(left.id, '10.9.0.0/24')
        self.cloud.networks.add_router(subnet.id, 'blue')
        (found,) = self.repaired()
        self.assertIn(left.id, found)
        self.assertEqual(([], []), (self.found(), self.repaired()))
