# SPDX-License-Identifier: Apache-2.0
"""Measures Blazar and Climate on the same test cloud, one after the other, in rounds.

Each has one API process and one manager with a database and three hosts of its own, and the
Climate processes of the cloud are stopped in the meantime. Blazar is installed from PyPI at
the first run, next to the cloud. Prints a table in reStructuredText: the median of the
rounds with their range, and how many times the figure of Climate that of Blazar is. What
cannot be measured for both is left out and named.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import datetime
import json
import os
import sys
import time
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import requests
from keystoneauth1 import exceptions

from benchmarks import cloud_blazar
from benchmarks import cloud_climate
from benchmarks import cloud_parts
from benchmarks import cloud_table
from benchmarks.cloud_table import BLAZAR
from benchmarks.cloud_table import CLIMATE
from benchmarks.cloud_table import Figure
from benchmarks.figures import quantile
from tools.cloud import errors
from tools.cloud import state

HOUR = datetime.timedelta(hours=1)
MINUTE = datetime.timedelta(minutes=1)
# Long enough to create a lease, even on a busy machine.
LEAD = datetime.timedelta(seconds=20)
RIVALS = 8
LISTS = 15
# Seconds in which nothing is requested.
IDLE = 15.0
_LATEST = 180.0

_FAILURES = (errors.CloudError, exceptions.ClientException, requests.RequestException)

Deploy = Callable[[state.Cloud], AbstractContextManager[cloud_parts.Service]]
SERVICES: dict[str, Deploy] = {BLAZAR: cloud_blazar.deployment, CLIMATE: cloud_climate.deployment}


def main() -> int:
    """Run the benchmark; return the exit status."""
    options = _parser().parse_args()
    rounds: list[tuple[str, list[Figure]]] = []
    loads = []
    try:
        cloud = state.load(options.cloud_dir)
        with cloud_parts.without_others(cloud):
            for number in range(options.rounds):
                for name, deploy in SERVICES.items():
                    _say(f'round {number + 1} of {options.rounds}: {name}')
                    rounds.append((name, _run(cloud, deploy, options)))
                    loads.append(os.getloadavg()[1])
    except errors.CloudError as error:
        sys.stderr.write(f'{error}\n')
        return 1
    if options.json:
        plain = [(name, [dataclasses.asdict(each) for each in found]) for name, found in rounds]
        print(json.dumps({'rounds': plain, 'loads': loads}, indent=2))
        return 0
    found, missing = cloud_table.rows(rounds)
    versions = {BLAZAR: cloud_blazar.VERSION, CLIMATE: ''}
    print(cloud_table.table(found, versions))
    load = ', '.join(f'{each:.1f}' for each in loads)
    print(f'\n{options.rounds} rounds on {os.cpu_count()} processors; load during each: {load}')
    for what in missing:
        print(f'Not measured for both: {what}')
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        '--cloud-dir', help='directory of the cloud (default: as for make cloud-up)'
    )
    parser.add_argument('--rounds', type=int, default=2, help='how often each is measured')
    parser.add_argument(
        '--creates', type=int, default=100, help='number of leases created in each round'
    )
    parser.add_argument(
        '--starts', type=int, default=4, help='number of leases that start in each round'
    )
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    return parser


def _say(text: str) -> None:
    sys.stderr.write(f'{text}\n')


def _run(cloud: state.Cloud, deploy: Deploy, options: argparse.Namespace) -> list[Figure]:
    """Deploy a service and measure it; a part that fails is left out."""
    found: list[Figure] = []
    parts: tuple[Callable[[cloud_parts.Service, Any], Iterator[Figure]], ...]
    parts = (_creates, _rivalry, _starts)
    with deploy(cloud) as service:
        for part in parts:
            try:
                for figure in part(service, options):
                    _say(f'  {figure.what}: {figure.value:.0f} {figure.unit}')
                    found.append(figure)
                service.clear()
            except _FAILURES as error:
                _say(f'{part.__name__.strip("_")}: {error}')
    return found


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long something took, in milliseconds, and its result."""
    began = time.perf_counter()
    result = work()
    return (time.perf_counter() - began) * 1000, result


