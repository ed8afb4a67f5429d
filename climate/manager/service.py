# SPDX-License-Identifier: Apache-2.0

"""A manager: the claim loop, the senders and the RPC endpoint."""

from __future__ import annotations

import dataclasses
import functools
import os
import socket
import uuid
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any

from climate import exceptions
from climate.booking.leases import Leases
from climate.booking.planning import queue
from climate.booking.planning import relocation
from climate.booking.planning import yield_times
from climate.clock import Clock
from climate.cloud import fence
from climate.cloud.base import Cloud
from climate.cloud.deletions import Recorded
from climate.conf.settings import option
from climate.conf.settings import part
from climate.conf.settings import Settings
from climate.db.transactions.store import Store
from climate.domain.booting import ServerReport
from climate.domain.health import HostReport
from climate.domain.requests import Caller
from climate.domain.resources import ResourceDraft
from climate.enforcement.filters import Filters
from climate.leases.notices import Plugins
from climate.leases.settings import LeasingSettings
from climate.manager.claims.claims import ClaimKeeper
from climate.manager.claims.clocks import Clocks
from climate.manager.claims.due_queue import DueQueue
from climate.manager.claims.loop import ClaimLoop
from climate.manager.claims.pipeline import Pipeline
from climate.manager.claims.worker import Worker
from climate.manager.default_leases.server_lease_settings import ServerLeaseSettings
from climate.manager.default_leases.server_leases import ServerLeases
from climate.manager.periodic.healing import Healing
from climate.manager.periodic.health import Monitor
from climate.manager.periodic.health import ReportListener
from climate.manager.periodic.owners import OwnerThread
from climate.manager.periodic.planning import Planning
from climate.manager.periodic.repair import Repair
from climate.manager.periodic.repair_thread import RepairThread
from climate.manager.running.deletions import DeletionAudit
from climate.manager.running.deletions import DeletionRecorder
from climate.manager.senders.charges import ChargeSender
from climate.manager.senders.outbox import OutboxSender
from climate.manager.senders.sender import Sender
from climate.manager.senders.webhooks import WebhookSender
from climate.manager.senders.webhooks import WebhookSenderSettings
from climate.messaging.publisher import Publisher
from climate.metrics import catalogue
from climate.metrics import recording
from climate.metrics.reading import Reading
from climate.policies import leases as lease_policies
from climate.resources.registrar import Registrar
from climate.upkeep.health import HostHealth
from climate.upkeep.owners import May
from climate.upkeep.owners import OwnerCheck
from climate.upkeep.planning import Planner
from climate.upkeep.rehoming import Rehoming
from climate.upkeep.trusts import TrustCheck
from climate.webhooks.sending import EventSender


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ManagerOptions(Settings):
    """The options of a manager.

    :ivar workers: the number of leases that are processed concurrently
    :ivar max_sleep: the longest interval between two queries, in seconds
    :ivar claim_seconds: the duration of a claim
    :ivar outbox_batch: the maximum number of notifications per batch
    :ivar outbox_attempts: attempts before a notification is set aside
    :ivar polling_interval: seconds between two checks of the health of hosts
    :ivar repair_interval: seconds between two repairs; 0 for never
    :ivar heal_interval: seconds between two searches for reservations on failed resources
    :ivar plan_interval: seconds between two plans of flexible leases
    :ivar owner_check_interval: seconds between two checks of the owners of webhooks; 0 for never
    :ivar server_leases: which servers get leases by being booted
    :ivar webhooks: how the events of webhooks are sent
    """

    workers: int = option('manager', 'workers')
    max_sleep: float = option('manager', 'max_sleep')
    claim_seconds: float = option('manager', 'claim_seconds')
    outbox_batch: int = option('manager', 'outbox_batch')
    outbox_attempts: int = option('manager', 'outbox_attempts')
    polling_interval: float = option('health', 'polling_interval')
    repair_interval: float = option('manager', 'repair_interval')
    heal_interval: float = option('health', 'heal_interval')
    plan_interval: float = option('planner', 'interval')
    owner_check_interval: float = option('manager', 'owner_check_interval')
    server_leases: ServerLeaseSettings = part(ServerLeaseSettings)
    webhooks: WebhookSenderSettings = part(WebhookSenderSettings)


def unique_owner() -> str:
    """Return a unique name for this manager."""
    return f'{socket.gethostname()[:36]}:{os.getpid()}:{uuid.uuid4().hex[:16]}'


