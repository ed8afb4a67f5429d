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

"""A manager without threads, whose steps a test runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from climate.manager.charges import ChargeSender
from climate.manager.claims import ClaimKeeper
from climate.manager.outbox import OutboxSender
from climate.manager.pipeline import Pipeline
from climate.manager.service import ManagerOptions
from climate.manager.worker import Worker
from climate.running.begin import EventStarter
from climate.running.perform import perform
from climate.running.settle import EventSettler

if TYPE_CHECKING:
    from climate.testing.deployment import Deployment

CLAIM_SECONDS = 10.0
TOGETHER = ManagerOptions().batches


class SteppedManager:
    """A manager that does the work of its threads when a test calls it.

    :param together: whether it processes leases in batches
    """

    def __init__(
        self, deployment: Deployment, owner: str, batch: int, *, together: bool = False
    ) -> None:
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
        )
        self._together = together
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
        if self._together:
            self.pipeline.run(ids)
            return ids
        for lease_id in ids:
            self.worker.work(lease_id)
            while not self.claims.forget(lease_id):
                self.worker.work(lease_id)
        return ids

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
