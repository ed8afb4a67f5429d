# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Looks at the broker directly: is it there, and may we come in."""

from __future__ import annotations

from typing import Any
from typing import Final

import kombu
import oslo_messaging
from oslo_config import cfg

from climate.messaging import transport as transports

_PORT: Final = 5672
_TLS: Final = {
    'ssl_key_file': 'keyfile',
    'ssl_cert_file': 'certfile',
    'ssl_ca_file': 'ca_certs',
}


def is_rabbit(url: oslo_messaging.TransportURL) -> bool:
    """Whether *url* leads to RabbitMQ."""
    return str(url.transport).split('+')[0] in ('rabbit', 'amqp')


def connections(
    conf: cfg.ConfigOpts, url: oslo_messaging.TransportURL, seconds: float
) -> list[kombu.Connection]:
    """Return a connection to each host of *url*, none of them open yet.

    :param conf: the configuration of a transport, which knows what the query
        of the URL overrides
    :param seconds: how long opening one may take
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
    """Says whether the broker can be reached now; for the health page.

    It logs in and out again on a connection of its own, so that it is not
    held up by those in use and says what they would find.

    :param url: instead of the transport URL of the configuration
    :raises climate.exceptions.ConfigurationError: if the URL is unusable
    """

    def __init__(self, conf: cfg.ConfigOpts, url: str | None = None) -> None:
        # Only its view of the configuration is of interest; it never connects.
        self._conf = transports.rpc_transport(conf, url).conf
        self._url = oslo_messaging.TransportURL.parse(conf, url)

    def reachable(self, seconds: float = 2.0) -> bool:
        """Whether the broker lets us in, within *seconds* for each of its hosts."""
        return self.problem(seconds) is None

    def problem(self, seconds: float = 2.0) -> str | None:
        """Return why the broker cannot be used, without secrets; None if it can.

        Of brokers other than RabbitMQ nothing is known: they count as there.
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
