# SPDX-License-Identifier: Apache-2.0

"""A WSGI application that listens, in a thread of the test."""

from __future__ import annotations

import threading
from typing import Any

import fixtures
import waitress
from waitress import wasyncore


class Listener(fixtures.Fixture):
    """Serves an application on a free port.

    :ivar address: without a slash at the end
    """

    def __init__(self, application: Any, *, threads: int) -> None:
        super().__init__()
        self._application = application
        self._threads = threads

    def _setUp(self) -> None:
        self._sockets: dict[int, Any] = {}
        self._server = waitress.create_server(
            self._application, map=self._sockets, host='127.0.0.1', port=0, threads=self._threads
        )
        self.address = f'http://127.0.0.1:{self._server.effective_port}'
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        self.addCleanup(self._stop)

    def _stop(self) -> None:
        # Connections that clients keep open would keep the loop, which ends without sockets.
        self._server.trigger.pull_trigger(lambda: wasyncore.close_all(self._sockets))
        self._thread.join(5)
        self._server.task_dispatcher.shutdown()
