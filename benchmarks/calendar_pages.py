# SPDX-License-Identifier: Apache-2.0

"""Measures pages of the calendar through the whole API, as a web page reads them.

Each request comes from a member of one of fifty projects. The times include gzip.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any
from typing import Final

import webob

from benchmarks import engines
from benchmarks import parts
from benchmarks.figures import Figure
from benchmarks.figures import quantile
from benchmarks.figures import timed
from benchmarks.processors import ProcessorClock
from climate.clock import SystemClock
from climate.db.migrations import migration
from tests import services
from tests.functional import bulk

_PATH: Final = '/v1/calendar?resource_type=physical:host'
_KILOBYTE: Final = 1000
# Of a page of 100 hosts, from the first rows to the last.
_AIM: Final = 30.0
_SIZE_AIM: Final = 5.0
_UNCHANGED_AIM: Final = 15.0


def main() -> int:
    """Run the benchmark; return the exit status."""
    options = _parser().parse_args()
    engines.measure(options, functools.partial(_measure, options=options))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = engines.parser(__doc__)
    parser.add_argument('--times', type=int, default=25, help='number of repetitions')
    parser.add_argument('--hosts', type=int, default=10_000, help='number of hosts')
    parser.add_argument(
        '--allocations', type=int, default=100_000, help='number of allocations altogether'
    )
    parser.add_argument(
        '--processor',
        action='store_true',
        help='measure processor time, of this process and the local database, on a busy machine',
    )
    return parser


def _measure(engine: str, *, options: argparse.Namespace) -> Iterator[Figure]:
    with services.Database(engine) as database:
        core = parts.core(database.url)
        migration.sync(core.store.engine)
        now = SystemClock().now()
        # Leases of one host each: bars that are all different compress least.
        load = bulk.Load(hosts=options.hosts, allocations=options.allocations, group=1, now=now)
        load.fill(core.store.engine)
        api = parts.api(core)
        clock = ProcessorClock(core.store.engine) if options.processor else time.perf_counter
        for who, token in (('member', 'u:project-1:member'), ('operator', 'root:ops:admin')):
            yield from _pages(engines.NAMES[engine], who, _Client(api, token), clock, options)
        core.store.close()


class _Client:
    """Sends requests of one caller."""

    def __init__(self, api: Any, token: str) -> None:
        self._api = api
        self._token = token

    def get(self, query: str = '', tag: str = '') -> webob.Response:
        """Return a page, in the format of gzip."""
        request = webob.Request.blank(_PATH + query)
        request.headers['X-Auth-Token'] = self._token
        request.headers['OpenStack-API-Version'] = 'reservation 1.5'
        request.headers['Accept-Encoding'] = 'gzip'
        if tag:
            request.headers['If-None-Match'] = tag
        return request.get_response(self._api)


def _pages(
    engine: str, who: str, client: _Client, clock: Callable[[], float], options: argparse.Namespace
) -> Iterator[Figure]:
    first = client.get()
    middle = f'&offset={options.hosts // 2}'
    for what, work, aim in (
        ('first page', client.get, _AIM),
        ('page in the middle', lambda: client.get(middle), _AIM),
        ('unchanged page', lambda: client.get(tag=first.headers['ETag']), _UNCHANGED_AIM),
        ('by rack', lambda: client.get('&group_by=rack'), None),
        ('search for a name', lambda: client.get('&search=compute-99'), None),
        ('search for a property', lambda: client.get('&search=rack=r3'), None),
    ):
        spent = timed(work, options.times, clock)
        yield Figure(engine=engine, what=f'{who}, {what}', value=quantile(spent, 0.5), aim=aim)
    yield Figure(
        engine=engine,
        what=f'{who}, first page, compressed',
        value=len(first.body) / _KILOBYTE,
        unit='kB',
        # The page of an operator has the id of the lease of each bar.
        aim=_SIZE_AIM if who == 'member' else None,
    )


if __name__ == '__main__':
    sys.exit(main())