def _creates(service: cloud_parts.Service, options: argparse.Namespace) -> Iterator[Figure]:
    """Create leases of one host, list them all, and delete them."""
    counter = service.watch.database
    before = counter.count
    time.sleep(IDLE)
    # What a manager does anyway, in statements per millisecond.
    others = (counter.count - before) / (IDLE * 1000)
    begin, made = service.now() + HOUR, []
    for number in range(options.creates + 1):
        before = counter.count
        duration, lease_id = _timed(lambda at=begin + number * HOUR: service.create(at, HOUR))
        made.append((duration, counter.count - before - others * duration, lease_id))
    # Without the first one, which is slower.
    durations, counts, ids = zip(*made[1:], strict=True)
    yield Figure(what='Creating a lease of one host, median', value=quantile(durations, 0.5))
    what = '99 of 100' if len(durations) >= 100 else f'the slowest of {len(durations)}'
    yield Figure(what=f'The same, {what}', value=quantile(durations, 0.99))
    yield Figure(what='The same, SQL statements', value=round(quantile(counts, 0.5)), unit='')
    lists = [_timed(service.leases)[0] for _ in range(LISTS)]
    yield Figure(what=f'Listing {options.creates + 1} leases, median', value=quantile(lists, 0.5))
    deletes = [_timed(lambda one=one: service.delete(one))[0] for one in ids]
    yield Figure(what='Deleting a lease, median', value=quantile(deletes, 0.5))


def _rivalry(service: cloud_parts.Service, _options: argparse.Namespace) -> Iterator[Figure]:
    """Send eight concurrent requests for the same host and period."""
    begin = service.now() + 1000 * HOUR

    def ask(_: int) -> int:
        return service.ask(begin, HOUR, service.hosts[0]).status_code

    with concurrent.futures.ThreadPoolExecutor(RIVALS) as pool:
        accepted = list(pool.map(ask, range(RIVALS))).count(201)
    what = f'{RIVALS} requests at once for one host: accepted'
    yield Figure(what=what, value=accepted, unit='', compared=False)


def _starts(service: cloud_parts.Service, options: argparse.Namespace) -> Iterator[Figure]:
    late: dict[str, list[float]] = {'call': [], 'ACTIVE': []}
    for _ in range(options.starts):
        for name, seconds in _start(service).items():
            late[name].append(seconds * 1000)
    for name, title in (
        ('call', 'First change in Nova after the start'),
        ('ACTIVE', 'ACTIVE after the start'),
    ):
        yield Figure(what=f'{title}, median', value=quantile(late[name], 0.5))
        if options.starts > 1:
            yield Figure(what=f'{title}, latest', value=max(late[name]))


def _start(service: cloud_parts.Service) -> dict[str, float]:
    """Start one lease, delete it, and return how late it started, in seconds."""
    begin = (service.now() + LEAD + MINUTE).replace(second=0, microsecond=0)
    lease_id = service.create(begin, HOUR)
    time.sleep(max((begin - service.now()).total_seconds(), 0))
    while (status := service.status(lease_id)) != 'ACTIVE':
        if status in ('ERROR', 'DELETED') or (service.now() - begin).total_seconds() > _LATEST:
            raise errors.CloudError(f'the lease {lease_id} is {status}')
        time.sleep(0.05)
    active = service.now()
    changed = service.watch.nova.first_change(begin)
    if changed is None:
        raise errors.CloudError('Nova was not called through the proxy')
    service.clear()
    return {'call': (changed - begin).total_seconds(), 'ACTIVE': (active - begin).total_seconds()}


if __name__ == '__main__':
    sys.exit(main())
