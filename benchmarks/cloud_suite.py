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
"""Measures Climate on the test cloud: one API process, one manager, three hosts.

The Climate processes of the cloud are stopped during the run. The measured ones have
their own database and pool of hosts. Prints a row for each measurement, with the figure
of Blazar 18 on the same machine and cloud; a figure that misses its target is marked
with an exclamation mark, and does not fail the run.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import dataclasses
import datetime
import json
import sys
import time
from collections.abc import Iterator
from typing import Any

from benchmarks import cloud_parts
from benchmarks.figures import quantile
from tools.cloud import errors
from tools.cloud import state

HOUR = datetime.timedelta(hours=1)
SOON = datetime.timedelta(seconds=3)
LENGTH = datetime.timedelta(seconds=4)
RIVALS = 8


@dataclasses.dataclass(frozen=True, kw_only=True)
class Figure:
    """One measurement.

    :ivar reference: the figure of Blazar 18; None if not measured
    :ivar aim: the target, a maximum; None if there is none
    """

    what: str
    value: float
    unit: str = 'ms'
    reference: float | None = None
    aim: float | None = None

    def line(self) -> str:
        """Return the figure as a line of the table."""
        mark = '!' if self.aim is not None and self.value > self.aim else ' '
        cells = (f'{"" if number is None else f"{number:g}":>10}' for number in self._targets())
        return f'{self.what:44}{self.unit:4}{self.value:>10.1f}{mark}' + ''.join(cells)

    def _targets(self) -> tuple[float | None, float | None]:
        return self.reference, self.aim


def main() -> int:
    """Run the benchmark; return the exit status."""
    options = _parser().parse_args()
    try:
        cloud = state.load(options.cloud_dir)
        with cloud_parts.deployment(cloud) as service:
            figures = list(_measure(service, options))
    except errors.CloudError as error:
        sys.stderr.write(f'{error}\n')
        return 1
    if options.json:
        print(json.dumps([dataclasses.asdict(figure) for figure in figures], indent=2))
    else:
        print(f'{"":44}{"":4}{"Climate":>10} {"Blazar 18":>10}{"aim":>10}')
        print('\n'.join(figure.line() for figure in figures))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        '--cloud-dir', help='directory of the cloud (default: as for make cloud-up)'
    )
    parser.add_argument(
        '--creates', type=int, default=50, help='number of leases created to measure a latency'
    )
    parser.add_argument('--starts', type=int, default=8, help='number of leases that start and end')
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    return parser


def _measure(service: cloud_parts.Service, options: argparse.Namespace) -> Iterator[Figure]:
    for part in (_latencies(service, options.creates), _rivalry(service)):
        yield from part
    yield from _periods(service, options.starts)


def _latencies(service: cloud_parts.Service, count: int) -> Iterator[Figure]:
    creates, deletes = [], []
    begin = service.now() + HOUR
    for number in range(count + 1):
        began = time.perf_counter()
        lease = service.create(begin + number * HOUR, HOUR)
        created = time.perf_counter()
        service.delete(lease['id'])
        deletes.append((time.perf_counter() - created) * 1000)
        creates.append((created - began) * 1000)
    # Without the first one, which is slower.
    creates, deletes = creates[1:], deletes[1:]
    yield Figure(what='create, p50', value=quantile(creates, 0.5), reference=265, aim=40)
    yield Figure(what='create, p99', value=quantile(creates, 0.99))
    yield Figure(what='delete, p50', value=quantile(deletes, 0.5), reference=276)
    yield Figure(what='delete, p99', value=quantile(deletes, 0.99))


def _rivalry(service: cloud_parts.Service) -> Iterator[Figure]:
    """Send eight concurrent requests for the same host and period."""
    begin = service.now() + 1000 * HOUR
    host = service.hosts[0]
    wanted = json.dumps(['==', '$hypervisor_hostname', host])

    def ask(_: int) -> int:
        return service.ask(begin, HOUR, hypervisor_properties=wanted).status_code

    with concurrent.futures.ThreadPoolExecutor(RIVALS) as pool:
        answers = list(pool.map(ask, range(RIVALS)))
    accepted = answers.count(201)
    what = f'of {RIVALS} leases at once of one host, accepted'
    yield Figure(what=what, value=accepted, unit='', reference=4, aim=1)
    for lease in service.leases():
        with contextlib.suppress(errors.CloudError):
            service.delete(lease['id'])


def _periods(service: cloud_parts.Service, count: int) -> Iterator[Figure]:
    late: dict[str, list[float]] = {'call': [], 'ACTIVE': [], 'TERMINATED': []}
    for _ in range(count):
        for name, seconds in _period(service).items():
            late[name].append(seconds * 1000)
    for share, name in ((0.5, 'p50'), (1.0, 'most')):
        value = quantile(late['call'], share)
        yield Figure(what=f'first call of Nova after the start, {name}', value=value, aim=200)
        value = quantile(late['ACTIVE'], share)
        yield Figure(what=f'ACTIVE after the start, {name}', value=value, reference=4300, aim=1500)
        value = quantile(late['TERMINATED'], share)
        yield Figure(what=f'TERMINATED after the end, {name}', value=value, reference=4400)


def _period(service: cloud_parts.Service) -> dict[str, float]:
    """Run one lease, and return the delays of its transitions, in seconds."""
    begin = service.now() + SOON
    lease = service.create(begin, LENGTH)
    seen: dict[str, datetime.datetime] = {}
    while 'TERMINATED' not in seen:
        status = service.lease(lease['id'])['status']
        seen.setdefault(status, service.now())
        if status == 'ERROR' or service.now() > begin + LENGTH + HOUR / 30:
            raise errors.CloudError(f'the lease {lease["id"]} is {status}')
        time.sleep(0.01)
    calls: list[Any] = [at for at in service.nova_calls() if at >= begin]
    return {
        'call': (calls[0] - begin).total_seconds(),
        'ACTIVE': (seen['ACTIVE'] - begin).total_seconds(),
        'TERMINATED': (seen['TERMINATED'] - begin - LENGTH).total_seconds(),
    }
