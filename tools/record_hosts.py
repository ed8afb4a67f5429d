# SPDX-License-Identifier: Apache-2.0

"""Books some hosts of ``climate-standalone``; prints allocations, free hosts and offers as JSON.

``python -m tools.record_hosts > doc/data/hosts.json`` records the data of the pictures
in the README and of :doc:`/user/availability`. It takes a few seconds and leaves nothing behind.
"""

from __future__ import annotations

import datetime
import json
import pathlib
import sys
import tempfile
import time
import urllib.error
import urllib.request
from typing import Any

from tools import stage

HOSTS = 6
_HOUR = datetime.timedelta(hours=1)
# The requested leases, in order: name, hours from now to the start (None starts at once),
# duration in hours, number of hosts. The last one is refused.
WANTED = (
    ('training', None, 9, 2),
    ('nightly', None, 6, 1),
    ('climate model', 11, 20, 3),
    ('benchmarks', 7, 9, 2),
    ('course', 34, 10, 4),
    ('nightly', 19, 6, 1),
    ('render', 26, 7, 2),
    ('upgrade', 0.5, 6, 2),
    ('nightly', 41, 6, 1),
    ('review', 12, 10, 1),
    ('all hosts', 30, 8, 6),
)  # fmt: skip
MAINTENANCE = ('compute-6', 24, 8)
HOURS = 48
ASKED = ((1, 6), (2, 4), (4, 2))
"""Numbers of hosts and hours to ask offers for."""


def ask(url: str, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
    """Send a request of microversion 1.4; return the status and body of the response."""
    request = urllib.request.Request(
        url + path,
        data=json.dumps(body).encode() if body else None,
        method=method,
        headers={'Content-Type': 'application/json', 'OpenStack-API-Version': 'reservation 1.4'},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def book(url: str, now: datetime.datetime) -> list[dict[str, str]]:
    """Create the maintenance, book the leases, and return those that are refused."""
    host, begin, hours = MAINTENANCE
    status, answer = ask(
        url,
        'POST',
        '/maintenances',
        {
            'resource_type': 'physical:host',
            'resource_name': host,
            'start_date': (now + begin * _HOUR).isoformat(),
            'end_date': (now + (begin + hours) * _HOUR).isoformat(),
            'reason': 'a new fan',
        },
    )
    stage.expect(status == 201, str(answer))
    refused = []
    for name, start, hours, hosts in WANTED:
        status, answer = ask(url, 'POST', '/leases', lease(name, now, start, hours, hosts))
        if status == 409:
            refused.append({'name': name, 'message': answer['error_message']})
        else:
            stage.expect(status == 201, str(answer))
    return refused


def lease(
    name: str, now: datetime.datetime, start: float | None, hours: float, hosts: int
) -> dict[str, Any]:
    """Return the body of a request for a lease."""
    begin = now if start is None else now + start * _HOUR
    return {
        'name': name,
        'start_date': 'now' if start is None else begin.isoformat(),
        'end_date': (begin + hours * _HOUR).isoformat(),
        'reservations': [{'resource_type': 'physical:host', 'min': hosts, 'max': hosts}],
    }


def leases(url: str) -> dict[str, dict[str, Any]]:
    """Wait until the leases that start at once are active; return all leases by id."""
    deadline = time.monotonic() + stage.PATIENCE
    due = sum(start is None for _, start, _, _ in WANTED)
    while True:
        found = {each['id']: each for each in ask(url, 'GET', '/leases')[1]['leases']}
        if sum(each['status'] == 'ACTIVE' for each in found.values()) == due:
            return found
        stage.expect(time.monotonic() < deadline, 'a lease does not start')
        time.sleep(0.1)


def free(url: str, now: datetime.datetime) -> dict[str, Any]:
    """Return how many hosts are free throughout each of the next hours."""
    # A plus sign in a query is a space.
    until = (now + HOURS * _HOUR).replace(tzinfo=None).isoformat()
    status, answer = ask(
        url, 'GET', f'/availability?resource_type=physical:host&step=1h&end={until}'
    )
    stage.expect(status == 200, str(answer))
    found = answer['availability']
    return {'start': found['start'], 'hosts': found['groups'][0]['whole']['free']}


def offers(url: str, now: datetime.datetime, hosts: int, hours: int) -> dict[str, Any]:
    """Return the soonest periods of some hours for some hosts."""
    body = {
        'duration': f'{hours}h',
        'latest': (now + HOURS * _HOUR).isoformat(),
        'limit': 3,
        'reservations': [{'resource_type': 'physical:host', 'min': hosts, 'max': hosts}],
    }
    status, answer = ask(url, 'POST', '/offers', body)
    stage.expect(status == 200, str(answer))
    periods = [{'start': each['start_date'], 'end': each['end_date']} for each in answer['offers']]
    return {'hosts': hosts, 'hours': hours, 'periods': periods}


def record(url: str) -> dict[str, Any]:
    """Book the hosts; return allocations, maintenances, free hosts and offers."""
    now = stage.CLOCK.now().replace(microsecond=0)
    refused = book(url, now)
    known = leases(url)
    _, answer = ask(url, 'GET', '/os-hosts/allocations')
    taken = [
        {
            'host': each['resource_name'],
            'lease': known[part['lease_id']]['name'],
            'status': known[part['lease_id']]['status'],
            'start': part['start_date'],
            'end': part['end_date'],
        }
        for each in answer['allocations']
        for part in each['reservations']
    ]
    windows = ask(url, 'GET', '/maintenances')[1]['maintenances']
    return {
        'now': now.isoformat(),
        'hosts': [f'compute-{number}' for number in range(1, HOSTS + 1)],
        'allocations': sorted(taken, key=lambda each: (each['host'], each['start'])),
        'maintenances': [
            {'host': each['resource_name'], 'start': each['start_date'], 'end': each['end_date']}
            for each in windows
        ],
        'refused': refused,
        'free': free(url, now),
        'offers': [offers(url, now, hosts, hours) for hosts, hours in ASKED],
    }


def main() -> int:
    """Print the record; return the exit status."""
    with tempfile.TemporaryDirectory(prefix='climate-') as folder:
        service = stage.Service(pathlib.Path(folder), hosts=HOSTS)
        try:
            found = record(service.wait())
        except stage.DemoFailed as error:
            print(f'{error}\n{service.log_tail()}', file=sys.stderr)
            return 1
        finally:
            service.stop()
    print(json.dumps(found, indent=1))
    return 0


if __name__ == '__main__':
    sys.exit(main())
