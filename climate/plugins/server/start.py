# SPDX-License-Identifier: Apache-2.0
"""Shelves a server until its lease starts, then starts it in its room; or boots it.

If the lease does not start, an existing server returns to its previous state.
"""

from __future__ import annotations

import dataclasses
import uuid

from climate import exceptions
from climate.cloud.base import as_transient
from climate.cloud.base import Server
from climate.plugins import contract
from climate.plugins.server import request as server_request
from climate.plugins.server import steps
from climate.plugins.server.facts import ServerFacts
from climate.plugins.server.host_release import HostRelease
from climate.plugins.server.images import Images


def sound_server(case: steps.Case) -> Server:
    """Return the server.

    :raises climate.exceptions.Permanent: if it is gone, or broken
    """
    if case.server is None:
        raise exceptions.Permanent(f'{case.name} is gone')
    if case.server.status == 'ERROR':
        raise exceptions.Permanent(f'{case.name} is in ERROR: {case.server.fault}')
    return case.server


class ExistingServer:
    """A server that existed before its lease."""

    def __init__(self, case: steps.Case) -> None:
        self._case = case
        self._release = HostRelease(case)
        self._was = case.facts.was

    def prepare(self) -> contract.Outcome:
        """Shelve it until the lease starts.

        A suspended server stays on its host: it would lose its memory if it were shelved.

        :raises climate.exceptions.Permanent: if it is gone, or broken
        """
        case, server = self._case, sound_server(self._case)
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
        """Start it, in its room if it was shelved.

        :raises climate.exceptions.Permanent: if it is gone, broken or too large for its room
        """
        case, server = self._case, sound_server(self._case)
        if server.task_state is not None:
            if server.host and self._release.close():
                # The scheduler has already chosen the host.
                return case.remember('its host is back in the pool', self._without_release())
            return case.wait(f'{case.name} is {server.task_state}')
        if server.status == 'ACTIVE' or case.request.imposed:
            self._release.close()
            return contract.Done(
                facts=case.changes(self._without_release()),
                steps=(f'{case.name} is {server.status}',),
            )
        if self._was is None:
            return case.remember(
                f'{case.name} was {server.status}',
                dataclasses.replace(case.facts, was=server.status),
            )
        case.free(server)
        return self._activate(server)

    def _activate(self, server: Server) -> contract.Again:
        case, compute = self._case, self._case.cloud.compute
        if server.status == steps.OFFLOADED and server.host:
            return case.wait(f'{case.name} is leaving its host')
        if server.status == steps.OFFLOADED:
            return self._unshelve(server, 'start')
        with as_transient(*steps.REFUSALS):
            if server.status == 'SHELVED':
                compute.offload_server(server.id)
            elif server.status == 'SHUTOFF':
                compute.start_server(server.id)
            elif server.status == 'SUSPENDED':
                compute.resume_server(server.id)
            else:
                raise exceptions.Transient(f'{case.name} is {server.status}')
        return case.wait(f'{case.name} is being started')

    def _unshelve(self, server: Server, purpose: str) -> contract.Again:
        """Ask Nova to unshelve a server; Nova does not report a failure.

        :raises climate.exceptions.Transient: if the previous attempt failed
        """
        case, host = self._case, None
        if purpose == 'start' and case.work.parts:
            self._release.fits()
            host, first = self._release.open()
            if first is not None:
                return first
        if case.facts.asked != purpose:
            # Recorded first: a server that is still shelved after that has failed.
            asked = dataclasses.replace(case.facts, asked=purpose)
            return case.remember(f'{case.name} is to be unshelved', asked)
        with as_transient(*steps.REFUSALS):
            case.cloud.compute.unshelve_server(server.id, host)
        if case.facts.tried == purpose:
            raise exceptions.Transient(f'no host has room for {case.name}')
        tried = dataclasses.replace(case.facts, tried=purpose)
        return case.wait(f'{case.name} is being unshelved', tried)

    def undo(self) -> contract.Outcome:
        """Restore its state before the lease, as far as Climate has changed it.

        :raises climate.exceptions.Transient: if that cannot be done now
        """
        case, server = self._case, self._case.server
        if self._release.close():
            return case.remember('its host is back in the pool', self._without_release())
        outcome = None
        if server is not None and self._was is not None and server.status != 'ERROR':
            outcome = self._restore(server, self._was)
        facts = dataclasses.replace(case.facts, was=None, asked=None, tried=None)
        return outcome or contract.Done(facts=case.changes(facts))

    def _without_release(self) -> ServerFacts:
        return dataclasses.replace(self._case.facts, released_host=None)

    def _restore(self, server: Server, was: str) -> contract.Again | None:
        case = self._case
        asked = case.facts.asked
        if was in steps.SHELVED:
            # Climate has not unshelved it, so its state is the owner's choice.
            return case.shelve(server) if asked is not None else None
        if server.task_state is not None:
            return case.wait(f'{case.name} is {server.task_state}')
        if asked == 'start' and server.host in self._release.hosts:
            # Other leases will use the host on which it runs.
            return case.shelve(server)
        if server.status in steps.SHELVED:
            case.free(server)
            if server.host and server.status == steps.OFFLOADED:
                return case.wait(f'{case.name} is leaving its host')
            return self._unshelve(server, 'undo')
        if server.status == 'ACTIVE' and was != 'ACTIVE':
            case.free(server)
            with as_transient(*steps.REFUSALS):
                if was == 'SHUTOFF':
                    case.cloud.compute.stop_server(server.id)
                else:
                    case.cloud.compute.suspend_server(server.id)
            return case.wait(f'{case.name} is being returned to {was}')
        return None


