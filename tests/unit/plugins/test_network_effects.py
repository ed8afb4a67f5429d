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
from tests.unit.plugins import neutron_effect_runners
from tests.unit.plugins.effect_runners import FailingCallCloud
from tests.unit.plugins.effect_runners import OTHER
from tests.unit.plugins.effect_runners import OWNER
from tests.unit.plugins.effect_runners import RESERVATION
from tests.unit.plugins.neutron_effect_runners import OTHERS_TAGS
from tests.unit.plugins.neutron_effect_runners import SegmentEffectRunner
from tests.unit.plugins.neutron_effect_runners import TAGS


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """An effect in a situation.

    :ivar given: brings a new runner into the situation
    :ivar left: the VLAN that the network is on afterwards; None if there is none
    :ivar name: how the network is called afterwards
    """

    effect: str
    given: Callable[[], SegmentEffectRunner]
    left: int | None
    name: str = 'blue'


def fresh() -> SegmentEffectRunner:
    """Nothing has happened yet."""
    return SegmentEffectRunner()


def leased() -> SegmentEffectRunner:
    """The reservation is active."""
    return SegmentEffectRunner().started()


def in_use() -> SegmentEffectRunner:
    """Active, with a server, a router and a floating IP."""
    runner = leased()
    runner.furnish()
    return runner


def half_started() -> SegmentEffectRunner:
    """A start made the network and got no further."""
    runner = SegmentEffectRunner()
    runner.cloud.network.create_network(
        'blue', OWNER, neutron_effect_runners.vlan(101), description=f'reservation:{RESERVATION}'
    )
    return runner


def renamed() -> SegmentEffectRunner:
    """The request was changed."""
    runner = in_use()
    runner.call('green', 'another')
    return runner


def renamed_by_its_owner() -> SegmentEffectRunner:
    """The project calls its network as it likes."""
    runner = in_use()
    runner.cloud.network.describe_network(runner.made().id, 'home', '')
    return runner


def without_tags() -> SegmentEffectRunner:
    """The project has taken all marks away."""
    runner = in_use()
    runner.cloud.network.set_network_tags(runner.made().id, {'mine'})
    return runner


def without_network() -> SegmentEffectRunner:
    """The project has deleted the network."""
    runner = leased()
    runner.cloud.network.delete_network(runner.made().id)
    return runner


def moved() -> SegmentEffectRunner:
    """It is to be on another segment, and nobody uses it."""
    runner = leased()
    runner.shrink(2)
    return runner


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

    def finish(self, case: Case, runner: SegmentEffectRunner, failing: FailingCallCloud) -> None:
        """Run the case to its end, with all that must hold meanwhile."""
        before = runner.found()
        kept = before if case.given not in (moved, half_started) else None
        plugged = runner.plugged()

        def watch() -> None:
            if case.effect != 'end' and kept is not None:
                self.assertEqual(kept.id, runner.made().id)
                self.assertEqual(plugged, runner.plugged())

        runner.run(case.effect, failing, watch)
        present = [number for number in (101, 102) if runner.found(number)]
        self.assertEqual([] if case.left is None else [case.left], present)
        if case.left is not None:
            found = runner.made(case.left)
            self.assertEqual((case.name, OWNER), (found.name, found.project_id))
            self.assertNotIn(RESERVATION, found.description)
            self.assertLessEqual(TAGS, found.tags)
            self.assertEqual(found.id, runner.facts['network_id'])
        else:
            self.assertEqual({}, runner.facts)
        self.assertIn(runner.neighbour, runner.cloud.networks.networks())

    def nothing_left(self, runner: SegmentEffectRunner) -> None:
        self.assertIsNone(runner.found())


