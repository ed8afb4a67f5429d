# SPDX-License-Identifier: Apache-2.0

"""A receiver of webhooks that refuses some of the events."""

from __future__ import annotations

import contextlib
import http.server
import random
import threading
from collections.abc import Iterator


class _Receiver(http.server.BaseHTTPRequestHandler):
    """Refuses what is sent to ``/refusing``, and one of ten other events."""

    _rng = random.Random(7)

    def do_POST(self) -> None:
        """Accept an event, or not."""
        self.rfile.read(int(self.headers.get('Content-Length', 0)))
        refused = self.path == '/refusing' or self._rng.random() < 0.1
        self.send_response(503 if refused else 204)
        self.end_headers()

    def log_message(self, *_words: object) -> None:
        """Write nothing."""


@contextlib.contextmanager
def receiver() -> Iterator[str]:
    """Run a receiver, and yield its address."""
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), _Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f'http://127.0.0.1:{server.server_port}'
    finally:
        server.shutdown()
        server.server_close()
