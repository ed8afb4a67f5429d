# SPDX-License-Identifier: Apache-2.0

"""Managers receive on RabbitMQ, each in its own queue, which servers come and go."""

from __future__ import annotations

import oslo_messaging

from climate.manager.default_leases.server_lease_settings import ServerLeaseSettings
from climate.manager.service import ManagerOptions
from climate.messaging import nova
from climate.messaging import transport
from tests import services
from tests.functional.manager import booted
from tests.functional.manager import harness
from tests.functional.messaging import bus
from tests.unit.messaging.test_nova import server_envelope


class TestServersOnTheBus(bus.RabbitCase, booted.BootedCase):
    """A Nova that sends as the real one does, and managers that give leases."""

    def ears(self) -> nova.ServerListener:
        conf = self.conf()
        for option, value in (
            ('notification_transport_url', self.url),
            ('notification_exchange', self.exchange),
            ('notification_topics', [self.topic]),
        ):
            conf.set_override(option, value, group='health')
        return nova.ServerListener(conf)

    def start_managers(self, count: int) -> None:
        """Start managers that look once, when the bus is there, and then only listen."""
        settings = ServerLeaseSettings(enabled=True, poll_interval=3600.0)
        for _ in range(count):
            chosen = ManagerOptions(max_sleep=0.2, server_leases=settings)
            manager = harness.running(self.site, chosen, server_listener=self.ears())
            self.addCleanup(manager.stop, 5.0)
            manager.start()
        self.eventually(lambda: self.log.output.count('Listening to the') == count)
        self.eventually(lambda: self.cloud.calls('compute.list_servers_since') >= count)

    def say(self, event_type: str, server_id: str) -> None:
        """Send what Nova sends of a server."""
        sender = transport.notification_transport(self.conf(), self.url)
        self.addCleanup(transport.close, sender)
        oslo_messaging.Notifier(
            sender, 'nova-compute:compute-1', driver='messagingv2', topics=[self.topic]
        ).info({}, event_type, server_envelope(uuid=server_id)['payload'])

    def test_one_lease_however_many_managers_are_notified(self) -> None:
        services.require(services.RABBITMQ)
        # Nova makes the exchange.
        self.say('service.update', 'x')
        self.start_managers(3)
        server = self.boot(lease_duration='1h')
        for _ in range(2):
            self.say('instance.create.end', server.id)
        self.eventually(lambda: bool(self.leases()))
        (lease,) = self.leases()
        self.assertEqual({'climate:lease_id': lease.id}, self.metadata(server))
        self.eventually(lambda: self.site.status(lease) == 'ACTIVE')
        self.assertEqual(1, len(self.leases()))
        self.cloud.compute.delete_server(server.id)
        # Managers are quick, and a lease cannot end in the instant that it began in.
        self.site.away_until(1)
        self.say('instance.delete.end', server.id)
        self.eventually(lambda: self.site.status(lease) == 'TERMINATED')
