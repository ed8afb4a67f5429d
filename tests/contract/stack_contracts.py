# SPDX-License-Identifier: Apache-2.0

"""What every client of Heat is held to."""

from __future__ import annotations

from typing import Any

from climate import exceptions
from climate.cloud import base
from climate.cloud.protocols.stacks import Stack
from climate.cloud.protocols.stacks import StackDraft
from tests import waiting
from tests.contract import backends
from tests.contract import contracts
from tests.narrowing import present

PATIENCE = 60
VERSION = 'heat_template_version: 2021-04-16\n'
SMALL = f"""{VERSION}
resources:
  one: {{type: OS::Heat::TestResource, properties: {{value: x}}}}
  two: {{type: OS::Heat::RandomString}}
"""
SLOW = f"""{VERSION}
parameters:
  seconds: {{type: number}}
resources:
  wait:
    type: OS::Heat::Delay
    properties:
      min_wait: {{get_param: seconds}}
      actions: [CREATE, SUSPEND, RESUME, DELETE]
"""
SLOW_LATER = SLOW.replace('CREATE, ', '')
BROKEN = f"""{VERSION}
resources:
  bad: {{type: OS::Heat::TestResource, properties: {{fail: true}}}}
"""


class StackCase(contracts.Contract):
    """Makes stacks that go away after the test."""

    def setUp(self) -> None:
        super().setUp()
        self.cloud: base.Cloud = self.backend.cloud
        self.heat = self.cloud.orchestration

    def draft(self, template: str = SMALL, **values: Any) -> StackDraft:
        """Return a stack to be made, of a name that nothing has."""
        values.setdefault('name', backends.unique('contract'))
        return StackDraft(template=template, **values)

    def slow(self, template: str = SLOW) -> str:
        """Begin to make a stack that takes a while, and return its id."""
        return self.make(self.draft(template, parameters={'seconds': self.backend.pause}))

    def make(self, draft: StackDraft, heat: base.Orchestration | None = None) -> str:
        """Begin to make a stack and return its id."""
        stack_id = (heat or self.heat).create_stack(draft)
        self.addCleanup(self.heat.delete_stack, stack_id)
        return stack_id

    def find(self, stack_id: str) -> Stack:
        """Return a stack as it is now."""
        return present(self.heat.find_stack(stack_id))

    def settled(self, stack_id: str) -> Stack:
        """Return a stack as soon as nothing is being done with it."""
        return waiting.until(
            lambda: (found := self.find(stack_id)) and not found.busy and found,
            PATIENCE,
            f'stack {stack_id} has settled',
        )

    def made(self) -> str:
        """Return the id of a small stack that is there."""
        stack_id = self.make(self.draft())
        self.check(stack_id, 'CREATE', 'COMPLETE')
        return stack_id

    def check(self, stack_id: str, action: str, status: str) -> None:
        """Check what a stack comes to."""
        found = self.settled(stack_id)
        self.assertEqual((action, status), (found.action, found.status), found.reason)

    def gone(self, stack_id: str) -> None:
        """Wait until a stack is gone."""
        waiting.until(
            lambda: self.heat.find_stack(stack_id) is None, PATIENCE, f'{stack_id} is gone'
        )


