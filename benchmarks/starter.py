# SPDX-License-Identifier: Apache-2.0
"""A manager process whose effects do nothing.

Run as ``python -m benchmarks.starter URL WORKERS``.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import os
import sys
import threading
import time
from typing import Any

import sqlalchemy as sa

from benchmarks import parts
from climate.clock import Clock
from climate.cloud.base import Cloud
from climate.cmd import managing
from climate.cmd.manager import tune_process
from climate.messaging import journal
from climate.plugins.contract import Done
from climate.plugins.contract import Outcome
from climate.plugins.contract import Work
from climate.plugins.host.plugin import PhysicalHost
from climate.plugins.host.pools import HostSettings
from climate.simulator import SimulatedCloud
from tests.functional import bulk


class IdleHosts(PhysicalHost):
    """Hosts whose leases start and end without any call to the cloud.

    :ivar begun: when the start of each lease reached the plugin first, by lease id
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__(HostSettings())
        self._clock = clock
        self.begun: dict[str, datetime.datetime] = {}

    def start(self, work: Work, cloud: Cloud) -> Outcome:
        """Record the time."""
        self.begun.setdefault(work.lease.id, self._clock.now())
        return Done()

    def end(self, work: Work, cloud: Cloud) -> Outcome:
        """Do nothing."""
        return Done()


def _count(engine: sa.Engine) -> dict[int, int]:
    """Return the numbers of the statements that are executed from now on, by thread."""
    counted: dict[int, int] = collections.defaultdict(int)

    @sa.event.listens_for(engine, 'before_cursor_execute')
    def _add(*_arguments: Any) -> None:
        counted[threading.get_ident()] += 1

    return counted


def main() -> None:
    """Run until the standard input ends or has an empty line."""
    url, workers = sys.argv[1:]
    core = parts.core(url)
    core.conf.set_override('workers', int(workers), group='manager')
    cloud = SimulatedCloud(':memory:', clock=core.clock)
    hosts = IdleHosts(core.clock)
    plugins: Any = {bulk.RESOURCE_TYPE: hosts}
    notifications = journal.FileJournal(
        os.devnull, publisher_id=core.conf.notifications.publisher_id
    )
    manager = managing.manager(dataclasses.replace(core, plugins=plugins), cloud, notifications)
    tune_process()
    statements = _count(core.store.engine)
    manager.start()
    parts.say('ready')
    while parts.read_line().strip():
        begun = {lease_id: at.isoformat() for lease_id, at in list(hosts.begun.items())}
        cpu = time.process_time()
        parts.say({'begun': begun, 'cpu': cpu, 'statements': sum(statements.values())})
    manager.stop()
    core.store.close()
    cloud.close()


if __name__ == '__main__':
    main()
