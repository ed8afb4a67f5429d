# SPDX-License-Identifier: Apache-2.0
"""Servers for a time: what their owners see."""

from __future__ import annotations

from climate import exceptions
from climate.cloud.base import ServerDraft
from tests.functional.manager import harness
from tests.functional.manager.server_case import POOL
from tests.functional.manager.server_case import ServerCase
from tests.functional.manager.walk import servers


class TestOwnServer(ServerCase):
    """A server that exists."""

    def test_shelved_until_its_time_and_saved_at_the_end(self) -> None:
        lease = self.book()
        self.site.until(10)
        self.assertEqual(('SHELVED_OFFLOADED', ''), (self.status(), self.server().host))
        self.site.until(99)
        self.assertEqual('SHELVED_OFFLOADED', self.status())
        self.site.until(110)
        room = self.site.allocations(lease)[0].resource_name
        self.assertEqual(('ACTIVE', room), (self.status(), self.server().host))
        self.assertEqual('ACTIVE', self.site.status(lease))
        self.assertEqual(POOL, self.pool())
        self.assertEqual(('gone', 'TERMINATED'), self.statuses_at(3620, lease))
        self.assertEqual([('active', harness.PROJECT)], self.images())
        self.assertEqual(1, len(self.site.now(lease).reservations[-1].facts['image_ids']))
        self.assertEqual((POOL, []), (self.pool(), self.site.allocations(lease)))

    def test_its_room_is_for_it_alone(self) -> None:
        lease = self.book()
        self.site.until(200)
        room = lease.reservations[0]
        self.assertEqual(lease.reservations[1].id, room.part_of)
        self.assertEqual(frozenset(), self.cloud.compute.list_flavor_access(room.id))
        list(self.site.repair().run())
        self.assertEqual(frozenset(), self.cloud.compute.list_flavor_access(room.id))

    def test_two_leases_cannot_have_it_at_one_time(self) -> None:
        self.book(100, 1000)
        self.assertRaises(exceptions.NotEnoughResources, self.book, 500, 2000)
        with self.assertRaisesRegex(exceptions.InvalidInput, 'twice'):
            self.site.book([self.wish, self.wish], 2000, 3000)
        self.book(1000, 2000)

    def test_the_next_lease_leaves_it_alone_until_this_one_is_over(self) -> None:
        self.book(100, 1000, on_end=['stop', 'shelve'])
        self.site.until(200)
        after = self.book(2000, 3000)
        self.site.until(900)
        self.assertEqual('ACTIVE', self.status())
        self.site.until(1100)
        self.assertEqual('SHELVED_OFFLOADED', self.status())
        self.site.until(2010)
        self.assertEqual(('ACTIVE', 'ACTIVE'), (self.status(), self.site.status(after)))

    def test_as_it_was_if_the_lease_is_deleted_before(self) -> None:
        for was in ('ACTIVE', 'SHUTOFF', 'SUSPENDED', 'SHELVED_OFFLOADED'):
            self.cloud.set_server(self.server().id, status='ACTIVE')
            if was == 'SHELVED_OFFLOADED':
                self.cloud.compute.shelve_server(self.server().id)
                self.site.until(self.site.seconds() + 5)
            else:
                self.cloud.set_server(self.server().id, status=was)
            start = self.site.seconds() + 60
            lease = self.book(start, start + 600)
            self.site.until(start - 30)
            shelved = was if was == 'SUSPENDED' else 'SHELVED_OFFLOADED'
            self.assertEqual(shelved, self.status())
            self.site.delete(lease)
            self.site.until(start + 60)
            self.assertEqual(was, self.status())
            self.assertEqual('gone', self.site.status(lease))

    def test_one_that_runs_when_its_lease_begins_stays_where_it_is(self) -> None:
        before = self.server()
        lease = self.book(self.site.seconds(), 3600)
        self.site.until(20)
        self.assertEqual((before, 'ACTIVE'), (self.server(), self.site.status(lease)))

    def test_switched_on_or_resumed_at_the_start(self) -> None:
        for was in ('SHUTOFF', 'SUSPENDED'):
            self.cloud.set_server(self.server().id, status=was)
            now = self.site.seconds()
            self.book(now, now + 600, on_end=['stop'], guarantee=False)
            self.site.until(now + 60)
            self.assertEqual('ACTIVE', self.status())
            self.site.until(now + 660)
            self.assertEqual('SHUTOFF', self.status())

    def test_a_host_that_has_a_second_node_by_now_stays_in_the_pool(self) -> None:
        lease = self.book(100, 3600)
        self.site.until(99)
        self.cloud.fail('compute.remove_host', times=None)
        self.site.until(103)
        ids = {item.id for item in lease.reservations}
        (shared,) = {
            host for item in self.cloud.aggregates() if item.name in ids for host in item.hosts
        }
        self.cloud.add_hypervisor('node-2', service_host=shared)
        self.cloud.heal()
        self.site.until(160)
        self.assertIn(shared, self.pool())
        self.assertEqual(('ACTIVE', 'ACTIVE'), (self.status(), self.site.status(lease)))
        self.assertNotEqual(shared, self.server().host)
        self.assertEqual('TERMINATED', self.site.status_at(3700, lease))

    def test_each_end(self) -> None:
        for end, status in (
            (['suspend'], 'SUSPENDED'),
            (['stop', 'snapshot'], 'SHUTOFF'),
            (['snapshot', 'shelve'], 'SHELVED_OFFLOADED'),
            (['delete'], 'gone'),
        ):
            now = self.site.seconds()
            lease = self.book(now, now + 600, on_end=end, guarantee=False)
            self.assertEqual((status, 'TERMINATED'), self.statuses_at(now + 660, lease))
        self.assertEqual([('active', harness.PROJECT)] * 2, self.images())

    def test_an_image_before_the_end_and_a_newer_one_at_the_end(self) -> None:
        lease = self.site.leases.create(
            harness.CALLER,
            self.site.draft([{**self.wish, 'before_end': 'snapshot,notify'}], 100, 3600, 3000),
        )
        self.site.until(3100)
        self.assertEqual(('ACTIVE', [('active', harness.PROJECT)]), (self.status(), self.images()))
        self.site.until(3700)
        self.assertEqual([('active', harness.PROJECT)] * 2, self.images())
        self.assertEqual('TERMINATED', self.site.status(lease))

    def test_an_image_of_others_is_not_taken_for_the_snapshot(self) -> None:
        """Anybody can make one of its name that says it is made of the server."""
        self.book()
        self.site.until(3599)
        self.cloud.fail('compute.create_image', times=1)
        self.site.until(3600.5)
        others = [
            self.cloud.add_image(servers.IMAGE, owner, self.server())
            for owner in ('red', harness.PROJECT)
        ]
        self.site.until(3700)
        self.assertEqual('gone', self.status())
        found = {image.id: image.owner for image in self.cloud.images()}
        self.assertEqual(['red', harness.PROJECT], [found.pop(each) for each in others])
        self.assertEqual([harness.PROJECT], list(found.values()))

    def test_deleted_while_it_runs_it_ends_as_wanted(self) -> None:
        lease = self.book()
        self.site.until(200)
        self.site.delete(lease)
        self.assertEqual(('gone', 'gone'), self.statuses_at(300, lease))
        self.assertEqual([('active', harness.PROJECT)], self.images())


