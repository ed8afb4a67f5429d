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

"""The actions allowed in each state of a stack, where Heat itself allows too many.

Heat answers 200 to each of these and breaks the stack (seen with release
2026.2): a suspension while the stack is being made, or even deleted; the
resumption of what is not suspended; the resumption of what was suspended when
its snapshot was taken.
"""

from __future__ import annotations

from climate.clients.base import CloudConflict
from climate.clients.protocols.stacks import Stack

_MENDED_BY_SUSPENSION = frozenset({'SUSPEND', 'RESUME'})


def wants_suspension(stack: Stack) -> bool:
    """Say whether a stack is to be suspended: it may be already.

    :raises CloudConflict: if the state of the stack forbids it
    """
    if stack.action == 'SUSPEND' and stack.status != 'FAILED':
        return False
    failed = stack.status == 'FAILED' and stack.action not in _MENDED_BY_SUSPENSION
    if stack.busy or failed:
        raise _conflict(stack, 'it cannot be suspended')
    return True


def wants_resumption(stack: Stack) -> bool:
    """Say whether a stack is to be resumed: it may be running already.

    :raises CloudConflict: if the state of the stack forbids it
    """
    if stack.action == 'RESUME' and stack.status != 'FAILED':
        return False
    if stack.busy:
        raise _conflict(stack, 'it cannot be resumed')
    return stack.action in _MENDED_BY_SUSPENSION


def check_snapshot(stack: Stack) -> None:
    """Check that a snapshot may be taken of a stack.

    :raises CloudConflict: if not
    """
    if stack.busy or stack.suspended:
        raise _conflict(stack, 'no snapshot can be taken of it')


def _conflict(stack: Stack, consequence: str) -> CloudConflict:
    state = f'{stack.action}_{stack.status}'
    return CloudConflict(f'stack {stack.id} is {state}: {consequence}')
