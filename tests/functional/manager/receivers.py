# SPDX-License-Identifier: Apache-2.0

"""A receiver of webhooks, which listens on this machine."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import hmac
import http.server
import json
import threading
from collections.abc import Callable
from typing import Any

import fixtures


@dataclasses.dataclass(frozen=True, kw_only=True)
class Received:
    """A request that arrived."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        """The event."""
        return json.loads(self.body)


class Receiver(fixtures.Fixture):
    """An HTTP server.

    :ivar url: its address
    :ivar received: the requests, in order of arrival
    :ivar answers: returns the status of the answer to a request; 204 by default
    :ivar location: of a redirection; '' for none
    """

    def __init__(self) -> None:
        super().__init__()
        self.received: list[Received] = []
        self.answers: Callable[[Received], int] = lambda _: 204
        self.location = ''

    def _setUp(self) -> None:
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers['Content-Length']))
                headers = {key.lower(): value for key, value in self.headers.items()}
                one = Received(path=self.path, headers=headers, body=body)
                receiver.received.append(one)
                self.send_response(receiver.answers(one))
                if receiver.location:
                    self.send_header('Location', receiver.location)
                self.send_header('Content-Length', '0')
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                """Print nothing."""

        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        server.daemon_threads = True
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f'http://127.0.0.1:{server.server_port}/hook'
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()


def signed_by(one: Received, secret: str) -> bool:
    """Whether one of the signatures of a request is that of a secret."""
    headers = one.headers
    signed = f'{headers["webhook-id"]}.{headers["webhook-timestamp"]}.'.encode() + one.body
    key = base64.b64decode(secret.removeprefix('whsec_'))
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return f'v1,{digest}' in headers['webhook-signature'].split()
