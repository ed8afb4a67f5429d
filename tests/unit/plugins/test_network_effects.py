# SPDX-License-Identifier: Apache-2.0
"""The effects of a reservation of a network, with a failure at each call in turn."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from climate import exceptions
from climate.cloud.base import CloudQuota
from climate.domain.resources import ResourceDraft
from climate.plugins import contract
from climate.plugins.network import effects
from climate.plugins.network import errors
from tests import base
from tests.unit.plugins import every_call
from tests.unit.plugins import neutron_worlds
from tests.unit.plugins.neutron_worlds import OTHERS_TAGS
from tests.unit.plugins.neutron_worlds import SegmentWorld
from tests.unit.plugins.neutron_worlds import TAGS
from tests.unit.plugins.world import OTHER
from tests.unit.plugins.world import OWNER
from tests.unit.plugins.world import RESERVATION
from tests.unit.plugins.world import Stumble


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """An effect in a situation.

    :ivar given: brings a new world into the situation
    :ivar left: the VLAN that the network is on afterwards; None if there is none
    :ivar name: how the network is called afterwards
    """

    effect: str
    given: Callable[[], SegmentWorld]
    left: int | None
    name: str = 'blue'


def fresh() -> SegmentWorld:
    """Nothing has happened yet."""
    return SegmentWorld()


def leased() -> SegmentWorld:
    """The reservation is active."""
    return SegmentWorld().started()


def in_use() -> SegmentWorld:
    """Active, with a server, a router and a floating IP."""
    world = leased()
    world.furnish()
    return world


def half_started() -> SegmentWorld:
    """A start made the network and got no further."""
    world = SegmentWorld()
    world.cloud.network.create_network(
        'blue', OWNER, neutron_worlds.vlan(101), description=f'reservation:{RESERVATION}'
    )
    return world


def renamed() -> SegmentWorld:
    """The request was changed."""
    world = in_use()
    world.call('green', 'another')
    return world


def renamed_by_its_owner() -> SegmentWorld:
    """The project calls its network as it likes."""
    world = in_use()
    world.cloud.network.describe_network(world.made().id, 'home', '')
    return world


def without_tags() -> SegmentWorld:
    """The project has taken all marks away."""
    world = in_use()
    world.cloud.network.set_network_tags(world.made().id, {'mine'})
    return world


def without_network() -> SegmentWorld:
    """The project has deleted the network."""
    world = leased()
    world.cloud.network.delete_network(world.made().id)
    return world


def moved() -> SegmentWorld:
    """It is to be on another segment, and nobody uses it."""
    world = leased()
    world.shrink(2)
    return world


CASES = (
    Case(effect='start', given=fresh, left=101),
    Case(effect='start', given=half_started, left=101),
    Case(effect='start', given=renamed, left=101, name='green'),
    Case(effect='start', given=renamed_by_its_owner, left=101, name='home'),
    Case(effect='start', given=moved, left=102),
    Case(effect='check', given=in_use, left=101),
    Case(effect='check', given=renamed_by_its_owner, left=101, name='home'),
    Case(effect='check', given=without_tags, left=101),
    Case(effect='check', given=without_network, left=101),
    Case(effect='end', given=fresh, left=None),
    Case(effect='end', given=half_started, left=None),
    Case(effect='end', given=in_use, left=None),
    Case(effect='end', given=without_tags, left=None),
    Case(effect='end', given=without_network, left=None),
)


class TestEveryCase(every_call.EveryCase):
    """Whichever call fails, Neutron has in the end what it should."""

    cases = CASES
    beginnings = (fresh, half_started)
    least = 70

    def finish(self, case: Case, world: SegmentWorld, stumble: Stumble) -> None:
        """Run the case to its end, with all that must hold meanwhile."""
        before = world.found()
        kept = before if case.given not in (moved, half_started) else None
        plugged = world.plugged()

        def watch() -> None:
            if case.effect != 'end' and kept is not None:
                self.assertEqual(kept.id, world.made().id)
                self.assertEqual(plugged, world.plugged())

        world.run(case.effect, stumble, watch)
        present = [number for number in (101, 102) if world.found(number)]
        self.assertEqual([] if case.left is None else [case.left], present)
        if case.left is not None:
            found = world.made(case.left)
            self.assertEqual((case.name, OWNER), (found.name, found.project_id))
            self.assertNotIn(RESERVATION, found.description)
            self.assertLessEqual(TAGS, found.tags)
            self.assertEqual(found.id, world.facts['network_id'])
        else:
            self.assertEqual({}, world.facts)
        self.assertIn(world.neighbour, world.cloud.networks.networks())

    def nothing_left(self, world: SegmentWorld) -> None:
        self.assertIsNone(world.found())


class TestOutcomes(base.TestCase):
    """What effects say, and what they do in corners."""

    def test_made_in_the_project_as_it_was_asked_for(self) -> None:
        found = leased().made()
        self.assert_has(found, name='blue', description='the net', project_id=OWNER, tags=TAGS)

    def test_the_end_takes_off_what_is_plugged_in(self) -> None:
        world = leased()
        floating = world.furnish()
        network = world.made().id
        world.run('end')
        self.assertEqual((), world.cloud.network.list_ports(network))
        self.assertEqual((), world.cloud.network.list_subnets(network))
        left = next(item for item in world.cloud.networks.floating_ips() if item.id == floating)
        self.assertIsNone(left.port_id)

    def test_the_end_waits_for_what_is_plugged_in_meanwhile(self) -> None:
        for verb in ('delete_network', 'remove_router_interface'):
            world = in_use()
            world.cloud.fail(f'network.{verb}', 2, error='conflict')
            self.assertIsNone(world.once('end'))
            world.run('end')
            self.assertIsNone(world.found())

    def test_another_projects_network_is_waited_for_and_left_alone(self) -> None:
        for project, tags in ((OWNER, set()), (OTHER, TAGS), (OTHER, OTHERS_TAGS)):
            world = SegmentWorld()
            other = world.cloud.network.create_network('blue', project, neutron_worlds.vlan(101))
            world.cloud.network.set_network_tags(other.id, tags)
            for effect in ('start', 'check'):
                self.assertIsNone(world.once(effect), (project, tags))
            if tags != TAGS:
                world.run('end')
            self.assertEqual(other.id, world.made().id)
            world.cloud.network.delete_network(other.id)
            world.run('start')

    def test_a_network_that_comes_first_is_seen_next_time(self) -> None:
        world = SegmentWorld()
        world.cloud.fail('network.create_network', error='conflict')
        self.assertIsNone(world.once('start'))
        for verb in ('set_network_tags', 'describe_network'):
            world.cloud.fail(f'network.{verb}', error='not_found')
            self.assertIsNone(world.once('start'))
        world.run('start')

    def test_a_network_in_use_is_not_moved(self) -> None:
        world = in_use()
        world.shrink(2)
        self.assertRaises(exceptions.Permanent, world.once, 'start')
        self.assertEqual(4, len(world.plugged()))
        self.assertIsNone(world.found(102))

    def test_a_quota_and_a_segment_that_the_cloud_lacks_are_reported(self) -> None:
        world = SegmentWorld()
        world.cloud.networks.set_quota(OWNER, 'networks', 0)
        self.assertRaises(CloudQuota, world.once, 'start')
        world = SegmentWorld()
        world.register(
            ResourceDraft(
                resource_type='network',
                attributes={'network_type': 'vlan', 'physical_network': 'nowhere', 'segment_id': 1},
            )
        )
        self.assertRaises(exceptions.Permanent, world.once, 'start')
        world.run('end')

    def test_check_says_what_it_repaired(self) -> None:
        network = (world := without_tags()).made().id
        done = world.run('check')
        self.assertEqual((f'network {network} had lost its tags',), done.repaired)
        self.assertEqual({'mine', *TAGS}, world.made().tags)
        done = without_network().run('check')
        self.assertEqual(('the network on segment vlan:physnet1:101 was missing',), done.repaired)
        self.assertEqual((), in_use().run('check').repaired)

    def test_nothing_to_have_is_nothing_to_do(self) -> None:
        world = SegmentWorld()
        world.mine = ()
        world.run('check')
        self.assertIsNone(world.found())


class TestSweep(base.TestCase):
    """What leases that are over have left."""

    def test_only_what_is_known_to_be_over_goes(self) -> None:
        for alive, ended, goes in (
            ((), (RESERVATION,), True),
            ((RESERVATION,), (), False),
            ((RESERVATION,), (RESERVATION,), False),
            ((), (), False),
        ):
            world = in_use()
            records = contract.Records(alive=frozenset(alive), ended=frozenset(ended))
            for dry_run in (True, False):
                findings = list(world.plugin.sweep(records, world.cloud, dry_run=dry_run))
                self.assertEqual(goes, bool(findings))
                self.assertTrue(all(bool(item.done) is not dry_run for item in findings))
                self.assertEqual(goes and not dry_run, world.found() is None)
            self.assertIn(world.neighbour, world.cloud.networks.networks())


class TestResources(base.TestCase):
    """What can be registered, and let go."""

    def setUp(self) -> None:
        super().setUp()
        self.world = SegmentWorld()

    def draft(self, kind: str, physical: str | None, number: int) -> ResourceDraft:
        attributes = {'network_type': kind, 'segment_id': number}
        if physical is not None:
            attributes['physical_network'] = physical
        return ResourceDraft(
            resource_type='network', attributes=attributes, capabilities={'speed': '10'}
        )

    def test_what_is_kept_of_it(self) -> None:
        for draft, name in (
            (self.draft('vlan', 'physnet1', 4094), 'vlan:physnet1:4094'),
            (self.draft('vxlan', None, 16777215), 'vxlan:-:16777215'),
        ):
            found = self.world.plugin.discover(draft, self.world.cloud)
            self.assertEqual((name, draft.attributes), (found.name, dict(found.attributes)))
            self.assertEqual({'speed': '10'}, dict(found.capabilities))
            actual = effects.of(found.attributes).segmentation_id
            self.assertEqual(draft.attributes['segment_id'], actual)

    def test_what_is_no_segment(self) -> None:
        for kind, physical, number in (
            ('vlan', None, 1),
            ('vlan', 'physnet1', 0),
            ('vlan', 'physnet1', 4095),
            ('vxlan', 'physnet1', 1),
            ('vxlan', None, 16777216),
            ('flat', 'physnet1', 1),
        ):
            with self.assertRaises(exceptions.InvalidInput):
                self.world.plugin.discover(self.draft(kind, physical, number), self.world.cloud)

    def test_a_segment_in_use_is_neither_taken_nor_let_go(self) -> None:
        error = self.assertRaises(
            errors.SegmentInUse,
            self.world.plugin.discover,
            neutron_worlds.vlan_draft(100),
            self.world.cloud,
        )
        expected = f'Segment vlan:physnet1:100 is used by network {self.world.neighbour.id}'
        self.assertEqual(expected, error.message)
        resource = self.world.resources[0]
        self.world.plugin.admit(resource, self.world.cloud)
        self.world.plugin.release(resource, self.world.cloud)
        self.world.run('start')
        with self.assertRaises(errors.SegmentInUse):
            self.world.plugin.release(resource, self.world.cloud)