class PlanContract(StackCase):
    """preview_stack, and what Heat refuses."""

    def test_groups_and_nested_stacks_are_resolved_and_at_their_largest(self) -> None:
        template = f"""{VERSION}
parameters:
  size: {{type: number}}
  most: {{type: number, default: 4}}
resources:
  single: {{type: OS::Cinder::Volume, properties: {{size: {{get_param: size}}}}}}
  fixed:
    type: OS::Heat::ResourceGroup
    properties:
      count: 2
      resource_def: {{type: OS::Heat::TestResource, properties: {{value: fixed}}}}
  growing:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 1
      max_size: {{get_param: most}}
      desired_capacity: 1
      resource: {{type: child.yaml, properties: {{size: 3}}}}
"""
        child = f"""{VERSION}
parameters: {{size: {{type: number}}}}
resources:
  v: {{type: OS::Cinder::Volume, properties: {{size: {{get_param: size}}}}}}
  more:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 0
      max_size: 2
      resource: {{type: OS::Heat::TestResource, properties: {{value: more}}}}
"""
        draft = self.draft(template, parameters={'size': 7}, files={'child.yaml': child})
        found = self.heat.preview_stack(draft)
        sizes = sorted(
            int(item.properties['size']) for item in found if item.type == 'OS::Cinder::Volume'
        )
        self.assertEqual([3, 3, 3, 3, 7], sizes)
        values = sorted(
            item.properties['value'] for item in found if item.type == 'OS::Heat::TestResource'
        )
        self.assertEqual(['fixed'] * 2 + ['more'] * 8, values)
        self.assertEqual(15, len(found))
        self.assertIsNone(self.heat.find_stack(draft.name))

    def test_an_environment_fills_in_parameters(self) -> None:
        template = f"""{VERSION}
parameters: {{size: {{type: number}}}}
resources: {{v: {{type: OS::Cinder::Volume, properties: {{size: {{get_param: size}}}}}}}}
"""
        draft = self.draft(template, environment='parameters: {size: 9}')
        (found,) = self.heat.preview_stack(draft)
        self.assertEqual(9, int(found.properties['size']))

    def test_what_heat_does_not_take_is_refused_with_its_reason(self) -> None:
        for template, reason in (
            ('not: [yaml', 'valid format'),
            ('resources: {}', 'version'),
            (f'{VERSION}resources: {{x: {{type: OS::Heat::Nonsense}}}}', 'OS::Heat::Nonsense'),
            (f'{VERSION}parameters: {{needed: {{type: string}}}}', 'needed'),
            (SLOW.replace('CREATE', 'SNAPSHOT').replace('number', 'number, default: 1'), 'actions'),
        ):
            for verb in (self.heat.preview_stack, self.heat.create_stack):
                error = self.assertRaises(exceptions.Permanent, verb, self.draft(template))
                self.assertIs(exceptions.Permanent, type(error), error.message)
                self.assertIn(reason, error.message)

    def test_a_name_may_be_wrong(self) -> None:
        for name in ('1st', 'a b', 'a' * 256):
            self.assertRaises(exceptions.Permanent, self.heat.create_stack, self.draft(name=name))

    def test_names_are_unique(self) -> None:
        draft = self.draft()
        self.make(draft)
        self.assertRaises(base.CloudConflict, self.heat.create_stack, draft)
        self.assertRaises(base.CloudConflict, self.heat.preview_stack, draft)


