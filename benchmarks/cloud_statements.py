# SPDX-License-Identifier: Apache-2.0
"""Counts the SQL statements that a service sends to MariaDB, without its help."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import urllib.parse

_QUERY = 0x03
_HEADER = 4
# What begins and ends a transaction, or only prepares a connection.
_OTHERS = re.compile(rb'\s*(BEGIN|COMMIT|ROLLBACK|SET|START|SAVEPOINT|RELEASE|SELECT 1\s*$)', re.I)


class PacketReader:
    """Counts the statements in what one client sends.

    The connection must not be encrypted or compressed.
    """

    def __init__(self) -> None:
        self._rest = b''

    def statements(self, received: bytes) -> int:
        """Return how many statements end in what was received now.

        Transactions, savepoints and settings of the connection do not count.
        """
        self._rest += received
        found = 0
        while len(self._rest) >= _HEADER:
            end = _HEADER + int.from_bytes(self._rest[:3], 'little')
            if len(self._rest) < end:
                break
            number, body = self._rest[3], self._rest[_HEADER:end]
            self._rest = self._rest[end:]
            # A command begins again with 0; what follows is the rest of a login.
            found += number == 0 and body[:1] == bytes([_QUERY]) and not _OTHERS.match(body[1:])
        return found


class CountingProxy:
    """A proxy in front of MariaDB.

    :param url: the URL of a database, as SQLAlchemy has it
    :ivar url: the same through the proxy
    """

    def __init__(self, url: str) -> None:
        parts = urllib.parse.urlsplit(url)
        self._target = (parts.hostname or '127.0.0.1', parts.port or 3306)
        self._listener = socket.create_server(('127.0.0.1', 0))
        login = parts.netloc.rpartition('@')[0]
        port = self._listener.getsockname()[1]
        self.url = parts._replace(netloc=f'{login}@127.0.0.1:{port}').geturl()
        self._lock = threading.Lock()
        self._count = 0
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def count(self) -> int:
        """The number of statements so far."""
        with self._lock:
            return self._count

    def close(self) -> None:
        """Accept no more connections."""
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._target)
                for each in (client, server):
                    # The last packet of a long answer must not wait for an acknowledgement,
                    # which takes 40 ms.
                    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for source, sink, reader in (
                    (client, server, PacketReader()),
                    (server, client, None),
                ):
                    argv = (source, sink, reader)
                    threading.Thread(target=self._copy, args=argv, daemon=True).start()

    def _copy(
        self, source: socket.socket, sink: socket.socket, reader: PacketReader | None
    ) -> None:
        with contextlib.suppress(OSError):
            while received := source.recv(65536):
                if reader is not None:
                    number = reader.statements(received)
                    with self._lock:
                        self._count += number
                sink.sendall(received)
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
