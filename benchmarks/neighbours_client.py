# SPDX-License-Identifier: Apache-2.0
"""Clients that load an API, as a process: ``python -m benchmarks.neighbours_client HOST PORT``.

It reads lines of JSON. One with a request starts threads that repeat it, at once after each
response, and do not wait when the service asks them to; an empty one stops them, and prints
how many responses of each status there were. One with ``unknown`` opens connections
without a token instead.
"""

from __future__ import annotations

import collections
import contextlib
import http.client
import json
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any
from typing import Final

from benchmarks import parts

# Not the address of the neighbour, whose requests from one address count together.
_ADDRESS: Final = '127.0.0.2'
_TIMEOUT: Final = 60.0
_DRIP: Final = 1.0
_HEAD: Final = b'POST /v1/leases HTTP/1.1\r\nHost: reservation\r\n'
_BEGINNINGS: Final = {
    'dripping heads': _HEAD,
    'dripping bodies': _HEAD + b'Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{',
    'idle connections': b'',
}


class Load:
    """Threads that load an API until they are stopped."""

    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []
        self._counted: dict[str, int] = collections.Counter()

    def start(self, task: dict[str, Any]) -> None:
        """Start as many threads as the task says."""
        work = self._drip if 'unknown' in task else self._repeat
        target: Callable[..., None] = work
        for number in range(task['at_once']):
            thread = threading.Thread(target=target, args=(task, number), daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> dict[str, int]:
        """Stop; return the number of responses by status."""
        self._stopped.set()
        for thread in self._threads:
            thread.join(2 * _TIMEOUT)
        return dict(self._counted)

    def _repeat(self, task: dict[str, Any], number: int) -> None:
        connection = None
        body = task['body'].encode()
        tokens = task['tokens']
        headers = {**task['headers'], 'X-Auth-Token': tokens[number % len(tokens)]}
        while not self._stopped.is_set():
            try:
                if connection is None:
                    connection = http.client.HTTPConnection(
                        self._host, self._port, _TIMEOUT, source_address=(_ADDRESS, 0)
                    )
                connection.request(task['method'], task['path'], body, headers)
                response = connection.getresponse()
                response.read()
                self._counted[str(response.status)] += 1
            except (OSError, http.client.HTTPException) as error:
                self._counted[type(error).__name__] += 1
                if connection is not None:
                    connection.close()
                connection = None

    def _drip(self, task: dict[str, Any], _number: int) -> None:
        """Keep a connection open, and replace it when the service closes it."""
        while not self._stopped.is_set():
            with contextlib.suppress(OSError), self._connected() as client:
                self._counted['connections'] += 1
                beginning = _BEGINNINGS[task['unknown']]
                client.sendall(beginning)
                while not self._stopped.wait(_DRIP):
                    if beginning:
                        client.sendall(b'x: y\r\n' if beginning == _HEAD else b' ')
                    if _is_closed(client):
                        break
            self._stopped.wait(_DRIP / 10)

    def _connected(self) -> socket.socket:
        return socket.create_connection(
            (self._host, self._port), _TIMEOUT, source_address=(_ADDRESS, 0)
        )


def _is_closed(client: socket.socket) -> bool:
    client.setblocking(False)
    try:
        return client.recv(65536) == b''
    except BlockingIOError:
        return False
    finally:
        client.settimeout(_TIMEOUT)


def main() -> None:
    """Load the API as each line says."""
    host, port = sys.argv[1:]
    parts.say('ready')
    load = None
    while line := parts.read_line():
        if line.strip():
            load = Load(host, int(port))
            load.start(json.loads(line))
            parts.say('started')
        elif load is not None:
            parts.say(load.stop())


if __name__ == '__main__':
    main()
