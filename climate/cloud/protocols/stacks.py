# SPDX-License-Identifier: Apache-2.0

"""Stacks: groups of resources that Heat creates, manages and deletes together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any
from typing import Literal
from typing import Protocol


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StackDraft:
    """A stack to create; its texts may contain secrets, its name must not.

    :ivar template: YAML or JSON text
    :ivar parameters: values for the parameters of the template
    :ivar environment: YAML or JSON text; '' for none
    :ivar files: texts to which template and environment refer, by name
    :ivar tags: without commas and slashes
    """

    name: str
    template: str = dataclasses.field(repr=False)
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)
    environment: str = dataclasses.field(default='', repr=False)
    files: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False)
    tags: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PlannedResource:
    """A resource that a stack would have.

    :ivar name: unique within its stack, which may be nested
    :ivar type: such as ``OS::Nova::Server``
    :ivar properties: the properties in the template, with parameters resolved; may
        include defaults of other properties
    :ivar physical_id: the id of an existing object to which the template refers;
        '' for an object to create
    """

    name: str
    type: str
    properties: Mapping[str, Any]
    physical_id: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Stack:
    """A stack.

    :ivar action: the latest operation, such as ``CREATE`` or ``SUSPEND``
    :ivar status: the status of that operation
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
        """Whether an operation is in progress."""
        return self.status == 'IN_PROGRESS'

    @property
    def suspended(self) -> bool:
        """Whether it is completely suspended."""
        return (self.action, self.status) == ('SUSPEND', 'COMPLETE')


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StackSnapshot:
    """A snapshot of a stack: of its servers and volumes, and of their connections.

    :ivar status: such as ``IN_PROGRESS``, ``COMPLETE`` or ``FAILED``
    """

    id: str
    name: str
    status: str
    reason: str


class Stacks(Protocol):
    """Operations on stacks.

    Operations take a while; :meth:`find_stack` shows their progress. Heat accepts some
    requests that it cannot carry out, and that make the stack fail: it suspends a stack
    that is being created or deleted, and resumes one that was never suspended. These
    methods check the state first and refuse such requests, except for those that race
    with another client.
    """

    def preview_stack(self, draft: StackDraft) -> tuple[PlannedResource, ...]:
        """Return the resources that a stack would have at most; creates nothing.

        Nested stacks and groups are resolved into their resources, and groups that
        can grow have their maximum number of members.

        :raises CloudConflict: if the caller's project has a stack with this name
        :raises climate.exceptions.Permanent: if Heat rejects the stack, with its reason
        """

    def create_stack(self, draft: StackDraft) -> str:
        """Start to create a stack in the caller's project, and return its id.

        :raises CloudConflict: if the project has a stack with this name (possibly
            created by an earlier call whose response was lost: see :meth:`find_stack`)
        :raises climate.exceptions.Permanent: if Heat rejects the stack, with its reason
        """

    def find_stack(self, name_or_id: str) -> Stack | None:
        """Return a stack; None if it does not exist or was deleted.

        :param name_or_id: the id of a stack of any project, if the caller may see it,
            or the name of a stack of the caller's project
        """

    def suspend_stack(self, stack_id: str) -> None:
        """Start to suspend a stack; a no-op if it is, or is being, suspended.

        :raises CloudNotFound: if there is no such stack
        :raises CloudConflict: if another operation is in progress, or its creation has
            failed
        """

    def resume_stack(self, stack_id: str) -> None:
        """Start to resume a stack; a no-op if it is running or being resumed.

        :raises CloudNotFound: if there is no such stack
        :raises CloudConflict: if another operation is in progress
        """

    def snapshot_stack(self, stack_id: str, name: str) -> str:
        """Start to take a snapshot of a stack and return the snapshot's id.

        Not idempotent: names of snapshots are not unique. It belongs to the project of the
        caller, and other projects cannot see it.

        :raises CloudNotFound: if there is no such stack
        :raises CloudConflict: if an operation is in progress, or the stack is suspended:
            it could never be resumed afterwards
        """

    def list_stack_snapshots(self, stack_id: str) -> tuple[StackSnapshot, ...]:
        """Return the snapshots of a stack, by name and id; empty if the stack does not exist."""

    def delete_stack(self, stack_id: str) -> None:
        """Start to delete a stack, with its snapshots; a no-op if it is gone or being deleted.

        Any other operation in progress is cancelled.
        """
