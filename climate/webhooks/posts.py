# SPDX-License-Identifier: Apache-2.0

"""Sends requests to addresses that users have chosen.

Receivers are not trusted: each is reached at an address that was checked,
their redirections are not followed, their bodies are not read, and the whole exchange has one
deadline. Proxies from the environment are not used, since they would look up the name
again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import http.client
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.conf.settings import option
from climate.conf.settings import Settings
from climate.webhooks import urls
from climate.webhooks.addresses import AddressRefused
from climate.webhooks.addresses import AddressRules
from climate.webhooks.addresses import Network


def _networks(values: Any) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(value) for value in values)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PosterSettings(Settings):
    """How receivers are reached.

    :ivar timeout: for a whole request, in seconds
    """

    allowed: tuple[Network, ...] = option('webhooks', 'allowed_networks', _networks)
    refused: tuple[Network, ...] = option('webhooks', 'refused_networks', _networks)
    allow_http: bool = option('webhooks', 'allow_http')
    cafile: str | None = option('webhooks', 'cafile')
    timeout: float = option('webhooks', 'timeout')


class NotAccepted(Exception):
    """A receiver did not accept a request; the text is fit for users.

    :ivar status: the HTTP status of its response; None without one
    """

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.status = status


class Poster:
    """Sends requests.

    :param rules: the addresses that it can reach; None for those of the settings
    :raises climate.exceptions.ConfigurationError: if the CA certificates cannot be read
    """

    def __init__(self, settings: PosterSettings, rules: AddressRules | None = None) -> None:
        self._settings = settings
        self._rules = rules or AddressRules(settings.allowed, settings.refused)
        if settings.cafile is not None:
            # At the start, rather than at the first event.
            _context(settings.cafile)

    def check(self, url: str) -> None:
        """Check a URL without a look at the network.

        :raises climate.webhooks.urls.BadUrl: if it cannot be used
        """
        parts = urls.parse(url, allow_http=self._settings.allow_http)
        try:
            self._rules.check_literal(parts.host)
        except AddressRefused as error:
            raise urls.BadUrl(str(error)) from None

    def post(
        self, url: str, headers: Mapping[str, str], body: bytes, deadline: float | None = None
    ) -> int:
        """Send a request; return the status of the response, from 200 to 299.

        :param deadline: by the monotonic clock, after which it is not begun; None for no limit
        :raises NotAccepted: if the receiver did not accept it
        """
        try:
            parts = urls.parse(url, allow_http=self._settings.allow_http)
            address = self._rules.resolve(parts.host, parts.port)
        except (urls.BadUrl, AddressRefused) as error:
            raise NotAccepted(str(error)) from None
        # The lookup has no time limit of its own.
        if deadline is not None and time.monotonic() > deadline:
            raise NotAccepted('the name of the host was not resolved in time')
        try:
            status = self._exchange(parts, address, headers, body)
        except TimeoutError:
            raise NotAccepted('no response in time') from None
        except ssl.SSLError as error:
            raise NotAccepted(f'TLS failed: {error.reason or type(error).__name__}') from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise NotAccepted(f'the connection failed: {type(error).__name__}') from None
        if not 200 <= status < 300:
            raise NotAccepted(f'the response has status {status}', status)
        return status

    def _exchange(
        self, parts: urls.WebhookUrl, address: str, headers: Mapping[str, str], body: bytes
    ) -> int:
        with _Exchange(self._settings.timeout) as exchange:
            sock = exchange.connect(address, parts.port)
            if parts.scheme == 'https':
                sock = exchange.secure(_context(self._settings.cafile), parts.host)
            connection = http.client.HTTPConnection(parts.host, parts.port)
            connection.sock = sock
            exchange.send(connection, parts, headers, body)
            response = connection.getresponse()
            exchange.check()
            # The body is never read: it is of no use here, and could be endless.
            return response.status


class _Exchange:
    """A connection that is cut off at a deadline, even if it keeps sending a little.

    :param seconds: from now to the deadline
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._socket: socket.socket | None = None
        self._late = threading.Event()
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> _Exchange:
        self._timer.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._timer.cancel()
        if self._socket is not None:
            self._socket.close()
        if error is not None:
            self.check()

    def connect(self, address: str, port: int) -> socket.socket:
        self._socket = socket.create_connection((address, port), timeout=self._seconds)
        return self._socket

    def secure(self, context: ssl.SSLContext, host: str) -> socket.socket:
        assert self._socket is not None
        tls = context.wrap_socket(self._socket, server_hostname=host, do_handshake_on_connect=False)
        # The timer must know the new socket before the receiver can delay it.
        self._socket = tls
        tls.do_handshake()
        return tls

    def send(
        self,
        connection: http.client.HTTPConnection,
        parts: urls.WebhookUrl,
        headers: Mapping[str, str],
        body: bytes,
    ) -> None:
        given = {'Host': parts.authority, 'Connection': 'close', **headers}
        connection.request('POST', parts.target, body, given)

    def check(self) -> None:
        """Raise TimeoutError if the deadline is over."""
        if self._late.is_set():
            raise TimeoutError

    def _cut(self) -> None:
        self._late.set()
        sock = self._socket
        if sock is not None:
            with contextlib.suppress(OSError):
                # That of TLS would wait for the receiver.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)


@functools.cache
def _context(cafile: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=cafile)
    except OSError as error:
        raise exceptions.ConfigurationError(f'[webhooks] cafile: {error}') from error
