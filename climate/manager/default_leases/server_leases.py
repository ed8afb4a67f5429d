# SPDX-License-Identifier: Apache-2.0

"""Books leases for servers that request one in their metadata, or get one by default.

Every manager is notified of every server, and polls Nova for those that it missed. A
server still gets only one lease, and no second one after that has ended: the id of the
lease is derived from the id of the server, independent of what its owner can change
(:mod:`climate.manager.default_leases.booted_servers`). A claim on the server keeps several managers
from working on it at the same time. The id is written to the metadata of the server
before the lease is booked, because Nova accepts no metadata of a shelved server, and
shelving it is the first step of a future lease.

A requested lease is booked if the owner of the server could book it over HTTP. If not,
or if the request is invalid, the server gets the default lease of its project, if there
is one.
"""

from __future__ import annotations

import contextlib
import datetime
import logging
import threading
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from climate import exceptions
from climate.booking.leases import Leases
from climate.clock import Clock
from climate.cloud import fence
from climate.cloud.base import Cloud
from climate.cloud.base import Server
from climate.db.transactions.store import Store
from climate.domain import booting
from climate.domain import names
from climate.domain import periods
from climate.domain.booting import ServerReport
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.domain.requests import LeaseDraft
from climate.manager.default_leases import booted_servers
from climate.manager.default_leases.booted_servers import Tie
from climate.manager.default_leases.server_lease_settings import RESOURCE_TYPE
from climate.manager.default_leases.server_lease_settings import ServerLeaseSettings
from climate.manager.running.deletions import DeletionRecorder

LOG = logging.getLogger(__name__)


# Names of chores: until when Nova was polled, and since when default leases are enabled.
_SEEN = 'server leases'
_DEFAULTS = 'server leases by default'
_GONE = frozenset({'DELETED', 'SOFT_DELETED'})
_BROKEN = 'ERROR'
# Clocks differ, and Nova lists a new server with a short delay.
_OVERLAP = datetime.timedelta(minutes=1)
# How long to wait for a server that does not become active.
_LONGEST_BUILD = datetime.timedelta(days=1)
_CLAIM = datetime.timedelta(minutes=1)
_VALID = _CLAIM.total_seconds() * (1 - fence.MARGIN)
_LONGEST_NAME = 80


