# SPDX-License-Identifier: Apache-2.0

"""The built-in server: what strangers can take of it is limited."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import resource
import socket
import threading

import webob
from webob import dec

from climate import exceptions
from climate.cmd import serving
from tests import base
from tests import proxies
from tests.functional import processes

LIMIT = 1000
OLD_LIMIT = 100
HEAD = b'POST / HTTP/1.1\r\nHost: x\r\n'


@dec.wsgify
def echo(request: webob.Request) -> webob.Response:
    """Answer with the length of the body."""
    return webob.Response(str(len(request.body)))


class ServingTest(base.TestCase):
    """A server in a thread."""

    def serve(self, **options: int) -> int:
        """Start a server; return its port."""
        wanted = {'host': '127.0.0.1', 'port': 0, 'threads': 2, 'largest_body': LIMIT}
        server = serving.listen(echo, **wanted | options)
        threading.Thread(target=server.run, daemon=True).start()
        self.addCleanup(server.close)
        return server.port

    def connect(self, port: int, sent: bytes = b'') -> socket.socket:
        """Return a connection that has sent something."""
        one = self.closing(socket.create_connection(('127.0.0.1', port), 60))
        one.sendall(sent)
        return one

    def send(self, port: int, body: bytes, *, chunked: bool = False) -> tuple[int, bytes]:
        """Send a request; return the status and the body."""
        connection = http.client.HTTPConnection('127.0.0.1', port, timeout=60)
        with contextlib.closing(connection):
            sent = iter([body]) if chunked else body
            # The server may have answered, and closed the connection, before all of it is sent.
            with contextlib.suppress(ConnectionError):
                connection.request('POST', '/', body=sent, encode_chunked=chunked)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def test_bodies(self) -> None:
        port = self.serve()
        for chunked in (False, True):
            self.assertEqual((200, b'1000'), self.send(port, b'x' * LIMIT, chunked=chunked))
            status, body = self.send(port, b'x' * (LIMIT + 100_000), chunked=chunked)
            wanted = {
                'error_code': 413,
                'error_message': 'Request is too large. Bodies of at most 1000 bytes are read.',
                'error_name': 'REQUEST_TOO_LARGE',
            }
            self.assertEqual((413, wanted), (status, json.loads(body)))

    def test_what_it_refuses_is_json(self) -> None:
        port = self.serve()
        for sent, status in (
            (HEAD + b'Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n', 400),
            (HEAD + b'Content-Length: x\r\n\r\n', 400),
            (HEAD + b'X: ' + b'x' * 70000, 431),
        ):
            answer = http.client.HTTPResponse(self.connect(port, sent))
            answer.begin()
            self.assertEqual(status, answer.status)
            self.assertEqual(status, json.loads(answer.read())['error_code'])

    def answer(self, port: int, head: bytes) -> bytes:
        """Return the response to a head that ends the connection."""
        one = self.connect(port, head + b'Connection: close\r\n\r\n')
        return b''.join(iter(lambda: one.recv(65536), b''))

    def test_heads_that_are_slow_to_parse_are_refused(self) -> None:
        port = self.serve()
        for line, field, message in (
            (b'GET http://' + b'0' * 4000 + b' x HTTP/1.1', b'', b'Invalid request line'),
            (b'GET / HTTP/1.1', b'X: ' + b' \t' * 150 + b'x\r\n', b'Invalid header'),
            (b'GET / HTTP/1.1', b'X: ' + b'\t' * 300 + b'\x01\r\n', b'Invalid header'),
            (b'GET / HTTP/1.1', b'X:\r\n' + b' \r\n' * 300 + b' x\r\n', b'Invalid header'),
        ):
            answer = self.answer(port, line + b'\r\nHost: x\r\n' + field)
            self.assert_contains(answer, b' 400 Bad Request', message)

    def test_heads_as_clients_send_them(self) -> None:
        port = self.serve()
        for line in (
            b'GET / HTTP/1.1',
            b'GET http://host:80/a HTTP/1.1',
            b'GET http://host HTTP/1.1',
        ):
            field = b'X:' + b' ' * 200 + b'x' + b' ' * 200 + b'\r\n'
            self.assertIn(b' 200 OK', self.answer(port, line + b'\r\nHost: x\r\n' + field))

    def test_slow_clients_do_not_stop_others(self) -> None:
        port = self.serve()
        for sent in (b'', HEAD, HEAD + b'Content-Length: 100\r\n\r\n{'):
            for _ in range(OLD_LIMIT):
                self.connect(port, sent)
        self.assertEqual((200, b'1'), self.send(port, b'x'))

    def test_a_request_that_takes_too_long_ends(self) -> None:
        port = self.serve(idle_timeout=1)
        for sent in (b'', HEAD + b'X: ', HEAD + b'Content-Length: 1000\r\n\r\n{'):
            one = self.connect(port, sent)
            one.settimeout(0.2)

            def closed(one: socket.socket = one, drop: bytes = b'x' if sent else b'') -> bool:
                # A byte now and then, which is activity.
                try:
                    one.sendall(drop)
                    return one.recv(1) == b''
                except TimeoutError:
                    return False
                except OSError:
                    return True

            processes.until('it is closed', closed, 60)

    def test_further_connections_wait(self) -> None:
        port = self.serve(connections=10, idle_timeout=1)
        for _ in range(20):
            self.connect(port)
        self.assertEqual((200, b'1'), self.send(port, b'x'))

    def test_a_port_in_use(self) -> None:
        port = self.serve()
        message = f'cannot listen on 127.0.0.1:{port}: Address already in use'
        with self.assertRaisesRegex(exceptions.ConfigurationError, message):
            self.serve(port=port)

    def test_files_for_all_connections(self) -> None:
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, before)
        resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))
        self.serve(connections=1000)
        wanted = min(1000, before[1])
        self.assertGreaterEqual(resource.getrlimit(resource.RLIMIT_NOFILE)[0], wanted)

    def test_addresses(self) -> None:
        for host, wanted in (
            ('127.0.0.1', 'http://127.0.0.1:1'),
            ('localhost', 'http://localhost:1'),
            ('::1', 'http://[::1]:1'),
            ('2001:db8::1', 'http://[2001:db8::1]:1'),
        ):
            self.assertEqual(wanted, serving.url(host, 1))

    def test_ipv6(self) -> None:
        if not proxies.has_ipv6():
            self.skipTest('this machine has no IPv6')
        server = serving.listen(echo, host='::1', port=0, threads=1, largest_body=LIMIT)
        threading.Thread(target=server.run, daemon=True).start()
        self.addCleanup(server.close)
        connection = http.client.HTTPConnection('::1', server.port, timeout=60)
        with contextlib.closing(connection):
            connection.request('GET', '/')
            self.assertEqual(200, connection.getresponse().status)

    def test_a_port_that_is_taken_leaves_nothing_behind(self) -> None:
        port = self.serve()
        before = self.open_things()
        # As an API process does every two seconds while another one exposes the metrics.
        for _ in range(3):
            with contextlib.suppress(exceptions.ConfigurationError):
                serving.listen(echo, host='127.0.0.1', port=port, threads=4, largest_body=LIMIT)
                self.fail('the port is taken')
        self.assertEqual(before, self.open_things())

    def open_things(self) -> tuple[int, int]:
        """Return the numbers of threads and of open files."""
        names = [one.name for one in threading.enumerate()]
        return sum('waitress' in name for name in names), len(os.listdir('/proc/self/fd'))
