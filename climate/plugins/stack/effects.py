# SPDX-License-Identifier: Apache-2.0

"""The effects on stacks.

Climate creates stacks and takes snapshots with the rights of the user, and does
everything else with its own. It finds a created stack by its name and its tag, and
snapshots by their names. Heat refuses most operations on a stack in progress, so
each step checks the stack first, and waits.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging

from climate import exceptions
from climate.cloud import base
from climate.cloud.protocols.stacks import Stack
from climate.cloud.protocols.stacks import StackSnapshot
from climate.plugins.outcomes import Again
from climate.plugins.outcomes import Done
from climate.plugins.outcomes import Outcome
from climate.plugins.outcomes import Work
from climate.plugins.stack import parts
from climate.plugins.stack.facts import StackFacts
from climate.plugins.stack.request import StackRequest
from climate.plugins.stack.settings import StackSettings

LOG = logging.getLogger(__name__)

_SERVICE_TAG = 'climate'
_AT_ONCE = datetime.timedelta(0)
_FIRST_LOOK = datetime.timedelta(seconds=1)
_MOST_FAILED_SNAPSHOTS = 3
# Actions that succeed when they are repeated after a failure.
_REPEATABLE = frozenset({'SUSPEND', 'RESUME'})


class StackEffects:
    """The effects on one stack."""

    def __init__(
        self, work: Work, cloud: base.Cloud, request: StackRequest, settings: StackSettings
    ) -> None:
        self._work = work
        self._cloud = cloud
        self._heat = cloud.orchestration
        self._request = request
        self._settings = settings
        self._facts = StackFacts.of(work.reservation)
        self._steps: list[str] = []

    # -- before the lease

    def prepare(self) -> Outcome:
        """Suspend an existing stack."""
        if self._request.draft is not None:
            return Done()
        stack = self._there(self._request.stack_id)
        return self._remembered(stack) or self._suspended(stack) or self._done()

    def undo(self) -> Outcome:
        """Delete a created stack, or restore the state of an existing one."""
        if self._facts.kept:
            return self.suspend()
        if self._request.draft is not None:
            made = self._made_before()
            gone = None if made is None else self._deleted(made)
            return gone or self._done(dataclasses.replace(self._facts, stack_id=None))
        before = self._facts.before
        stack = None if before is None else self._heat.find_stack(self._request.stack_id)
        if stack is not None and before == 'suspended':
            waiting = self._suspended(stack)
        else:
            waiting = None if stack is None else self._resumed(stack)
        return waiting or self._done(dataclasses.replace(self._facts, before=None))

    # -- the lease

    def start(self) -> Outcome:
        """Create or resume the stack; later changes by its owner are left alone."""
        if self._facts.started:
            return Done()
        if self._request.draft is not None and not self._facts.kept:
            return self._make()
        stack = self._there(self._stack_id())
        waiting = self._remembered(stack) or self._resumed(stack)
        if waiting is not None:
            return waiting
        self._check_sound(stack)
        return self._done(dataclasses.replace(self._facts, started=True))

    def check(self) -> Outcome:
        """Check that the stack exists and is not broken.

        :raises climate.exceptions.Permanent: if it is gone or broken
        """
        stack_id = self._stack_id()
        if stack_id:
            self._check_sound(self._there(stack_id))
        return Done()

    def before_end(self) -> Outcome:
        """Take a snapshot, if the request asks for one.

        :raises climate.exceptions.Permanent: if none can be taken
        """
        stack_id = self._stack_id()
        stack = self._heat.find_stack(stack_id) if stack_id else None
        if stack is None or 'snapshot' not in self._request.before_end:
            return Done()
        if stack.suspended:
            raise exceptions.Permanent(f'no snapshot is taken of stack {stack.id}: it is suspended')
        # A lease that was extended after its snapshot gets another one.
        name = f'{self._mark} before {self._work.lease.period.end:%Y-%m-%dT%H:%M:%SZ}'
        return self._saved(stack, name) or self._done()

    def end(self) -> Outcome:
        """Take the actions of ``on_end``, one after the other; undo an incomplete start."""
        if not self._facts.started and not self._facts.kept:
            return self.undo()
        stack_id = self._stack_id()
        if self._facts.over or not stack_id:
            return Done()
        stack = self._heat.find_stack(stack_id)
        if stack is None:
            self._steps.append(f'stack {stack_id} is gone')
            return self._done(dataclasses.replace(self._facts, over=True))
        steps = {
            'snapshot': self._saved_at_end,
            'suspend': self._suspended,
            'delete': self._deleted,
        }
        for action in self._request.on_end:
            waiting = steps[action](stack)
            if waiting is not None:
                return waiting
        return self._done(dataclasses.replace(self._facts, over=True))

    def suspend(self) -> Outcome:
        """Suspend the stack until the lease resumes."""
        stack_id = self._stack_id()
        stack = self._heat.find_stack(stack_id) if stack_id else None
        waiting = None if stack is None else self._suspended(stack)
        if stack is None:
            self._steps.append(f'stack {stack_id} is gone')
        return waiting or self._done(dataclasses.replace(self._facts, started=False, kept=True))

    def restart(self) -> Outcome:
        """Undo the start, so that the stack can be created again, or resumed."""
        outcome = self.undo()
        if isinstance(outcome, Again):
            return outcome
        stack_id = None if self._request.draft is not None else self._facts.stack_id
        return self._done(StackFacts(stack_id=stack_id, snapshot_id=self._facts.snapshot_id))

    # -- making

    def _make(self) -> Outcome:
        stack = self._made()
        if stack is None:
            return self._begin()
        self._facts = dataclasses.replace(self._facts, stack_id=stack.id)
        if stack.busy:
            return self._wait(stack, self._settings.create)
        self._check_sound(stack)
        self._steps.append(f'stack {stack.id} was made')
        return self._done(dataclasses.replace(self._facts, started=True))

    def _begin(self) -> Outcome:
        """Ask Heat to create the stack."""
        draft = self._request.draft
        assert draft is not None
        booked = parts.using(draft, self._work.parts, self._request.contents, self._cloud.network)
        draft = dataclasses.replace(booked, tags=(_SERVICE_TAG, self._mark))
        # If a stack of this name was just created, and is ours, the next attempt finds it.
        with base.as_transient(base.CloudConflict):
            stack_id = self._as_user().create_stack(draft)
        self._facts = dataclasses.replace(self._facts, stack_id=stack_id)
        return self._again(_FIRST_LOOK, f'stack {stack_id} is being made', self._settings.create)

    def _made(self) -> Stack | None:
        """Return the stack that was created, or is being created; None if there is none yet.

        :raises climate.exceptions.Transient: if it was created and cannot be seen
        :raises climate.exceptions.Permanent: if another has its name
        """
        known = self._facts.stack_id
        if known:
            stack = self._heat.find_stack(known)
            if stack is None:
                # Heat may not show it everywhere yet.
                raise exceptions.Transient(f'stack {known} is gone, or is not visible yet')
            return stack
        stack = self._as_user().find_stack(self._request.name)
        if stack is not None and self._mark not in stack.tags:
            raise exceptions.Permanent(
                f"the project has another stack of the name '{self._request.name}'"
            )
        return stack

    def _made_before(self) -> Stack | None:
        """Return the stack created by a start that failed; None if there is none."""
        known = self._facts.stack_id
        if known:
            return self._heat.find_stack(known)
        if self._work.lease.trust_id is None:
            return None
        try:
            stack = self._as_user().find_stack(self._request.name)
        except base.TrustLost as error:
            # Only its user can find it by its name, and Heat needs the trust for it.
            LOG.info('Reservation %s: %s', self._work.reservation.id, error)
            return None
        return stack if stack is not None and self._mark in stack.tags else None

    def _as_user(self) -> base.Orchestration:
        trust_id = self._work.lease.trust_id
        if trust_id is None:
            raise exceptions.Permanent('a stack cannot be created without a trust of its user')
        return self._cloud.acting_for(trust_id).orchestration

    @property
    def _mark(self) -> str:
        return f'reservation:{self._work.reservation.id}'

    # -- steps: each returns the outcome of waiting, or None once it is done

    def _remembered(self, stack: Stack) -> Outcome | None:
        """Record the state of a stack before the lease changes it."""
        if self._facts.before:
            return None
        if stack.busy:
            return self._wait(stack, self._settings.action)
        if stack.action not in _REPEATABLE:
            self._check_sound(stack)
        before = 'suspended' if stack.suspended else 'running'
        self._facts = dataclasses.replace(self._facts, before=before)
        return self._again(_AT_ONCE, f'stack {stack.id} is {before}', _AT_ONCE)

    def _suspended(self, stack: Stack) -> Outcome | None:
        if stack.busy:
            return self._wait(stack, self._settings.action)
        if stack.suspended:
            self._steps.append(f'stack {stack.id} is suspended')
            return None
        self._heat.suspend_stack(stack.id)
        return self._ordered(stack, f'stack {stack.id} is being suspended')

    def _resumed(self, stack: Stack) -> Outcome | None:
        if stack.busy:
            return self._wait(stack, self._settings.action)
        failed = stack.status == 'FAILED' and stack.action in _REPEATABLE
        if not stack.suspended and not failed:
            self._steps.append(f'stack {stack.id} is running')
            return None
        self._heat.resume_stack(stack.id)
        return self._ordered(stack, f'stack {stack.id} is being resumed')

    def _deleted(self, stack: Stack) -> Outcome | None:
        if stack.busy and stack.action == 'DELETE':
            return self._wait(stack, self._settings.action)
        self._heat.delete_stack(stack.id)
        return self._ordered(stack, f'stack {stack.id} is being deleted', 'DELETE')

    def _saved_at_end(self, stack: Stack) -> Outcome | None:
        return self._saved(stack, f'{self._mark} end')

    def _saved(self, stack: Stack, name: str) -> Outcome | None:
        """Take a snapshot with a name, and never two."""
        heat, there = self._taker(stack)
        mine = [item for item in there if item.name == name]
        for snapshot in mine:
            if snapshot.status == 'COMPLETE':
                self._facts = dataclasses.replace(self._facts, snapshot_id=snapshot.id)
                self._steps.append(f'snapshot {snapshot.id} of stack {stack.id} is complete')
                return None
        if stack.busy:
            return self._wait(stack, self._settings.snapshot)
        if stack.suspended:
            # Heat could no longer resume it if a snapshot were taken now.
            self._heat.resume_stack(stack.id)
            return self._ordered(stack, f'stack {stack.id} is resumed for its snapshot')
        if len(mine) >= _MOST_FAILED_SNAPSHOTS:
            raise exceptions.Permanent(
                f'{len(mine)} snapshots of stack {stack.id} have failed: {mine[-1].reason}; '
                'nothing else is done with it until they are deleted or one is complete'
            )
        heat.snapshot_stack(stack.id, name)
        if mine:
            raise exceptions.Transient(
                f'a snapshot of stack {stack.id} failed: {mine[-1].reason}; another one is taken'
            )
        return self._again(
            _FIRST_LOOK, f'a snapshot of stack {stack.id} is being taken', self._settings.snapshot
        )

    def _taker(self, stack: Stack) -> tuple[base.Orchestration, tuple[StackSnapshot, ...]]:
        """Return the client that takes snapshots, and the snapshots that it sees.

        A snapshot is visible only to the project of the user who takes it. So Climate
        takes snapshots as the user of the lease, or as itself if the trust is lost.
        """
        trust_id = self._work.lease.trust_id
        if trust_id is not None:
            heat = self._cloud.acting_for(trust_id).orchestration
            try:
                return heat, heat.list_stack_snapshots(stack.id)
            except base.TrustLost as error:
                LOG.warning(
                    'Reservation %s: snapshots of stack %s stay in the service project: %s',
                    self._work.reservation.id,
                    stack.id,
                    error,
                )
        return self._heat, self._heat.list_stack_snapshots(stack.id)

    # -- helpers

    def _stack_id(self) -> str:
        return self._request.stack_id or self._facts.stack_id or ''

    def _there(self, stack_id: str) -> Stack:
        stack = self._heat.find_stack(stack_id)
        if stack is None:
            raise exceptions.Permanent(f'stack {stack_id} is gone')
        return stack

    def _check_sound(self, stack: Stack) -> None:
        """Check that a stack is neither broken nor being deleted.

        :raises climate.exceptions.Permanent: with Heat's reason
        """
        if stack.status == 'FAILED' or stack.action == 'DELETE':
            raise exceptions.Permanent(
                f'stack {stack.id} is {stack.action}_{stack.status}: {stack.reason}'
            )

    def _ordered(self, stack: Stack, why: str, action: str = '') -> Again:
        """Wait for an operation that was just requested.

        :param action: the action in Heat's words; '' for a suspension or a resumption
        :raises climate.exceptions.Transient: if the previous attempt had failed
        """
        failed = stack.action == action if action else stack.action in _REPEATABLE
        if stack.status == 'FAILED' and failed:
            raise exceptions.Transient(
                f'stack {stack.id} was {stack.action}_FAILED: {stack.reason}; this is retried'
            )
        return self._again(_FIRST_LOOK, why, self._settings.action)

    def _wait(self, stack: Stack, limit: datetime.timedelta) -> Again:
        """Wait for a stack in progress.

        :raises climate.exceptions.Transient: if it takes too long
        """
        waited = self._work.now - self._work.since
        why = f'stack {stack.id} is {stack.action}_{stack.status}'
        if waited >= limit:
            raise exceptions.Transient(f'{why}, for longer than {limit}')
        pause = min(max(_FIRST_LOOK, waited / 4), self._settings.poll)
        return self._again(pause, why, limit)

    def _again(self, after: datetime.timedelta, why: str, time_limit: datetime.timedelta) -> Again:
        return Again(
            after=after,
            why=why,
            facts=self._facts.changes(self._work.reservation),
            steps=tuple(self._steps),
            time_limit=time_limit,
        )

    def _done(self, facts: StackFacts | None = None) -> Done:
        known = self._facts if facts is None else facts
        return Done(facts=known.changes(self._work.reservation), steps=tuple(self._steps))
