# SPDX-License-Identifier: Apache-2.0

"""The operations that a stack allows in its present state; Heat allows too many.

Heat (as of release 2026.2) returns 200 to each of these requests and breaks the stack:

* suspending a stack that is being created, or even deleted;
* resuming a stack that is not suspended;
* resuming a stack that was suspended when its snapshot was taken.
"""

from __future__ import annotations

from climate.cloud.base import CloudConflict
from climate.cloud.protocols.stacks import Stack

# If one of these failed, the stack can be suspended or resumed again.
_REPEATABLE = frozenset({'SUSPEND', 'RESUME'})


def wants_suspension(stack: Stack) -> bool:
    """Return whether to suspend a stack; not if it is, or is being, suspended.

    :raises CloudConflict: if the state of the stack forbids it
    """
    if stack.action == 'SUSPEND' and stack.status != 'FAILED':
        return False
    failed = stack.status == 'FAILED' and stack.action not in _REPEATABLE
    if stack.busy or failed:
        raise _conflict(stack, 'it cannot be suspended')
    return True


def wants_resumption(stack: Stack) -> bool:
    """Return whether to resume a stack; not if it is running or being resumed.

    :raises CloudConflict: if the state of the stack forbids it
    """
    if stack.action == 'RESUME' and stack.status != 'FAILED':
        return False
    if stack.busy:
        raise _conflict(stack, 'it cannot be resumed')
    return stack.action in _REPEATABLE


def check_snapshot(stack: Stack) -> None:
    """Check that the state of a stack allows a snapshot.

    :raises CloudConflict: if it does not
    """
    if stack.busy or stack.suspended:
        raise _conflict(stack, 'no snapshot can be taken of it')


def _conflict(stack: Stack, consequence: str) -> CloudConflict:
    state = f'{stack.action}_{stack.status}'
    return CloudConflict(f'stack {stack.id} is {state}: {consequence}')
