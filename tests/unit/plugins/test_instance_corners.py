# SPDX-License-Identifier: Apache-2.0

"""What effects of reservations of instances say, and what they do in corners."""

from __future__ import annotations

import dataclasses

from climate import exceptions
from climate.cloud.base import Server
from climate.plugins.host.isolation import Isolation
from climate.plugins.instance.by_flavor import FlavorRequest
from tests import base
from tests.narrowing import present
from tests.unit.plugins.effect_runners import FailingCallCloud
from tests.unit.plugins.effect_runners import OTHER
from tests.unit.plugins.effect_runners import OWNER
from tests.unit.plugins.effect_runners import RESERVATION
from tests.unit.plugins.instance_effect_runner import InstanceEffectRunner
from tests.unit.plugins.instance_effect_runner import RESOURCE_CLASS
from tests.unit.plugins.instance_effect_runner import SIZE
from tests.unit.plugins.instance_effect_runner import SOURCE
from tests.unit.plugins.test_instance_effects import active
from tests.unit.plugins.test_instance_effects import booked
from tests.unit.plugins.test_instance_effects import drifted
from tests.unit.plugins.test_instance_effects import failed
from tests.unit.plugins.test_instance_effects import grown
from tests.unit.plugins.test_instance_effects import hidden


class TestSlots(base.TestCase):
    """Who lands where."""

    def test_as_many_servers_as_slots_and_of_the_project_only(self) -> None:
        for given in (InstanceEffectRunner(), flavor_runner()):
            given.run('prepare')
            self.assertEqual('REFUSED', given.boot('early'))
            given.run('start')
            given.fill(3)
            found = sorted(given.hosts_of('own-1', 'own-2', 'own-3'))
            self.assertEqual(['compute-1', 'compute-1', 'compute-2'], found)
            self.assertEqual('ERROR', given.boot('too-many'))
            self.assertEqual('REFUSED', given.boot('thief', OTHER))
            given.delete('own-2')
            self.assertEqual('ACTIVE', given.boot('next'))

    def test_both_kinds_on_one_host(self) -> None:
        runner = InstanceEffectRunner().started()
        other = flavor_runner()
        other.cloud, other.resources = runner.cloud, runner.resources
        name = 'reservation:other'
        work = other.work()
        reservation = dataclasses.replace(work.reservation, id='other')
        other.plugin.start(dataclasses.replace(work, reservation=reservation), runner.cloud)
        self.assertEqual({1: 2, 2: 1}, runner.slots())
        self.assertIn(name, {each.name for each in runner.cloud.compute.list_flavors()})
        runner.run('end')
        self.assertEqual({'CUSTOM_RESERVATION_OTHER'}, classes(runner))

    def test_placement_keeps_others_off_by_a_trait_of_the_slots(self) -> None:
        for mode, specs, traits in (
            (Isolation.FILTER, None, set()),
            (Isolation.PLACEMENT, 'required', {'CUSTOM_CLIMATE_FREEPOOL'}),
            (Isolation.BOTH, 'required', {'CUSTOM_CLIMATE_FREEPOOL'}),
        ):
            runner = InstanceEffectRunner(isolation=mode).started()
            flavor = present(runner.cloud.compute.find_flavor(RESERVATION))
            self.assertEqual(specs, flavor.extra_specs.get('trait:CUSTOM_CLIMATE_FREEPOOL'))
            provider = runner.provider('blazar_compute-1')
            self.assertEqual(traits, runner.cloud.placement.traits(provider.uuid))
            self.assertEqual('ACTIVE', runner.boot('own'))

    def test_another_isolation_is_taken_over_by_the_check(self) -> None:
        runner = active()
        runner.configure(Isolation.BOTH)
        lines = runner.run('check').repaired
        self.assertTrue(any('CUSTOM_CLIMATE_FREEPOOL' in line for line in lines), lines)
        self.assertEqual('ACTIVE', runner.boot('third'))
        self.assertEqual((), runner.run('check').repaired)
        runner.configure(Isolation.FILTER)
        runner.run('check')
        flavor = present(runner.cloud.compute.find_flavor(RESERVATION))
        self.assertNotIn('trait:CUSTOM_CLIMATE_FREEPOOL', flavor.extra_specs)


