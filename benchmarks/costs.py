# SPDX-License-Identifier: Apache-2.0

"""Measures the cost of one request for the process that serves it.

Each request goes to the application in this process, with an SQLite database in
memory. The result is processor time, so that a busy machine does not affect it.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import time
import uuid
from collections.abc import Callable
from typing import Any

from tests.functional import bulk
from tests.functional import http
from tests.functional.fixtures import Service

_LEASE = {'name': 'many', 'start_date': '2031-05-01T12:00:00Z', 'end_date': '2031-05-01T13:00:00Z'}
_HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1}


def main() -> int:
    """Run the requested measurements, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('what', nargs='*', choices=[*_ALL, []], help='default: all')
    wanted = parser.parse_args().what or list(_ALL)
    for name in wanted:
        _ALL[name]()
    return 0


def _say(what: str, seconds: float, answer: Any) -> None:
    sys.stdout.write(f'{what:<60} {seconds * 1000:9.1f} ms   {answer}\n')
    sys.stdout.flush()


def _sent(what: str, service: Service, *request: Any, **options: Any) -> None:
    begun = time.process_time()
    answer = http.send(service.app, *request, **options)
    _say(what, time.process_time() - begun, answer.status_int)


def _refusals() -> None:
    for count in (20, 100):
        own = [
            {**_HOST, 'hypervisor_properties': f'[">=", "$memory_mb", "{number}"]'}
            for number in range(count)
        ]
        for kind, reservations in (('alike', [_HOST] * count), ('each with a condition', own)):
            for hosts in (count, count * 6 // 10):
                with Service(hosts=0) as service:
                    bulk.Load(hosts=hosts, allocations=0, group=1, now=service.clock.now()).fill(
                        service.store.engine
                    )
                    service.conf.set_override('max_reservations_per_lease', count, group='api')
                    service.app = service.made()
                    _sent(
                        f'lease of {count} hosts, {kind}, of {hosts} there are',
                        service,
                        'POST',
                        '/v1/leases',
                        {**_LEASE, 'reservations': reservations},
                        version='1.1',
                    )


def _bodies() -> None:
    events = [{'event_type': 'no such', 'time': 7}] * 13000
    bodies = {
        'body of 100 kB: a list of numbers for a name': {**_LEASE, 'name': [1] * 50000},
        'body of 100 kB: a list of numbers for reservations': {
            **_LEASE,
            'reservations': [1] * 50000,
        },
        'body with 13,000 wrong events': {**_LEASE, 'events': events},
        'body with 20,000 unknown fields': {
            **_LEASE,
            **{f'x{number}': 1 for number in range(20000)},
        },
    }
    with Service(hosts=0) as service:
        service.conf.set_override('max_request_body_size', 2**21, group='api')
        service.app = service.made()
        for what, body in bodies.items():
            _sent(what, service, 'POST', '/v1/leases', raw=json.dumps(body).encode(), version='1.1')


def _lists() -> None:
    with Service(hosts=0) as service:
        _fill_notices(service, leases=400, notices=52)
        _sent('400 leases with 52 notices each, 1.0', service, 'GET', '/v1/leases')


def _fill_notices(service: Service, leases: int, notices: int) -> None:
    now = service.clock.now()
    rows = [(str(uuid.UUID(int=number + 1)), number) for number in range(leases)]
    later = bulk.text(now + 48 * bulk.HOUR)
    bulk.insert(
        service.store.engine,
        'leases',
        bulk.LEASES,
        (
            (lease_id, f'l{number}', 'u', 'blue', bulk.text(now + 24 * bulk.HOUR), later)
            + ('PENDING', 0, '{}', later, bulk.text(now))
            for lease_id, number in rows
        ),
    )
    bulk.insert(
        service.store.engine,
        'events',
        bulk.EVENTS,
        (
            (str(uuid.uuid4()), lease_id, 'notification', at, at, 'UNDONE', 0, '{}')
            for lease_id, _ in rows
            for notice in range(notices)
            for at in [bulk.text(now + datetime.timedelta(minutes=notice))]
        ),
    )


_ALL: dict[str, Callable[[], None]] = {'refusals': _refusals, 'bodies': _bodies, 'lists': _lists}


if __name__ == '__main__':
    sys.exit(main())
