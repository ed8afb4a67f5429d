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
"""What the effects of ``virtual:server`` have in common: one look at its server.

What is remembered with the reservation:

``was``        the status that the server had before the lease touched it
``server_id``  Nova's id of a server that was booted
``call``       the call that booted it
``door``       the host that was taken out of the pool to let the server in
``asked``      what for Nova is asked to put a shelved server onto a host
``tried``      the same, once it has been asked: if it has to be again, it could not
``snapshots``  by occasion, the images that there were, and the one that was made
``image_ids``  the images that were given to the project
``ended``      the actions of ``on_end`` that are done
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.clients.base import Cloud
from climate.clients.base import CloudConflict
from climate.clients.base import CloudNotFound
from climate.clients.base import CloudQuota
from climate.clients.base import Server
from climate.domain.lifecycles import ReservationStatus
from climate.plugins import base
from climate.plugins.host_pools import HostSettings
from climate.plugins.server_requests import ServerRequest

# Metadata by which a server is known to be booted for a reservation.
MARK = 'climate:reservation'
# Is another one with each call that boots a server.
CALL = 'climate:call'
OFFLOADED = 'SHELVED_OFFLOADED'
SHELVED = frozenset({'SHELVED', OFFLOADED})
_AT_ONCE = datetime.timedelta(0)
_FIRST_LOOK = datetime.timedelta(seconds=0.25)
_SHELVABLE = frozenset({'ACTIVE', 'PAUSED', 'SHUTOFF', 'SUSPENDED'})
_GONE = frozenset({'DELETED', 'SOFT_DELETED'})


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ServerSettings:
    """What operators configure.

    :ivar roles: that are needed to make a server in a user's project
    :ivar image_timeout: how long an image may take, in seconds
    :ivar poll: longest time between two looks, in seconds
    """

    hosts: HostSettings = dataclasses.field(default_factory=HostSettings)
    roles: frozenset[str] = frozenset({'member', 'reader'})
    image_timeout: float = 3600.0
    poll: float = 2.0

    @classmethod
    def from_conf(cls, conf: Any) -> ServerSettings:
        """Return what *conf* (an oslo.config ConfigOpts) says."""
        group = conf['virtual:server']
        return cls(
            hosts=HostSettings.from_conf(conf),
            roles=frozenset(conf.trusts.roles),
            image_timeout=group.image_timeout,
            poll=group.poll,
        )


@contextlib.contextmanager
def passing() -> Iterator[None]:
    """Take a refusal for one that may pass: others use the server, and the quota, too.

    :raises climate.exceptions.Transient: if the cloud refuses for what is now
    """
    try:
        yield
    except (CloudConflict, CloudNotFound, CloudQuota) as error:
        raise exceptions.Transient(error.message) from error


class Case:
    """The server of one reservation, and the steps that are taken with it.

    :ivar facts: what is remembered
    :ivar server: None if there is none (any more)
    """

    def __init__(
        self, work: base.Work, cloud: Cloud, settings: ServerSettings, request: ServerRequest
    ) -> None:
        self.work = work
        self.cloud = cloud
        self.settings = settings
        self.request = request
        self.facts: Mapping[str, Any] = work.reservation.facts
        self.server = self._find()

    def _find(self) -> Server | None:
        found = self.cloud.compute.find_server(self.server_id) if self.server_id else None
        if found is not None and self._is_there(found):
            return found
        started = self.work.reservation.status is ReservationStatus.ACTIVE
        # Once its owner has had it, another one with its metadata is the owner's own.
        return None if self.request.server_id or started else self._marked()

    def _marked(self) -> Server | None:
        """Return the server that was booted by a call whose answer was lost."""
        return next(iter(self._of_reservation()), None)

    def _of_reservation(self) -> list[Server]:
        wanted = self.work.reservation.id
        found = self.cloud.compute.list_servers_of_project(self.work.lease.project_id)
        return [
            server
            for server in found
            if server.metadata.get(MARK) == wanted and self._is_there(server)
        ]

    def tidy(self) -> bool:
        """Delete the servers that calls which hung have booted beside the one that counts.

        :returns: whether there was one
        """
        call = self.facts.get('call')
        doubles = [
            server
            for server in (self._of_reservation() if call else ())
            if server.id != self.facts.get('server_id')
            and server.metadata.get(CALL) not in (None, call)
        ]
        for server in doubles:
            if server.task_state != 'deleting':
                self.cloud.compute.delete_server(server.id)
        return bool(doubles)

    def _is_there(self, server: Server) -> bool:
        return server.status not in _GONE and server.project_id == self.work.lease.project_id

    @property
    def server_id(self) -> str | None:
        """Nova's id of the server; None if none is known yet."""
        return self.request.server_id or self.facts.get('server_id')

    @property
    def name(self) -> str:
        """What people are told that the server is called."""
        known = self.server_id
        if known is None and self.server is not None:
            known = self.server.id
        return f'server {known}' if known else 'the server'

    def wait(self, why: str, **facts: Any) -> base.Again:
        """Come back when what is under way has had time; the longer it takes, the later.

        :raises climate.exceptions.Transient: if it takes too long
        """
        taken = self.work.now - self.work.since
        if taken.total_seconds() >= self.settings.image_timeout:
            raise exceptions.Transient(f'{why}, and that takes too long')
        longest = datetime.timedelta(seconds=self.settings.poll)
        return base.Again(after=min(max(taken / 4, _FIRST_LOOK), longest), why=why, facts=facts)

    def remember(self, why: str, *, done: bool = False, **facts: Any) -> base.Again:
        """Go on once something is remembered, whoever dies.

        :param done: whether *why* is a step for the history of the lease
        """
        return base.Again(after=_AT_ONCE, why=why, facts=facts, steps=(why,) if done else ())

    def free(self, server: Server) -> None:
        """See to it that something can be done with the server now.

        :raises climate.exceptions.Transient: if its owner has locked it, or
            somebody else does something with it
        """
        # Nova does not hold administrators to the lock; its owner means us.
        if server.locked:
            raise exceptions.Transient(f'{self.name} is locked by its owner')
        if server.task_state is not None:
            raise exceptions.Transient(f'{self.name} is busy: {server.task_state}')

    def sound(self, server: Server) -> None:
        """See to it that the server is not broken.

        :raises climate.exceptions.Transient: if it is
        """
        if server.status == 'ERROR':
            raise exceptions.Transient(f'{self.name} is in ERROR: {server.fault}')

    def shelve(self, server: Server) -> base.Again | None:
        """Bring the server off its host; None once it is.

        :raises climate.exceptions.Transient: if it cannot be now
        """
        if (server.task_state or '').startswith('shelving'):
            return self.wait(f'{self.name} is being shelved')
        if server.status == OFFLOADED and server.task_state is None:
            return self.wait(f'{self.name} is leaving its host') if server.host else None
        self.sound(server)
        self.free(server)
        if server.status not in _SHELVABLE | SHELVED:
            raise exceptions.Transient(f'{self.name} is {server.status} and cannot be shelved')
        with passing():
            if server.status == 'SHELVED':
                self.cloud.compute.offload_server(server.id)
            else:
                self.cloud.compute.shelve_server(server.id)
        return self.wait(f'{self.name} is being shelved')
