# SPDX-License-Identifier: Apache-2.0

"""A manager hangs within an effect of hosts, and goes on when they are another tenant's."""

from __future__ import annotations

import fixtures

from climate import exceptions
from tests import base
from tests.stalls import Once
from tests.unit.plugins.effect_runners import HostEffectRunner
from tests.unit.plugins.effect_runners import OTHER
from tests.unit.plugins.effect_runners import OWNER
from tests.unit.plugins.test_host_effects import leased
from tests.unit.plugins.test_host_effects import snapshot

NEXT = '2b0c9f6e-51c7-4f53-8a35-2d0b6a3f9e11'


def _next_tenant(
    runner: HostEffectRunner, *hosts: str, slots: bool = False, project: str = OTHER
) -> None:
    """End the lease as another manager does, and start the next one with a server on each host."""
    compute = runner.cloud.compute
    for server in runner.cloud.servers():
        if server.host in hosts:
            compute.delete_server(server.id)
    runner.clock.advance(60)
    runner.cloud.servers()
    mine = runner.aggregate()
    if mine is not None:
        for host in mine.hosts:
            compute.remove_host(mine.id, host)
        compute.delete_aggregate(mine.id)
    pool = runner.pool()
    found = compute.create_aggregate(NEXT, None if slots else f'blazar_{NEXT}')
    if slots:
        compute.set_aggregate_metadata(found.id, {'reservation': NEXT})
    for host in hosts:
        if not slots and host in pool.hosts:
            compute.remove_host(pool.id, host)
        compute.add_host(found.id, host)
        runner.cloud.boot_server(host, project, f'next on {host}')


def _next_there(runner: HostEffectRunner) -> set[str]:
    going = {item.name for item in runner.cloud.servers() if item.task_state == 'deleting'}
    return {name for name in runner.servers(OTHER) if name.startswith('next')} - going


class TestEnd(base.TestCase):
    """An end touches what is its lease's."""

    def test_it_leaves_the_servers_of_the_next_tenant(self) -> None:
        runner = leased()

        def lend() -> None:
            _next_tenant(runner, 'compute-1', 'compute-2')

        hung = Once(runner.cloud, 'compute.list_servers', lend)
        runner.once('end', hung)
        self.assertTrue(hung.happened)
        self.assertEqual({'next on compute-1', 'next on compute-2'}, _next_there(runner))
        self.assertEqual(('compute-3',), runner.pool().hosts)

    def test_it_looks_again_before_each_deletion(self) -> None:
        runner = leased()

        def lend() -> None:
            _next_tenant(runner, 'compute-1', 'compute-2', project=OWNER)

        self.assertIsNone(runner.once('end', Once(runner.cloud, 'compute.list_servers', lend)))
        self.assertEqual({'next on compute-1', 'next on compute-2'}, runner.servers(OWNER))
        going = [item for item in runner.cloud.servers() if item.task_state == 'deleting']
        self.assertEqual([], going)

    def test_it_leaves_servers_of_other_projects_and_names_them_in_the_log(self) -> None:
        log = self.useFixture(fixtures.FakeLogger())
        runner = leased()
        found = runner.cloud.boot_server('compute-1', OTHER, 'stranger')
        runner.waits('end')
        runner.clock.advance(60)
        error = self.assertRaises(
            exceptions.Transient, runner.plugin.end, runner.work(), runner.cloud
        )
        self.assertNotIn(found.id, error.message)
        self.assertIn(found.id, log.output)
        self.assertEqual({'stranger', 'neighbour'}, runner.servers(OTHER))
        self.assertEqual(set(), runner.servers(OWNER))


class TestStart(base.TestCase):
    """A start clears hosts of the pool, and none that another lease has."""

    def test_it_leaves_what_runs_on_hosts_of_another_lease(self) -> None:
        for slots in (False, True):
            runner = HostEffectRunner()
            runner.run('prepare')

            def lend(runner: HostEffectRunner = runner, slots: bool = slots) -> None:
                _next_tenant(runner, 'compute-1', 'compute-2', slots=slots)

            hung = Once(runner.cloud, 'compute.list_servers', lend)
            self.assertIsNone(runner.once('start', hung))
            self.assertTrue(hung.happened)
            self.assertEqual({'next on compute-1', 'next on compute-2'}, _next_there(runner))


class TestImages(base.TestCase):
    """Of each server one image is made, and it is the project's in the end."""

    def _images(self, runner: HostEffectRunner) -> list[tuple[str, str | None]]:
        return sorted((image.name, image.owner) for image in runner.cloud.images())

    def test_one_whose_making_was_not_written_down_is_found(self) -> None:
        runner = snapshot()
        runner.once('before_end')
        # Two managers die after the call and before the commit.
        for _ in range(2):
            runner.plugin.before_end(runner.work(), runner.cloud)
            self.assertEqual(1, len(self._images(runner)))
        runner.run('before_end')
        found = self._images(runner)
        self.assertEqual([('reserved_own-1', OWNER), ('reserved_own-2', OWNER)], found)

    def test_they_are_handed_over_when_all_of_them_is_written(self) -> None:
        runner = snapshot()
        runner.cloud.set_seconds('image', 30)
        runner.waits('before_end')
        runner.run('before_end')
        runner.clock.advance(60)
        self.assertEqual({OWNER}, {owner for _, owner in self._images(runner)})

    def test_a_second_one_is_deleted_and_no_other(self) -> None:
        runner = snapshot()
        server = next(item for item in runner.cloud.servers() if item.name == 'own-1')
        runner.cloud.compute.create_image(server.id, 'reserved_own-1')
        earlier = {image.id for image in runner.cloud.images()}
        runner.run('before_end')
        runner.cloud.compute.create_image(server.id, 'reserved_own-1')
        own = runner.cloud.compute.create_image(server.id, 'reserved_own-1')
        runner.cloud.image.give_image(own, OWNER)
        others = runner.cloud.add_image('reserved_own-1', OTHER, server)
        known = set(runner.facts['images'].values())
        runner.run('end')
        kept = earlier | known | {own, others}
        self.assertEqual(kept, {image.id for image in runner.cloud.images()})

    def test_servers_of_other_projects_are_left_alone(self) -> None:
        runner = snapshot()
        runner.cloud.boot_server('compute-1', OTHER, 'stranger')
        runner.run('before_end')
        self.assertNotIn('reserved_stranger', [image.name for image in runner.cloud.images()])
