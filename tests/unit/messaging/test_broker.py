# SPDX-License-Identifier: Apache-2.0

"""How the broker is looked at directly."""

from __future__ import annotations

from climate.messaging import broker
from climate.messaging import transport
from climate.messaging.broker import oslo_messaging
from tests import base
from tests.unit.messaging.test_publisher import configured


class TestConnections(base.TestCase):
    """The URL and the options of the driver are understood as it does."""

    def connections(self, url: str, text: str = '') -> list[dict[str, object]]:
        conf = transport.rpc_transport(configured(text), url).conf
        parsed = oslo_messaging.TransportURL.parse(conf, url)
        return [connection.info() for connection in broker.connections(conf, parsed, 3.0)]

    def test_every_host_is_tried(self) -> None:
        first, second = self.connections('rabbit://me:secret@one:1,you:hidden@two:2/place')
        self.assertEqual(
            ('one', 1, 'me', 'secret', 'place', False, 3.0),
            tuple(first[key] for key in ('hostname', 'port', 'userid', 'password'))
            + tuple(first[key] for key in ('virtual_host', 'ssl', 'connect_timeout')),
        )
        self.assertEqual(('two', 2, 'you'), (second['hostname'], second['port'], second['userid']))

    def test_what_is_left_out_is_the_usual(self) -> None:
        (info,) = self.connections('rabbit://')
        found = tuple(info[key] for key in ('hostname', 'port', 'userid', 'virtual_host'))
        self.assertEqual(('localhost', 5672, 'guest', '/'), found)

    def test_tls_from_the_options_or_the_url(self) -> None:
        (info,) = self.connections('rabbit://one/', '[oslo_messaging_rabbit]\nssl = true\n')
        self.assertIs(True, info['ssl'])
        (info,) = self.connections('rabbit://one/?ssl=1&ssl_ca_file=/ca.pem')
        self.assertEqual({'ca_certs': '/ca.pem', 'server_hostname': 'one'}, info['ssl'])

    def test_other_brokers_are_taken_for_there(self) -> None:
        self.assertIsNone(broker.BrokerCheck(configured(), 'fake://').problem())