class TestGroups(base.TestCase):
    """Server groups are the project's own, for Nova lets it use no others."""

    def groups(self, runner: InstanceEffectRunner) -> list[tuple[str, str]]:
        found = runner.cloud.compute.list_server_groups()
        return [(group.project_id, group.policy) for group in found]

    def test_made_by_the_caller(self) -> None:
        runner = booked()
        self.assertEqual([(OWNER, 'anti-affinity')], self.groups(runner))
        runner.run('start')
        (group,) = runner.cloud.compute.list_server_groups()
        self.assertEqual(group.id, runner.facts['server_group_id'])
        self.assertNotIn('other_server_groups', runner.facts)
        self.assertEqual('ACTIVE', runner.boot('own-1', scheduler_hints={'group': group.id}))

    def test_another_policy_before_the_start(self) -> None:
        for affinity, wanted in ((True, [(OWNER, 'affinity')]), (None, [])):
            runner = booked()
            runner.run('prepare')
            runner.request = dataclasses.replace(SIZE, affinity=affinity)
            runner.book()
            runner.run('start')
            self.assertEqual(wanted, self.groups(runner))
            runner.run('end')
            self.assertEqual([], runner.left())

    def test_groups_of_others_are_left_alone(self) -> None:
        runner = booked()
        name = f'reservation:{RESERVATION}'
        runner.cloud.compute_of(OTHER).create_server_group(name, 'anti-affinity')
        runner.run('start')
        runner.run('end')
        self.assertEqual([(OTHER, 'anti-affinity')], self.groups(runner))

    def test_without_one_the_slots_lie_as_they_should(self) -> None:
        runner = booked()
        for group in runner.cloud.compute.list_server_groups():
            runner.cloud.compute.delete_server_group(group.id)
        runner.run('start')
        self.assertNotIn('server_group_id', runner.facts)
        self.assertEqual((), runner.run('check').repaired)
        # Until there is one.
        runner.book()
        self.assertTrue(runner.run('check').repaired)
        self.assertIn('server_group_id', runner.facts)


