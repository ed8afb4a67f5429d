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

"""A manager hangs within an effect of hosts, and goes on when they are another tenant's."""

from __future__ import annotations

import fixtures

from climate import exceptions
from climate.plugins import base as contract
from tests import base
from tests.stalls import Once
from tests.unit.plugins.test_host_effects import leased
from tests.unit.plugins.test_host_effects import snapshot
from tests.unit.plugins.world import OTHER
from tests.unit.plugins.world import OWNER
from tests.unit.plugins.world import World

NEXT = '2b0c9f6e-51c7-4f53-8a35-2d0b6a3f9e11'


def _next_tenant(cloud: World, *hosts: str, slots: bool = False, project: str = OTHER) -> None:
    """End the lease as another manager does, and start the next one with a server on each host."""
    compute = cloud.twin.compute
    for server in cloud.twin.servers():
        if server.host in hosts:
            compute.delete_server(server.id)
    cloud.clock.advance(60)
    cloud.twin.servers()
    mine = cloud.aggregate()
    if mine is not None:
        for host in mine.hosts:
            compute.remove_host(mine.id, host)
        compute.delete_aggregate(mine.id)
    pool = next(item for item in cloud.twin.aggregates() if item.name == 'freepool')
    found = compute.create_aggregate(NEXT, None if slots else f'blazar_{NEXT}')
    if slots:
        compute.set_aggregate_metadata(found.id, {'reservation': NEXT})
    for host in hosts:
        if not slots and host in pool.hosts:
            compute.remove_host(pool.id, host)
        compute.add_host(found.id, host)
        cloud.twin.boot_server(host, project, f'next on {host}')


def _next_there(cloud: World) -> set[str]:
    going = {item.name for item in cloud.twin.servers() if item.task_state == 'deleting'}
    return {name for name in cloud.servers(OTHER) if name.startswith('next')} - going


class TestEnd(base.TestCase):
    """An end touches what is its lease's."""

    def test_it_leaves_the_servers_of_the_next_tenant(self) -> None:
        cloud = leased()

        def lend() -> None:
            _next_tenant(cloud, 'compute-1', 'compute-2')

        hung = Once(cloud.twin, 'compute.list_servers', lend)
        cloud.once('end', hung)
        self.assertTrue(hung.happened)
        self.assertEqual({'next on compute-1', 'next on compute-2'}, _next_there(cloud))
        pool = next(item for item in cloud.twin.aggregates() if item.name == 'freepool')
        self.assertEqual(('compute-3',), pool.hosts)

    def test_it_looks_again_before_each_deletion(self) -> None:
        cloud = leased()

        def lend() -> None:
            _next_tenant(cloud, 'compute-1', 'compute-2', project=OWNER)

        hung = Once(cloud.twin, 'compute.list_servers', lend)
        self.assertIsNone(cloud.once('end', hung))
        self.assertEqual({'next on compute-1', 'next on compute-2'}, cloud.servers(OWNER))
        going = [item for item in cloud.twin.servers() if item.task_state == 'deleting']
        self.assertEqual([], going)

    def test_it_leaves_servers_of_other_projects_and_names_them_in_the_log(self) -> None:
        log = self.useFixture(fixtures.FakeLogger())
        cloud = leased()
        found = cloud.twin.boot_server('compute-1', OTHER, 'stranger')
        self.assertIsInstance(cloud.once('end'), contract.Again)
        cloud.clock.advance(60)
        error = self.assertRaises(exceptions.Transient, cloud.plugin.end, cloud.work(), cloud.twin)
        self.assertNotIn(found.id, error.message)
        self.assertIn(found.id, log.output)
        self.assertEqual({'stranger', 'neighbour'}, cloud.servers(OTHER))
        self.assertEqual(set(), cloud.servers(OWNER))


class TestStart(base.TestCase):
    """A start clears hosts of the pool, and none that another lease has."""

    def test_it_leaves_what_runs_on_hosts_of_another_lease(self) -> None:
        for slots in (False, True):
            cloud = World()
            cloud.run('prepare')

            def lend(cloud: World = cloud, slots: bool = slots) -> None:
                _next_tenant(cloud, 'compute-1', 'compute-2', slots=slots)

            hung = Once(cloud.twin, 'compute.list_servers', lend)
            self.assertIsNone(cloud.once('start', hung))
            self.assertTrue(hung.happened)
            self.assertEqual({'next on compute-1', 'next on compute-2'}, _next_there(cloud))


class TestImages(base.TestCase):
    """Of each server one image is made, and it is the project's in the end."""

    def _images(self, cloud: World) -> list[tuple[str, str | None]]:
        return sorted((image.name, image.owner) for image in cloud.twin.images())

    def test_one_whose_making_was_not_written_down_is_found(self) -> None:
        cloud = snapshot()
        cloud.once('before_end')
        # Two managers die after the call and before the commit.
        for _ in range(2):
            cloud.plugin.before_end(cloud.work(), cloud.twin)
            self.assertEqual(1, len(self._images(cloud)))
        cloud.run('before_end')
        self.assertEqual(
            [('reserved_own-1', OWNER), ('reserved_own-2', OWNER)], self._images(cloud)
        )

    def test_they_are_handed_over_when_all_of_them_is_written(self) -> None:
        cloud = snapshot()
        cloud.twin.set_seconds('image', 30)
        self.assertIsInstance(cloud.once('before_end'), contract.Again)
        cloud.run('before_end')
        cloud.clock.advance(60)
        self.assertEqual({OWNER}, {owner for _, owner in self._images(cloud)})

    def test_a_second_one_is_deleted_and_no_other(self) -> None:
        cloud = snapshot()
        server = next(item for item in cloud.twin.servers() if item.name == 'own-1')
        cloud.twin.compute.create_image(server.id, 'reserved_own-1')
        earlier = {image.id for image in cloud.twin.images()}
        cloud.run('before_end')
        cloud.twin.compute.create_image(server.id, 'reserved_own-1')
        own = cloud.twin.compute.create_image(server.id, 'reserved_own-1')
        cloud.twin.image.give_image(own, OWNER)
        foreign = cloud.twin.add_image('reserved_own-1', OTHER, server)
        known = set(cloud.facts['images'].values())
        cloud.run('end')
        kept = earlier | known | {own, foreign}
        self.assertEqual(kept, {image.id for image in cloud.twin.images()})

    def test_servers_of_other_projects_are_left_alone(self) -> None:
        cloud = snapshot()
        cloud.twin.boot_server('compute-1', OTHER, 'stranger')
        cloud.run('before_end')
        self.assertNotIn('reserved_stranger', [image.name for image in cloud.twin.images()])