class BootedServer:
    """A server that its lease boots."""

    def __init__(self, case: steps.Case) -> None:
        self._case = case

    def start(self) -> contract.Outcome:
        """Boot it on behalf of the user.

        :raises climate.exceptions.Permanent: if the user's trust cannot be used,
            or an ingredient of the server does not exist
        """
        case, server = self._case, self._case.server
        if server is None:
            return self._boot_if_none()
        if server.id != case.facts.server_id:
            return case.remember(
                f'server {server.id} is being booted',
                dataclasses.replace(
                    case.facts, server_id=server.id, call=server.metadata.get(steps.CALL)
                ),
            )
        if server.status == 'ERROR':
            # No user has it yet. The next attempt boots another.
            if case.facts.broken != server.id:
                broken = dataclasses.replace(case.facts, broken=server.id)
                return case.remember(f'{case.name} is in ERROR', broken)
            case.cloud.compute.delete_server(server.id)
            raise exceptions.Transient(f'{case.name} could not be booted: {server.fault}')
        if server.status == 'BUILD' or server.task_state is not None:
            return case.wait(f'{case.name} is being booted')
        case.tidy()
        return contract.Done(steps=(f'{case.name} was booted',))

    def undo(self) -> contract.Outcome:
        """Delete it, since its owner does not know it yet."""
        case, server = self._case, self._case.server
        doubled = case.tidy()
        if server is None and doubled:
            return case.wait('a duplicate of the server is being deleted')
        if server is None:
            facts = dataclasses.replace(case.facts, server_id=None, call=None, broken=None)
            return contract.Done(facts=case.changes(facts))
        if server.task_state != 'deleting':
            case.cloud.compute.delete_server(server.id)
        return case.wait(f'{case.name} is being deleted')

    def _boot_if_none(self) -> contract.Again:
        """Boot the server, unless one was booted that Nova does not show yet.

        :raises climate.exceptions.Transient: in that case
        """
        known = self._case.facts.server_id
        if known is not None and known != self._case.facts.broken:
            raise exceptions.Transient(f'server {known} was booted, and is not visible yet')
        return self._boot()

    def _boot(self) -> contract.Again:
        case, lease = self._case, self._case.work.lease
        if case.request.server_id or lease.trust_id is None:
            raise exceptions.Permanent('a server cannot be booted without a trust of its user')
        flavor_id = case.request.flavor
        for part in case.work.parts:
            flavor_id = part.reservation.id
        call = uuid.uuid4().hex
        marks = {steps.MARK: case.work.reservation.id, steps.CALL: call}
        wanted = server_request.for_nova(case.request, flavor_id, marks)
        with as_transient(*steps.REFUSALS):
            server_id = case.cloud.acting_for(lease.trust_id).compute.create_server(wanted)
        facts = dataclasses.replace(case.facts, server_id=server_id, call=call)
        return case.remember(f'server {server_id} is being booted', facts)


def suspend(case: steps.Case) -> contract.Outcome:
    """Shelve the server until its lease resumes.

    :raises climate.exceptions.Transient: if that is impossible now
    """
    if HostRelease(case).close():
        facts = dataclasses.replace(case.facts, released_host=None)
        return case.remember('its host is back in the pool', facts)
    if case.tidy():
        return case.wait('a duplicate of the server is being deleted')
    outcome = None if case.server is None else case.shelve(case.server)
    if outcome is not None:
        return outcome
    facts = dataclasses.replace(
        case.facts, was=steps.OFFLOADED, kept=not case.request.server_id, asked=None, tried=None
    )
    word = 'is gone' if case.server is None else 'was shelved'
    return contract.Done(facts=case.changes(facts), steps=(f'{case.name} {word}',))


def check(case: steps.Case) -> contract.Outcome:
    """Check that the server exists, and that its host is in the pool.

    :raises climate.exceptions.Permanent: if the server is gone, or broken
    """
    repaired = HostRelease(case).close()
    sound_server(case)
    case.tidy()
    Images(case).tidy()
    return contract.Done(
        facts=case.changes(dataclasses.replace(case.facts, released_host=None)),
        repaired=('the host of its room was not back in the pool',) if repaired else (),
    )