class TestBooted(ServerCase):
    """A server that is booted for its lease."""

    def setUp(self) -> None:
        super().setUp()
        servers.put_away(self.cloud)
        self.site.until(10)
        (self.wish,) = servers.booted(self.cloud)

    def test_made_at_the_start_in_the_project_of_the_user(self) -> None:
        lease = self.book()
        self.site.until(99)
        self.assertEqual('gone', self.status())
        self.site.until(110)
        self.assertEqual(
            ('ACTIVE', harness.PROJECT, lease.reservations[0].id),
            (self.status(), self.server().project_id, self.server().flavor_id),
        )
        described = self.site.plugins['virtual:server'].describe(
            self.site.now(lease).reservations[1]
        )
        self.assertEqual(self.server().id, described['server_id'])
        self.assertEqual(('gone', 'TERMINATED'), self.statuses_at(3700, lease))
        self.assertEqual([('active', harness.PROJECT)], self.images())
        self.assertIsNone(self.cloud.identity.find_trust(lease.trust_id or ''))

    def test_another_one_with_its_metadata_is_left_alone(self) -> None:
        lease = self.book()
        self.site.until(110)
        mine = self.server()
        compute = self.cloud.compute_of(harness.PROJECT)
        compute.delete_server(mine.id)
        other = compute.create_server(
            ServerDraft(name='other', flavor_id=servers.FLAVOR, metadata=dict(mine.metadata))
        )
        self.assertEqual('TERMINATED', self.site.status_at(3700, lease))
        self.assertEqual([other], [each.id for each in self.cloud.servers()])

    def test_without_guarantee_of_the_flavor_itself(self) -> None:
        lease = self.book(guarantee=False, on_end=['stop'])
        self.site.until(110)
        self.assertEqual(servers.FLAVOR, self.server().flavor_id)
        self.assertEqual(('SHUTOFF', 'TERMINATED'), self.statuses_at(3700, lease))

    def test_never_two(self) -> None:
        self.cloud.fail('compute.create_server', 3, when='after')
        self.assertEqual(('ACTIVE', 'ACTIVE'), self.statuses_at(150, self.book()))

    def test_a_quota_that_is_used_up(self) -> None:
        self.cloud.set_quota(harness.PROJECT, 'instances', 0)
        lease = self.book()
        self.assertEqual('STARTING', self.site.status_at(102, lease))
        self.cloud.set_quota(harness.PROJECT, 'instances', None)
        self.assertEqual('ACTIVE', self.site.status_at(200, lease))
        self.cloud.set_quota(harness.PROJECT, 'instances', 0)
        late = self.book(300, 3600)
        self.assertEqual('ERROR', self.site.status_at(400, late))
        self.assertIn('quota', self.reasons(late))

    def test_a_server_that_finds_no_host_is_created_again(self) -> None:
        lease = self.book()
        self.site.until(50)
        for host in POOL:
            self.cloud.set_hypervisor(host, status='disabled')
        self.site.until(101)
        for host in POOL:
            self.cloud.set_hypervisor(host, status='enabled')
        self.assertEqual(('ACTIVE', 'ACTIVE'), self.statuses_at(200, lease))

    def test_a_trust_that_was_revoked(self) -> None:
        lease = self.book()
        self.site.until(50)
        self.cloud.identity.delete_trust(lease.trust_id or '')
        self.site.until(200)
        self.assertEqual(('ERROR', 'gone'), (self.site.status(lease), self.status()))
        self.assertIn('trust', self.reasons(lease))

    def test_a_user_who_has_left_ends_all_the_same(self) -> None:
        lease = self.book()
        self.site.until(200)
        self.cloud.remove_user('alice')
        self.assertEqual(('gone', 'TERMINATED'), self.statuses_at(3700, lease))
        self.assertEqual([('active', harness.PROJECT)], self.images())

    def test_one_whose_user_has_given_no_token(self) -> None:
        draft = self.site.draft([self.wish], 100, 3600)
        with self.assertRaisesRegex(exceptions.InvalidInput, 'token'):
            self.site.leases.create(harness.CALLER, draft)