class LifeContract(StackCase):
    """Everything that is done with a stack."""

    def test_made_found_and_deleted_and_again(self) -> None:
        draft = self.draft(tags=('climate', 'reservation:1'))
        stack_id = self.make(draft)
        self.assertRegex(stack_id, backends.UUID)
        found = self.settled(stack_id)
        self.assertEqual((stack_id, draft.name), (found.id, found.name))
        self.assertEqual(('CREATE', 'COMPLETE'), (found.action, found.status))
        self.assertEqual(draft.tags, found.tags)
        self.assertTrue(found.reason)
        self.assertTrue(found.project_id)
        self.assertEqual(found, self.heat.find_stack(draft.name))
        for _ in range(2):
            self.heat.delete_stack(stack_id)
        self.gone(stack_id)
        self.heat.delete_stack(stack_id)
        self.assertIsNone(self.heat.find_stack(draft.name))

    def test_what_fails_says_why(self) -> None:
        stack_id = self.make(self.draft(BROKEN))
        self.check(stack_id, 'CREATE', 'FAILED')
        self.assertIn('bad', self.find(stack_id).reason)
        self.assertRaises(base.CloudConflict, self.heat.suspend_stack, stack_id)
        self.heat.delete_stack(stack_id)
        self.gone(stack_id)

    def test_suspended_and_resumed_and_again(self) -> None:
        stack_id = self.made()
        for _ in range(2):
            for _ in range(2):
                self.heat.suspend_stack(stack_id)
                self.check(stack_id, 'SUSPEND', 'COMPLETE')
                self.assertTrue(self.find(stack_id).suspended)
            for _ in range(2):
                self.heat.resume_stack(stack_id)
                self.check(stack_id, 'RESUME', 'COMPLETE')

    def test_what_was_never_suspended_is_not_resumed(self) -> None:
        stack_id = self.made()
        self.heat.resume_stack(stack_id)
        self.check(stack_id, 'CREATE', 'COMPLETE')

    def test_what_is_being_made_is_left_alone(self) -> None:
        stack_id = self.slow()
        self.assertTrue(self.find(stack_id).busy)
        self.assertRaises(base.CloudConflict, self.heat.suspend_stack, stack_id)
        self.assertRaises(base.CloudConflict, self.heat.resume_stack, stack_id)
        self.assertRaises(base.CloudConflict, self.heat.snapshot_stack, stack_id, 's')
        self.check(stack_id, 'CREATE', 'COMPLETE')

    def test_what_is_being_made_can_be_deleted(self) -> None:
        stack_id = self.slow()
        self.heat.delete_stack(stack_id)
        self.gone(stack_id)

    def test_what_is_being_suspended_may_be_suspended_again(self) -> None:
        stack_id = self.slow(SLOW_LATER)
        self.settled(stack_id)
        for _ in range(2):
            self.heat.suspend_stack(stack_id)
        self.assertRaises(base.CloudConflict, self.heat.resume_stack, stack_id)
        self.check(stack_id, 'SUSPEND', 'COMPLETE')

    def test_what_is_going_is_left_alone(self) -> None:
        stack_id = self.slow(SLOW_LATER)
        self.settled(stack_id)
        self.heat.delete_stack(stack_id)
        waiting.until(lambda: self.find(stack_id).action == 'DELETE', PATIENCE, 'it is going')
        self.assertRaises(base.CloudConflict, self.heat.suspend_stack, stack_id)
        self.assertRaises(base.CloudConflict, self.heat.snapshot_stack, stack_id, 's')
        self.heat.delete_stack(stack_id)
        self.gone(stack_id)

    def test_what_is_not_there_is_reported(self) -> None:
        self.assertIsNone(self.heat.find_stack(contracts.NOBODY))
        self.assertIsNone(self.heat.find_stack('a/b?c=d'))
        self.assertEqual((), self.heat.list_stack_snapshots(contracts.NOBODY))
        for verb in (self.heat.suspend_stack, self.heat.resume_stack):
            self.assertRaises(base.CloudNotFound, verb, contracts.NOBODY)
        self.assertRaises(base.CloudNotFound, self.heat.snapshot_stack, contracts.NOBODY, 's')
        self.heat.delete_stack(contracts.NOBODY)

    def snapshots(self, stack_id: str) -> list[tuple[str, str]]:
        """Return the ids of the snapshots of a stack, and their statuses."""
        return [(item.id, item.status) for item in self.heat.list_stack_snapshots(stack_id)]

    def test_snapshots(self) -> None:
        stack_id = self.made()
        ids = []
        for _ in range(2):
            ids.append(self.heat.snapshot_stack(stack_id, 'mine'))
            waiting.until(
                lambda: (ids[-1], 'COMPLETE') in self.snapshots(stack_id),
                PATIENCE,
                'the snapshot is complete',
            )
            self.check(stack_id, 'SNAPSHOT', 'COMPLETE')
        self.assertNotEqual(*ids)
        found = self.heat.list_stack_snapshots(stack_id)
        self.assertEqual(sorted(ids), sorted(item.id for item in found))
        self.assertEqual({('mine', 'COMPLETE')}, {(item.name, item.status) for item in found})
        self.heat.suspend_stack(stack_id)
        self.check(stack_id, 'SUSPEND', 'COMPLETE')
        # It could never be resumed.
        self.assertRaises(base.CloudConflict, self.heat.snapshot_stack, stack_id, 's')
        self.heat.resume_stack(stack_id)
        self.check(stack_id, 'RESUME', 'COMPLETE')


