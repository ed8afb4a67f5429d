# SPDX-License-Identifier: Apache-2.0

"""A manager without threads, whose steps a test runs."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any
from typing import Protocol

from climate.booking.planning import queue
from climate.booking.requests.context import Context
from climate.clock import Clock
from climate.cloud.base import Cloud
from climate.db.transactions.store import Store
from climate.enforcement.filters import Filters
from climate.leases.settings import LeasingSettings
from climate.manager.claims.claims import ClaimKeeper
from climate.manager.claims.pipeline import Pipeline
from climate.manager.claims.pipeline import SettledBatch
from climate.manager.claims.worker import Worker
from climate.manager.running.begin import EventStarter
from climate.manager.running.perform import perform
from climate.manager.running.settle import EventSettler
from climate.manager.senders.charges import ChargeSender
from climate.manager.senders.outbox import OutboxSender
from climate.messaging.publisher import Publisher
from climate.plugins.contract import Plugin

CLAIM_SECONDS = 10.0


class Managed(Protocol):
    """What a manager works with, such as :class:`climate.testing.deployment.Deployment`."""

    store: Store
    clock: Clock
    plugins: dict[str, Plugin[Any]]
    settings: LeasingSettings
    filters: Filters

    @property
    def bus(self) -> Publisher:
        """Where notifications go."""

    @property
    def cloud(self) -> Cloud:
        """The cloud itself."""

    @property
    def managed(self) -> Cloud:
        """The cloud as managers see it."""


def _context(deployment: Managed) -> Context:
    return Context(
        deployment.store,
        deployment.plugins,
        deployment.clock,
        deployment.settings,
        wake=lambda: None,
    )


class SteppedManager:
    """A manager that does the work of its threads when a test calls it.

    :param batch: the maximum number of notifications that it sends per batch
    :param alone: whether it processes each lease alone, as managers do with leases that a
        batch cannot handle
    """

    def __init__(self, deployment: Managed, owner: str, batch: int, *, alone: bool = False) -> None:
        self._deployment = deployment
        self.owner = owner
        self.claims = ClaimKeeper(deployment.store, deployment.clock, owner, CLAIM_SECONDS)
        self.worker = Worker(
            deployment.store,
            deployment.plugins,
            deployment.managed,
            deployment.settings,
            self.claims,
            lambda: None,
            deployment.filters,
            resumes=functools.partial(queue.resumes, _context(deployment)),
        )
        self._alone = alone
        self.sender = OutboxSender(
            deployment.store,
            deployment.clock,
            deployment.bus,
            owner,
            batch=batch,
            max_sleep=1.0,
            attempts=10,
            claim_seconds=CLAIM_SECONDS,
        )
        self.charges = ChargeSender(
            deployment.store, deployment.clock, deployment.filters, owner, max_sleep=5.0
        )

    @property
    def pipeline(self) -> Pipeline:
        """Processes leases in batches, by means of the worker, which tests may replace."""
        store, plugins = self._deployment.store, self._deployment.plugins
        return Pipeline(store, plugins, self.claims, self.worker, lambda: None)

    def look(self, limit: int = 8) -> list[str]:
        """Claim the due leases and process them; return their ids."""
        ids = self.claims.take(limit)
        if not self._alone:
            self.work_together(ids)
            return ids
        for lease_id in ids:
            self.worker.work(lease_id)
            while not self.claims.forget(lease_id):
                self.worker.work(lease_id)
        return ids

    def work_together(self, lease_ids: Sequence[str]) -> None:
        """Process all due events of claimed leases, as the claim loop does in its threads."""
        pipeline = self.pipeline
        while lease_ids:
            begun = pipeline.begin(lease_ids)
            for lease_id in begun.alone:
                self.worker.work(lease_id)
            performed = [pipeline.perform(job) for job in begun.jobs]
            finished = [each for each in performed if each is not None]
            settled = pipeline.settle(finished) if finished else SettledBatch()
            for each in settled.alone:
                self.worker.settle(each.begun.guard, each.begun.job, each.report)
            gone = {*lease_ids} - {*settled.again}
            claimed_again = [lease_id for lease_id in gone if not self.claims.forget(lease_id)]
            lease_ids = [*settled.again, *claimed_again]

    def send(self) -> None:
        """Send all notifications and charges that wait."""
        while self.sender.send_once():
            continue
        while self.charges.send_once():
            continue

    def die_after(self, step: str) -> None:
        """Claim a due lease, process it up to and including *step*, and stop.

        :param step: 'claim', 'begin', 'effect' or 'settle'
        """
        deployment = self._deployment
        (lease_id,) = self.claims.take(1)
        if step == 'claim':
            return
        starter = EventStarter(deployment.plugins, deployment.settings, self.owner)
        job = deployment.store.run(lambda tx: starter.begin(tx, lease_id))
        if job is None or step == 'begin':
            return
        report = perform(job, deployment.plugins, deployment.cloud)
        if step == 'effect':
            return
        settler = EventSettler(
            deployment.plugins, deployment.settings, self.owner, deployment.filters
        )
        deployment.store.run(lambda tx: settler.settle(tx, job, report))