class TestFewer(base.TestCase):
    """Slots are given up."""

    def test_free_ones_go(self) -> None:
        runner = booked().started(1)
        runner.shrink({1: 1})
        self.assertIsNone(runner.run('start').kept)
        self.assertEqual({1: 1}, runner.slots())
        self.assertEqual('ERROR', runner.boot('too-many'))

    def test_others_than_suggested_are_kept_if_they_are_in_use(self) -> None:
        runner = active()
        runner.fill_third()
        runner.delete('own-1')
        runner.delete('own-2')
        runner.shrink({1: 1})
        self.assertEqual({2: 1}, runner.run('start').kept)
        self.assertEqual({2: 1}, runner.slots())
        self.assertEqual(('compute-2',), runner.present().hosts)
        self.assertEqual([], [each for each in runner.cloud.servers() if each.status == 'ERROR'])

    def test_more_servers_than_slots_stay(self) -> None:
        runner = active()
        runner.fill_third()
        runner.shrink({1: 2})
        self.assertRaisesRegex(exceptions.Permanent, '1 on compute-2', runner.once, 'start')
        self.assertEqual({1: 2, 2: 1}, runner.slots())

    def test_hosts_that_must_not_be_used_any_more_are_not_kept(self) -> None:
        runner = InstanceEffectRunner().started(3)
        runner.delete('own-1')
        # compute-2 is used, and does not fulfil what is now required.
        wanted = '["==", "$hypervisor_hostname", "compute-1"]'
        runner.request = dataclasses.replace(SIZE, resource_properties=wanted)
        runner.shrink({1: 2})
        self.assertRaises(exceptions.Permanent, runner.once, 'start')
        self.assertEqual({1: 2, 2: 1}, runner.slots())
        self.assertEqual(3 - 1, len(runner.cloud.servers()))

    def test_a_move_with_servers_in_the_way_changes_nothing(self) -> None:
        runner = active()
        runner.mine, runner.leaving = {2: 1, 3: 2}, {1: 2}
        self.assertRaises(exceptions.Permanent, runner.once, 'start')
        self.assertEqual({1: 2, 2: 1}, runner.slots())

    def test_a_server_that_takes_a_slot_meanwhile_is_seen(self) -> None:
        runner = booked().started()
        runner.shrink({1: 2})
        runner.cloud.fail('placement.remove_inventory', error='conflict')
        self.assertIsNone(runner.once('start'))
        runner.fill(3)
        self.assertRaises(exceptions.Permanent, runner.once, 'start')
        self.assertEqual({1: 2, 2: 1}, runner.slots())

    def test_what_was_begun_is_put_back_if_it_cannot_be_done(self) -> None:
        runner = active()
        runner.fill_third()
        runner.delete('own-1')
        runner.shrink({1: 2})
        runner.waits('start')
        self.assertEqual({1: 2, 2: 1}, runner.slots())
        self.assertEqual('ACTIVE', runner.boot('late'))
        self.assertRaises(exceptions.Permanent, runner.once, 'start')
        # The core has the effect undo it, by asking for what was before.
        runner.mine, runner.leaving = {1: 2, 2: 1}, {}
        runner.run('start')
        self.assertEqual({1: 2, 2: 1}, runner.slots())
        self.assertNotIn('shrinking', runner.facts)

    def test_a_growth_is_undone_by_giving_up_what_came(self) -> None:
        runner = active()
        runner.mine = {1: 2, 2: 1, 3: 1}
        runner.cloud.fail('placement.set_inventory', error='transient')
        self.assertIsNone(runner.once('start'))
        runner.mine, runner.leaving = {1: 2, 2: 1}, {3: 1}
        runner.run('start')
        self.assertEqual({1: 2, 2: 1}, runner.slots())


class TestFailedHosts(base.TestCase):
    """Slots move away from a host that has failed."""

    def test_servers_stay_with_their_slot_until_they_are_gone(self) -> None:
        runner = failed().started()
        self.assertEqual({1: 2, 2: 1, 3: 1}, runner.slots())
        self.assertEqual(4, len(runner.cloud.servers()))
        self.assertEqual(['compute-2'], runner.hosts_of('own-3'))
        # There are three slots that somebody can use, as before.
        self.assertEqual('ACTIVE', runner.boot('instead'))
        self.assertEqual('ERROR', runner.boot('too-many'))
        self.assertEqual((), runner.run('check').repaired)
        runner.delete('own-3')
        self.assertIn(
            f'host compute-2 was in aggregate {RESERVATION}', runner.run('check').repaired
        )
        self.assertEqual({1: 2, 3: 1}, runner.slots())

    def test_free_slots_go_at_once(self) -> None:
        runner = failed()
        runner.delete('own-3')
        runner.run('start')
        self.assertEqual({1: 2, 3: 1}, runner.slots())

    def test_of_several_slots_the_free_ones_go(self) -> None:
        runner = InstanceEffectRunner().started(1)
        runner.resources = tuple(
            dataclasses.replace(each, failed_at=runner.clock.now()) if each.id == 1 else each
            for each in runner.resources
        )
        runner.mine, runner.leaving = {2: 1, 3: 2}, {1: 2}
        runner.run('start')
        self.assertEqual({1: 1, 2: 1, 3: 2}, runner.slots())