def _outbox(
    store: Store,
    clock: Clock,
    publisher: Publisher,
    owner: str,
    options: ManagerOptions,
    claimed: Callable[[], None],
) -> OutboxSender:
    return OutboxSender(
        store,
        clock,
        publisher,
        owner,
        batch=options.outbox_batch,
        attempts=options.outbox_attempts,
        max_sleep=options.max_sleep,
        claim_seconds=options.claim_seconds,
        claimed=claimed,
    )


def _webhook_senders(
    store: Store, clock: Clock, events: EventSender | None, owner: str, options: ManagerOptions
) -> list[WebhookSender]:
    if events is None:
        return []
    sending, longest = options.webhooks, options.max_sleep
    return [WebhookSender(store, clock, events, owner, sending, max_sleep=longest)]


def _server_monitor(
    leases: Leases,
    cloud: Cloud,
    listener: ReportListener[ServerReport] | None,
    settings: ServerLeaseSettings,
    owner: str,
    may: May | None,
) -> Monitor[ServerReport]:
    return Monitor(
        ServerLeases(leases.store, leases, leases.clock, settings, cloud, owner, _may_create(may)),
        cloud,
        listener,
        polling_interval=settings.poll_interval,
        changed=_ignore_change,
        what='Servers',
    )


def _may_create(may: May | None) -> Callable[[Caller], bool] | None:
    if may is None:
        return None
    return lambda caller: may(caller, lease_policies.CREATE)


def _ignore_change() -> None:
    """Do nothing, because booking a lease has woken the manager already."""


