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
from tests.unit.plugins.effect_runners import DELETION_SECONDS
from tests.unit.plugins.effect_runners import FailingCallCloud
from tests.unit.plugins.effect_runners import HostEffectRunner
from tests.unit.plugins.effect_runners import OTHER
from tests.unit.plugins.effect_runners import OWNER
from tests.unit.plugins.effect_runners import RESERVATION

POOLED = {'compute-1': ['freepool'], 'compute-2': ['freepool'], 'compute-3': ['freepool']}
LEASED = {'compute-1': ['leased'], 'compute-2': ['leased'], 'compute-3': ['freepool']}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """An effect in a situation.

    :ivar given: brings a new runner into the situation
    :ivar places: the aggregates that each host is in afterwards
    """

    effect: str
    given: Callable[[], HostEffectRunner]
    places: dict[str, list[str]]


def pooled() -> HostEffectRunner:
    """Nothing has happened yet; strangers use hosts of the pool."""
    runner = HostEffectRunner()
    runner.cloud.boot_server('compute-1', OTHER, 'stranger')
    runner.cloud.boot_server('compute-3', OTHER, 'neighbour')
    return runner


def prepared() -> HostEffectRunner:
    """The aggregate is there, and empty."""
    runner = pooled()
    runner.run('prepare')
    return runner


def leased(before_end: str = '') -> HostEffectRunner:
    """The reservation is active, and its owner makes use of it."""
    runner = HostEffectRunner(before_end=before_end)
    runner.cloud.boot_server('compute-3', OTHER, 'neighbour')
    runner.run('start')
    for number in (1, 2):
        runner.cloud.boot_server(f'compute-{number}', OWNER, f'own-{number}')
    return runner


def snapshot() -> HostEffectRunner:
    """Active, and images are wanted."""
    return leased('snapshot')


def empty_lease() -> HostEffectRunner:
    """Active and not in use, so that hosts can be moved."""
    runner = HostEffectRunner()
    runner.cloud.boot_server('compute-3', OTHER, 'neighbour')
    runner.run('start')
    return runner


def drifted() -> HostEffectRunner:
    """An operator has taken a host out, put a wrong one in, and renamed the owner."""
    runner = HostEffectRunner().started()
    runner.put('compute-1')
    runner.put('compute-2', 'freepool')
    runner.put('compute-3', 'leased')
    runner.cloud.compute.set_aggregate_metadata(runner.present().id, {'blazar:owner': OTHER})
    return runner


def in_two_pools() -> HostEffectRunner:
    """A host was put back into the pool without being taken out of the aggregate."""
    runner = leased()
    runner.put('compute-1', 'freepool', 'leased')
    return runner


def without_aggregate() -> HostEffectRunner:
    """Somebody has deleted the aggregate."""
    runner = empty_lease()
    runner.delete_aggregate(runner.present())
    return runner


def shrunk() -> HostEffectRunner:
    """One of the two hosts is to be given back again."""
    runner = empty_lease()
    runner.mine = runner.mine[:1]
    return runner


def half_started() -> HostEffectRunner:
    """A start got no further than taking hosts out of the pool."""
    runner = prepared()
    runner.put('compute-2')
    return runner


def never_started() -> HostEffectRunner:
    """No manager has begun the start."""
    runner = pooled()
    runner.state = AllocationState.BOOKED
    return runner


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

    def finish(self, case: Case, runner: HostEffectRunner, failing: FailingCallCloud) -> None:
        """Run the case to its end, with all that must hold meanwhile."""
        own = runner.servers(OWNER)

        def watch() -> None:
            if case.effect != 'end':
                self.assertEqual(own, runner.servers(OWNER))
            self.assertLessEqual({'neighbour'} & runner.servers(OTHER), runner.servers(OTHER))

        neighbours = runner.servers(OTHER) & {'neighbour'}
        runner.run(case.effect, failing, watch)
        self.assertEqual(neighbours, runner.servers(OTHER) & {'neighbour'})
        self.right(case, runner)

    def right(self, case: Case, runner: HostEffectRunner) -> None:
        self.assertEqual(case.places, runner.places())
        aggregate = runner.aggregate()
        if case.effect == 'end':
            self.assertIsNone(aggregate)
            self.assertNotIn('aggregate_id', runner.facts)
            if case.given is not half_started:
                self.assertEqual(set(), runner.servers(OWNER))
            return
        assert aggregate is not None
        self.assertEqual(f'blazar_{RESERVATION}', aggregate.availability_zone)
        self.assertEqual({'blazar:owner': OWNER}, dict(aggregate.metadata))
        if case.effect == 'start':
            self.assertNotIn('stranger', runner.servers(OTHER))
        if case.effect != 'before_end':
            self.assertEqual(aggregate.id, runner.facts['aggregate_id'])

    def nothing_left(self, runner: HostEffectRunner) -> None:
        self.assertEqual(POOLED, runner.places())
        self.assertIsNone(runner.aggregate())


