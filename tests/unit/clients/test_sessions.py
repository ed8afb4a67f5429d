# SPDX-License-Identifier: Apache-2.0

"""Sessions keep a connection for each worker of a manager."""

from __future__ import annotations

import http.server
import pathlib
import socketserver
import tempfile
import threading
from concurrent import futures
from typing import Any

from climate.cloud import sessions
from climate.cmd import config
from tests import base

# More than a session of keystoneauth1 keeps by default.
AT_ONCE = 20


class MeetingServer(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """A service that responds when as many requests have arrived as are sent at once.

    :ivar connections: the number of connections so far
    """

    daemon_threads = True
    request_queue_size = AT_ONCE

    def __init__(self) -> None:
        super().__init__(('127.0.0.1', 0), _Handler)
        self.meeting = threading.Barrier(AT_ONCE)
        self.connections = 0

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        super().process_request(request, client_address)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self) -> None:
        assert isinstance(self.server, MeetingServer)
        self.server.meeting.wait(30)
        self.send_response(200)
        self.send_header('Content-Length', '0')
        self.end_headers()

    def log_message(self, *_arguments: Any) -> None:
        pass


class TestConnections(base.TestCase):
    """A session that many threads use."""

    def setUp(self) -> None:
        super().setUp()
        self.server = MeetingServer()
        self.addCleanup(self.server.server_close)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.shutdown)

    def test_connections_are_kept(self) -> None:
        url = f'http://127.0.0.1:{self.server.server_port}'
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / 'climate.conf').write_text(f'[nova]\nauth_type = none\nendpoint = {url}\n')
        conf = config.new_conf()
        conf([], project='climate', default_config_files=[str(folder / 'climate.conf')])
        session = sessions.configured(conf)['nova'].session
        with futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for _ in range(3):
                found = list(pool.map(lambda _: session.get(url).status_code, range(AT_ONCE)))
                self.assertEqual([200] * AT_ONCE, found)
        session.session.close()
        self.assertEqual(AT_ONCE, self.server.connections)
