# SPDX-License-Identifier: Apache-2.0

"""Stands between a client of ours and a real service, and makes trouble.

A real service does not lose an answer, answer late, or forget a token on
request. This proxy on 127.0.0.1 does: requests that match a rule are disturbed
as often as the rule says, all others pass unchanged. It keeps the path and
the ``Host`` that the client sent, so that links in answers lead back to it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import http.server
import json
import re
import socket
import threading
import urllib.parse
from typing import Literal

Kind = Literal['lose', 'refuse', 'stall', 'status', 'expire']

_HOP_BY_HOP = frozenset({'connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding'})
_PATIENCE = 300.0
_BODILESS = frozenset({204, 304})


@dataclasses.dataclass(kw_only=True)
class Rule:
    """What is to go wrong with requests that match.

    :ivar pattern: of ``METHOD /path``, without the query
    :ivar kind: ``lose``: the service does its work, the client is hung up on;
        ``refuse``: the client is hung up on and the service receives nothing;
        ``stall``: the service does its work, the answer is held back;
        ``status``: the proxy answers instead of the service, which receives
        nothing; ``expire``: the same with a 401
    :ivar times: how often; None without end
    :ivar seconds: how long an answer is held back
    """

    pattern: re.Pattern[str]
    kind: Kind
    times: int | None = 1
    status: int = 0
    message: str = ''
    seconds: float = 0.0


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients hang up on what is late."""


class FaultProxy:
    """One proxy before one service.

    :param target: endpoint of the service, with the path it has in the
        catalogue
    :ivar url: the same endpoint through the proxy
    :ivar requests: ``METHOD /path`` of every request, forwarded or not
    """

    def __init__(self, target: str) -> None:
        parts = urllib.parse.urlsplit(target)
        self._host = parts.hostname or ''
        self._port = parts.port or 80
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        self._released = threading.Event()
        self._rules: list[Rule] = []
        self._tokens: list[str] = []
        self.requests: list[str] = []
        proxy = self

        class Handler(_Handler):
            owner = proxy

        self._handler = Handler
        self._server: _Server | None = None
        self._address = ('127.0.0.1', 0)
        self.open()
        self.url = f'http://127.0.0.1:{self._address[1]}{parts.path}'.rstrip('/')

    # -- what a test sets

    def rule(
        self,
        kind: Kind,
        pattern: str,
        times: int | None = 1,
        *,
        status: int = 401,
        message: str = 'no luck today',
        seconds: float = _PATIENCE,
    ) -> None:
        """Let requests that match *pattern* go wrong; the oldest rule counts."""
        answer = {'status': status, 'message': message, 'seconds': seconds}
        added = Rule(pattern=re.compile(pattern), kind=kind, times=times, **answer)
        with self._lock:
            self._rules.append(added)

    def heal(self) -> None:
        """Forget every rule, and let the answers go that are held back."""
        with self._lock:
            self._rules.clear()
            self._released.set()
            self._released = threading.Event()

    def count(self, pattern: str) -> int:
        """Return how many requests matched *pattern*."""
        with self._lock:
            return sum(bool(re.search(pattern, line)) for line in self.requests)

    def tokens(self) -> list[str]:
        """Return the different tokens that came by, in their order."""
        with self._lock:
            return list(dict.fromkeys(self._tokens))

    def open(self) -> None:
        """Listen, on the same port as ever."""
        assert self._server is None
        self._server = _Server(self._address, self._handler)
        self._address = ('127.0.0.1', self._server.server_address[1])
        threading.Thread(
            target=self._server.serve_forever, kwargs={'poll_interval': 0.01}, daemon=True
        ).start()

    def close(self) -> None:
        """Close the port, so that connections are refused, and cut those there are."""
        if self._server is None:
            return
        self._server.shutdown()
        self._server.server_close()
        self._server = None
        self.heal()
        with self._lock:
            connections, self._connections = self._connections, set()
        for connection in connections:
            # Whoever handles it closes it.
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    # -- what it does

    def entered(self, connection: socket.socket) -> None:
        """Remember a connection, to cut it some day."""
        with self._lock:
            self._connections.add(connection)

    def left(self, connection: socket.socket) -> None:
        """Forget a connection."""
        with self._lock:
            self._connections.discard(connection)

    def noted(self, line: str, token: str | None) -> tuple[Rule | None, threading.Event]:
        """Remember a request; return the rule for it and what ends a delay."""
        with self._lock:
            self.requests.append(line)
            if token:
                self._tokens.append(token)
            for rule in self._rules:
                if rule.pattern.search(line):
                    if rule.times is not None:
                        rule.times -= 1
                        if not rule.times:
                            self._rules.remove(rule)
                    return rule, self._released
            return None, self._released

    def forward(
        self, method: str, path: str, headers: list[tuple[str, str]], body: bytes
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        """Let the service do its work, and return its answer."""
        connection = http.client.HTTPConnection(self._host, self._port, timeout=_PATIENCE)
        with contextlib.closing(connection):
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers:
                if name.lower() not in _HOP_BY_HOP | {'content-length'}:
                    connection.putheader(name, value)
            if body or method in ('POST', 'PUT', 'PATCH'):
                connection.putheader('Content-Length', str(len(body)))
            connection.putheader('Connection', 'close')
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True
    wbufsize = -1
    owner: FaultProxy

    def setup(self) -> None:
        """Begin a connection."""
        super().setup()
        self.owner.entered(self.connection)

    def finish(self) -> None:
        """End a connection."""
        self.owner.left(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def _pass_on(self) -> None:
        body = self._body()
        line = f'{self.command} {urllib.parse.urlsplit(self.path).path}'
        rule, released = self.owner.noted(line, self.headers.get('X-Auth-Token'))
        kind = rule.kind if rule else None
        if kind == 'refuse':
            self.close_connection = True
            return
        if rule and kind in ('status', 'expire'):
            self._answer(rule.status, _said_by_the_proxy(), _reason(rule))
            return
        status, headers, answer = self.owner.forward(
            self.command, self.path, self.headers.items(), body
        )
        if kind == 'lose':
            self.close_connection = True
            return
        if rule and kind == 'stall':
            released.wait(rule.seconds)
        self._answer(status, headers, answer)

    def _body(self) -> bytes:
        if self.headers.get('Transfer-Encoding', '').lower() != 'chunked':
            return self.rfile.read(int(self.headers.get('Content-Length') or 0))
        chunks = []
        while size := int(self.rfile.readline().split(b';')[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass  # headers after the body, up to an empty line: they are of no use
        return b''.join(chunks)

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response_only(status)
        length = str(len(body))
        for name, value in headers:
            if name.lower() == 'content-length':
                # An answer to HEAD says how long the body would be.
                length = value
            elif name.lower() not in _HOP_BY_HOP:
                self.send_header(name, value)
        if status not in _BODILESS:
            self.send_header('Content-Length', length)
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(body)
        self.wfile.flush()

    # The names are those of http.server.
    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _pass_on

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _said_by_the_proxy() -> list[tuple[str, str]]:
    # A request id makes it an answer of the service, and not of a balancer.
    return [
        ('Content-Type', 'application/json'),
        ('X-Openstack-Request-Id', 'req-proxy'),
        ('X-Compute-Request-Id', 'req-proxy'),
    ]


def _reason(rule: Rule) -> bytes:
    reason = {'code': rule.status, 'message': rule.message, 'title': 'as requested'}
    return json.dumps({'error': reason}).encode()
