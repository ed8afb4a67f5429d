# SPDX-License-Identifier: Apache-2.0

"""A process that moves hosts between aggregates of the simulated cloud until it is stopped.

``python -m tests.contract.hammer DIRECTORY NAME``: it stops when the file
``stop`` appears in the directory, and then prints how many calls it made.
"""

from __future__ import annotations

import pathlib
import sys

from climate import simulator
from climate.clock import SystemClock
from climate.cloud import base


def main(directory: str, name: str) -> int:
    """Hammer, and return how many calls were made."""
    cloud = simulator.SimulatedCloud(directory, clock=SystemClock())
    compute = cloud.compute
    hosts = [found.service_host for found in cloud.hypervisors()]
    mine = compute.create_aggregate(f'hammer-{name}', f'zone-{name}')
    stop = pathlib.Path(directory) / 'stop'
    calls = 1
    while not stop.exists():
        for host in hosts:
            calls += 2
            try:
                compute.add_host(mine.id, host)
            except base.CloudConflict:
                calls -= 1
                continue
            compute.remove_host(mine.id, host)
    return calls


if __name__ == '__main__':
    sys.stdout.write(f'{main(sys.argv[1], sys.argv[2])}\n')
