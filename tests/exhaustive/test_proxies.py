# SPDX-License-Identifier: Apache-2.0

"""Real proxies in front of the API as installed: strangers cannot keep others from it."""

from __future__ import annotations

import contextlib
import http.client
import json
import pathlib
import re
import socket
import ssl
import time
from typing import Any

import fixtures
import sqlalchemy as sa

from climate.db.migrations import migration
from tests import base
from tests import certificates
from tests import proxies
from tests.functional import processes

CONNECTIONS = 200
REQUESTS = 40
# What a stranger sends at first, and then a byte at a time.
HEAD = b'POST /v1/leases HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
KINDS = {
    'dripping heads': (HEAD + b'X-Slow: ', b'x'),
    'dripping bodies': (HEAD + b'Content-Length: 100000\r\n\r\n{', b' '),
    'dripping chunks': (HEAD + b'Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n', b'0'),
    'idle': (b'', b''),
}
TOKEN_REQUEST = (
    b'GET /v1/leases HTTP/1.1\r\nHost: localhost\r\nX-Auth-Token: mallory:greedy:member\r\n'
    b'Connection: close\r\n\r\n'
)
CONF = """
[DEFAULT]
auth_strategy = noauth
cloud = simulated
transport_url = fake://
[database]
connection = sqlite:///{folder}/climate.sqlite
[simulator]
state_dir = {folder}
# What the proxies limit is tried here.
[rate_limit]
per_project =
per_address =
"""


class Strangers(fixtures.Fixture):
    """Connections that never send a whole request.

    :param source: the address from which they come
    """

    def __init__(self, port: int, kind: str, number: int, source: str = '127.0.0.1') -> None:
        super().__init__()
        self._port = port
        self._source = source
        self._number = number
        self._begin, self._drop = KINDS[kind]
        self.sockets: list[socket.socket] = []

    def _setUp(self) -> None:
        for _ in range(self._number):
            try:
                one = socket.create_connection(
                    ('127.0.0.1', self._port), 60, source_address=(self._source, 0)
                )
            except ConnectionResetError:
                # HAProxy has closed it, before it was returned here.
                continue
            self.addCleanup(one.close)
            self.sockets.append(one)
            with contextlib.suppress(OSError):
                one.sendall(self._begin)

    def drip(self) -> None:
        """Send a byte on each connection that is still open."""
        for one in self.sockets:
            with contextlib.suppress(OSError):
                one.sendall(self._drop)

    def open(self) -> int:
        """Return how many connections are open: the server has not closed them."""
        return sum(map(_is_open, self.sockets))


def _is_open(one: socket.socket) -> bool:
    one.setblocking(False)
    try:
        while one.recv(65536):
            continue
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        one.settimeout(60)
    return False


