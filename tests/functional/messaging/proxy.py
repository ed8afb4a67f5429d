# SPDX-License-Identifier: Apache-2.0

"""A door in front of a server, to take it away without touching it."""

from __future__ import annotations

import contextlib
import select
import socket
import threading

import fixtures


class Proxy(fixtures.Fixture):
    """Passes TCP connections on to a server while it is open.

    :ivar port: where to connect to, on 127.0.0.1; refused while it is closed
    :ivar frozen: how many connections have been frozen
    :ivar delay: seconds that each packet waits
    :ivar lost_replies: of how many further commits to a database the reply is to be lost
    """

    def __init__(self, host: str, port: int) -> None:
        super().__init__()
        self._server = (host, port)
        self._listener: socket.socket | None = None
        self._passing: list[socket.socket] = []
        self._frozen: set[socket.socket] = set()
        self._over = threading.Event()
        self._lock = threading.Lock()
        self.port = 0
        self.frozen = 0
        self.delay = 0.0
        self.lost_replies = 0

    def _setUp(self) -> None:
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            self.port = free.getsockname()[1]
        self.addCleanup(self.shut)
        self.addCleanup(self._over.set)

    def open(self) -> None:
        """Let connections in; does nothing if they are let in already."""
        if self._listener is not None:
            return
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(('127.0.0.1', self.port))
        listener.listen()
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def shut(self) -> None:
        """Cut every connection and refuse new ones."""
        if self._listener is not None:
            # close() alone leaves the port open while accept() waits on it.
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None
        self.cut()

    def cut(self) -> None:
        """Close every connection; new ones work."""
        with self._lock:
            passing, self._passing = self._passing, []
        for end in passing:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def half_close(self) -> None:
        """Tell every client that the server sends nothing any more, which is not true."""
        with self._lock:
            clients = self._passing[::2]
        for client in clients:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_WR)

    def freeze(self) -> None:
        """Pass nothing on any more for the present connections, without closing them.

        For both ends this is as if the machine of the other one had lost its power. New
        connections work.
        """
        with self._lock:
            self._frozen.update(self._passing)
            self.frozen = len(self._frozen) // 2

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._server) as server:
            with self._lock:
                if self._listener is None:
                    return
                self._passing += [client, server]
            others = {client: server, server: client}
            with contextlib.suppress(OSError):
                while True:
                    ready = select.select(list(others), [], [])[0]
                    if client in self._frozen:
                        self._over.wait()
                        return
                    for source in ready:
                        data = source.recv(65536)
                        if not data:
                            return
                        if self.delay:
                            self._over.wait(self.delay)
                        others[source].sendall(data)
                        if source is client and self._loses(data):
                            # The server has committed when it answers.
                            server.recv(65536)
                            return

    def _loses(self, data: bytes) -> bool:
        """Whether to lose the reply to what the client has sent."""
        with self._lock:
            if self.lost_replies and b'COMMIT' in data.upper():
                self.lost_replies -= 1
                return True
        return False
