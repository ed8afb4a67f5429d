# SPDX-License-Identifier: Apache-2.0

"""What the tests with stacks of the real heat-engine have in common."""

from __future__ import annotations

from typing import Any

import openstack

from tests.cloud.field import FieldTest
from tests.cloud.people import Person
from tests.cloud.waiting import until


class StackTest(FieldTest):
    """A test that makes stacks, which are gone before the cloud is looked over."""

    # The heat-engine goes to the Climate of its own region.
    site = 1
    _made = 0

    def make(
        self, person: Person, template: Any, **parameters: str | int
    ) -> tuple[Any, dict[str, Any]]:
        """Return a stack that is made, or is not, and its outputs."""
        stack = self.begin(person, template, **parameters)
        ended = self.ended(person, stack, 'CREATE_IN_PROGRESS')
        return ended, self.outputs(ended)

    def begin(self, person: Person, template: Any, **parameters: str | int) -> Any:
        """Return a stack that Heat begins to make."""
        heat = person.sdk.orchestration
        self._made += 1
        # A name is free only some time after Heat says that the stack is gone.
        name = self.name(f'{self._testMethodName}-{self._made}')
        stack = heat.create_stack(name=name, template=template, parameters=parameters)
        self.addCleanup(self.remove, person, stack)
        return stack

    def ended(self, person: Person, stack: Any, status: str) -> Any:
        """Return the stack as soon as it does not have a status any more."""
        heat = person.sdk.orchestration
        return until(
            lambda: found if (found := heat.get_stack(stack.id)).status != status else None,
            90,
            f'the stack is no more {status}',
        )

    def change(
        self, person: Person, stack: Any, template: Any, **parameters: str | int
    ) -> tuple[Any, dict[str, Any]]:
        """Return the stack when it is updated, or is not, and its outputs."""
        heat = person.sdk.orchestration
        before = heat.get_stack(stack.id)
        heat.update_stack(before, template=template, parameters=parameters)
        # Heat is still at the state before when it answers.
        until(
            lambda: heat.get_stack(stack.id).updated_at != before.updated_at,
            30,
            'the update has begun',
        )
        ended = self.ended(person, stack, 'UPDATE_IN_PROGRESS')
        return ended, self.outputs(ended)

    def outputs(self, stack: Any) -> dict[str, Any]:
        return {each['output_key']: each['output_value'] for each in stack.outputs or ()}

    def remove(self, person: Person, stack: Any) -> None:
        """Delete a stack, and return when it is gone; it may be gone already."""
        person.sdk.orchestration.delete_stack(stack.id, ignore_missing=True)
        until(lambda: self.status(person, stack) == 'DELETE_COMPLETE', 60, 'the stack is gone')

    def status(self, person: Person, stack: Any) -> str:
        try:
            return str(person.sdk.orchestration.get_stack(stack.id).status)
        except openstack.exceptions.NotFoundException:
            return 'DELETE_COMPLETE'