class ProxyCase:
    """What each proxy does."""

    proxy: type[proxies.Proxy]

    @classmethod
    def setUpClass(cls) -> None:
        """Start both once: that takes longer than all tests."""
        super().setUpClass()  # type: ignore[misc]  # mixed into a TestCase
        cls.folder = pathlib.Path(cls.start(fixtures.TempDir()).path)
        (cls.folder / 'climate.conf').write_text(CONF.format(folder=cls.folder), encoding='utf-8')
        engine = sa.create_engine(f'sqlite:///{cls.folder}/climate.sqlite')
        migration.sync(engine)
        engine.dispose()
        cls.api = cls.start(proxies.Gunicorn(cls.folder))
        cls.port = cls.start(cls.proxy(cls.folder, cls.api.port)).port

    @classmethod
    def start(cls, fixture: Any) -> Any:
        """Return a fixture that lasts as long as the class."""
        fixture.setUp()
        cls.addClassCleanup(fixture.cleanUp)
        return fixture

    def ask(
        self,
        port: int,
        path: str = '/v1/leases',
        *,
        body: bytes | None = None,
        context: ssl.SSLContext | None = None,
        **headers: str,
    ) -> tuple[int, bytes]:
        """Send a request; return the status and the body."""
        connection = (
            http.client.HTTPSConnection('localhost', port, timeout=60, context=context)
            if context
            else http.client.HTTPConnection('127.0.0.1', port, timeout=60)
        )
        sent = {name.replace('_', '-'): value for name, value in headers.items()}
        with contextlib.closing(connection):
            method = 'GET' if body is None else 'POST'
            connection.request(method, path, body=body, headers=sent)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def raw(self, port: int, request: bytes) -> bytes:
        """Send bytes; return what comes until the server closes, or says all it has to."""
        with socket.create_connection(('127.0.0.1', port), 60) as one:
            one.sendall(request)
            return one.recv(65536)

    def test_others_are_answered(self) -> None:
        for kind in KINDS:
            strangers = Strangers(self.port, kind, CONNECTIONS)
            with strangers:
                self.assertEqual(CONNECTIONS, strangers.open(), kind)
                answered = 0
                for _ in range(REQUESTS):
                    strangers.drip()
                    answered += self.ask(self.port)[0] == 200
                self.assertEqual(REQUESTS, answered, kind)

    def test_a_head_that_never_ends_is_cut(self) -> None:
        strangers = self.useFixture(Strangers(self.port, 'dripping heads', CONNECTIONS))

        def cut() -> bool:
            strangers.drip()
            time.sleep(0.5)
            return strangers.open() == 0

        processes.until('all are closed', cut, 120)

    def test_one_address_has_a_limit(self) -> None:
        self.useFixture(Strangers(self.port, 'dripping bodies', 300, '127.0.0.2'))
        for _ in range(REQUESTS):
            self.assertEqual(200, self.ask(self.port)[0])
        said = b''
        with (
            contextlib.suppress(OSError),
            socket.create_connection(('127.0.0.1', self.port), 60, ('127.0.0.2', 0)) as one,
        ):
            one.sendall(b'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
            said = one.recv(65536)
        # nginx answers, HAProxy closes.
        self.assertTrue(not said or said.startswith(b'HTTP/1.1 429 '), said)

    def test_one_token_has_a_limit(self) -> None:
        port = self.port
        # More than nginx lets wait, and from two addresses, each of which may have so many.
        with contextlib.ExitStack() as stack:
            clients = [
                stack.enter_context(
                    socket.create_connection(('127.0.0.1', port), 60, (f'127.0.0.{address}', 0))
                )
                for address in (2, 3)
                for _ in range(200)
            ]
            for one in clients:
                one.sendall(TOKEN_REQUEST)
            self.assertEqual(200, self.ask(port, X_Auth_Token='alice:quiet:member')[0])
            said = [one.recv(65536) for one in clients]
        refused = [each for each in said if each.startswith(b'HTTP/1.1 429 ')]
        self.assertTrue(refused)
        # None of these has asked the API, which has a limit of its own.
        (body,) = {each.partition(b'\r\n\r\n')[2] for each in refused if b'token' in each}
        self.assertEqual('TOO_MANY_REQUESTS', json.loads(body)['error_name'])

    def test_bodies(self) -> None:
        for size, status in ((114_688, 400), (114_689, 413), (10_000_000, 413)):
            for chunked in (False, True):
                try:
                    answer = self.sized(self.port, size, chunked=chunked)
                except OSError:
                    # It stopped reading, and closed: what it said is lost.
                    self.assertGreater(size, 1_000_000)
                    continue
                self.assertEqual(status, answer[0], (size, chunked, answer))
                self.assertEqual(status, json.loads(answer[1])['error_code'])

    def sized(self, port: int, size: int, *, chunked: bool) -> tuple[int, bytes]:
        """Send a body of so many bytes, which is no JSON."""
        connection = http.client.HTTPConnection('127.0.0.1', port, timeout=60)
        with contextlib.closing(connection):
            body = iter([b'x' * size]) if chunked else b'x' * size
            connection.request('POST', '/v1/leases', body=body, encode_chunked=chunked)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def test_forwarded_headers_are_those_of_the_proxy(self) -> None:
        port = self.port
        forged = {
            'X_Forwarded_For': '192.0.2.7',
            'X_Forwarded_Proto': 'https',
            'X_Forwarded_Host': 'evil.example',
            'X_Forwarded_Prefix': '/evil',
            'Forwarded': 'for=192.0.2.7;proto=https;host=evil.example',
        }
        status, body = self.ask(port, '/', **forged)
        self.assertEqual(300, status)
        links = re.findall(rb'"href": ?"([^"]*)"', body)
        self.assertEqual([f'http://127.0.0.1:{port}/v1'.encode()], links, body)
        self.ask(port, **forged)
        processes.until('it is logged', lambda: '127.0.0.1 GET /v1/leases' in self.api.said, 60)
        self.assertNotIn('192.0.2.7', self.api.said)

    def test_paths_arrive_as_they_are(self) -> None:
        for path in ('/v1/leases/a%2Fb', '/v1/leases/%E2%82%AC', '/v1/leases/a%252Fb'):
            direct, through = self.ask(self.api.port, path), self.ask(self.port, path)
            self.assertEqual(direct, through, path)

    def test_malformed_chunks(self) -> None:
        for chunk in (b'0x2', b'-1', b'zz', b'1;\r', b''):
            request = HEAD + b'Transfer-Encoding: chunked\r\n\r\n' + chunk + b'\r\n{}\r\n0\r\n\r\n'
            for where in (self.port, self.api.port):
                self.assertRegex(self.raw(where, request), rb'^HTTP/1.1 400 ', chunk)
        self.assertNotIn('Traceback', self.api.said)

    def test_with_tls(self) -> None:
        pair = certificates.make(self.folder)
        port = self.useFixture(self.proxy(self.folder, self.api.port, pair)).port
        status, body = self.ask(port, '/', context=ssl.create_default_context(cafile=str(pair)))
        self.assertEqual(300, status)
        self.assertIn(f'"https://localhost:{port}/v1"'.encode(), body)


class NginxTest(ProxyCase, base.TestCase):
    """nginx of Debian."""

    proxy = proxies.Nginx


class HAProxyTest(ProxyCase, base.TestCase):
    """HAProxy of Debian."""

    proxy = proxies.HAProxy