class TestEnd(base.TestCase):
    """Everything goes."""

    def test_no_server_starts_while_the_others_go(self) -> None:
        runner = active()
        self.assertEqual('2 servers are being deleted', runner.waits('end').why)
        self.assertEqual('REFUSED', runner.boot('late'))
        self.assertEqual({1: 2, 2: 1}, runner.slots())
        runner.run('end')
        self.assertEqual([], runner.left())

    def test_servers_in_no_slot_go_as_well(self) -> None:
        runner = active()
        runner.fill_third()
        self.assertEqual('ERROR', runner.boot('too-many'))
        self.assertEqual('SHELVED_OFFLOADED', shelve(runner))
        runner.run('end')
        self.assertEqual([], [each for each in runner.cloud.servers() if each.project_id == OWNER])
        self.assertEqual([], runner.left())

    def test_servers_that_nova_does_not_find_by_their_flavor(self) -> None:
        runner = hidden()
        self.assertEqual(3, len(runner.cloud.servers()))
        runner.run('end')
        self.assertEqual(['neighbour'], [each.name for each in runner.cloud.servers()])

    def test_who_holds_a_slot_for_ever_does_not_keep_a_lease_from_ending(self) -> None:
        runner = booked().started()
        runner.cloud.allocate('ghost', runner.provider('blazar_compute-2').uuid, RESOURCE_CLASS, 1)
        self.assertEqual('1 slots are still held', runner.waits('end').why)
        runner.run('end')
        self.assertEqual({2: 1}, runner.slots())
        self.assertIsNone(runner.aggregate())

    def test_slots_that_no_aggregate_shows(self) -> None:
        runner = grown().started()
        runner.mine = {1: 2}
        aggregate = runner.present()
        for host in aggregate.hosts:
            runner.cloud.compute.remove_host(aggregate.id, host)
        runner.run('end')
        self.assertEqual([], runner.left())

    def test_a_host_that_left_the_cloud(self) -> None:
        runner = active()
        runner.cloud.remove_hypervisor('compute-2')
        runner.run('end')
        self.assertEqual([], runner.left())

    def test_nothing_is_asked_twice_of_servers_that_go(self) -> None:
        runner = active()
        runner.once('end')
        failing = FailingCallCloud(runner.cloud)
        runner.once('end', failing)
        self.assertNotIn('delete_server', failing.made)


class TestCheck(base.TestCase):
    """Drift is corrected and reported."""

    def test_it_says_what_it_repaired(self) -> None:
        runner = drifted()
        lines = runner.run('check').repaired
        for words in (
            'was not marked as it should be: affinity_id, blazar:owner, reservation',
            'had wrong extra specs',
            'host compute-2 was not in aggregate freepool',
            f'host compute-2 was not in aggregate {RESERVATION}',
            f'host compute-3 was in aggregate {RESERVATION}',
            'provider blazar_compute-2 was missing',
            'host compute-2 did not have 1 slots',
            f'project {OWNER} could not use flavor',
        ):
            self.assertTrue(any(words in line for line in lines), (words, lines))
        self.assertEqual((), runner.run('check').repaired)

    def test_a_host_that_was_set_up_again(self) -> None:
        runner = booked().started()
        placement = runner.cloud.placement
        placement.delete_provider(runner.provider('blazar_compute-2').uuid)
        other = placement.create_provider('elsewhere', None)
        placement.create_provider('blazar_compute-2', other.uuid)
        runner.run('check')
        self.assertEqual({1: 2, 2: 1}, runner.slots())
        self.assertEqual('ACTIVE', runner.boot('own-1'))

    def test_a_host_of_which_placement_does_not_know(self) -> None:
        runner = booked()
        nested, root = runner.provider('blazar_compute-2'), runner.provider('compute-2')
        runner.cloud.placement.delete_provider(nested.uuid)
        runner.cloud.placement.delete_provider(root.uuid)
        self.assertIsNone(runner.once('start'))


def flavor_runner() -> InstanceEffectRunner:
    """Return a reservation of a flavor."""
    return InstanceEffectRunner(FlavorRequest(flavor_id='gold', amount=3, source=SOURCE))


def classes(runner: InstanceEffectRunner) -> frozenset[str]:
    """Return the classes of reservations."""
    return runner.cloud.placement.list_resource_classes('CUSTOM_RESERVATION_')


def shelve(runner: InstanceEffectRunner) -> str:
    """Shelve a server, and return what became of it."""
    found: Server = next(each for each in runner.cloud.servers() if each.name == 'own-1')
    runner.cloud.compute.shelve_server(found.id)
    runner.clock.advance(1)
    return next(each.status for each in runner.cloud.servers() if each.name == 'own-1')
