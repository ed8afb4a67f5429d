# SPDX-License-Identifier: Apache-2.0

"""Serves WSGI applications with waitress, within limits for clients without a token, too.

waitress receives requests without a thread for each. So slow clients cost connections and
memory only, both of which are limited here, as is the time that a request may take to
arrive.
"""

from __future__ import annotations

import json
import re
import resource
import socket
from typing import Any
from typing import Final

from waitress import channel
from waitress import parser
from waitress import server as waitress_server
from waitress import task

from climate import exceptions
from climate.api import errors
from climate.api.http import bodies
from climate.api.http import microversions
from climate.api.http.wsgi import WSGIApp

CONNECTIONS: Final = 1000
"""How many connections are open at most, by default."""
IDLE_TIMEOUT: Final = 20
"""Seconds after which idle connections and incomplete requests end, by default."""

_LARGEST_HEAD: Final = 65536
# Spaces in a row, far more than clients send.
_MOST_SPACES: Final = 256
_REQUEST_LINE: Final = re.compile(rb'[^ ]+ [^ ]+(?: HTTP/[0-9]\.[0-9])?')
# waitress counts the sizes of chunks as parts of a body.
_FRAMES: Final = 65536
# Descriptors for the database, the broker, the log and other files.
_OTHER_FILES: Final = 256
_CLEANUP: Final = 5


class _JsonErrorTask(task.ErrorTask):
    """Answers what waitress refuses like the API, with a JSON object."""

    def execute(self) -> None:
        refused = self.request.error
        error = errors.from_status(refused.code, str(refused.body))
        if isinstance(error, exceptions.RequestTooLarge):
            error = bodies.too_large(self.channel.adj.max_request_body_size - _FRAMES)
        shown = errors.body(error, microversions.MIN) | {'error_code': refused.code}
        body = json.dumps(shown).encode()
        self.status = f'{refused.code} {refused.reason}'
        self.response_headers.append(('Content-Type', 'application/json'))
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class _QuickParser(parser.HTTPRequestParser):
    """Refuses heads whose parts waitress takes long to find.

    The thread that reads from all connections parses heads. The expressions of waitress try
    each place at which a run of spaces, or the host of an invalid request line, could end, and
    from there each further one: for a head of 64 KiB that takes minutes.
    """

    def parse_header(self, header_plus: bytes) -> None:
        line, _, fields = header_plus.partition(b'\r\n')
        if _REQUEST_LINE.fullmatch(line.rstrip()) is None:
            raise parser.ParsingError('Invalid request line')
        fields = b'\r\n' + fields.replace(b'\t', b' ')
        # Lines that continue others are obsolete, and join their spaces.
        if b'\r\n ' in fields or b' ' * (_MOST_SPACES + 1) in fields:
            raise parser.ParsingError('Invalid header')
        super().parse_header(header_plus)


class _TimedChannel(channel.HTTPChannel):
    """A connection whose requests must arrive in time, however often a byte comes."""

    error_task_class = _JsonErrorTask
    parser_class = _QuickParser
    last_activity: float
    _begun: float | None = None

    def handle_read(self) -> None:
        super().handle_read()
        if self.request is None:
            self._begun = None
        elif self._begun is None:
            self._begun = self.last_activity
        else:
            # The server closes channels by this time.
            self.last_activity = self._begun


class HttpServer:
    """A server that listens; :meth:`run` serves.

    :param largest_body: in bytes
    :ivar port: where it listens, if that was 0
    :raises OSError: if it cannot listen
    """

    def __init__(
        self,
        application: WSGIApp,
        *,
        host: str,
        port: int,
        threads: int,
        largest_body: int,
        connections: int = CONNECTIONS,
        idle_timeout: int = IDLE_TIMEOUT,
    ) -> None:
        sockets: dict[int, Any] = {}
        self._server = waitress_server.create_server(
            application,
            map=sockets,
            # Without them, waitress would start its threads before it finds the port taken,
            # and leave them.
            sockets=_bound(host, port),
            threads=threads,
            ident='climate',
            clear_untrusted_proxy_headers=False,
            connection_limit=_possible(connections),
            channel_timeout=idle_timeout,
            cleanup_interval=min(_CLEANUP, idle_timeout),
            # The API refuses what exceeds its own limit exactly.
            max_request_body_size=largest_body + _FRAMES,
            max_request_header_size=_LARGEST_HEAD,
            # select() fails if a descriptor is above 1023.
            asyncore_use_poll=True,
        )
        # A host name may have several addresses.
        listening = [
            one for one in sockets.values() if isinstance(one, waitress_server.BaseWSGIServer)
        ]
        for one in listening:
            one.channel_class = _TimedChannel
        self.port: int = listening[0].effective_port

    def run(self) -> None:
        """Serve until the process ends, or :meth:`close`."""
        self._server.run()

    def close(self) -> None:
        """Stop listening; requests that have begun go on."""
        self._server.close()


def listen(application: WSGIApp, **options: Any) -> HttpServer:
    """Return a :class:`HttpServer`.

    :raises climate.exceptions.ConfigurationError: if it cannot listen
    """
    try:
        return HttpServer(application, **options)
    except OSError as error:
        where = address(options['host'], options['port'])
        reason = error.strerror or str(error)
        raise exceptions.ConfigurationError(f'cannot listen on {where}: {reason}') from None


def address(host: str, port: int) -> str:
    """Return host and port as URLs have them: an IPv6 address is in brackets."""
    return f'[{host}]:{port}' if ':' in host else f'{host}:{port}'


def url(host: str, port: int) -> str:
    """Return the URL of a server, without a slash at its end."""
    return f'http://{address(host, port)}'


def _bound(host: str, port: int) -> list[socket.socket]:
    """Return a socket for each address of a host.

    :raises OSError: if one cannot be bound; then none is
    """
    sockets: list[socket.socket] = []
    addresses = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
    )
    try:
        for family, kind, protocol, _, place in addresses:
            sockets.append(socket.socket(family, kind, protocol))
            sockets[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                sockets[-1].setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sockets[-1].bind(place)
    except OSError:
        for one in sockets:
            one.close()
        raise
    return sockets


def _possible(connections: int) -> int:
    """Return how many connections can be open; raise the limit of open files for them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return connections
    return max(soft - _OTHER_FILES, soft // 2)
