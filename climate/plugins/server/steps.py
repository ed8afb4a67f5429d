# SPDX-License-Identifier: Apache-2.0
"""The state and the steps that all effects of ``virtual:server`` share."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any
from typing import Final

from climate import exceptions
from climate.cloud.base import as_transient
from climate.cloud.base import Cloud
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import CloudQuota
from climate.cloud.base import Server
from climate.conf.settings import option
from climate.conf.settings import part
from climate.conf.settings import Settings
from climate.domain.lifecycles import ReservationStatus
from climate.plugins import contract
from climate.plugins.host.pools import HostSettings
from climate.plugins.instance.extra_specs import DeclaredSpecs
from climate.plugins.server.facts import ServerFacts
from climate.plugins.server.request import ServerRequest

# Key of the metadata that names the reservation for which a server was booted.
MARK = 'climate:reservation'
# Key of the metadata that is unique to each call that boots a server.
CALL = 'climate:call'
OFFLOADED = 'SHELVED_OFFLOADED'
SHELVED = frozenset({'SHELVED', OFFLOADED})
_AT_ONCE = datetime.timedelta(0)
_FIRST_LOOK = datetime.timedelta(seconds=0.25)
_SHELVABLE = frozenset({'ACTIVE', 'PAUSED', 'SHUTOFF', 'SUSPENDED'})
_GONE = frozenset({'DELETED', 'SOFT_DELETED'})


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ServerSettings(Settings):
    """The configuration of the type.

    :ivar declared: what extra specs of flavors take
    :ivar roles: the roles needed to boot a server in a user's project
    :ivar image_timeout: how long an image may take, in seconds
    :ivar poll: longest interval between two checks, in seconds
    """

    hosts: HostSettings = part(HostSettings)
    declared: DeclaredSpecs = part(DeclaredSpecs)
    roles: frozenset[str] = option('trusts', 'roles', frozenset)
    image_timeout: float = option('virtual:server', 'image_timeout')
    poll: float = option('virtual:server', 'poll')


REFUSALS: Final = (CloudConflict, CloudNotFound, CloudQuota)
"""Refusals that are temporary, since others use the server and the quota, too."""


class Case:
    """The server of one reservation, and steps that can be taken with it.

    :ivar facts: the recorded facts
    :ivar server: None if it does not exist yet, or is gone
    """

    def __init__(
        self, work: contract.Work, cloud: Cloud, settings: ServerSettings, request: ServerRequest
    ) -> None:
        self.work = work
        self.cloud = cloud
        self.settings = settings
        self.request = request
        self.facts = ServerFacts.of(work.reservation)
        self.server = self._find()

    def _find(self) -> Server | None:
        server = self.cloud.compute.find_server(self.server_id) if self.server_id else None
        if server is not None and self._is_there(server):
            return server
        started = self.work.reservation.status is ReservationStatus.ACTIVE
        # Once the lease is active, another server with this metadata is the owner's.
        return None if self.request.server_id or started else self._marked()

    def _marked(self) -> Server | None:
        """Return the server that a call booted whose response was lost."""
        return next(iter(self._of_reservation()), None)

    def _of_reservation(self) -> list[Server]:
        wanted = self.work.reservation.id
        servers = self.cloud.compute.list_servers_of_project(self.work.lease.project_id)
        return [
            server
            for server in servers
            if server.metadata.get(MARK) == wanted and self._is_there(server)
        ]

    def tidy(self) -> bool:
        """Delete the duplicates of the server, which were booted by calls that hung.

        :returns: whether there was one
        """
        call = self.facts.call
        doubles = [
            server
            for server in (self._of_reservation() if call else ())
            if server.id != self.facts.server_id and server.metadata.get(CALL) not in (None, call)
        ]
        for server in doubles:
            if server.task_state != 'deleting':
                self.cloud.compute.delete_server(server.id)
        return bool(doubles)

    def _is_there(self, server: Server) -> bool:
        return server.status not in _GONE and server.project_id == self.work.lease.project_id

    @property
    def exists(self) -> bool:
        """Whether it existed before the present start."""
        return bool(self.request.server_id) or self.facts.kept

    @property
    def suspended(self) -> bool:
        """Whether its lease ends while it is suspended."""
        resumed = self.work.reservation.status is ReservationStatus.ACTIVE
        server = self.server
        return (
            self.work.lease.ran is not None
            and not resumed
            and (server is not None and server.status in SHELVED)
        )

    @property
    def server_id(self) -> str | None:
        """Nova's id of the server; None if none is known yet."""
        return self.request.server_id or self.facts.server_id

    @property
    def name(self) -> str:
        """The name of the server in messages."""
        known = self.server_id
        if known is None and self.server is not None:
            known = self.server.id
        return f'server {known}' if known else 'the server'

    def wait(self, why: str, facts: ServerFacts | None = None) -> contract.Again:
        """Repeat the effect later; the longer it takes, the longer the pause.

        :param facts: the facts to record; None if they stay as they are
        :raises climate.exceptions.Transient: if it takes too long
        """
        taken = self.work.now - self.work.since
        if taken.total_seconds() >= self.settings.image_timeout:
            raise exceptions.Transient(f'{why}, which takes too long')
        longest = datetime.timedelta(seconds=self.settings.poll)
        return contract.Again(
            after=min(max(taken / 4, _FIRST_LOOK), longest),
            why=why,
            facts={} if facts is None else self.changes(facts),
        )

    def remember(self, why: str, facts: ServerFacts, *, done: bool = False) -> contract.Again:
        """Record facts and repeat the effect at once, so that they survive this manager.

        :param done: whether *why* is a step for the history of the lease
        """
        return contract.Again(
            after=_AT_ONCE, why=why, facts=self.changes(facts), steps=(why,) if done else ()
        )

    def changes(self, facts: ServerFacts) -> dict[str, Any]:
        """Return the changes that record *facts*."""
        return facts.changes(self.work.reservation)

    def free(self, server: Server) -> None:
        """Check that the server accepts actions now.

        :raises climate.exceptions.Transient: if its owner has locked it, or
            another action on it is in progress
        """
        # Nova lets administrators ignore the lock, but the owner means Climate, too.
        if server.locked:
            raise exceptions.Transient(f'{self.name} is locked by its owner')
        if server.task_state is not None:
            raise exceptions.Transient(f'{self.name} is busy: {server.task_state}')

    def sound(self, server: Server) -> None:
        """Check that the server is not broken.

        :raises climate.exceptions.Transient: if it is
        """
        if server.status == 'ERROR':
            raise exceptions.Transient(f'{self.name} is in ERROR: {server.fault}')

    def shelve(self, server: Server) -> contract.Again | None:
        """Shelve the server and remove it from its host; None once it is gone from there.

        :raises climate.exceptions.Transient: if that is impossible now
        """
        if (server.task_state or '').startswith('shelving'):
            return self.wait(f'{self.name} is being shelved')
        if server.status == OFFLOADED and server.task_state is None:
            return self.wait(f'{self.name} is leaving its host') if server.host else None
        self.sound(server)
        self.free(server)
        if server.status not in _SHELVABLE | SHELVED:
            raise exceptions.Transient(f'{self.name} is {server.status} and cannot be shelved')
        with as_transient(*REFUSALS):
            if server.status == 'SHELVED':
                self.cloud.compute.offload_server(server.id)
            else:
                self.cloud.compute.shelve_server(server.id)
        return self.wait(f'{self.name} is being shelved')