class Manager:
    """All threads of a manager process, and the endpoint of its RPC server.

    :param may: returns whether policy allows a user with roles what a rule is about; None
        without authentication
    :param events: sends the events of webhooks; None for a manager that sends none
    :param audit: records audit events; None if the audit trail is off
    """

    def __init__(
        self,
        *,
        store: Store,
        plugins: Plugins,
        cloud: Cloud,
        clock: Clock,
        settings: LeasingSettings,
        options: ManagerOptions,
        publisher: Publisher,
        listener: ReportListener[HostReport] | None = None,
        server_listener: ReportListener[ServerReport] | None = None,
        owner: str | None = None,
        filters: Filters | None = None,
        may: May | None = None,
        events: EventSender | None = None,
        audit: DeletionAudit | None = None,
    ) -> None:
        self.owner = owner or unique_owner()
        self._plugins = plugins
        record = DeletionRecorder(store, audit)
        self._registrar = Registrar(store, plugins, Recorded(cloud, record))
        filters, longest = filters or Filters(), options.max_sleep
        self._webhooks = _webhook_senders(store, clock, events, self.owner, options)
        self._senders: list[Sender] = [
            _outbox(store, clock, publisher, self.owner, options, self._wake_webhooks),
            ChargeSender(store, clock, filters, self.owner, max_sleep=longest),
        ]
        self.clocks = Clocks(store, clock, options.claim_seconds)
        self._claims = ClaimKeeper(store, clock, self.owner, options.claim_seconds, self.clocks)
        self._booking = booking = self._leases(store, clock, settings, cloud, filters)
        worker = self._make_worker(store, cloud, settings, filters, record)
        self._loop = self._make_loop(store, clock, worker, options)
        looking = fence.watching(cloud)
        relocate = functools.partial(relocation.elsewhere, booking)
        rehoming = Rehoming(store, plugins, settings, relocate=relocate)
        self._healing = Healing(rehoming, looking, options.heal_interval, self.wake)
        self._planning = Planning(
            Planner(booking), store, clock, self.owner, options.plan_interval, self.wake
        )
        health, seconds = HostHealth(store, clock, plugins), options.polling_interval
        hosts = Monitor(
            health, looking, listener, polling_interval=seconds, changed=self._healing.now
        )
        self._monitors: list[Monitor[Any]] = [hosts]
        if options.server_leases.enabled:
            watched = options.server_leases
            self._monitors.append(
                _server_monitor(booking, cloud, server_listener, watched, self.owner, may)
            )
        # With a different owner, so that the loop cannot take its claims for its own.
        repairer = unique_owner()
        self._checking = ClaimKeeper(store, clock, repairer, options.claim_seconds, self.clocks)
        repair = Repair(store, plugins, cloud, clock, settings, self._checking, record)
        self._repair = RepairThread(repair, clock, options.repair_interval)
        owners = OwnerCheck(store, looking, may, TrustCheck(store, plugins)) if may else None
        self._owners = OwnerThread(owners, store, clock, self.owner, options.owner_check_interval)

    def _leases(
        self, store: Store, clock: Clock, settings: LeasingSettings, cloud: Cloud, filters: Filters
    ) -> Leases:
        return Leases(
            store,
            self._plugins,
            clock,
            settings,
            self.wake,
            cloud_of=lambda _: cloud,
            filters=filters,
        )

    def _make_worker(
        self,
        store: Store,
        cloud: Cloud,
        settings: LeasingSettings,
        filters: Filters,
        record: DeletionRecorder,
    ) -> Worker:
        return Worker(
            store,
            self._plugins,
            cloud,
            settings,
            self._claims,
            self._wake_senders,
            filters,
            self._repair_soon,
            record,
            functools.partial(queue.resumes, self._booking),
        )

    def _make_loop(
        self, store: Store, clock: Clock, worker: Worker, options: ManagerOptions
    ) -> ClaimLoop:
        claims, longest = self._claims, options.max_sleep
        workers = self._workers = options.workers
        pipeline = Pipeline(store, self._plugins, claims, worker, self._wake_senders)
        due = DueQueue(store, clock, claims)
        return ClaimLoop(clock, claims, due, pipeline, worker, workers=workers, max_sleep=longest)

    def start(self) -> None:
        """Start all threads; does not block."""
        self._claims.start()
        self._checking.start()
        for sender in (*self._senders, *self._webhooks):
            sender.start()
        self._loop.start()
        for watch in self._monitors:
            watch.start()
        self._repair.start()
        self._owners.start()
        self._healing.start()
        self._planning.start()

    def stop(self, timeout: float = 3.0) -> None:
        """Stop working.

        Work that does not finish within *timeout* seconds is continued by another manager,
        or by this one after its next start.
        """
        self._repair.stop()
        self._owners.stop(timeout)
        self._loop.stop(timeout)
        for watch in self._monitors:
            watch.stop(timeout)
        self._healing.stop(timeout)
        self._planning.stop(timeout)
        for sender in (*self._senders, *self._webhooks):
            sender.stop(timeout)
        self._claims.stop()
        self._checking.stop()

    def readings(self) -> Iterator[Reading]:
        """Yield how busy this manager is, for metrics."""
        yield Reading(metric=catalogue.HELD, value=len(self._claims.claimed()))
        yield Reading(metric=catalogue.WORKERS, value=self._workers)

    def planned_yields(self) -> Iterator[Reading]:
        """Yield what plans assume of preemptible leases, for metrics."""
        with self._booking.store.reading() as tx:
            for one in yield_times.planned(tx, self._booking):
                yield Reading(
                    metric=catalogue.PLANNED_YIELDS,
                    value=one.estimate.seconds,
                    labels=(one.resource_type, one.mode or '', one.estimate.source.value),
                )

    def check(self) -> None:
        """Check that the manager claims leases.

        :raises climate.exceptions.ServiceUnavailable: if it does not
        """
        if not self._loop.is_alive():
            raise exceptions.ServiceUnavailable('The threads that claim leases do not run')

    # -- methods for RPC

    def wake(self, reason: str = '') -> None:
        """Check at once, because a lease, a notification or a charge was written.

        :param reason: several are joined by commas; ``health`` if a resource
            goes into maintenance or comes out of it, ``webhooks`` if a delivery was written
        """
        recording.count(catalogue.WAKE_UPS)
        reasons = reason.split(',')
        if 'health' in reasons:
            self._healing.now()
        if 'webhooks' in reasons:
            self._wake_webhooks()
        self._loop.wake()
        self._wake_senders()

    def register_resource(self, draft: ResourceDraft) -> int:
        """Register a resource; return its id."""
        return self._registrar.register_resource(draft)

    def delete_resource(self, resource_id: int) -> None:
        """Unregister a resource."""
        self._registrar.delete_resource(resource_id)

    def refresh_resource(self, resource_id: int) -> None:
        """Read a resource again from the cloud; reservations that no longer fit move."""
        self._registrar.refresh_resource(resource_id)
        self._healing.now()

    def rename_resource(self, resource_id: int, name: str) -> None:
        """Give a resource the name that the cloud now uses for it."""
        self._registrar.rename_resource(resource_id, name)
        # The check of active leases gives the host its slots under the new name.
        self._repair.run_soon()

    def _repair_soon(self) -> None:
        """Repair after a claim was lost within an effect, whose last call may be late."""
        self._repair.run_soon()

    def _wake_senders(self) -> None:
        """Send the new rows of the outbox and of the charges."""
        for sender in self._senders:
            sender.wake()

    def _wake_webhooks(self) -> None:
        """Send the new deliveries to webhooks."""
        for sender in self._webhooks:
            sender.wake()
