# SPDX-License-Identifier: Apache-2.0

"""Hosts come into the pool and leave it."""

from __future__ import annotations

from climate import exceptions
from climate.cloud.base import CloudNotFound
from climate.plugins.host import errors
from climate.plugins.host.isolation import Isolation
from tests import base
from tests.unit.plugins.effect_runners import draft
from tests.unit.plugins.effect_runners import FailingCallCloud
from tests.unit.plugins.effect_runners import HostEffectRunner
from tests.unit.plugins.effect_runners import OTHER


class TestResources(base.TestCase):
    """Hosts come and go."""

    def test_discover_and_release(self) -> None:
        runner = HostEffectRunner()
        resource = runner.resources[0]
        self.assert_has(resource.attributes, service_name='compute-1', vcpus=16)
        found = {item.resource_class for item in resource.inventories}
        self.assertEqual({'DISK_GB', 'MEMORY_MB', 'VCPU'}, found)
        self.assertIn('HW_CPU_X86_AVX2', resource.traits)
        for _ in range(2):
            runner.plugin.release(resource, runner.cloud)
            self.assertEqual([], runner.places()['compute-1'])
        for _ in range(2):
            runner.plugin.admit(resource, runner.cloud)
            self.assertEqual(['freepool'], runner.places()['compute-1'])

    def test_refusals(self) -> None:
        runner = HostEffectRunner()
        with self.assertRaises(errors.HostNotFound):
            runner.plugin.discover(draft('compute-9'), runner.cloud)
        runner.cloud.boot_server('compute-1', OTHER, 'stranger')
        error = self.assertRaises(
            errors.HostHavingServers, runner.plugin.discover, draft('compute-1'), runner.cloud
        )
        self.assertIn('compute-1', error.message)
        with self.assertRaises(errors.HostHavingServers):
            runner.plugin.release(runner.resources[0], runner.cloud)
        # They are there although Nova does not list them just now.
        runner.cloud.hide_servers('compute-1')
        again = self.assertRaises(
            errors.HostHavingServers, runner.plugin.discover, draft('compute-1'), runner.cloud
        )
        self.assertEqual(error.message, again.message)

    def test_without_a_pool(self) -> None:
        runner = HostEffectRunner()
        runner.delete_aggregate(runner.pool())
        with self.assertRaises(errors.FreePoolNotFound):
            runner.plugin.admit(runner.resources[0], runner.cloud)
        runner.plugin.release(runner.resources[0], runner.cloud)

    def test_each_call_of_coming_and_going_fails_once(self) -> None:
        for effect, places in (('admit', ['freepool']), ('release', [])):
            for nth in range(1, 8):
                for when in ('before', 'after'):
                    runner = HostEffectRunner()
                    if effect == 'admit':
                        runner.plugin.release(runner.resources[0], runner.cloud)
                    failing = FailingCallCloud(runner.cloud, nth, when)
                    verb = getattr(runner.plugin, effect)
                    try:
                        verb(runner.resources[0], failing)
                    except exceptions.Transient:
                        verb(runner.resources[0], runner.cloud)
                    self.assertEqual(places, runner.places()['compute-1'])
                    nested = runner.cloud.placement.find_provider('blazar_compute-1')
                    self.assertEqual(effect == 'admit', nested is not None)

    def test_slots_are_counted_in_a_provider_of_our_own(self) -> None:
        runner = HostEffectRunner()
        runner.configure(Isolation.PLACEMENT)
        placement = runner.cloud.placement
        for trait in (frozenset(), {'CUSTOM_CLIMATE_FREEPOOL'}):
            nested, root = runner.provider('blazar_compute-1'), runner.provider('compute-1')
            self.assertEqual(root.uuid, nested.parent_uuid)
            self.assertEqual(trait, placement.traits(nested.uuid))
            runner.plugin.admit(runner.resources[0], runner.cloud)

    def test_a_provider_that_placement_does_not_know(self) -> None:
        runner = HostEffectRunner()
        runner.plugin.release(runner.resources[0], runner.cloud)
        provider = runner.provider('compute-1')
        runner.cloud.placement.delete_provider(provider.uuid)
        resource = runner.plugin.discover(draft('compute-1'), runner.cloud)
        self.assertEqual(((), frozenset()), (resource.inventories, resource.traits))
        self.assertRaises(CloudNotFound, runner.cloud.placement.traits, provider.uuid)
        # It can be leased as a whole.
        runner.plugin.admit(resource, runner.cloud)
        self.assertEqual(['freepool'], runner.places()['compute-1'])
        self.assertIsNone(runner.cloud.placement.find_provider('blazar_compute-1'))
