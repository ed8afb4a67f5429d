# SPDX-License-Identifier: Apache-2.0
"""Servers for a time, and all that can be wrong: nothing is deleted that was not saved."""

from __future__ import annotations

import dataclasses

from climate import exceptions
from climate.plugins.server.plugin import VirtualServer
from climate.plugins.server.steps import ServerSettings
from tests.functional.manager import harness
from tests.functional.manager.server_case import POOL
from tests.functional.manager.server_case import ServerCase
from tests.functional.manager.walk import kinds
from tests.functional.manager.walk import servers
from tests.narrowing import present


class TestFaults(ServerCase):
    """What happens to servers that exist; nothing is deleted that was not saved."""

    def test_an_upload_that_fails(self) -> None:
        lease = self.book()
        self.cloud.set_seconds('image', 60)
        self.site.until(3605)
        (image,) = (each for each in self.cloud.images() if each.name == servers.IMAGE)
        self.cloud.set_image(image.id, 'killed')
        self.assertEqual(('ACTIVE', 'ERROR'), self.statuses_at(3610, lease))
        self.assertIn('became killed; the server was not deleted', self.reasons(lease))
        # The next one is better.
        self.site.until(3900)
        self.assertEqual([('active', harness.PROJECT)], self.images())
        self.assertEqual(('gone', 'TERMINATED'), (self.status(), self.site.status(lease)))

    def test_an_upload_that_takes_too_long(self) -> None:
        impatient = ServerSettings(image_timeout=600.0, poll=60.0)
        self.site.plugins['virtual:server'] = VirtualServer(impatient)
        lease = self.book()
        self.cloud.set_seconds('image', 1000)
        self.assertEqual(('ACTIVE', 'ERROR'), self.statuses_at(4400, lease))
        self.assertIn('is not active in time', self.reasons(lease))
        self.assertNotEqual([], self.site.allocations(lease))
        self.assertEqual(('gone', 'TERMINATED'), self.statuses_at(4800, lease))
        self.assertEqual([('active', harness.PROJECT)], self.images())

    def test_one_that_cannot_be_touched_at_the_end(self) -> None:
        for status, locked, text in (
            ('ACTIVE', True, 'locked by its owner'),
            ('ERROR', False, 'in ERROR'),
            ('RESCUE', False, 'is RESCUE: no image'),
        ):
            now = self.site.seconds()
            lease = self.book(now, now + 600)
            self.site.until(now + 300)
            self.cloud.set_server(self.server().id, status=status, locked=locked)
            self.assertEqual((status, 'ERROR'), self.statuses_at(now + 700, lease))
            self.assertIn(text, self.reasons(lease))
            self.assertEqual([], self.images())
            self.cloud.set_server(self.server().id, status='ACTIVE', locked=False)
            self.assertEqual(('gone', 'TERMINATED'), self.statuses_at(now + 900, lease))
            servers.put_away(self.cloud)
            self.wish = servers.own(self.cloud)[0]
            self.site.until(now + 910)

    def test_one_that_is_gone(self) -> None:
        lease = self.book()
        self.site.until(50)
        self.cloud.compute.delete_server(self.server().id)
        self.assertEqual('ERROR', self.site.status_at(200, lease))
        self.assertIn('is gone', self.reasons(lease))
        self.assertEqual((POOL, []), (self.pool(), self.site.allocations(lease)))

    def test_one_that_is_gone_at_the_end(self) -> None:
        lease = self.book()
        self.site.until(200)
        self.cloud.compute.delete_server(self.server().id)
        self.assertEqual('TERMINATED', self.site.status_at(3700, lease))
        self.assertEqual([], self.site.reasons(lease))

    def test_one_that_breaks_or_goes_while_it_is_leased_is_reported(self) -> None:
        lease = self.book()
        self.site.until(200)
        for change in ({'status': 'ERROR'}, {'status': 'ACTIVE'}):
            self.cloud.set_server(self.server().id, **change)
            list(self.site.repair().run())
            self.assertEqual(change['status'] == 'ERROR', self.site.now(lease).degraded)
        self.cloud.set_server(self.server().id, status='ERROR')
        list(self.site.repair().run())
        self.site.work()
        self.assertTrue(self.site.now(lease).degraded)
        self.assertIn('in ERROR', self.site.bus.last('lease.degraded')['reason'])

    def test_one_that_was_shelved_badly_is_reported_and_started_all_the_same(self) -> None:
        self.cloud.fail('compute.shelve_server', error='permanent')
        lease = self.book()
        self.assertEqual(('ACTIVE', 'PENDING'), self.statuses_at(50, lease))
        self.assertNotEqual('', self.reasons(lease))
        self.assertEqual(('ACTIVE', 'ACTIVE'), self.statuses_at(200, lease))

    def test_one_that_has_grown_while_it_waited(self) -> None:
        lease = self.book()
        self.site.until(50)
        big = present(self.cloud.compute.find_flavor(servers.FLAVOR))
        self.cloud.compute.create_flavor(dataclasses.replace(big, id='9', name='big', vcpus=8))
        self.cloud.set_server(self.server().id, flavor='9')
        self.assertEqual('ERROR', self.site.status_at(300, lease))
        self.assertIn('was resized to flavor 9', self.reasons(lease))
        # And it is back where it was, not in the room.
        self.assertEqual('ACTIVE', self.status())

    def test_no_room_for_one_without_guarantee(self) -> None:
        lease = self.book(guarantee=False)
        self.site.until(50)
        self.assertEqual(1, len(lease.reservations))
        for host in (*POOL, 'ordinary-1'):
            self.cloud.set_hypervisor(host, status='disabled')
        self.assertEqual(('SHELVED_OFFLOADED', 'ERROR'), self.statuses_at(300, lease))
        self.assertIn('no host has room', self.reasons(lease))
        # It is brought back as soon as it can be.
        self.cloud.set_hypervisor('ordinary-1', status='enabled')
        self.site.until(400)
        self.assertEqual(('ACTIVE', 'ordinary-1'), (self.status(), self.server().host))

    def test_one_that_had_got_into_its_room_leaves_it_if_nothing_comes_of_the_lease(self) -> None:
        rack = {'resource_type': 'virtual:floatingip', 'network_id': 'x', 'amount': 1}
        self.assertRaises(exceptions.ClimateError, self.site.book, [self.wish, rack], 100, 3600)
        lease = self.book()
        self.site.until(50)
        # Nova's answers are lost for ever once it is there.
        self.cloud.fail('compute.find_server', None, skip=6)
        self.assertEqual('ERROR', self.site.status_at(150, lease))
        self.cloud.heal()
        for host in POOL:
            self.cloud.set_hypervisor(host, status='disabled')
        self.site.until(300)
        self.assertEqual(('ACTIVE', 'ordinary-1'), (self.status(), self.server().host))
        self.assertEqual(POOL, self.pool())

    def test_it_leaves_its_room_if_another_reservation_cannot_start(self) -> None:
        place = kinds.TypeRegistrar(self.site.store, self.site.plugins, self.cloud)
        public = next(item.id for item in self.cloud.networks.networks() if item.external)
        place.register(
            'virtual:floatingip', floating_network_id=public, floating_ip_address=kinds.ADDRESSES[0]
        )
        address = {'resource_type': 'virtual:floatingip', 'network_id': public, 'amount': 1}
        lease = self.site.book([self.wish, address], 100, 3600)
        self.site.until(50)
        self.cloud.fail('network.create_floating_ip', None)
        self.site.until(106)
        room = self.site.allocations(lease)[0].resource_name
        self.assertEqual(('ACTIVE', room), (self.status(), self.server().host))
        for host in POOL:
            self.cloud.set_hypervisor(host, status='disabled')
        self.assertEqual('ERROR', self.site.status_at(300, lease))
        self.assertEqual(('ACTIVE', 'ordinary-1'), (self.status(), self.server().host))

    def test_what_its_user_does_is_left_alone_when_something_else_changes(self) -> None:
        rooms = {'resource_type': 'flavor:instance', 'flavor_id': servers.FLAVOR, 'amount': 1}
        lease = self.site.book([self.wish, rooms], 100, 3600)
        self.site.until(200)
        self.cloud.compute.shelve_server(self.server().id)
        self.site.until(210)
        self.site.change(lease, (None, None, {'amount': 2}))
        self.assertEqual('ACTIVE', self.site.status_at(300, lease))
        self.assertEqual('SHELVED_OFFLOADED', self.status())

    def test_the_released_host_returns_after_a_failed_call(self) -> None:
        lease = self.book()
        self.site.until(50)
        # The first is into the aggregate of the room.
        self.cloud.fail('compute.add_host', None, skip=1)
        self.site.until(103)
        (out,) = POOL - self.pool()
        self.assertEqual(out, self.site.now(lease).reservations[1].facts['door'])
        self.site.delete(lease)
        self.site.until(105)
        self.assertEqual(POOL - {out}, self.pool())
        self.cloud.heal()
        self.site.until(300)
        self.assertEqual(POOL, self.pool())
        self.assertEqual('gone', self.site.status(lease))

    def test_a_host_is_released_for_an_instant_only(self) -> None:
        self.book()
        self.site.until(50)
        self.cloud.set_seconds('server_action', 3)
        self.site.until(101)
        self.assertEqual(('SHELVED_OFFLOADED', 'unshelving'), self.doing())
        self.assertEqual(POOL, self.pool())

    def doing(self) -> tuple[str, str | None]:
        """Return the status of the server, and what is done with it."""
        return self.server().status, self.server().task_state