class LostStackContract(StackCase):
    """Answers that get lost."""

    def test_made_although_the_answer_was_lost(self) -> None:
        draft = self.draft()
        self.lost('orchestration.create_stack', self.make, draft)
        self.addCleanup(self.heat.delete_stack, present(self.heat.find_stack(draft.name)).id)
        self.assertRaises(base.CloudConflict, self.make, draft)

    def test_suspended_resumed_and_deleted_although_the_answer_was_lost(self) -> None:
        stack_id = self.made()
        self.lost('orchestration.suspend_stack', self.heat.suspend_stack, stack_id)
        self.heat.suspend_stack(stack_id)
        self.check(stack_id, 'SUSPEND', 'COMPLETE')
        self.lost('orchestration.resume_stack', self.heat.resume_stack, stack_id)
        self.heat.resume_stack(stack_id)
        self.check(stack_id, 'RESUME', 'COMPLETE')
        self.lost('orchestration.snapshot_stack', self.heat.snapshot_stack, stack_id, 's')
        self.check(stack_id, 'SNAPSHOT', 'COMPLETE')
        self.lost('orchestration.delete_stack', self.heat.delete_stack, stack_id)
        self.heat.delete_stack(stack_id)
        self.gone(stack_id)


class StackOfOthersContract(StackCase):
    """Stacks in the projects of users."""

    def setUp(self) -> None:
        super().setUp()
        self.person = self.backend.person('member', 'reader')
        self.addCleanup(self.person.remove)
        self.theirs = self.cloud.of_caller(self.person.token).orchestration

    def test_we_take_care_of_the_stacks_of_users(self) -> None:
        draft = self.draft()
        stack_id = self.make(draft, self.theirs)
        self.addCleanup(self.gone, stack_id)
        self.check(stack_id, 'CREATE', 'COMPLETE')
        self.assertEqual(self.person.project_id, self.find(stack_id).project_id)
        self.assertEqual(self.find(stack_id), self.theirs.find_stack(draft.name))
        self.assertIsNone(self.heat.find_stack(draft.name))
        self.heat.suspend_stack(stack_id)
        self.check(stack_id, 'SUSPEND', 'COMPLETE')
        self.heat.resume_stack(stack_id)
        self.check(stack_id, 'RESUME', 'COMPLETE')
        self.heat.snapshot_stack(stack_id, 's')
        self.check(stack_id, 'SNAPSHOT', 'COMPLETE')
        self.heat.delete_stack(stack_id)
        self.gone(stack_id)

    def test_users_see_nothing_of_others(self) -> None:
        stack_id = self.made()
        self.assertIsNone(self.theirs.find_stack(stack_id))
        self.assertRaises(base.CloudNotFound, self.theirs.suspend_stack, stack_id)
        self.theirs.delete_stack(stack_id)
        self.check(stack_id, 'CREATE', 'COMPLETE')

    def trusted(self, *, redelegate: bool) -> base.Orchestration:
        """Return Heat as the person sees it who trusts us."""
        roles = frozenset({'member', 'reader'})
        create = self.cloud.identity.create_trust
        trust = create(self.person.token, roles=roles, redelegate=redelegate)
        self.addCleanup(self.cloud.identity.delete_trust, trust.id)
        return self.cloud.acting_for(trust.id).orchestration

    def test_who_is_trusted_to_hand_it_on_makes_stacks(self) -> None:
        stack_id = self.make(self.draft(), self.trusted(redelegate=True))
        self.addCleanup(self.gone, stack_id)
        self.check(stack_id, 'CREATE', 'COMPLETE')
        self.assertEqual(self.person.project_id, self.find(stack_id).project_id)
        self.heat.delete_stack(stack_id)
        self.gone(stack_id)

    def test_who_is_only_trusted_makes_none(self) -> None:
        heat = self.trusted(redelegate=False)
        self.assertRaises(exceptions.Transient, heat.create_stack, self.draft())
        self.assertEqual(2, len(heat.preview_stack(self.draft())))


class StackContract(PlanContract, LifeContract, LostStackContract, StackOfOthersContract):
    """Every verb of Orchestration."""
