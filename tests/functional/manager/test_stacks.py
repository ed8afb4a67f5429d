# SPDX-License-Identifier: Apache-2.0

"""Leases of stacks that exist: suspended until they start, kept at the end."""

from __future__ import annotations

from climate import exceptions
from tests.functional.manager import harness
from tests.functional.manager import stack_case


class TestExisting(stack_case.StackCase):
    """A stack that its owner made."""

    def test_whole_life(self) -> None:
        lease = self.existing(self.mine())
        self.site.until(50)
        self.assertEqual('SUSPEND_COMPLETE', self.state())
        self.site.until(200)
        self.assertEqual(('RESUME_COMPLETE', 'ACTIVE'), (self.state(), self.site.status(lease)))
        self.assertEqual('TERMINATED', self.site.status_at(3700, lease))
        self.assertEqual('SUSPEND_COMPLETE', self.state())
        self.assertEqual([('COMPLETE', 'end')], self.snapshots())
        facts = self.site.now(lease).reservations[0].facts
        (snapshot,) = self.heat.list_stack_snapshots(self.stack().id)
        self.assertEqual(snapshot.id, facts['snapshot_id'])
        self.heat.resume_stack(self.stack().id)
        self.assertEqual([], self.trusts())

    def test_one_that_starts_at_once_is_not_touched(self) -> None:
        self.existing(self.mine(), start=0)
        self.site.until(100)
        self.assertEqual('CREATE_COMPLETE', self.state())

    def test_one_that_was_suspended_before_is_so_again_if_nothing_comes_of_it(self) -> None:
        stack_id = self.mine()
        self.heat.suspend_stack(stack_id)
        lease = self.existing(stack_id)
        self.site.until(50)
        self.site.delete(lease)
        self.site.until(60)
        self.assertEqual(('SUSPEND_COMPLETE', 'gone'), (self.state(), self.site.status(lease)))

    def test_one_that_was_running_runs_again_if_nothing_comes_of_it(self) -> None:
        lease = self.existing(self.mine())
        self.site.until(50)
        self.site.delete(lease)
        self.site.until(60)
        self.assertEqual(('RESUME_COMPLETE', 'gone'), (self.state(), self.site.status(lease)))

    def test_no_other_lease_can_have_it(self) -> None:
        stack_id = self.mine()
        self.existing(stack_id)
        error = self.assertRaises(
            exceptions.NotEnoughResources, self.existing, 'mine', start=200, end=300
        )
        self.assertEqual(409, error.code)
        self.assertIn('stacks', error.message)
        twice = ({'resource_type': stack_case.TYPE, 'stack_id': stack_id},) * 2
        self.assertRaises(exceptions.InvalidInput, self.site.book, twice, 5000, 6000)
        self.existing(stack_id, start=4000, end=5000)

    def test_one_is_gone_before_it_starts(self) -> None:
        lease = self.existing(self.mine())
        self.site.until(50)
        self.heat.delete_stack(self.stack().id)
        self.assertEqual('ERROR', self.site.status_at(200, lease))
        self.assertIn('is gone', self.reason(lease))
        self.site.delete(lease)
        self.assertEqual('gone', self.site.status_at(210, lease))

    def test_a_suspension_that_fails_is_tried_again(self) -> None:
        stack_id = self.mine()
        self.cloud.set_seconds('stack', 5)
        self.existing(stack_id)
        self.site.until(2)
        self.assertEqual('SUSPEND_IN_PROGRESS', self.state())
        self.cloud.break_stack(stack_id)
        self.site.until(50)
        self.assertEqual('SUSPEND_COMPLETE', self.state())

    def test_one_that_its_owner_works_with_is_waited_for(self) -> None:
        stack_id = self.mine()
        lease = self.existing(stack_id)
        self.cloud.set_seconds('stack', 20)
        self.heat.snapshot_stack(stack_id, 'own')
        self.site.until(15)
        self.assertEqual('SNAPSHOT_IN_PROGRESS', self.state())
        self.site.until(90)
        self.assertEqual('SUSPEND_COMPLETE', self.state())
        self.assertEqual([], self.site.reasons(lease))

    def test_what_broke_while_it_waited_is_reported(self) -> None:
        stack_id = self.mine()
        lease = self.existing(stack_id, start=0)
        self.cloud.set_seconds('stack', 5)
        self.heat.snapshot_stack(stack_id, 'own')
        self.cloud.break_stack(stack_id, 'the disk is full')
        self.assertEqual('ERROR', self.site.status_at(20, lease))
        self.assertIn('the disk is full', self.reason(lease))

    def test_what_becomes_of_it_during_the_lease_is_reported_and_left_alone(self) -> None:
        lease = self.existing(self.mine())
        self.site.until(200)
        self.heat.suspend_stack(self.stack().id)
        list(self.site.repair().run())
        self.assertEqual('SUSPEND_COMPLETE', self.state())
        self.assertFalse(self.site.now(lease).degraded)
        self.heat.delete_stack(self.stack().id)
        list(self.site.repair().run())
        self.assertTrue(self.site.now(lease).degraded)
        self.site.manager.send()
        self.assertIn('is gone', self.site.bus.last('lease.degraded')['reason'])
        self.assertEqual('TERMINATED', self.site.status_at(3700, lease))


