# SPDX-License-Identifier: Apache-2.0

"""What reservations of instances that are over left in the cloud is found."""

from __future__ import annotations

from climate import exceptions
from climate.plugins import contract
from tests import base
from tests.unit.plugins.effect_runners import FailingCallCloud
from tests.unit.plugins.effect_runners import RESERVATION
from tests.unit.plugins.every_call import that_matter
from tests.unit.plugins.instance_effect_runner import InstanceEffectRunner
from tests.unit.plugins.instance_effect_runner import RESOURCE_CLASS
from tests.unit.plugins.test_instance_effects import active
from tests.unit.plugins.test_instance_effects import active_flavor
from tests.unit.plugins.test_instance_effects import without_aggregate
from tests.unit.plugins.test_instance_effects import without_flavor

OVER = contract.Records(alive=frozenset(), ended=frozenset({RESERVATION}))


def sweep(
    runner: InstanceEffectRunner, records: contract.Records = OVER, *, dry_run: bool = False
) -> list[contract.SweepFinding]:
    """Sweep once."""
    return list(runner.plugin.sweep(records, runner.cloud, dry_run=dry_run))


class TestSweep(base.TestCase):
    def test_everything_of_a_reservation_that_is_over(self) -> None:
        for given in (active, active_flavor, without_aggregate, without_flavor):
            runner = given()
            first = sweep(runner)
            self.assertTrue(any('server' in each.what for each in first), first)
            runner.clock.advance(1)
            second = sweep(runner)
            self.assertTrue(all(each.done == 'removed' for each in second), second)
            self.assertEqual(([], None), (runner.left(), runner.aggregate()))
            self.assertEqual([], sweep(runner))

    def test_a_dry_run_finds_the_same_and_changes_nothing(self) -> None:
        runner = active()
        for name in ('own-1', 'own-2'):
            runner.delete(name)
        failing = FailingCallCloud(runner.cloud)
        dry = list(runner.plugin.sweep(OVER, failing, dry_run=True))
        self.assertEqual([], failing.changes)
        self.assertEqual({''}, {each.done for each in dry})
        self.assertEqual([each.what for each in dry], [each.what for each in sweep(runner)])
        found = {each.what.split()[0] for each in dry}
        self.assertEqual({'inventory', 'resource', 'server', 'aggregate', 'flavor'}, found)

    def test_what_is_alive_or_unknown_is_left_alone(self) -> None:
        runner = active()
        ended = frozenset({RESERVATION})
        for records in (
            contract.Records(alive=ended, ended=ended),
            contract.Records(alive=ended, ended=frozenset()),
            contract.Records(alive=frozenset(), ended=frozenset({'another'})),
        ):
            failing = FailingCallCloud(runner.cloud)
            self.assertEqual([], list(runner.plugin.sweep(records, failing, dry_run=False)))
            self.assertEqual([], failing.changes)

    def test_the_aggregate_of_whole_hosts_is_left_alone(self) -> None:
        runner = InstanceEffectRunner()
        runner.cloud.compute.create_aggregate(RESERVATION, f'blazar_{RESERVATION}')
        self.assertEqual([], sweep(runner))

    def test_a_slot_that_is_held_is_reported_until_it_is_not(self) -> None:
        runner = InstanceEffectRunner().started()
        runner.cloud.allocate('ghost', runner.provider('blazar_compute-2').uuid, RESOURCE_CLASS, 1)
        runner.run('end')
        for _ in range(2):
            (found,) = sweep(runner)
            self.assertEqual('', found.done)
            self.assertIn('held by ghost', found.what)

    def test_each_call_fails_once(self) -> None:
        clean = active()
        calls = FailingCallCloud(clean.cloud)
        list(clean.plugin.sweep(OVER, calls, dry_run=False))
        for nth, verb in enumerate(calls.made, 1):
            for when in that_matter(verb):
                runner = active()
                self.fail_once(runner, FailingCallCloud(runner.cloud, nth, when))

    def fail_once(self, runner: InstanceEffectRunner, failing: FailingCallCloud) -> None:
        with self.assertRaises(exceptions.Transient):
            list(runner.plugin.sweep(OVER, failing, dry_run=False))
        for _ in range(2):
            sweep(runner)
            runner.clock.advance(1)
        self.assertEqual(([], None), (runner.left(), runner.aggregate()))
