# SPDX-License-Identifier: Apache-2.0
"""The actions on a server at the end of its lease, one after the other.

An action begins only when the previous one is complete and its completion is
recorded: so a server is never deleted before its image can be used.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from climate import exceptions
from climate.cloud.base import as_transient
from climate.cloud.base import Server
from climate.plugins import contract
from climate.plugins.server.host_release import HostRelease
from climate.plugins.server.images import Images
from climate.plugins.server.steps import Case
from climate.plugins.server.steps import REFUSALS
from climate.plugins.server.steps import SHELVED

_DONE = {
    'snapshot': 'was made an image of',
    'shelve': 'was shelved',
    'suspend': 'was suspended',
    'stop': 'was stopped',
    'delete': 'was deleted',
}


class ServerEnd:
    """Ends the lease of one server; every step can be repeated."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._images = Images(case)
        self._actions: dict[str, Callable[[Server], contract.Again | None]] = {
            'snapshot': lambda server: self._images.take(server, 'end'),
            'shelve': case.shelve,
            'suspend': self._suspend,
            'stop': self._stop,
            'delete': self._delete,
        }

    def run(self) -> contract.Outcome:
        """Take the next step.

        :raises climate.exceptions.Transient: if it cannot be taken now
        :raises climate.exceptions.Permanent: if it has failed
        """
        case = self._case
        if HostRelease(case).close():
            facts = dataclasses.replace(case.facts, released_host=None)
            return case.remember('its host is back in the pool', facts)
        if case.tidy():
            return case.wait('a duplicate of the server is being deleted')
        self._images.tidy()
        done = case.facts.ended
        left = [action for action in case.request.on_end if action not in done]
        if case.suspended and 'snapshot' in left:
            # It has an image of its own, and another cannot be made of it.
            return self._finish([], f'{case.name} stays shelved')
        if case.server is None or not left:
            return self._finish(left)
        outcome = self._act(left[0], case.server)
        if outcome is not None:
            return outcome
        said = f'{case.name} {_DONE[left[0]]}'
        facts = dataclasses.replace(case.facts, ended=(*done, left[0]))
        return case.remember(said, facts, done=left[0] != 'snapshot')

    def _act(self, action: str, server: Server) -> contract.Again | None:
        if server.task_state == 'deleting':
            return self._case.wait(f'{self._case.name} is being deleted')
        return self._actions[action](server)

    def _finish(self, left: list[str], line: str = '') -> contract.Done:
        case = self._case
        if left:
            gone = _DONE['delete'] if left == ['delete'] else 'was gone'
            line = f'{case.name} {gone}'
        facts = dataclasses.replace(
            case.facts,
            image_ids=self._images.hand_over(),
            snapshots={},
            ended=(),
            asked=None,
            tried=None,
            call=None,
        )
        return contract.Done(facts=case.changes(facts), steps=(line,) if line else ())

    def _suspend(self, server: Server) -> contract.Again | None:
        # A server that is not running has no state to suspend.
        if server.task_state == 'suspending':
            return self._case.wait(f'{self._case.name} is being suspended')
        if self._is_halted(server):
            return None
        return self._halt(server, self._case.cloud.compute.suspend_server, 'suspended')

    def _stop(self, server: Server) -> contract.Again | None:
        if server.task_state == 'powering-off':
            return self._case.wait(f'{self._case.name} is being stopped')
        if self._is_halted(server):
            return None
        return self._halt(server, self._case.cloud.compute.stop_server, 'stopped')

    def _is_halted(self, server: Server) -> bool:
        halted = server.status in SHELVED | {'SHUTOFF', 'SUSPENDED'}
        return halted and server.task_state is None

    def _halt(self, server: Server, verb: Callable[[str], None], word: str) -> contract.Again:
        case = self._case
        case.sound(server)
        if (server.task_state or '').startswith('image_'):
            return case.wait(f'an image of {case.name} is being made')
        case.free(server)
        with as_transient(*REFUSALS):
            verb(server.id)
        return case.wait(f'{case.name} is being {word}')

    def _delete(self, server: Server) -> contract.Again:
        case = self._case
        if (server.task_state or '').startswith('image_'):
            # When Nova deletes a server, it drops its unfinished image.
            return case.wait(f'an image of {case.name} is being made')
        if server.locked:
            raise exceptions.Transient(f'{case.name} is locked by its owner')
        case.cloud.compute.delete_server(server.id)
        return case.wait(f'{case.name} is being deleted')
