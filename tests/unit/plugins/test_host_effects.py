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

"""The effects of a host reservation, with a failure at each call in turn."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable

from climate import exceptions
from climate.domain.leases import AllocationState
from climate.plugins import base as contract
from tests import base
from tests.unit.plugins import every_call
from tests.unit.plugins import world
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
    cloud = World()
    cloud.twin.boot_server('compute-1', OTHER, 'stranger')
    cloud.twin.boot_server('compute-3', OTHER, 'neighbour')
    return cloud


def prepared() -> World:
    """The aggregate is there, and empty."""
    cloud = pooled()
    cloud.run('prepare')
    return cloud


def leased(before_end: str = '') -> World:
    """The reservation is active, and its owner makes use of it."""
    cloud = World(before_end=before_end)
    cloud.twin.boot_server('compute-3', OTHER, 'neighbour')
    cloud.run('start')
    for number in (1, 2):
        cloud.twin.boot_server(f'compute-{number}', OWNER, f'own-{number}')
    return cloud


def snapshot() -> World:
    """Active, and images are wanted."""
    return leased('snapshot')


def empty_lease() -> World:
    """Active and not in use, so that hosts can be moved."""
    cloud = World()
    cloud.twin.boot_server('compute-3', OTHER, 'neighbour')
    cloud.run('start')
    return cloud


def drifted() -> World:
    """An operator has taken a host out, put a wrong one in, and renamed the owner."""
    cloud = World()
    cloud.run('start')
    cloud.put('compute-1')
    cloud.put('compute-2', 'freepool')
    cloud.put('compute-3', 'leased')
    aggregate = cloud.aggregate()
    assert aggregate is not None
    cloud.twin.compute.set_aggregate_metadata(aggregate.id, {'blazar:owner': OTHER})
    return cloud


def in_two_pools() -> World:
    """A host was put back into the pool without being taken out of the aggregate."""
    cloud = leased()
    cloud.put('compute-1', 'freepool', 'leased')
    return cloud


def without_aggregate() -> World:
    """Somebody has deleted the aggregate."""
    cloud = empty_lease()
    aggregate = cloud.aggregate()
    assert aggregate is not None
    for host in aggregate.hosts:
        cloud.put(host)
    cloud.twin.compute.delete_aggregate(aggregate.id)
    return cloud


def shrunk() -> World:
    """One of the two hosts is to be given back again."""
    cloud = empty_lease()
    cloud.mine = cloud.mine[:1]
    return cloud


def half_started() -> World:
    """A start got no further than taking hosts out of the pool."""
    cloud = prepared()
    cloud.put('compute-2')
    return cloud


def never_started() -> World:
    """No manager has begun the start."""
    cloud = pooled()
    cloud.state = AllocationState.BOOKED
    return cloud


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

    def finish(self, case: Case, cloud: World, stumble: Stumble) -> None:
        """Run the case to its end, with all that must hold meanwhile."""
        own = cloud.servers(OWNER)

        def watch() -> None:
            if case.effect != 'end':
                self.assertEqual(own, cloud.servers(OWNER))
            self.assertLessEqual({'neighbour'} & cloud.servers(OTHER), cloud.servers(OTHER))

        neighbours = cloud.servers(OTHER) & {'neighbour'}
        cloud.run(case.effect, stumble, watch)
        self.assertEqual(neighbours, cloud.servers(OTHER) & {'neighbour'})
        self.right(case, cloud)

    def right(self, case: Case, cloud: World) -> None:
        self.assertEqual(case.places, cloud.places())
        aggregate = cloud.aggregate()
        if case.effect == 'end':
            self.assertIsNone(aggregate)
            self.assertNotIn('aggregate_id', cloud.facts)
            if case.given is not half_started:
                self.assertEqual(set(), cloud.servers(OWNER))
            return
        assert aggregate is not None
        self.assertEqual(f'blazar_{RESERVATION}', aggregate.availability_zone)
        self.assertEqual({'blazar:owner': OWNER}, dict(aggregate.metadata))
        if case.effect == 'start':
            self.assertNotIn('stranger', cloud.servers(OTHER))
        if case.effect != 'before_end':
            self.assertEqual(aggregate.id, cloud.facts['aggregate_id'])

    def nothing_left(self, cloud: World) -> None:
        self.assertEqual(POOLED, cloud.places())
        self.assertIsNone(cloud.aggregate())


class TestOutcomes(base.TestCase):
    """What effects say, and what they do in corners."""

    def test_start_waits_for_strangers_to_go_without_waiting(self) -> None:
        cloud = pooled()
        outcome = cloud.once('start')
        assert isinstance(outcome, contract.Again)
        self.assertEqual('1 servers are being deleted', outcome.why)
        self.assertEqual(['leased'], cloud.places()['compute-2'])
        self.assertEqual(['freepool'], cloud.places()['compute-1'])
        cloud.clock.advance(world.DELETION_SECONDS)
        self.assertIsInstance(cloud.once('start'), contract.Done)

    def test_end_gives_nothing_back_before_the_servers_are_gone(self) -> None:
        cloud = leased()
        outcome = cloud.once('end')
        assert isinstance(outcome, contract.Again)
        self.assertEqual(LEASED, cloud.places())
        cloud.clock.advance(world.DELETION_SECONDS)
        self.assertIsInstance(cloud.once('end'), contract.Done)

    def test_servers_that_nova_does_not_list_are_cleared_as_well(self) -> None:
        cloud = leased()
        for host in ('compute-1', 'compute-2'):
            cloud.twin.hide_servers(host)
        outcome = cloud.once('end')
        assert isinstance(outcome, contract.Again)
        self.assertEqual('2 servers are being deleted', outcome.why)
        self.assertEqual(LEASED, cloud.places())
        cloud.run('end')
        self.assertEqual((POOLED, set()), (cloud.places(), cloud.servers(OWNER)))

    def test_a_host_is_not_handed_over_with_servers_that_nova_does_not_list(self) -> None:
        cloud = pooled()
        cloud.twin.hide_servers('compute-1')
        self.assertIsInstance(cloud.once('start'), contract.Again)
        self.assertEqual(['freepool'], cloud.places()['compute-1'])
        cloud.run('start')
        self.assertNotIn('stranger', cloud.servers(OTHER))

    def test_what_is_held_by_nobody_keeps_no_host(self) -> None:
        cloud = leased()
        provider = cloud.twin.placement.find_provider('compute-1')
        assert provider is not None
        cloud.twin.hold('long-gone', provider.uuid, 'VCPU', 1)
        cloud.run('end')
        self.assertEqual(POOLED, cloud.places())

    def test_looks_for_servers_become_rare(self) -> None:
        cloud = leased()
        pauses = []
        for seconds in (0, 2, 600):
            cloud.since = cloud.clock.now() - datetime.timedelta(seconds=seconds)
            outcome = cloud.once('end')
            assert isinstance(outcome, contract.Again)
            pauses.append(outcome.after.total_seconds())
        self.assertEqual([0.25, 0.5, 2.0], pauses)

    def test_check_says_what_it_repaired(self) -> None:
        cloud = drifted()
        done = cloud.run('check')
        for words in ('owner', 'compute-1 was not', 'compute-2 was not', 'compute-3 was in'):
            self.assertTrue(any(words in line for line in done.repaired), words)
        self.assertEqual((), cloud.run('check').repaired)

    def test_one_image_of_each_server(self) -> None:
        cloud = snapshot()
        cloud.run('before_end')
        cloud.run('before_end')
        names = sorted(image.name for image in cloud.twin.images())
        self.assertEqual(['reserved_own-1', 'reserved_own-2'], names)
        images = {image.id for image in cloud.twin.images()}
        self.assertEqual(images, set(cloud.facts['images'].values()))
        # Of the project whose servers they are made of, and not of ours.
        self.assertEqual({OWNER}, {image.owner for image in cloud.twin.images()})

    def test_images_are_made_although_one_server_is_going(self) -> None:
        cloud = snapshot()
        going = next(item for item in cloud.twin.servers() if item.name == 'own-1')
        cloud.twin.compute.delete_server(going.id)
        cloud.run('before_end')
        self.assertEqual(['reserved_own-2'], [image.name for image in cloud.twin.images()])

    def test_images_are_made_although_nova_is_busy_with_one_server(self) -> None:
        cloud = snapshot()
        cloud.twin.fail('compute.create_image', error='conflict')
        cloud.run('before_end')
        names = sorted(image.name for image in cloud.twin.images())
        self.assertEqual(['reserved_own-1', 'reserved_own-2'], names)

    def test_images_are_made_although_one_server_has_just_gone(self) -> None:
        cloud = snapshot()
        cloud.twin.fail('compute.create_image', error='not_found')
        cloud.run('before_end')
        self.assertEqual(2, len(cloud.twin.images()))

    def test_a_zone_of_others_is_waited_for(self) -> None:
        cloud = World()
        other = cloud.twin.compute.create_aggregate('other', 'elsewhere')
        cloud.put('compute-1')
        cloud.twin.compute.add_host(other.id, 'compute-1')
        self.assertIsNone(cloud.once('start'))
        cloud.twin.compute.remove_host(other.id, 'compute-1')
        cloud.run('start')
        self.assertEqual(LEASED, cloud.places())

    def test_a_host_that_does_not_exist_is_permanent(self) -> None:
        cloud = World()
        cloud.twin.remove_hypervisor('compute-2')
        self.assertRaises(exceptions.Permanent, cloud.once, 'start')

    def test_a_host_that_left_the_cloud_does_not_keep_a_lease_from_ending(self) -> None:
        cloud = leased()
        cloud.twin.remove_hypervisor('compute-2')
        cloud.run('end')
        self.assertEqual({**POOLED, 'compute-2': []}, cloud.places())

    def test_without_a_pool_everything_is_tried_again(self) -> None:
        for given, effect in ((World, 'start'), (empty_lease, 'end'), (empty_lease, 'check')):
            cloud = given()
            pool = next(item for item in cloud.twin.aggregates() if item.name == 'freepool')
            members = pool.hosts
            for host in members:
                cloud.twin.compute.remove_host(pool.id, host)
            cloud.twin.compute.delete_aggregate(pool.id)
            self.assertIsNone(cloud.once(effect), effect)
            new = cloud.twin.compute.create_aggregate('freepool', None)
            for host in members:
                cloud.twin.compute.add_host(new.id, host)
            cloud.run(effect)

    def test_a_server_that_comes_up_meanwhile_is_seen_when_one_looks_again(self) -> None:
        cloud = empty_lease()
        cloud.twin.fail('compute.remove_host', error='conflict')
        self.assertIsNone(cloud.once('end'))
        cloud.twin.boot_server('compute-1', OWNER, 'late')
        cloud.run('end')
        self.assertEqual((POOLED, set()), (cloud.places(), cloud.servers(OWNER)))

    def test_a_held_host_that_another_reservation_has_stays_there(self) -> None:
        cloud = World()
        other = cloud.twin.compute.create_aggregate('next', 'blazar_next')
        cloud.put('compute-1')
        cloud.twin.compute.add_host(other.id, 'compute-1')
        cloud.run('end')
        self.assertEqual({**POOLED, 'compute-1': ['next']}, cloud.places())
