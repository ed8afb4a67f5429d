# SPDX-License-Identifier: Apache-2.0
"""A manager process with a simulated cloud: ``python -m benchmarks.manager URL DIRECTORY``."""

from __future__ import annotations

import pathlib
import sys
import time

from benchmarks import parts
from climate.cmd import managing
from climate.messaging import journal
from climate.simulator import SimulatedCloud


def main() -> None:
    """Run until the standard input ends or has an empty line."""
    core = parts.core(sys.argv[1])
    directory = pathlib.Path(sys.argv[2])
    cloud = SimulatedCloud(directory, clock=core.clock)
    notifications = journal.FileJournal(
        directory / 'notifications.jsonl', publisher_id=core.conf.notifications.publisher_id
    )
    manager = managing.manager(core, cloud, notifications)
    manager.start()
    parts.say('ready')
    while parts.read_line().strip():
        parts.say({'megabytes': parts.resident_megabytes(), 'cpu': time.process_time()})
    manager.stop()
    core.store.close()
    cloud.close()


if __name__ == '__main__':
    main()
