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

"""Stacks: groups of things that Heat makes, holds and removes together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any
from typing import Literal
from typing import Protocol


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StackDraft:
    """What a stack is made of; its texts may hold secrets, and its name none.

    :ivar template: YAML or JSON text
    :ivar parameters: values for the parameters of the template
    :ivar environment: YAML or JSON text; '' for none
    :ivar files: texts that template and environment name, by their names
    :ivar tags: to be found by; neither commas nor slashes
    """

    name: str
    template: str = dataclasses.field(repr=False)
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)
    environment: str = dataclasses.field(default='', repr=False)
    files: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False)
    tags: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PlannedResource:
    """Something that a stack is to consist of.

    :ivar name: within its group, which may be a nested stack
    :ivar type: such as ``OS::Nova::Server``
    :ivar properties: as the template has them, with the parameters filled in;
        the defaults of others may be among them
    :ivar physical_id: of an existing object that the template only names;
        '' of an object to create
    """

    name: str
    type: str
    properties: Mapping[str, Any]
    physical_id: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Stack:
    """A stack as it is.

    :ivar action: what was done with it last, such as ``CREATE`` or ``SUSPEND``
    :ivar status: how far that is
    :ivar reason: Heat's explanation of the status
    """

    id: str
    name: str
    project_id: str
    action: str
    status: Literal['IN_PROGRESS', 'COMPLETE', 'FAILED']
    reason: str
    tags: tuple[str, ...]

    @property
    def busy(self) -> bool:
        """Whether Heat is doing something with it."""
        return self.status == 'IN_PROGRESS'

    @property
    def suspended(self) -> bool:
        """Whether it stands still as a whole."""
        return (self.action, self.status) == ('SUSPEND', 'COMPLETE')


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StackResource:
    """Something that a stack consists of.

    :ivar physical_id: its id in the service that has it; '' if it has none
    :ivar status: such as ``CREATE_COMPLETE``
    """

    name: str
    type: str
    physical_id: str
    status: str
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StackSnapshot:
    """A picture of a stack: of its servers and volumes, and how they belong together.

    :ivar status: such as ``IN_PROGRESS``, ``COMPLETE`` or ``FAILED``
    """

    id: str
    name: str
    status: str
    reason: str


class Stacks(Protocol):
    """Verbs about stacks.

    All that is done with a stack takes its time: :meth:`find_stack` tells how
    far it is. Heat takes some orders that it then fails to carry out, and the
    stack with it: it suspends what is just being made, or deleted, and
    resumes what was never suspended. These verbs look at the stack first and
    refuse what Heat should; who comes at the same instant may still slip in
    between.
    """

    def preview_stack(self, draft: StackDraft) -> tuple[PlannedResource, ...]:
        """Return what a stack would consist of at most; nothing is made.

        Nested stacks and groups are resolved into what is in them, and groups
        that grow have as many members as they may ever have.

        :raises CloudConflict: if the caller's project has a stack of this name
        :raises climate.exceptions.Permanent: if Heat takes no such stack, with
            its reason
        """
        ...

    def create_stack(self, draft: StackDraft) -> str:
        """Begin to make a stack in the caller's project, and return its id.

        :raises CloudConflict: if the project has a stack of this name (perhaps
            made by a call before, whose answer was lost: see
            :meth:`find_stack`)
        :raises climate.exceptions.Permanent: if Heat takes no such stack, with
            its reason
        """
        ...

    def find_stack(self, name_or_id: str) -> Stack | None:
        """Return a stack; None if there is none, or none any more.

        :param name_or_id: the id of one of any project, if the caller may see
            it, or the name of one of the caller's project
        """
        ...

    def list_stack_resources(self, stack_id: str) -> tuple[StackResource, ...]:
        """Return what a stack consists of, nested stacks included, by name.

        :raises CloudNotFound: if there is no such stack
        """
        ...

    def suspend_stack(self, stack_id: str) -> None:
        """Begin to suspend a stack; fine if it is suspended, or being suspended.

        :raises CloudNotFound: if there is no such stack
        :raises CloudConflict: if Heat is doing something else with it, or has
            failed to make it
        """
        ...

    def resume_stack(self, stack_id: str) -> None:
        """Begin to resume a stack; fine if it is not suspended, or being resumed.

        :raises CloudNotFound: if there is no such stack
        :raises CloudConflict: if Heat is doing something else with it
        """
        ...

    def snapshot_stack(self, stack_id: str, name: str) -> str:
        """Begin to take a snapshot of a stack and return the snapshot's id.

        Repeating it takes another one: names of snapshots are not unique. It
        belongs to the project of the caller, and no other project sees it.

        :raises CloudNotFound: if there is no such stack
        :raises CloudConflict: if Heat is doing something with it, or it is
            suspended: it could never be resumed afterwards
        """
        ...

    def find_stack_snapshot(self, stack_id: str, snapshot_id: str) -> StackSnapshot | None:
        """Return a snapshot of a stack; None if there is none."""
        ...

    def list_stack_snapshots(self, stack_id: str) -> tuple[StackSnapshot, ...]:
        """Return the snapshots of a stack, by name and id; none if there is no such stack."""
        ...

    def delete_stack(self, stack_id: str) -> None:
        """Begin to delete a stack, with its snapshots; fine if it is gone or going.

        Whatever else Heat is doing with it is broken off.
        """
        ...
