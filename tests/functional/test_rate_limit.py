# SPDX-License-Identifier: Apache-2.0

"""Requests of which too many come, over HTTP."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import tempfile
import threading
from concurrent import futures
from typing import Any

import webob
from limits import parse_many

from climate import exceptions
from climate.api.limits.rates import Rates
from tests import base
from tests import services
from tests.functional import http
from tests.functional.fixtures import Service
from tests.functional.processes import free_port
from tests.functional.processes import until

GREEN = 'alice:green:member'
HERE = '203.0.113.9'


class RateCase(base.TestCase):
    """A service that limits how many requests come.

    :cvar options: in ``[rate_limit]``
    """

    options: dict[str, Any] = {}

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(Service())
        self.limit(**self.options)

    def limit(self, **options: Any) -> None:
        """Make the API anew with these options."""
        for name, value in options.items():
            self.service.conf.set_override(name, value, group='rate_limit')
        self.app = self.service.made()

    def get(self, address: str = HERE, path: str = '/v1/leases', **facts: Any) -> webob.Response:
        """Send a request from an address."""

        def app(environ: Any, start_response: Any) -> Any:
            return self.app({**environ, 'REMOTE_ADDR': address}, start_response)

        return http.send(app, 'GET', path, **{'token': http.MEMBER, **facts})

    def codes(self, times: int, *args: Any, **facts: Any) -> list[int]:
        return [self.get(*args, **facts).status_int for _ in range(times)]


class TestProjects(RateCase):
    """By project."""

    options = {'per_project': '3/day', 'exempt_projects': ['service']}

    def test_too_many(self) -> None:
        self.assertEqual([200] * 3, self.codes(3))
        for address in (HERE, '203.0.113.10'):
            answer = http.expect(429, self.get(address))
            self.assertEqual(
                {
                    'error_code': 429,
                    'error_name': 'TOO_MANY_REQUESTS',
                    'error_message': 'Too many requests of one project: the limit is 3 per 1 day',
                },
                answer.json,
            )
            self.assertTrue(0 < int(answer.headers['Retry-After']) <= 24 * 3600)
        # Others go on, and so does whoever only asks whether it is alive.
        self.assertEqual([200] * 3, self.codes(3, token=GREEN))
        self.assertEqual([200] * 4, self.codes(4, token='heat:service:member'))
        self.assertEqual(200, self.get(path='/healthcheck').status_int)

    def test_what_is_refused_does_nothing(self) -> None:
        self.codes(3)
        before = self.service.rows()
        http.expect(429, http.send(self.app, 'POST', '/v1/leases', http.LEASE, token=http.MEMBER))
        self.assertEqual(before, self.service.rows())

    def test_several_limits(self) -> None:
        self.limit(per_project='100/day;2/hour')
        self.assertEqual([200, 200, 429], self.codes(3))


class TestAddresses(RateCase):
    """By address, before anybody looks at the token."""

    options = {'per_address': '2/day', 'exempt_addresses': ['198.51.100.0/24', '2001:db8::1']}

    def test_too_many(self) -> None:
        self.assertEqual([404], self.codes(1, path='/v1/nowhere'))
        self.assertEqual(([200, 429], [429]), (self.codes(2), self.codes(1, token=GREEN)))
        self.assertEqual([200] * 2, self.codes(2, '203.0.113.10'))

    def test_exempt(self) -> None:
        self.assertEqual([200] * 3, self.codes(3, '198.51.100.77'))
        self.assertEqual([200] * 3, self.codes(3, '2001:db8::1'))

    def test_a_network_of_ipv6_is_one_client(self) -> None:
        self.assertEqual([200], self.codes(1, '2001:db8:0:1::1'))
        self.assertEqual([200], self.codes(1, '2001:db8:0:1::2'))
        self.assertEqual([429], self.codes(1, '2001:db8:0:1:ffff::3'))
        self.assertEqual([200], self.codes(1, '2001:db8:0:2::1'))
        self.assertEqual([200, 200, 429], self.codes(3, '::ffff:203.0.113.77'))
        self.assertEqual([429], self.codes(1, '203.0.113.77'))


class TestOptions(RateCase):
    """What operators write."""

    def test_generous_by_default(self) -> None:
        for name in ('per_project', 'per_address'):
            self.service.conf.clear_override(name, group='rate_limit')
        self.limit()
        self.assertEqual([200] * 30, self.codes(30))
        options = self.service.conf.rate_limit
        rates = [*parse_many(options.per_project), *parse_many(options.per_address)]
        self.assertEqual(
            ['100 per 1 second', '3000 per 1 minute', '200 per 1 second', '6000 per 1 minute'],
            [str(each) for each in rates],
        )

    def test_none(self) -> None:
        self.limit(per_project='', per_address='')
        self.assertEqual([200] * 30, self.codes(30))

    def test_wrong(self) -> None:
        for options in (
            {'per_project': 'many'},
            {'per_address': '10'},
            {'per_address': '1/day', 'storage': 'oracle://me:hunter2@db'},
            {'exempt_addresses': ['nowhere']},
        ):
            self.service.conf.clear_override('per_project', group='rate_limit')
            error = self.assertRaises(exceptions.ConfigurationError, self.limit, **options)
            self.assertIn('[rate_limit]', error.message)
            self.assertNotIn('hunter2', error.message)

    def test_an_unavailable_storage_lets_requests_pass(self) -> None:
        port = free_port()
        for scheme in ('memcached', 'redis'):
            with self.assertLogs('climate.api.limits.rates', 'ERROR') as logged:
                self.limit(per_project='1/day', storage=f'{scheme}://127.0.0.1:{port}')
                self.assertEqual([200] * 5, self.codes(5))
            # At the first, the second and the fourth.
            self.assertEqual(3, len(logged.output))


class TestMemory(RateCase):
    """Counters in the memory of a process."""

    options = {'per_project': '3/day'}

    def test_one_thread_at_a_time(self) -> None:
        """The storage starts timers, and two threads could start the same one."""
        rates = Rates(self.service.conf)
        meeting, met = threading.Barrier(2), list[bool]()
        hit = rates._strategy.hit

        def hitting(*args: Any) -> bool:
            with contextlib.suppress(threading.BrokenBarrierError):
                meeting.wait(0.2)
                met.append(True)
            return hit(*args)

        self.patch(rates._strategy, 'hit', hitting)
        with futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(rates.project, ['red', 'blue']))
        self.assertEqual([], met)


class TestStorages(RateCase):
    """Servers by which several processes count together, where they are installed."""

    def serve(self, *command: str) -> str:
        """Start a server; return its address."""
        if shutil.which(command[0]) is None:
            services.missing(f'{command[0]} is not installed')
        port = free_port()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        process = subprocess.Popen(
            [word.format(port=port) for word in command],
            cwd=folder.name,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

        def answers() -> bool:
            with socket.socket() as probe:
                return probe.connect_ex(('127.0.0.1', port)) == 0

        until('it answers', answers)
        return f'127.0.0.1:{port}'

    def check(self, uri: str) -> None:
        """Check that two processes count together."""
        self.limit(per_project='3/day', storage=uri)
        self.assertEqual([200, 200], self.codes(2))
        self.limit()
        self.assertEqual([200, 429], self.codes(2))
        self.assertTrue(Rates(self.service.conf).projects)

    def test_memcached(self) -> None:
        address = self.serve('memcached', '-l', '127.0.0.1', '-p', '{port}', '-u', 'nobody')
        self.check(f'memcached://{address}')

    def test_redis(self) -> None:
        words = ('--bind', '127.0.0.1', '--port', '{port}', '--save', '')
        self.check(f'redis://{self.serve("redis-server", *words)}/0')
