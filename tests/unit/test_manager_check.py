# SPDX-License-Identifier: Apache-2.0

"""``climate-manager --check``, without a manager and with sick ones."""

from __future__ import annotations

import contextlib
import functools
import http.server
import io
import json
import threading
from typing import Any

from climate.cmd import manager_check
from tests import base
from tests import settings


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers each request alike."""

    def __init__(self, status: int, text: str, *others: Any) -> None:
        self._status = status
        self._text = text
        super().__init__(*others)

    def do_GET(self) -> None:
        """Answer."""
        self.send_response(self._status)
        self.end_headers()
        self.wfile.write(self._text.encode())

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class TestManagerCheck(base.TestCase):
    """Exit status and messages."""

    def checked(self, port: int, *, enabled: bool = True) -> tuple[int, str]:
        """Run the check; return its exit status and output."""
        conf = settings.configured()
        conf.set_override('enabled', enabled, group='metrics')
        conf.set_override('manager_port', port, group='metrics')
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = manager_check.check(conf)
        return status, said.getvalue()

    def served(self, status: int, text: str) -> tuple[int, str]:
        """Run the check against a server that answers so."""
        server = http.server.HTTPServer(('127.0.0.1', 0), functools.partial(Handler, status, text))
        self.addCleanup(server.server_close)
        thread = threading.Thread(target=server.handle_request, daemon=True)
        thread.start()
        try:
            return self.checked(server.server_port)
        finally:
            thread.join(20)

    def test_disabled(self) -> None:
        status, said = self.checked(1, enabled=False)
        self.assertEqual(2, status)
        self.assertIn('[metrics] enabled', said)

    def test_no_manager(self) -> None:
        status, said = self.checked(1)
        self.assertEqual(1, status)
        self.assertIn('no manager responds at http://127.0.0.1:1/healthcheck?checks=all', said)

    def test_well(self) -> None:
        body = json.dumps({'status': 'ok', 'checks': {'loop': {}, 'clock': {}}})
        self.assertEqual((0, 'ok: clock, loop\n'), self.served(200, body))

    def test_failing(self) -> None:
        body = json.dumps({'error_message': 'Failing checks: loop'})
        self.assertEqual((1, 'climate-manager: Failing checks: loop\n'), self.served(503, body))

    def test_another_server(self) -> None:
        self.assertEqual((1, 'climate-manager: HTTP 502\n'), self.served(502, '<html>'))
        self.assertEqual(1, self.served(200, '<html>')[0])