class TestOutcomes(base.TestCase):
    """What effects say, and what they do in corners."""

    def test_made_in_the_project_as_it_was_asked_for(self) -> None:
        found = leased().made()
        self.assert_has(found, name='blue', description='the net', project_id=OWNER, tags=TAGS)

    def test_the_end_takes_off_what_is_plugged_in(self) -> None:
        runner = leased()
        floating = runner.furnish()
        network = runner.made().id
        runner.run('end')
        self.assertEqual((), runner.cloud.network.list_ports(network))
        self.assertEqual((), runner.cloud.network.list_subnets(network))
        left = next(item for item in runner.cloud.networks.floating_ips() if item.id == floating)
        self.assertIsNone(left.port_id)

    def test_the_end_waits_for_what_is_plugged_in_meanwhile(self) -> None:
        for verb in ('delete_network', 'remove_router_interface'):
            runner = in_use()
            runner.cloud.fail(f'network.{verb}', 2, error='conflict')
            self.assertIsNone(runner.once('end'))
            runner.run('end')
            self.assertIsNone(runner.found())

    def test_another_projects_network_is_waited_for_and_left_alone(self) -> None:
        for project, tags in ((OWNER, set()), (OTHER, TAGS), (OTHER, OTHERS_TAGS)):
            runner = SegmentEffectRunner()
            other = runner.cloud.network.create_network(
                'blue', project, neutron_effect_runners.vlan(101)
            )
            runner.cloud.network.set_network_tags(other.id, tags)
            for effect in ('start', 'check'):
                self.assertIsNone(runner.once(effect), (project, tags))
            if tags != TAGS:
                runner.run('end')
            self.assertEqual(other.id, runner.made().id)
            runner.cloud.network.delete_network(other.id)
            runner.run('start')

    def test_a_network_that_comes_first_is_seen_next_time(self) -> None:
        runner = SegmentEffectRunner()
        runner.cloud.fail('network.create_network', error='conflict')
        self.assertIsNone(runner.once('start'))
        for verb in ('set_network_tags', 'describe_network'):
            runner.cloud.fail(f'network.{verb}', error='not_found')
            self.assertIsNone(runner.once('start'))
        runner.run('start')

    def test_a_network_in_use_is_not_moved(self) -> None:
        runner = in_use()
        runner.shrink(2)
        self.assertRaises(exceptions.Permanent, runner.once, 'start')
        self.assertEqual(4, len(runner.plugged()))
        self.assertIsNone(runner.found(102))

    def test_a_quota_and_a_segment_that_the_cloud_lacks_are_reported(self) -> None:
        runner = SegmentEffectRunner()
        runner.cloud.networks.set_quota(OWNER, 'networks', 0)
        self.assertRaises(CloudQuota, runner.once, 'start')
        runner = SegmentEffectRunner()
        runner.register(
            ResourceDraft(
                resource_type='network',
                attributes={'network_type': 'vlan', 'physical_network': 'nowhere', 'segment_id': 1},
            )
        )
        self.assertRaises(exceptions.Permanent, runner.once, 'start')
        runner.run('end')

    def test_check_says_what_it_repaired(self) -> None:
        network = (runner := without_tags()).made().id
        done = runner.run('check')
        self.assertEqual((f'network {network} had lost its tags',), done.repaired)
        self.assertEqual({'mine', *TAGS}, runner.made().tags)
        done = without_network().run('check')
        self.assertEqual(('the network on segment vlan:physnet1:101 was missing',), done.repaired)
        self.assertEqual((), in_use().run('check').repaired)

    def test_nothing_to_have_is_nothing_to_do(self) -> None:
        runner = SegmentEffectRunner()
        runner.mine = ()
        runner.run('check')
        self.assertIsNone(runner.found())


class TestSweep(base.TestCase):
    """What leases that are over have left."""

    def test_only_what_is_known_to_be_over_goes(self) -> None:
        for alive, ended, goes in (
            ((), (RESERVATION,), True),
            ((RESERVATION,), (), False),
            ((RESERVATION,), (RESERVATION,), False),
            ((), (), False),
        ):
            runner = in_use()
            records = contract.Records(alive=frozenset(alive), ended=frozenset(ended))
            for dry_run in (True, False):
                findings = list(runner.plugin.sweep(records, runner.cloud, dry_run=dry_run))
                self.assertEqual(goes, bool(findings))
                self.assertTrue(all(bool(item.done) is not dry_run for item in findings))
                self.assertEqual(goes and not dry_run, runner.found() is None)
            self.assertIn(runner.neighbour, runner.cloud.networks.networks())


class TestResources(base.TestCase):
    """What can be registered, and let go."""

    def setUp(self) -> None:
        super().setUp()
        self.runner = SegmentEffectRunner()

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
            found = self.runner.plugin.discover(draft, self.runner.cloud)
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
                self.runner.plugin.discover(self.draft(kind, physical, number), self.runner.cloud)

    def test_a_segment_in_use_is_neither_taken_nor_let_go(self) -> None:
        error = self.assertRaises(
            errors.SegmentInUse,
            self.runner.plugin.discover,
            neutron_effect_runners.vlan_draft(100),
            self.runner.cloud,
        )
        expected = f'Segment vlan:physnet1:100 is used by network {self.runner.neighbour.id}'
        self.assertEqual(expected, error.message)
        resource = self.runner.resources[0]
        self.runner.plugin.admit(resource, self.runner.cloud)
        self.runner.plugin.release(resource, self.runner.cloud)
        self.runner.run('start')
        with self.assertRaises(errors.SegmentInUse):
            self.runner.plugin.release(resource, self.runner.cloud)
