# SPDX-License-Identifier: Apache-2.0

"""The effects of a host reservation, with a failure at each call in turn."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable

from climate import exceptions
from climate.domain.leases import AllocationState
from climate.plugins import contract
from tests import base
from tests.unit.plugins import every_call
from tests.unit.plugins.world import DELETION_SECONDS
from tests.unit.plugins.world import OTHER
from tests.unit.plugins.world import OWNER
from tests.unit.plugins.world import RESERVATION
from tests.unit.plugins.world import Stumble
from tests.unit.plugins.world import World

POOLED = {'compute-1': ['freepool'], 'compute-2': ['freepool'], 'compute-3': ['freepool']}
LEASED = {'compute-1': ['leased'], 'compute-2': ['leased'], 'compute-3': ['freepool']}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """An effect in a situation.

    :ivar given: brings a new world into the situation
    :ivar places: the aggregates that each host is in afterwards
    """

    effect: str
    given: Callable[[], World]
    places: dict[str, list[str]]


def pooled() -> World:
    """Nothing has happened yet; strangers use hosts of the pool."""
    world = World()
    world.cloud.boot_server('compute-1', OTHER, 'stranger')
    world.cloud.boot_server('compute-3', OTHER, 'neighbour')
    return world


def prepared() -> World:
    """The aggregate is there, and empty."""
    world = pooled()
    world.run('prepare')
    return world


def leased(before_end: str = '') -> World:
    """The reservation is active, and its owner makes use of it."""
    world = World(before_end=before_end)
    world.cloud.boot_server('compute-3', OTHER, 'neighbour')
    world.run('start')
    for number in (1, 2):
        world.cloud.boot_server(f'compute-{number}', OWNER, f'own-{number}')
    return world


def snapshot() -> World:
    """Active, and images are wanted."""
    return leased('snapshot')


def empty_lease() -> World:
    """Active and not in use, so that hosts can be moved."""
    world = World()
    world.cloud.boot_server('compute-3', OTHER, 'neighbour')
    world.run('start')
    return world


def drifted() -> World:
    """An operator has taken a host out, put a wrong one in, and renamed the owner."""
    world = World().started()
    world.put('compute-1')
    world.put('compute-2', 'freepool')
    world.put('compute-3', 'leased')
    world.cloud.compute.set_aggregate_metadata(world.present().id, {'blazar:owner': OTHER})
    return world


def in_two_pools() -> World:
    """A host was put back into the pool without being taken out of the aggregate."""
    world = leased()
    world.put('compute-1', 'freepool', 'leased')
    return world


def without_aggregate() -> World:
    """Somebody has deleted the aggregate."""
    world = empty_lease()
    world.delete_aggregate(world.present())
    return world


def shrunk() -> World:
    """One of the two hosts is to be given back again."""
    world = empty_lease()
    world.mine = world.mine[:1]
    return world


def half_started() -> World:
    """A start got no further than taking hosts out of the pool."""
    world = prepared()
    world.put('compute-2')
    return world


def never_started() -> World:
    """No manager has begun the start."""
    world = pooled()
    world.state = AllocationState.BOOKED
    return world


CASES = (
    Case(effect='prepare', given=pooled, places=POOLED),
    Case(effect='start', given=pooled, places=LEASED),
    Case(effect='start', given=prepared, places=LEASED),
    Case(effect='start', given=half_started, places=LEASED),
    Case(effect='start', given=shrunk, places={**POOLED, 'compute-1': ['leased']}),
    Case(effect='check', given=leased, places=LEASED),
    Case(effect='check', given=drifted, places=LEASED),
    Case(effect='check', given=in_two_pools, places=LEASED),
    Case(effect='check', given=without_aggregate, places=LEASED),
    Case(effect='before_end', given=leased, places=LEASED),
    Case(effect='before_end', given=snapshot, places=LEASED),
    Case(effect='end', given=leased, places=POOLED),
    Case(effect='end', given=in_two_pools, places=POOLED),
    Case(effect='end', given=half_started, places=POOLED),
    Case(effect='end', given=never_started, places=POOLED),
    Case(effect='end', given=without_aggregate, places=POOLED),
)


class TestEveryCase(every_call.EveryCase):
    """Whichever call fails, the cloud is in the end as it should be."""

    cases = CASES
    beginnings = (pooled, prepared, half_started)
    least = 150

    def finish(self, case: Case, world: World, stumble: Stumble) -> None:
        """Run the case to its end, with all that must hold meanwhile."""
        own = world.servers(OWNER)

        def watch() -> None:
            if case.effect != 'end':
                self.assertEqual(own, world.servers(OWNER))
            self.assertLessEqual({'neighbour'} & world.servers(OTHER), world.servers(OTHER))

        neighbours = world.servers(OTHER) & {'neighbour'}
        world.run(case.effect, stumble, watch)
        self.assertEqual(neighbours, world.servers(OTHER) & {'neighbour'})
        self.right(case, world)

    def right(self, case: Case, world: World) -> None:
        self.assertEqual(case.places, world.places())
        aggregate = world.aggregate()
        if case.effect == 'end':
            self.assertIsNone(aggregate)
            self.assertNotIn('aggregate_id', world.facts)
            if case.given is not half_started:
                self.assertEqual(set(), world.servers(OWNER))
            return
        assert aggregate is not None
        self.assertEqual(f'blazar_{RESERVATION}', aggregate.availability_zone)
        self.assertEqual({'blazar:owner': OWNER}, dict(aggregate.metadata))
        if case.effect == 'start':
            self.assertNotIn('stranger', world.servers(OTHER))
        if case.effect != 'before_end':
            self.assertEqual(aggregate.id, world.facts['aggregate_id'])

    def nothing_left(self, world: World) -> None:
        self.assertEqual(POOLED, world.places())
        self.assertIsNone(world.aggregate())


class TestOutcomes(base.TestCase):
    """What effects say, and what they do in corners."""

    def test_start_is_postponed_until_other_servers_are_gone(self) -> None:
        world = pooled()
        self.assertEqual('1 servers are being deleted', world.waits('start').why)
        self.assertEqual(['leased'], world.places()['compute-2'])
        self.assertEqual(['freepool'], world.places()['compute-1'])
        world.clock.advance(DELETION_SECONDS)
        self.assertIsInstance(world.once('start'), contract.Done)

    def test_end_gives_nothing_back_before_the_servers_are_gone(self) -> None:
        world = leased()
        world.waits('end')
        self.assertEqual(LEASED, world.places())
        world.clock.advance(DELETION_SECONDS)
        self.assertIsInstance(world.once('end'), contract.Done)

    def test_servers_that_nova_does_not_list_are_cleared_as_well(self) -> None:
        world = leased()
        for host in ('compute-1', 'compute-2'):
            world.cloud.hide_servers(host)
        self.assertEqual('2 servers are being deleted', world.waits('end').why)
        self.assertEqual(LEASED, world.places())
        world.run('end')
        self.assertEqual((POOLED, set()), (world.places(), world.servers(OWNER)))

    def test_a_host_is_not_handed_over_with_servers_that_nova_does_not_list(self) -> None:
        world = pooled()
        world.cloud.hide_servers('compute-1')
        world.waits('start')
        self.assertEqual(['freepool'], world.places()['compute-1'])
        world.run('start')
        self.assertNotIn('stranger', world.servers(OTHER))

    def test_allocations_of_an_unknown_consumer_keep_no_host(self) -> None:
        world = leased()
        world.cloud.hold('long-gone', world.provider('compute-1').uuid, 'VCPU', 1)
        world.run('end')
        self.assertEqual(POOLED, world.places())

    def test_looks_for_servers_become_rare(self) -> None:
        world = leased()
        pauses = []
        for seconds in (0, 2, 600):
            world.since = world.clock.now() - datetime.timedelta(seconds=seconds)
            pauses.append(world.waits('end').after.total_seconds())
        self.assertEqual([0.25, 0.5, 2.0], pauses)

    def test_check_says_what_it_repaired(self) -> None:
        world = drifted()
        done = world.run('check')
        for words in ('owner', 'compute-1 was not', 'compute-2 was not', 'compute-3 was in'):
            self.assertTrue(any(words in line for line in done.repaired), words)
        self.assertEqual((), world.run('check').repaired)

    def test_one_image_of_each_server(self) -> None:
        world = snapshot()
        world.run('before_end')
        world.run('before_end')
        names = sorted(image.name for image in world.cloud.images())
        self.assertEqual(['reserved_own-1', 'reserved_own-2'], names)
        images = {image.id for image in world.cloud.images()}
        self.assertEqual(images, set(world.facts['images'].values()))
        # Of the project whose servers they are made of, and not of ours.
        self.assertEqual({OWNER}, {image.owner for image in world.cloud.images()})

    def test_images_are_made_although_one_server_is_going(self) -> None:
        world = snapshot()
        going = next(item for item in world.cloud.servers() if item.name == 'own-1')
        world.cloud.compute.delete_server(going.id)
        world.run('before_end')
        self.assertEqual(['reserved_own-2'], [image.name for image in world.cloud.images()])

    def test_images_are_made_although_nova_is_busy_with_one_server(self) -> None:
        world = snapshot()
        world.cloud.fail('compute.create_image', error='conflict')
        world.run('before_end')
        names = sorted(image.name for image in world.cloud.images())
        self.assertEqual(['reserved_own-1', 'reserved_own-2'], names)

    def test_images_are_made_although_one_server_has_just_gone(self) -> None:
        world = snapshot()
        world.cloud.fail('compute.create_image', error='not_found')
        world.run('before_end')
        self.assertEqual(2, len(world.cloud.images()))

    def test_a_zone_of_others_is_waited_for(self) -> None:
        world = World()
        other = world.cloud.compute.create_aggregate('other', 'elsewhere')
        world.put('compute-1')
        world.cloud.compute.add_host(other.id, 'compute-1')
        self.assertIsNone(world.once('start'))
        world.cloud.compute.remove_host(other.id, 'compute-1')
        world.run('start')
        self.assertEqual(LEASED, world.places())

    def test_a_host_that_does_not_exist_is_permanent(self) -> None:
        world = World()
        world.cloud.remove_hypervisor('compute-2')
        self.assertRaises(exceptions.Permanent, world.once, 'start')

    def test_a_host_that_left_the_cloud_does_not_keep_a_lease_from_ending(self) -> None:
        world = leased()
        world.cloud.remove_hypervisor('compute-2')
        world.run('end')
        self.assertEqual({**POOLED, 'compute-2': []}, world.places())

    def test_without_a_pool_everything_is_tried_again(self) -> None:
        for given, effect in ((World, 'start'), (empty_lease, 'end'), (empty_lease, 'check')):
            world = given()
            pool = world.pool()
            members = pool.hosts
            for host in members:
                world.cloud.compute.remove_host(pool.id, host)
            world.cloud.compute.delete_aggregate(pool.id)
            self.assertIsNone(world.once(effect), effect)
            new = world.cloud.compute.create_aggregate('freepool', None)
            for host in members:
                world.cloud.compute.add_host(new.id, host)
            world.run(effect)

    def test_a_server_that_comes_up_meanwhile_is_seen_when_one_looks_again(self) -> None:
        world = empty_lease()
        world.cloud.fail('compute.remove_host', error='conflict')
        self.assertIsNone(world.once('end'))
        world.cloud.boot_server('compute-1', OWNER, 'late')
        world.run('end')
        self.assertEqual((POOLED, set()), (world.places(), world.servers(OWNER)))

    def test_a_held_host_that_another_reservation_has_stays_there(self) -> None:
        world = World()
        other = world.cloud.compute.create_aggregate('next', 'blazar_next')
        world.put('compute-1')
        world.cloud.compute.add_host(other.id, 'compute-1')
        world.run('end')
        self.assertEqual({**POOLED, 'compute-1': ['next']}, world.places())
