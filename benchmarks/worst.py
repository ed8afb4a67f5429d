# SPDX-License-Identifier: Apache-2.0

"""Measures the processor time and the memory of the most expensive requests of a member.

Each kind of request goes to the application in this process, first some in one thread, to
measure the processor time, then many in as many threads as a process of gunicorn has. The
memory of the process before and after these is what such requests cost for good.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import pathlib
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any
from typing import Final

import webob

from benchmarks import parts
from benchmarks import worst_requests
from benchmarks.figures import Figure
from benchmarks.figures import show
from climate.clock import SystemClock
from climate.cmd import composition
from climate.db.migrations import migration
from tests.functional import bulk_parts

# Which members sent before they were measured: what a process keeps for all requests.
_USUAL: Final = 20
_GROWTH: Final = 1.2


def main() -> int:
    """Run the benchmark; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hosts', type=int, default=2000, help='number of hosts')
    parser.add_argument('--allocations', type=int, default=100_000, help='number of bookings')
    parser.add_argument('--requests', type=int, default=100, help='of each kind, at once')
    parser.add_argument('--threads', type=int, default=8, help='which send them')
    parser.add_argument('--times', type=int, default=3, help='of each kind, one after the other')
    parser.add_argument('--only', help='only kinds whose name contains this')
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = f'sqlite:///{pathlib.Path(folder) / "climate.sqlite"}'
        figures = list(_measured(url, options))
    show(figures, as_json=options.json)
    return int(any(one.missed for one in figures))


def _measured(url: str, options: argparse.Namespace) -> Iterator[Figure]:
    conf = parts.configuration(url)
    conf.set_override('resource_types', ['physical:host', 'virtual:instance'])
    core = composition.core(conf, SystemClock())
    migration.sync(core.store.engine)
    now = SystemClock().now()
    load = bulk_parts.Parts(hosts=options.hosts, allocations=options.allocations, now=now)
    load.fill(core.store.engine)
    app = parts.api(core)
    kinds = worst_requests.by_name(now)
    for _ in range(_USUAL):
        for name in ('one host', 'one slot'):
            _sent(app, kinds[name])
    for name, request in kinds.items():
        if options.only is None or options.only in name:
            yield from _of_kind(app, name, request, options)
    core.store.close()


def _of_kind(
    app: Any, name: str, request: worst_requests.Request, options: argparse.Namespace
) -> Iterator[Figure]:
    size = f'{options.hosts:,} hosts'
    costs, statuses = [], Counter[int]()
    for _ in range(options.times):
        began = time.process_time()
        statuses[_sent(app, request)] += 1
        costs.append((time.process_time() - began) * 1000)
    answers = '/'.join(map(str, sorted(statuses)))
    yield Figure(engine=size, what=f'{name} ({answers}): processor', value=max(costs))
    before = parts.resident_megabytes()
    with concurrent.futures.ThreadPoolExecutor(options.threads) as threads:
        list(threads.map(lambda _: _sent(app, request), range(options.requests)))
    after = parts.resident_megabytes()
    sys.stderr.write(f'{name}: {before:.0f} MB, afterwards {after:.0f} MB\n')
    yield Figure(
        engine=size,
        what=f'{name}: memory after {options.requests} of them, times that before',
        value=after / before,
        unit='',
        aim=_GROWTH,
    )


def _sent(app: Any, request: worst_requests.Request) -> int:
    method, path, body = request
    sent = webob.Request.blank(path, method=method)
    sent.headers['X-Auth-Token'] = 'mallory:blue:member'
    sent.headers['OpenStack-API-Version'] = 'reservation 1.4'
    if body is not None:
        sent.content_type = 'application/json'
        sent.text = json.dumps(body)
    answer = sent.get_response(app)
    _ = answer.body
    return int(answer.status_int)


if __name__ == '__main__':
    sys.exit(main())