class ServerLeases:
    """Handles servers that are booted or deleted.

    :param leases: books leases; uses the cloud as the service user for every caller
    :param cloud: the cloud as the service user sees it
    :param owner: a unique name for claims on servers
    :param may: returns whether policy allows a user with roles to create leases; None
        without an identity service, and so without a policy
    """

    def __init__(
        self,
        store: Store,
        leases: Leases,
        clock: Clock,
        settings: ServerLeaseSettings,
        cloud: Cloud,
        owner: str,
        may: Callable[[Caller], bool] | None = None,
    ) -> None:
        self._store = store
        self._leases = leases
        self._clock = clock
        self._settings = settings
        self._cloud = fence.Fenced(cloud, self._guard, DeletionRecorder(store))
        # The claim of each thread, both of the listener and of the poller.
        self._here = threading.local()
        self._owner = owner
        self._may = may

    def receive(self, report: ServerReport) -> bool:
        """Book the lease of a server, or end the lease of a deleted server.

        :returns: whether to check the server again
        :raises climate.exceptions.ClimateError: if that failed and can be retried
        """
        server = self._cloud.compute.find_server(report.server_id)
        if not report.gone:
            return server is not None and not self._attend(server)
        if server is None or server.status in _GONE:
            self._over(report.server_id)
            return False
        # Other services can write to the bus as well; only Nova is authoritative.
        LOG.info('Server %s was reported as deleted; it is %s', server.id, server.status)
        return server.task_state == 'deleting'

    def look(self, cloud: Cloud) -> bool:
        """Handle the servers that Nova has created since the last complete poll.

        The first poll starts at the present instant.

        :returns: False, since there is nothing to follow up
        :raises climate.exceptions.ClimateError: if not all servers could be handled
        """
        begun = self._clock.now()
        seen = self._store.run(lambda tx: tx.chores.heard_of(_SEEN))
        if self._settings.default_lease is not None:
            self._store.run(lambda tx: tx.chores.heard_of(_DEFAULTS))
        until, failure = begun, None
        for server in self._unleased(cloud, seen - _OVERLAP):
            try:
                if not self._attend(server):
                    until = min(until, server.created_at)
            except exceptions.ClimateError as error:
                LOG.warning('Server %s has to wait for its lease: %s', server.id, error.message)
                failure = error
        if failure is not None:
            raise failure
        until = max(until, begun - _LONGEST_BUILD)
        self._store.run(lambda tx: tx.chores.advance(_SEEN, until))
        return False

    def _unleased(self, cloud: Cloud, since: datetime.datetime) -> Iterator[Server]:
        """Yield the servers created since an instant, and those whose future lease was deleted.

        An owner cannot avoid the default lease by requesting one that starts later, and
        then deleting it.
        """
        yield from cloud.compute.list_servers_since(since)
        if self._settings.default_lease is None:
            return
        with self._store.reading() as tx:
            requests = tx.leases.requests_given_up(RESOURCE_TYPE, since)
        for server_id in {str(one.get('server_id') or '') for one in requests} - {''}:
            server = cloud.compute.find_server(server_id)
            if server is not None and self._settings.covers(server):
                yield server

    # -- new servers

    def _attend(self, server: Server) -> bool:
        """Book the lease that a server should have, if any.

        :returns: whether this is finished
        """
        if server.status == _BROKEN:
            # Its owner can restore it, and may have broken it on purpose.
            return not self._settings.covers(server)
        settled = server.status in _GONE or self._settled(server)
        if settled is True:
            return True
        if settled is None or _busy(server):
            return False
        hints = self._cloud.compute.scheduler_hints(server.id)
        requested_leases = self._requested_leases(server, hints)
        if not requested_leases:
            return True
        with self._claimed(server) as mine:
            if mine:
                self._provide(server, requested_leases)
        return mine

    def _requested_leases(
        self, server: Server, hints: Mapping[str, object]
    ) -> list[booting.RequestedLease]:
        """Return the lease that a server requests, and the default one."""
        now, leases = self._clock.now(), []
        try:
            asked = booting.requested_lease(server.metadata, hints.get(booting.HINT), now)
        except booting.Unreadable as error:
            self._refuse(server, str(error))
        else:
            # A lease that the owner has deleted before its start is not booked again.
            new = not self._has_given_up(server)
            if asked is not None and new and self._allowed(server):
                leases.append(asked)
        usual = self._default(server, hints, now)
        return leases if usual is None else [*leases, usual]

    def _has_given_up(self, server: Server) -> bool:
        with self._store.reading() as tx:
            return booted_servers.has_given_up(tx, server.id)

    def _allowed(self, server: Server) -> bool:
        """Whether policy allows the owner of a server to create leases; if not, notify them."""
        if self._may is None:
            return True
        roles = self._cloud.identity.list_roles(server.user_id, server.project_id)
        caller = Caller(user_id=server.user_id, project_id=server.project_id, roles=roles)
        if not self._may(caller):
            self._refuse(server, 'policy does not let you create leases')
            return False
        return True

    def _default(
        self, server: Server, hints: Mapping[str, object], now: datetime.datetime
    ) -> booting.RequestedLease | None:
        length = self._settings.default_lease
        if length is None or not self._settings.covers(server):
            return None
        since = self._store.run(lambda tx: tx.chores.heard_of(_DEFAULTS))
        with self._store.reading() as tx:
            leased = booted_servers.has_room(tx, server, hints)
        if leased or server.created_at < since.replace(microsecond=0):
            return None
        return booting.RequestedLease(
            start=now, end=now + length, on_end=self._settings.on_end, imposed=True
        )

    @contextlib.contextmanager
    def _claimed(self, server: Server) -> Iterator[bool]:
        """Claim a server; yield False if another manager has claimed it."""
        name = f'server {server.id}'
        since, until = self._clock.ticks(), self._clock.now() + _CLAIM
        mine = self._store.run(lambda tx: tx.chores.take(name, self._owner, until))
        self._here.guard = fence.ClaimGuard(name, _VALID, self._clock.ticks, since)
        try:
            yield mine
        finally:
            self._here.guard = None
            if mine:
                self._store.run(lambda tx: tx.chores.forget(name, self._owner))

    def _guard(self) -> None:
        """Check the claim of this thread, if any; a refusal is written without one."""
        guard = getattr(self._here, 'guard', None)
        if guard is not None:
            guard.check()

    def _settled(self, server: Server) -> bool | None:
        """Whether a server has its lease, can get none, or was booted by a lease.

        :returns: None if that is not known yet
        """
        # The owner can write any error there, but that affects only this server.
        if server.metadata.get(booting.ERROR) and not self._settings.covers(server):
            return True
        with self._store.reading() as tx:
            tie = booted_servers.tie(tx, server)
        return None if tie is Tie.UNSURE else tie is Tie.YES

    def _provide(self, server: Server, requested_leases: Sequence[booting.RequestedLease]) -> None:
        """Book the first lease that is available."""
        lease_id = self._latest(server.id)
        if lease_id is not None:
            self._mark(server, lease_id)
            return
        # Another manager may have handled it before this claim.
        current = self._cloud.compute.find_server(server.id)
        if current is None or self._settled(current):
            return
        for requested in requested_leases:
            lease_id = booted_servers.lease_id(current.id, again=self._has_given_up(current))
            self._mark(current, lease_id)
            try:
                self._book(current, requested, lease_id)
            except exceptions.ClimateError as error:
                if _passes(error):
                    raise
                # Its owner may have booked it meanwhile.
                booked = self._latest(server.id)
                if booked is None:
                    self._refuse(current, error.message)
                    continue
                self._mark(current, booked)
            return

    def _book(self, server: Server, requested: booting.RequestedLease, lease_id: str) -> Lease:
        now = self._clock.now()
        body: dict[str, Any] = {'resource_type': RESOURCE_TYPE, 'server_id': server.id}
        if requested.on_end is not None:
            body['on_end'] = list(requested.on_end)
        if requested.guarantee is not None:
            body['guarantee'] = requested.guarantee
        elif requested.start <= now:
            # The server is running already.
            body['guarantee'] = False
        lease = self._leases.create(
            Caller(user_id=server.user_id, project_id=server.project_id),
            LeaseDraft(
                name=names.without_controls(
                    requested.name or server.name[:_LONGEST_NAME] or server.id
                ),
                start=max(requested.start, now),
                end=requested.end,
                id=lease_id,
                reservations=(body,),
                events=requested.events,
                before_end_date=requested.before_end_date,
                strict=True,
                grain=periods.SECOND,
                asked_at=now,
                limited=not requested.imposed,
            ),
        )
        LOG.info('Server %s was booted, and has lease %s now', server.id, lease.id)
        return lease

    def _refuse(self, server: Server, why: str) -> None:
        LOG.warning('Server %s gets no lease: %s', server.id, why)
        self._write_metadata(server, {booting.ERROR: why[: booting.LONGEST], booting.LEASE_ID: ''})

    def _mark(self, server: Server, lease_id: str) -> None:
        self._write_metadata(server, {booting.LEASE_ID: lease_id})

    def _write_metadata(self, server: Server, metadata: Mapping[str, str]) -> None:
        """Write metadata for its owner; give up if Nova refuses it permanently."""
        known = self._cloud.compute.find_server(server.id)
        has = {} if known is None else known.metadata
        # Empty values are not written over missing ones.
        new = {key: value for key, value in metadata.items() if value != has.get(key, '')}
        try:
            if new:
                self._cloud.compute.set_server_metadata(server.id, new)
        except exceptions.Permanent as error:
            LOG.warning('Server %s: its metadata cannot be set: %s', server.id, error.message)

    def _latest(self, server_id: str) -> str | None:
        """Return the id of the latest lease of a server, even if ended or deleted."""
        with self._store.reading() as tx:
            return next(iter(tx.leases.ids_with(RESOURCE_TYPE, server_id)), None)

    # -- deleted servers

    def _over(self, server_id: str) -> None:
        """End the leases whose only reservation is this server, which was deleted."""
        with self._store.reading() as tx:
            ids = tx.leases.ids_with(RESOURCE_TYPE, server_id, live=True)
            leases = [lease for lease in map(tx.leases.find, ids) if lease is not None]
        for lease in leases:
            whole = [item for item in lease.reservations if item.part_of is None]
            if len(whole) == 1:
                self._finish(lease, server_id)

    def _finish(self, lease: Lease, server_id: str) -> None:
        caller = Caller(user_id=lease.user_id, project_id=lease.project_id)
        try:
            if lease.status is LeaseStatus.PENDING:
                self._leases.delete(caller, lease.id, lease.project_id)
            elif lease.status is LeaseStatus.ACTIVE:
                now = self._clock.now()
                change = LeaseChange(end=now, strict=True, grain=periods.SECOND, asked_at=now)
                self._leases.update(caller, lease.id, lease.project_id, change)
            else:
                return
        except (exceptions.Conflict, exceptions.NotFound) as error:
            # It has ended, or another manager was first.
            LOG.info('Lease %s is not changed: %s', lease.id, error.message)
            return
        LOG.info('Lease %s has ended: server %s was deleted', lease.id, server_id)


def _busy(server: Server) -> bool:
    """Whether an operation of Nova on a server is in progress."""
    return server.status == 'BUILD' or server.task_state is not None


def _passes(error: exceptions.ClimateError) -> bool:
    """Whether a retry may help, so that the owner need not be notified."""
    return error.code >= 500 or isinstance(
        error, exceptions.BookedMeanwhile | exceptions.ExternalServiceUnavailable
    )
