# SPDX-License-Identifier: Apache-2.0

"""Eight clients that request one host from four API processes at the same time.

In each round, all clients request the same day of a host with 500 GB of disk. Half of
them request 300 GB in one reservation, the others the same and two reservations without a
disk. All reservations of a lease are on this host, because it is the only one.
"""

from __future__ import annotations

import collections
import datetime
import http.client
import json
import pathlib
import threading
import time
from concurrent import futures
from typing import Any

import fixtures
import sqlalchemy as sa

from climate.clock import SystemClock
from climate.cmd import composition
from climate.resources.registrar import Registrar
from climate.simulator import SimulatedCloud
from tests import drafts
from tests import services
from tests.exhaustive.races import databases
from tests.exhaustive.races import defences
from tests.exhaustive.races import records
from tests.exhaustive.races.defences import Defences
from tests.exhaustive.races.tallies import Tally
from tests.functional import processes
from tests.functional import racers

PROCESSES = 4
CLIENTS = 8
DISK = 500
# Naive UTC, as in the database.
FIRST_DAY = datetime.datetime(2035, 1, 1, tzinfo=datetime.UTC).replace(tzinfo=None)
RACE = 'HTTP: [300] and [300, 0, 0] of 500 GB'
_DAY = datetime.timedelta(days=1)
_TIMEOUT = 60
_EXPECTED = (201, 409)
_UNVERIFIED = ('python', '-m', 'tests.exhaustive.races.unverified_api')

_CONFIGURATION = """
[DEFAULT]
resource_types = physical:host, virtual:instance
auth_strategy = noauth
transport_url = fake://
[database]
connection = {database}
[limits]
leases = 0
[api]
project_share = 1
[rate_limit]
per_project =
per_address =
"""


class Host(databases.BookedDatabase):
    """A database with one host."""

    def _setUp(self) -> None:
        self.url = self.useFixture(services.Database(self._kind)).url
        core = composition.core(racers.configuration(self.url), SystemClock())
        self.addCleanup(core.store.close)
        self.migrate(core.store.engine)
        cloud = SimulatedCloud(':memory:', clock=core.clock)
        self.addCleanup(cloud.close)
        cloud.seed(1)
        Registrar(core.store, core.plugins, cloud).register_resource(drafts.host('compute-1'))
        with self.engine.begin() as connection:
            connection.execute(
                sa.text(
                    'UPDATE inventories SET total = :disk, max_unit = :disk, reserved = 0,'
                    " allocation_ratio = 1 WHERE resource_class = 'DISK_GB'"
                ),
                {'disk': DISK},
            )


class Client:
    """A user with a connection that stays open."""

    def __init__(self, port: int, number: int) -> None:
        self._connection = http.client.HTTPConnection('127.0.0.1', port, timeout=_TIMEOUT)
        self._disks = (300,) if number % 2 else (300, 0, 0)

    def ask(self, barrier: threading.Barrier, day: datetime.datetime) -> tuple[float, float, str]:
        """Book a lease; return the times of the request and of the response, and the response.

        The times are in seconds on a monotonic clock.
        """
        body = {
            'name': f'{day:%Y-%m-%d}',
            'start_date': f'{day.isoformat()}Z',
            'end_date': f'{(day + _DAY).isoformat()}Z',
            'reservations': [_reservation(disk) for disk in self._disks],
        }
        barrier.wait(_TIMEOUT)
        begun = time.monotonic()
        status, text = self._send('POST', '/v1/leases', body)
        return begun, time.monotonic(), str(status) if status in _EXPECTED else f'{status} {text}'

    def answers(self) -> bool:
        """Whether the API answers."""
        try:
            return self._send('GET', '/v1/leases', None)[0] == 200
        except OSError:
            self._connection.close()
            return False

    def _send(self, method: str, path: str, body: Any) -> tuple[int, str]:
        self._connection.request(
            method,
            path,
            json.dumps(body) if body else None,
            {
                'Content-Type': 'application/json',
                'OpenStack-API-Version': 'reservation 1.1',
                'X-Auth-Token': 'alice:blue:member',
            },
        )
        answer = self._connection.getresponse()
        return answer.status, answer.read().decode()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class HttpRace(databases.OnEngine):
    """A race of clients over HTTP, with the host and the API processes."""

    def __init__(self, kind: str, defended: Defences = defences.BOTH) -> None:
        super().__init__(kind)
        self._defended = defended

    def _setUp(self) -> None:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.host = self.useFixture(Host(self._kind, guarded=self._defended.guarded))
        configuration = folder / 'climate.conf'
        configuration.write_text(_CONFIGURATION.format(database=self.host.url.replace('%', '%%')))
        ports = [processes.free_port() for _ in range(PROCESSES)]
        command = ('climate-api',) if self._defended.verified else _UNVERIFIED
        words = (*command, '--config-file', str(configuration), '--port')
        self.commands = [
            self.useFixture(processes.Command(*words, str(port), folder=folder)) for port in ports
        ]
        # Each process serves one client of each kind, so no process has only one kind.
        self.clients = [Client(ports[number // 2], number) for number in range(CLIENTS)]
        for client in self.clients:
            self.addCleanup(client.close)
            processes.until('climate-api answers', client.answers, _TIMEOUT)
        self._pool = futures.ThreadPoolExecutor(CLIENTS)
        self.addCleanup(self._pool.shutdown)

    def run(self, rounds: int) -> Tally:
        """Run the rounds; return the results."""
        tally = Tally(
            race=RACE, engine=self._kind, defences=self._defended.name, processes=PROCESSES
        )
        for number in range(rounds):
            day = FIRST_DAY + number * _DAY
            barrier = threading.Barrier(CLIENTS)
            asked = [self._pool.submit(client.ask, barrier, day) for client in self.clients]
            answers = [each.result(_TIMEOUT) for each in asked]
            written = self.host.records().within(day, day + _DAY)
            tally.add(
                met=max(begun for begun, _, _ in answers) < min(done for _, done, _ in answers),
                overbooked=records.overbooked(written),
                wrong=_disagreements([answer for *_, answer in answers], written, day),
                how=f'round {number}',
            )
        return tally


def _disagreements(
    answers: list[str], written: records.Records, day: datetime.datetime
) -> list[str]:
    """Compare the responses with the records."""
    counts = collections.Counter(answers)
    leases = len(written.named(f'{day:%Y-%m-%d}'))
    found = []
    if set(counts) - {str(status) for status in _EXPECTED}:
        found.append(f'answers: {dict(counts)}')
    accepted = counts['201']
    if not accepted:
        found.append('the host was free, and all requests were refused')
    if accepted != leases or leases != len({row.lease_id for row in written.rows}):
        found.append(f'{accepted} accepted, {leases} written')
    return found


def _reservation(disk: int) -> dict[str, Any]:
    return {
        'resource_type': 'virtual:instance',
        'vcpus': 1,
        'memory_mb': 64,
        'disk_gb': disk,
        'amount': 1,
    }