class TestEnd(stack_case.StackCase):
    """What is done at the end, and that nothing else is done if it fails."""

    def test_a_snapshot_whose_answer_is_lost_is_taken_once(self) -> None:
        self.existing(self.mine())
        self.site.until(3590)
        self.cloud.fail('orchestration.snapshot_stack', when='after')
        self.site.until(3700)
        self.assertEqual([('COMPLETE', 'end')], self.snapshots())
        self.assertEqual('SUSPEND_COMPLETE', self.state())

    def test_one_that_is_suspended_is_resumed_for_its_snapshot(self) -> None:
        self.existing(self.mine())
        self.site.until(200)
        self.heat.suspend_stack(self.stack().id)
        self.site.until(3700)
        self.assertEqual([('COMPLETE', 'end')], self.snapshots())
        self.assertEqual('SUSPEND_COMPLETE', self.state())

    def test_nothing_else_is_done_after_a_snapshot_that_failed(self) -> None:
        stack_id = self.mine()
        lease = self.existing(stack_id)
        self.site.until(200)
        self.cloud.set_seconds('stack', 3)
        for second in range(3600, 3680):
            self.site.until(second)
            if self.state() == 'SNAPSHOT_IN_PROGRESS':
                self.cloud.break_stack(stack_id, 'no room for images')
        self.assertEqual('ERROR', self.site.status(lease))
        self.assertIn('no room for images', self.reason(lease))
        self.assertEqual([('FAILED', 'end')] * 3, self.snapshots())
        self.assertEqual('SNAPSHOT_FAILED', self.state())
        # What its owner does about it helps, and else nothing is done.
        self.heat.delete_stack(stack_id)
        self.assertEqual('TERMINATED', self.site.status_at(3800, lease))

    def test_a_snapshot_before_the_end_as_well(self) -> None:
        lease = self.existing(self.mine(), before_end=['snapshot', 'notify'])
        self.site.until(200)
        self.site.update(lease, end=3000, before_end_date=harness.at(2000))
        self.site.until(2100)
        self.assertEqual([('COMPLETE', 'before')], self.snapshots())
        self.site.until(3100)
        self.assertEqual([('COMPLETE', 'before'), ('COMPLETE', 'end')], self.snapshots())

    def test_none_is_taken_before_the_end_of_one_that_is_suspended(self) -> None:
        lease = self.existing(self.mine(), before_end=['snapshot'])
        self.site.until(200)
        self.site.update(lease, before_end_date=harness.at(2000))
        self.heat.suspend_stack(self.stack().id)
        self.site.until(2100)
        self.assertIn('is suspended', self.reason(lease))
        self.assertEqual('ACTIVE', self.site.status(lease))
        self.assertEqual([], self.snapshots())

    def test_only_what_is_wanted(self) -> None:
        lease = self.existing(self.mine(), on_end=[])
        self.site.until(3700)
        self.assertEqual(('RESUME_COMPLETE', 'TERMINATED'), (self.state(), self.site.status(lease)))

    def test_one_that_exists_is_deleted_if_its_owner_says_so(self) -> None:
        self.existing(self.mine(), on_end=['delete'])
        self.site.until(3700)
        self.assertIsNone(self.heat.find_stack('mine'))

    def test_a_deletion_that_fails_is_tried_again(self) -> None:
        stack_id = self.mine()
        lease = self.existing(stack_id, on_end=['suspend', 'delete'])
        self.site.until(3599)
        self.cloud.set_seconds('stack', 3)
        for second in range(3600, 3620):
            self.site.until(second)
            found = self.heat.find_stack(stack_id)
            if found is not None and found.action == 'DELETE':
                break
        self.cloud.break_stack(stack_id, 'a port is in use')
        self.site.until(3700)
        self.assertIsNone(self.heat.find_stack('mine'))
        self.assertEqual('TERMINATED', self.site.status(lease))

    def test_what_is_wanted_can_be_changed_while_it_runs(self) -> None:
        lease = self.existing(self.mine())
        self.site.until(200)
        self.site.change(lease, ({'on_end': ['suspend']},))
        self.assertEqual('ACTIVE', self.site.status(lease))
        self.site.until(3700)
        self.assertEqual([], self.snapshots())
        self.assertEqual('SUSPEND_COMPLETE', self.state())
