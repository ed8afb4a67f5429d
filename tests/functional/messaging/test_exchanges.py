# SPDX-License-Identifier: Apache-2.0

"""Processes with different options for durable queues use the same exchange."""

from __future__ import annotations

import fixtures
from oslo_config import cfg

from climate import exceptions
from climate.messaging import publisher
from climate.messaging import transport
from tests.functional.messaging import bus
from tests.unit.messaging import samples

DURABLE, TRANSIENT = True, False


class TestExchanges(bus.RabbitCase):
    """RPC and notifications on one exchange.

    :ivar durable: whether the next process declares durable queues
    """

    durable = False

    def setUp(self) -> None:
        super().setUp()
        self.useFixture(fixtures.MonkeyPatch('climate.messaging.transport.EXCHANGE', self.exchange))

    def conf(self, **changes: object) -> cfg.ConfigOpts:
        conf = super().conf(**changes)
        conf.set_override('amqp_durable_queues', self.durable, group=transport.RABBIT)
        return conf

    def listen(self, durable: bool) -> None:
        self.durable = durable
        _, server = self.manager('one')
        self.assertTrue(server.wait_until_listening(bus.SOON), self.log.output)

    def publish(self, durable: bool) -> None:
        self.durable = durable
        self.closing(publisher.from_conf(self.conf())).publish([samples.message()])

    def assert_noticed(self) -> None:
        self.assertIn('was declared by another process, as', self.log.output)
        for words in ('Traceback', 'PRECONDITION_FAILED', 'Force creating'):
            self.assertNotIn(words, self.log.output)

    def call(self, durable: bool) -> None:
        self.durable = durable
        self.client().ping()
        self.client().wake()

    def test_a_client_that_is_not_durable(self) -> None:
        self.listen(DURABLE)
        self.call(TRANSIENT)
        self.publish(TRANSIENT)
        self.assert_noticed()

    def test_a_client_that_is_durable(self) -> None:
        self.listen(TRANSIENT)
        self.call(DURABLE)
        self.publish(DURABLE)
        self.assert_noticed()

    def test_a_client_that_is_durable_is_first(self) -> None:
        self.durable = DURABLE
        self.assertRaises(exceptions.ManagerUnavailable, self.client(timeout=0.5).ping)
        self.listen(TRANSIENT)
        self.call(DURABLE)
        self.assert_noticed()
