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

"""One manager: the claim loop, the outbox sender and what answers RPC."""

from __future__ import annotations

import dataclasses
import os
import socket
import uuid
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.clients.base import Cloud
from climate.clock import Clock
from climate.db.store import Store
from climate.leasing.hosts import Registrar
from climate.leasing.hosts import RESOURCE_TYPE as HOST
from climate.leasing.notices import Plugins
from climate.leasing.settings import LeasingSettings
from climate.manager.claims import Claims
from climate.manager.loop import Loop
from climate.manager.outbox import OutboxSender
from climate.manager.worker import Worker
from climate.messaging.publisher import Publisher


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ManagerOptions:
    """What operators configure of one manager.

    :ivar workers: leases worked on at once
    :ivar max_sleep: the longest sleep, in seconds
    :ivar claim_seconds: how long a claim lasts
    :ivar outbox_batch: leases whose notifications are sent at one go
    """

    workers: int = 8
    max_sleep: float = 5.0
    claim_seconds: float = 10.0
    outbox_batch: int = 100

    @classmethod
    def from_conf(cls, conf: Any) -> ManagerOptions:
        """Return the options that *conf* (an oslo.config ConfigOpts) holds."""
        group = conf.manager
        return cls(
            workers=group.workers,
            max_sleep=group.max_sleep,
            claim_seconds=group.claim_seconds,
            outbox_batch=group.outbox_batch,
        )


def unique_owner() -> str:
    """Return a name for this manager that no other ever has."""
    return f'{socket.gethostname()[:36]}:{os.getpid()}:{uuid.uuid4().hex[:16]}'


class Manager:
    """Everything a manager process runs; also the endpoint of its RPC server."""

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
        owner: str | None = None,
    ) -> None:
        self.owner = owner or unique_owner()
        self._store = store
        self._plugins = plugins
        self._cloud = cloud
        self._outbox = OutboxSender(
            store,
            clock,
            publisher,
            self.owner,
            batch=options.outbox_batch,
            max_sleep=options.max_sleep,
            claim_seconds=options.claim_seconds,
        )
        self._claims = Claims(store, clock, self.owner, options.claim_seconds)
        worker = Worker(store, plugins, cloud, settings, self.owner, self._outbox.wake)
        self._loop = Loop(
            clock,
            self._claims,
            worker,
            workers=options.workers,
            max_sleep=options.max_sleep,
        )

    def start(self) -> None:
        """Begin to work; returns at once."""
        self._claims.start()
        self._outbox.start()
        self._loop.start()

    def stop(self, timeout: float = 3.0) -> None:
        """Stop working.

        What is under way and does not finish in *timeout* seconds is taken up
        again by another manager, or by this one when it is started again.
        """
        self._loop.stop(timeout)
        self._outbox.stop(timeout)
        self._claims.stop()

    # -- what others ask of a manager, over RPC

    def wake(self, reason: str = '') -> None:
        """Look at once: a lease was written, and a notification with it."""
        self._loop.wake()
        self._outbox.wake()

    def register_host(self, name: str, capabilities: Mapping[str, str]) -> int:
        """Take a host in; return its id."""
        return self._registrar().register_host(name, capabilities)

    def delete_host(self, host_id: int) -> None:
        """Let a host go."""
        self._registrar().delete_host(host_id)

    def _registrar(self) -> Registrar:
        if HOST not in self._plugins:
            raise exceptions.UnsupportedResourceType(resource_type=HOST)
        return Registrar(self._store, self._plugins[HOST], self._cloud)
