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
"""How a server comes to its lease: shelved until then, put into its room, or booted.

And how one that exists gets back to what it was, if nothing comes of the lease.
"""

from __future__ import annotations

import dataclasses
import uuid

from climate import exceptions
from climate.clients.base import Server
from climate.plugins import contract
from climate.plugins.server import request as server_request
from climate.plugins.server.facts import ServerFacts
from climate.plugins.server.host_release import HostRelease
from climate.plugins.server.images import Images
from climate.plugins.server.steps import CALL
from climate.plugins.server.steps import Case
from climate.plugins.server.steps import MARK
from climate.plugins.server.steps import OFFLOADED
from climate.plugins.server.steps import passing
from climate.plugins.server.steps import SHELVED


def there(case: Case) -> Server:
    """Return the server.

    :raises climate.exceptions.Permanent: if it is gone, or broken
    """
    if case.server is None:
        raise exceptions.Permanent(f'{case.name} is gone')
    if case.server.status == 'ERROR':
        raise exceptions.Permanent(f'{case.name} is in ERROR: {case.server.fault}')
    return case.server


class Waiting:
    """A server that exists, before its lease."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._door = HostRelease(case)
        self._was = case.facts.was

    def prepare(self) -> contract.Outcome:
        """Shelve it until its time comes.

        One that is suspended keeps its place: shelved it would lose its memory.

        :raises climate.exceptions.Permanent: if it is gone, or broken
        """
        case, server = self._case, there(self._case)
        if server.status == 'SUSPENDED' and self._was in (None, 'SUSPENDED'):
            return contract.Done(steps=(f'{case.name} is suspended and stays where it is',))
        if self._was is None:
            case.free(server)
            return case.remember(
                f'{case.name} is to be shelved', dataclasses.replace(case.facts, was=server.status)
            )
        outcome = case.shelve(server)
        return outcome or contract.Done(steps=(f'{case.name} is shelved until the start',))

    def start(self) -> contract.Outcome:
        """Have it run, in its room if it was shelved.

        :raises climate.exceptions.Permanent: if it is gone, broken or has grown
        """
        case, server = self._case, there(self._case)
        if server.task_state is not None:
            if server.host and self._door.close():
                # The scheduler has done with it.
                return case.remember('its host is back in the pool', self._pooled())
            return case.wait(f'{case.name} is {server.task_state}')
        if server.status == 'ACTIVE' or case.request.imposed:
            self._door.close()
            return contract.Done(
                facts=case.changes(self._pooled()), steps=(f'{case.name} is {server.status}',)
            )
        if self._was is None:
            return case.remember(
                f'{case.name} was {server.status}',
                dataclasses.replace(case.facts, was=server.status),
            )
        case.free(server)
        return self._wake(server)

    def _wake(self, server: Server) -> contract.Again:
        case, compute = self._case, self._case.cloud.compute
        if server.status == OFFLOADED and server.host:
            return case.wait(f'{case.name} is leaving its host')
        if server.status == OFFLOADED:
            return self._put(server, 'start')
        with passing():
            if server.status == 'SHELVED':
                compute.offload_server(server.id)
            elif server.status == 'SHUTOFF':
                compute.start_server(server.id)
            elif server.status == 'SUSPENDED':
                compute.resume_server(server.id)
            else:
                raise exceptions.Transient(f'{case.name} is {server.status}')
        return case.wait(f'{case.name} is being started')

    def _put(self, server: Server, purpose: str) -> contract.Again:
        """Ask Nova to put a shelved server onto a host; Nova does not report a failure.

        :raises climate.exceptions.Transient: if it did not the last time
        """
        case, host = self._case, None
        if purpose == 'start' and case.work.parts:
            self._door.fits()
            host, first = self._door.open()
            if first is not None:
                return first
        if case.facts.asked != purpose:
            # What is asked for can fail without a word.
            asked = dataclasses.replace(case.facts, asked=purpose)
            return case.remember(f'{case.name} is to be put onto a host', asked)
        with passing():
            case.cloud.compute.unshelve_server(server.id, host)
        if case.facts.tried == purpose:
            raise exceptions.Transient(f'no host has room for {case.name}')
        tried = dataclasses.replace(case.facts, tried=purpose)
        return case.wait(f'{case.name} is being put onto a host', tried)

    def undo(self) -> contract.Outcome:
        """Bring it back to what it was before the lease, as far as that is ours.

        :raises climate.exceptions.Transient: if that cannot be done now
        """
        case, server = self._case, self._case.server
        if self._door.close():
            return case.remember('its host is back in the pool', self._pooled())
        outcome = None
        if server is not None and self._was is not None and server.status != 'ERROR':
            outcome = self._back(server, self._was)
        facts = dataclasses.replace(case.facts, was=None, asked=None, tried=None)
        return outcome or contract.Done(facts=case.changes(facts))

    def _pooled(self) -> ServerFacts:
        return dataclasses.replace(self._case.facts, released_host=None)

    def _back(self, server: Server, was: str) -> contract.Again | None:
        case = self._case
        asked = case.facts.asked
        if was in SHELVED:
            # Else it is as its owner has it.
            return case.shelve(server) if asked is not None else None
        if server.task_state is not None:
            return case.wait(f'{case.name} is {server.task_state}')
        if asked == 'start' and server.host in self._door.hosts:
            # Others will lease the host that it was put onto.
            return case.shelve(server)
        if server.status in SHELVED:
            case.free(server)
            if server.host and server.status == OFFLOADED:
                return case.wait(f'{case.name} is leaving its host')
            return self._put(server, 'undo')
        if server.status == 'ACTIVE' and was != 'ACTIVE':
            case.free(server)
            with passing():
                if was == 'SHUTOFF':
                    case.cloud.compute.stop_server(server.id)
                else:
                    case.cloud.compute.suspend_server(server.id)
            return case.wait(f'{case.name} is being brought back to {was}')
        return None


class Booting:
    """A server that is made for its lease."""

    def __init__(self, case: Case) -> None:
        self._case = case

    def start(self) -> contract.Outcome:
        """Boot it on behalf of the user.

        :raises climate.exceptions.Permanent: if the user's trust is of no use,
            or something that it is to be made of is not there
        """
        case, server = self._case, self._case.server
        if server is None:
            return self._make()
        if server.id != case.facts.server_id:
            return case.remember(
                f'server {server.id} is being booted',
                dataclasses.replace(
                    case.facts, server_id=server.id, call=server.metadata.get(CALL)
                ),
            )
        if server.status == 'ERROR':
            # No user has it yet. The next try makes another.
            case.cloud.compute.delete_server(server.id)
            raise exceptions.Transient(f'{case.name} could not be booted: {server.fault}')
        if server.status == 'BUILD' or server.task_state is not None:
            return case.wait(f'{case.name} is being booted')
        case.tidy()
        return contract.Done(steps=(f'{case.name} was booted',))

    def undo(self) -> contract.Outcome:
        """Delete it: its owner does not know of it yet."""
        case, server = self._case, self._case.server
        doubled = case.tidy()
        if server is None and doubled:
            return case.wait('what was booted twice is being deleted')
        if server is None:
            facts = dataclasses.replace(case.facts, server_id=None, call=None)
            return contract.Done(facts=case.changes(facts))
        if server.task_state != 'deleting':
            case.cloud.compute.delete_server(server.id)
        return case.wait(f'{case.name} is being deleted')

    def _make(self) -> contract.Again:
        case, lease = self._case, self._case.work.lease
        if case.request.server_id or lease.trust_id is None:
            raise exceptions.Permanent('there is no trust to boot a server with')
        flavor_id = case.request.flavor
        for part in case.work.parts:
            flavor_id = part.reservation.id
        call = uuid.uuid4().hex
        marks = {MARK: case.work.reservation.id, CALL: call}
        wanted = server_request.for_nova(case.request, flavor_id, marks)
        with passing():
            server_id = case.cloud.acting_for(lease.trust_id).compute.create_server(wanted)
        facts = dataclasses.replace(case.facts, server_id=server_id, call=call)
        return case.remember(f'server {server_id} is being booted', facts)


def check(case: Case) -> contract.Outcome:
    """See whether the server is there, and its host where it should be.

    :raises climate.exceptions.Permanent: if the server is gone, or broken
    """
    repaired = HostRelease(case).close()
    there(case)
    case.tidy()
    Images(case).tidy()
    return contract.Done(
        facts=case.changes(dataclasses.replace(case.facts, released_host=None)),
        repaired=('the host of its room was not back in the pool',) if repaired else (),
    )
