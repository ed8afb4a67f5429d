# SPDX-License-Identifier: Apache-2.0

"""A usage enforcement service on a real socket, which tests control."""

from __future__ import annotations

import dataclasses
import json
import ssl
import threading
from collections.abc import Callable
from http import server
from typing import Any

import fixtures


@dataclasses.dataclass(frozen=True, kw_only=True)
class Call:
    """A request to the service."""

    name: str
    body: dict[str, Any]
    headers: dict[str, str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Answer:
    """A response of the service.

    :ivar raw: bytes to send instead of an HTTP response
    """

    status: int = 204
    body: bytes = b''
    headers: tuple[tuple[str, str], ...] = ()
    raw: bytes | None = None


def refusal(message: str) -> Answer:
    """Return a response that refuses the request."""
    return Answer(status=403, body=json.dumps({'message': message}).encode())


class UsageService(fixtures.Fixture):
    """The service, on its own port.

    :ivar calls: the requests, in order
    :ivar answers: the responses by the name of the call; 204 for other calls
    :ivar before: called with each request before the response
    :ivar silent: names of calls without a response
    :param port: the port; 0 for any free port
    """

    def __init__(self, port: int = 0) -> None:
        super().__init__()
        self.port = port
        self.calls: list[Call] = []
        self.answers: dict[str, Answer] = {}
        self.before: Callable[[Call], None] = lambda _: None
        self.silent: set[str] = set()
        self._over = threading.Event()
        self._server: server.ThreadingHTTPServer | None = None

    def _setUp(self) -> None:
        self.come_back()
        # Requests without a response must not block the shutdown of the server.
        self.addCleanup(self.go_away)
        self.addCleanup(self._over.set)

    @property
    def url(self) -> str:
        """The URL of the service, without a trailing slash."""
        return f'http://127.0.0.1:{self.port}/v1'

    def go_away(self) -> None:
        """Stop the server."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def come_back(self) -> None:
        """Start the server, on the same port as before."""
        usage_service = self

        class Handler(server.BaseHTTPRequestHandler):
            """Passes each request to the service."""

            def do_POST(self) -> None:
                """Respond to a call."""
                usage_service._answer(self)

            def log_message(self, *arguments: Any) -> None:
                """Log nothing."""

        self._server = server.ThreadingHTTPServer(('127.0.0.1', self.port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def wrap(self, context: ssl.SSLContext) -> None:
        """Use TLS from now on."""
        assert self._server is not None
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    def named(self, name: str) -> list[Call]:
        """Return the calls with a name."""
        return [call for call in self.calls if call.name == name]

    @property
    def names(self) -> list[str]:
        """The names of the calls."""
        return [call.name for call in self.calls]

    def _answer(self, handler: server.BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get('Content-Length') or 0)
        call = Call(
            name=handler.path.rsplit('/', 1)[-1],
            body=json.loads(handler.rfile.read(length)),
            headers={name.lower(): value for name, value in handler.headers.items()},
        )
        self.calls.append(call)
        self.before(call)
        if call.name in self.silent:
            self._over.wait(60)
            return
        answer = self.answers.get(call.name, Answer())
        if answer.raw is not None:
            handler.wfile.write(answer.raw)
            return
        handler.send_response(answer.status)
        for name, value in answer.headers:
            handler.send_header(name, value)
        if answer.status != 204:
            handler.send_header('Content-Length', str(len(answer.body)))
        handler.end_headers()
        handler.wfile.write(answer.body)