class TestOutcomes(base.TestCase):
    """What effects say, and what they do in corners."""

    def test_start_is_postponed_until_other_servers_are_gone(self) -> None:
        runner = pooled()
        self.assertEqual('1 servers are being deleted', runner.waits('start').why)
        self.assertEqual(['leased'], runner.places()['compute-2'])
        self.assertEqual(['freepool'], runner.places()['compute-1'])
        runner.clock.advance(DELETION_SECONDS)
        self.assertIsInstance(runner.once('start'), contract.Done)

    def test_end_gives_nothing_back_before_the_servers_are_gone(self) -> None:
        runner = leased()
        runner.waits('end')
        self.assertEqual(LEASED, runner.places())
        runner.clock.advance(DELETION_SECONDS)
        self.assertIsInstance(runner.once('end'), contract.Done)

    def test_servers_that_nova_does_not_list_are_cleared_as_well(self) -> None:
        runner = leased()
        for host in ('compute-1', 'compute-2'):
            runner.cloud.hide_servers(host)
        self.assertEqual('2 servers are being deleted', runner.waits('end').why)
        self.assertEqual(LEASED, runner.places())
        runner.run('end')
        self.assertEqual((POOLED, set()), (runner.places(), runner.servers(OWNER)))

    def test_a_host_is_not_handed_over_with_servers_that_nova_does_not_list(self) -> None:
        runner = pooled()
        runner.cloud.hide_servers('compute-1')
        runner.waits('start')
        self.assertEqual(['freepool'], runner.places()['compute-1'])
        runner.run('start')
        self.assertNotIn('stranger', runner.servers(OTHER))

    def test_allocations_of_an_unknown_consumer_keep_no_host(self) -> None:
        runner = leased()
        runner.cloud.allocate('long-gone', runner.provider('compute-1').uuid, 'VCPU', 1)
        runner.run('end')
        self.assertEqual(POOLED, runner.places())

    def test_looks_for_servers_become_rare(self) -> None:
        runner = leased()
        pauses = []
        for seconds in (0, 2, 600):
            runner.since = runner.clock.now() - datetime.timedelta(seconds=seconds)
            pauses.append(runner.waits('end').after.total_seconds())
        self.assertEqual([0.25, 0.5, 2.0], pauses)

    def test_check_says_what_it_repaired(self) -> None:
        runner = drifted()
        done = runner.run('check')
        for words in ('owner', 'compute-1 was not', 'compute-2 was not', 'compute-3 was in'):
            self.assertTrue(any(words in line for line in done.repaired), words)
        self.assertEqual((), runner.run('check').repaired)

    def test_one_image_of_each_server(self) -> None:
        runner = snapshot()
        runner.run('before_end')
        runner.run('before_end')
        names = sorted(image.name for image in runner.cloud.images())
        self.assertEqual(['reserved_own-1', 'reserved_own-2'], names)
        images = {image.id for image in runner.cloud.images()}
        self.assertEqual(images, set(runner.facts['images'].values()))
        # Of the project whose servers they are made of, and not of ours.
        self.assertEqual({OWNER}, {image.owner for image in runner.cloud.images()})

    def test_images_are_made_although_one_server_is_going(self) -> None:
        runner = snapshot()
        going = next(item for item in runner.cloud.servers() if item.name == 'own-1')
        runner.cloud.compute.delete_server(going.id)
        runner.run('before_end')
        self.assertEqual(['reserved_own-2'], [image.name for image in runner.cloud.images()])

    def test_images_are_made_although_nova_is_busy_with_one_server(self) -> None:
        runner = snapshot()
        runner.cloud.fail('compute.create_image', error='conflict')
        runner.run('before_end')
        names = sorted(image.name for image in runner.cloud.images())
        self.assertEqual(['reserved_own-1', 'reserved_own-2'], names)

    def test_images_are_made_although_one_server_has_just_gone(self) -> None:
        runner = snapshot()
        runner.cloud.fail('compute.create_image', error='not_found')
        runner.run('before_end')
        self.assertEqual(2, len(runner.cloud.images()))

    def test_a_zone_of_others_is_waited_for(self) -> None:
        runner = HostEffectRunner()
        other = runner.cloud.compute.create_aggregate('other', 'elsewhere')
        runner.put('compute-1')
        runner.cloud.compute.add_host(other.id, 'compute-1')
        self.assertIsNone(runner.once('start'))
        runner.cloud.compute.remove_host(other.id, 'compute-1')
        runner.run('start')
        self.assertEqual(LEASED, runner.places())

    def test_a_host_that_does_not_exist_is_permanent(self) -> None:
        runner = HostEffectRunner()
        runner.cloud.remove_hypervisor('compute-2')
        self.assertRaises(exceptions.Permanent, runner.once, 'start')

    def test_a_host_that_left_the_cloud_does_not_keep_a_lease_from_ending(self) -> None:
        runner = leased()
        runner.cloud.remove_hypervisor('compute-2')
        runner.run('end')
        self.assertEqual({**POOLED, 'compute-2': []}, runner.places())

    def test_without_a_pool_everything_is_tried_again(self) -> None:
        for given, effect in (
            (HostEffectRunner, 'start'),
            (empty_lease, 'end'),
            (empty_lease, 'check'),
        ):
            runner = given()
            pool = runner.pool()
            members = pool.hosts
            for host in members:
                runner.cloud.compute.remove_host(pool.id, host)
            runner.cloud.compute.delete_aggregate(pool.id)
            self.assertIsNone(runner.once(effect), effect)
            new = runner.cloud.compute.create_aggregate('freepool', None)
            for host in members:
                runner.cloud.compute.add_host(new.id, host)
            runner.run(effect)

    def test_a_server_that_comes_up_meanwhile_is_seen_when_one_looks_again(self) -> None:
        runner = empty_lease()
        runner.cloud.fail('compute.remove_host', error='conflict')
        self.assertIsNone(runner.once('end'))
        runner.cloud.boot_server('compute-1', OWNER, 'late')
        runner.run('end')
        self.assertEqual((POOLED, set()), (runner.places(), runner.servers(OWNER)))

    def test_a_held_host_that_another_reservation_has_stays_there(self) -> None:
        runner = HostEffectRunner()
        other = runner.cloud.compute.create_aggregate('next', 'blazar_next')
        runner.put('compute-1')
        runner.cloud.compute.add_host(other.id, 'compute-1')
        runner.run('end')
        self.assertEqual({**POOLED, 'compute-1': ['next']}, runner.places())
