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

"""A process that moves hosts about on the simulated cloud until it is told to stop.

``python -m tests.contract.hammer DIRECTORY NAME``: it stops when the file
``stop`` appears in the directory, and then prints how many calls it made.
"""

from __future__ import annotations

import pathlib
import sys

from climate import simulator
from climate.clients import base
from climate.clock import SystemClock


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
