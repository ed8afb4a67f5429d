# SPDX-License-Identifier: Apache-2.0

"""Checks whether the broker is reachable and accepts the credentials."""

from __future__ import annotations

from typing import Any
from typing import Final

import kombu
import oslo_messaging
from oslo_config import cfg

from climate.messaging import transport as transports

_PORT: Final = 5672
_TLS: Final = {'ssl_key_file': 'keyfile', 'ssl_cert_file': 'certfile', 'ssl_ca_file': 'ca_certs'}


def is_rabbit(url: oslo_messaging.TransportURL) -> bool:
    """Whether *url* is that of a RabbitMQ broker."""
    return str(url.transport).split('+')[0] in ('rabbit', 'amqp')


def connections(
    conf: cfg.ConfigOpts, url: oslo_messaging.TransportURL, seconds: float
) -> list[kombu.Connection]:
    """Return a connection to each host of *url*, not yet open.

    :param conf: the configuration of a transport, which includes the overrides in the
        query of the URL
    :param seconds: the time limit for opening a connection
    """
    options = conf.oslo_messaging_rabbit
    hosts = url.hosts or [oslo_messaging.TransportHost('localhost', _PORT, 'guest', 'guest')]
    return [
        kombu.Connection(
            hostname=host.hostname or 'localhost',
            port=host.port or _PORT,
            userid=host.username or 'guest',
            password=host.password or 'guest',
            virtual_host=url.virtual_host or '/',
            transport='pyamqp',
            login_method=options.rabbit_login_method,
            ssl=_tls(options, host.hostname),
            connect_timeout=seconds,
            heartbeat=options.heartbeat_timeout_threshold,
        )
        for host in hosts
    ]


def _tls(options: Any, hostname: str | None) -> dict[str, Any] | bool:
    if not options.ssl:
        return False
    wanted = {name: options[option] for option, name in _TLS.items() if options[option]}
    if 'ca_certs' in wanted:
        wanted['server_hostname'] = hostname
    return wanted or True


class BrokerCheck:
    """Checks whether the broker is reachable, for the health page.

    It logs in and out on a separate connection, so that connections in use do not delay
    it, and the result is the one that they would get.

    :param url: replaces the transport URL of the configuration
    :raises climate.exceptions.ConfigurationError: if the URL is unusable
    """

    def __init__(self, conf: cfg.ConfigOpts, url: str | None = None) -> None:
        # The transport never connects; only its configuration is used.
        self._conf = transports.rpc_transport(conf, url).conf
        self._url = oslo_messaging.TransportURL.parse(conf, url)

    def reachable(self, seconds: float = 2.0) -> bool:
        """Whether the broker accepts a login, within *seconds* for each of its hosts."""
        return self.problem(seconds) is None

    def problem(self, seconds: float = 2.0) -> str | None:
        """Return why the broker cannot be used, without secrets; None if it can.

        Only RabbitMQ can be checked; any other broker counts as available.
        """
        if not is_rabbit(self._url):
            return None
        why = ''
        for connection in connections(self._conf, self._url, seconds):
            try:
                opened = connection.transport.establish_connection()
                connection.transport.close_connection(opened)
            except transports.DELIVERY_ERRORS as error:
                why = f'{connection.hostname}: {type(error).__name__}'
            else:
                return None
        return why
