# SPDX-License-Identifier: Apache-2.0

"""Measures availability, offers, rehearsals and the alternatives of a refusal, over HTTP.

Prints a row for each measurement and a column for each engine. The API reads all bookings
into memory before it answers the first request.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import sys
import time
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any

import webob

from benchmarks import engines
from benchmarks import parts
from benchmarks.figures import Figure
from benchmarks.figures import quantile
from benchmarks.figures import timed
from benchmarks.processors import ProcessorClock
from climate.clock import SystemClock
from climate.cmd import composition
from climate.db.migrations import migration
from tests import services
from tests.functional import bulk
from tests.functional import bulk_parts

HOURS = 336

_DAY = 24 * parts.HOUR
_FORMAT = '%Y-%m-%dT%H:%M:%SZ'
_LOADS = {'whole hosts': bulk.Load, 'slots': bulk_parts.Parts}


def main() -> int:
    """Run the benchmark; return the exit status."""
    options = _parser().parse_args()
    sizes = [(1000, 100_000)] if options.small else [(1000, 100_000), (10_000, 1_000_000)]
    engines.measure(
        options,
        *(
            functools.partial(_measure, load=load, hosts=hosts, allocations=count, options=options)
            for hosts, count in sizes
            for load in options.load or _LOADS
        ),
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = engines.parser(__doc__)
    parser.add_argument('--times', type=int, default=7, help='number of repetitions')
    parser.add_argument('--small', action='store_true', help='skip the million allocations')
    parser.add_argument(
        '--processor',
        action='store_true',
        help='measure processor time, of this process and the local database, on a busy machine',
    )
    parser.add_argument(
        '--load', action='append', choices=_LOADS, help='only hosts that are booked like this'
    )
    return parser


def _measure(
    engine: str, *, load: str, hosts: int, allocations: int, options: argparse.Namespace
) -> Iterator[Figure]:
    with services.Database(engine) as database:
        conf = parts.configuration(database.url)
        conf.set_override('resource_types', ['physical:host', 'virtual:instance'])
        core = composition.core(conf, SystemClock())
        migration.sync(core.store.engine)
        now = SystemClock().now()
        began = time.monotonic()
        _LOADS[load](hosts=hosts, allocations=allocations, now=now).fill(core.store.engine)
        sys.stderr.write(
            f'{engines.NAMES[engine]}: {hosts:,} hosts, {allocations:,} allocations'
            f' written in {time.monotonic() - began:.0f} s\n'
        )
        clock = ProcessorClock(core.store.engine) if options.processor else time.perf_counter
        began = clock()
        app = parts.api(core)
        started = (clock() - began) * 1000
        bench = Bench(engines.NAMES[engine], app, f'{hosts:,} hosts, {load}', clock)
        yield bench.figure('start of the API', started)
        yield from bench.figures(now, options.times, slots=load == 'slots')
        members = 50 if hosts < 10_000 else 100
        yield from bench.placed(now, options.times, members, slots=load == 'slots')
        core.store.close()


class Bench:
    """The measurements of one engine with one set of hosts.

    :param clock: returns seconds
    """

    def __init__(self, engine: str, app: Any, size: str, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._engine = engine
        self._app = app
        self._size = size

    def figures(self, now: datetime.datetime, times: int, *, slots: bool) -> Iterator[Figure]:
        """Measure each kind of request."""
        queries = {
            f'availability of {HOURS} hours': {},
            f'availability of {HOURS} hours, by rack': {'group_by': 'rack'},
        }
        if slots:
            queries[f'availability of {HOURS} hours, slots'] = {
                'resources': 'VCPU:1,MEMORY_MB:2048'
            }
        for what, query in queries.items():
            work = functools.partial(self._availability, what, query)
            yield self.figure(what, quantile(timed(work, times, self._clock), 0.5))
        for what, wanted in _requests(slots=slots).items():
            work = functools.partial(self._offers, what, wanted)
            yield self.figure(what, quantile(timed(work, times, self._clock), 0.5))
        yield from self._leases(now, times)

    def placed(
        self, now: datetime.datetime, times: int, members: int, *, slots: bool
    ) -> Iterator[Figure]:
        """Measure rehearsals of leases with placements.

        :param members: of each lease
        """
        for what, reservations in _placed(members, slots=slots).items():
            work = functools.partial(self._lease, reservations, now + _DAY, 200, dry_run=True)
            work()
            yield self.figure(
                f'{members} members, {what}', quantile(timed(work, times, self._clock), 0.5)
            )

    def _leases(self, now: datetime.datetime, times: int) -> Iterator[Figure]:
        start = now + 365 * _DAY
        rehearsed = functools.partial(self._lease, [_hosts(5)], start, 200, dry_run=True)
        yield self.figure(
            'rehearsed lease of 5 hosts', quantile(timed(rehearsed, times, self._clock), 0.5)
        )
        refused = functools.partial(self._lease, [_hosts(100_000)], now + _DAY, 409)
        yield self.figure(
            'refused lease, impossible', quantile(timed(refused, times, self._clock), 0.5)
        )

    def figure(self, what: str, value: float) -> Figure:
        """Return a figure.

        :param value: milliseconds
        """
        return Figure(engine=self._engine, what=f'{self._size}: {what}', value=value)

    def _availability(self, what: str, query: dict[str, str]) -> None:
        words = {'resource_type': bulk.RESOURCE_TYPE, 'end': _later(HOURS), **query}
        text = '&'.join(f'{key}={value}' for key, value in words.items())
        self._ask(what, 'GET', f'/v1/availability?{text}', None, 200)

    def _offers(self, what: str, wanted: dict[str, Any]) -> None:
        self._ask(what, 'POST', '/v1/offers', {'limit': 1, **wanted}, 200)

    def _lease(
        self, reservations: list[dict[str, Any]], start: datetime.datetime, status: int, **more: Any
    ) -> None:
        body = {
            'name': 'bench',
            'start_date': f'{start:{_FORMAT}}',
            'duration': '1h',
            'reservations': reservations,
            **more,
        }
        self._ask('a lease', 'POST', '/v1/leases', body, status)

    def _ask(self, what: str, method: str, path: str, body: Any, status: int) -> None:
        request = webob.Request.blank(path, method=method)
        request.headers['X-Auth-Token'] = 'notused'
        request.headers['OpenStack-API-Version'] = 'reservation 1.4'
        if body is not None:
            request.json = body
        answer = request.get_response(self._app)
        if answer.status_int != status:
            raise RuntimeError(f'{what}: {answer.text}')


def _requests(*, slots: bool) -> dict[str, dict[str, Any]]:
    """Return requests for offers, by name."""
    found = {
        'offer of 5 hosts for 1 h': {'duration': '1h', 'reservations': [_hosts(5)]},
        'offer of half of the hosts for 1 h': {'duration': '1h', 'reservations': [_hosts(500)]},
        'no offer: more hosts than there are': {
            'duration': '1h',
            'reservations': [_hosts(100_000)],
        },
    }
    if slots:
        found |= {
            'offer of 50 slots for 1 h': {'duration': '1h', 'reservations': [_slots(50)]},
            'offer of 50 slots and 5 hosts for 6 h': {
                'duration': '6h',
                'reservations': [_slots(50), _hosts(5)],
            },
        }
    return found


def _placed(members: int, *, slots: bool) -> dict[str, list[dict[str, Any]]]:
    """Return requests for leases with placements, by name."""
    spread, one = {'spread': [{'property': 'rack'}]}, {'same': ['rack']}
    if slots:
        half = {**_slots(members // 2), 'placement': {'apart_from': [1]}}
        return {
            'slots, no condition': [_slots(members // 2)] * 2,
            'two groups of slots apart': [half, _slots(members // 2)],
        }
    return {
        'hosts, no condition': [_hosts(members)],
        'hosts, spread over racks': [{**_hosts(members), 'placement': spread}],
        'hosts, groups of five in one rack': [{**_hosts(5), 'placement': one}] * (members // 5),
    }


def _hosts(count: int) -> dict[str, Any]:
    return {'resource_type': 'physical:host', 'min': count, 'max': count}


def _slots(count: int) -> dict[str, Any]:
    return {
        'resource_type': 'virtual:instance',
        'amount': count,
        'vcpus': 1,
        'memory_mb': 2048,
        'disk_gb': 0,
        'affinity': None,
    }


def _later(hours: int) -> str:
    return f'{SystemClock().now() + hours * parts.HOUR:{_FORMAT}}'


if __name__ == '__main__':
    sys.exit(main())
