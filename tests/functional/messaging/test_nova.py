# SPDX-License-Identifier: Apache-2.0

"""Notifications of Nova are received from RabbitMQ, taken from no one else, and survive outages."""

from __future__ import annotations

from typing import Any

import kombu
import oslo_messaging

from climate import exceptions
from climate.manager.service import ManagerOptions
from climate.messaging import nova
from climate.messaging import transport
from tests import services
from tests.functional.manager import harness
from tests.functional.messaging import bus
from tests.narrowing import present
from tests.unit.messaging.test_nova import envelope


class TestEars(bus.RabbitCase):
    """A Nova that sends as the real one does, and those who listen."""

    def setUp(self) -> None:
        super().setUp()
        self.missed: list[str] = []

    def listener(
        self, url: str | None = None, name: str = 'one', start: bool = True
    ) -> nova.HostListener:
        conf = self.conf()
        for option, value in (
            ('notification_transport_url', url or self.url),
            ('notification_exchange', self.exchange),
            ('notification_topics', [self.topic]),
        ):
            conf.set_override(option, value, group='health')
        made = nova.HostListener(conf)
        if start:
            made.start(lambda: self.missed.append(name))
            self.addCleanup(made.stop)
        return made

    def notifier(self) -> oslo_messaging.Notifier:
        """Return what Nova sends with; it makes the exchange and the queue."""
        bus_of_nova = transport.notification_transport(self.conf(), self.url)
        self.addCleanup(transport.close, bus_of_nova)
        return oslo_messaging.Notifier(
            bus_of_nova, 'nova-compute:compute-1', driver='messagingv2', topics=[self.topic]
        )

    def say(self, **data: Any) -> None:
        """Send what an administrator's change of a service sends."""
        self.notifier().info({}, 'service.update', envelope(**data)['payload'])

    def next_fault(self, listener: nova.HostListener) -> str:
        report = present(listener.get(bus.SOON))
        return f'{report.service_host}: {report.fault}'

    def test_all_listeners_receive_and_no_message_is_taken(self) -> None:
        self.say(disabled=True, disabled_reason='before')
        listeners = [self.listener(name='one'), self.listener(name='two')]
        self.eventually(lambda: sorted(self.missed) == ['one', 'two'])
        self.notifier().info({}, 'instance.create.end', {'nova_object.data': {}})
        self.say(disabled=True, disabled_reason='now')
        for one in listeners:
            self.assertEqual('compute-1: it was disabled: now', self.next_fault(one))
        # The queue that others read has all three still.
        url = services.address(services.RABBITMQ).set(drivername='amqp')
        with kombu.Connection(url.render_as_string(hide_password=False)) as connection:
            queue = connection.channel().queue_declare(f'{self.topic}.info', passive=True)
            self.assertEqual(3, queue.message_count)

    def test_who_loses_a_host_gets_another(self) -> None:
        site = self.useFixture(harness.Site())
        (had,) = (item.resource_name for item in site.allocations(site.create(3600, 7200)))
        listener = self.listener(start=False)
        manager = harness.running(site, ManagerOptions(max_sleep=0.2), listener=listener)
        self.say(host='elsewhere', forced_down=True)
        self.addCleanup(manager.stop, 5.0)
        manager.start()
        self.eventually(lambda: 'Listening' in self.log.output)
        site.cloud.set_hypervisor(had, state='down')
        self.say(host=had, forced_down=True)
        self.eventually(lambda: 'lease.rehomed' in [one.event_type for one in site.bus.taken])
        payload = site.bus.last('lease.rehomed')
        self.assertEqual(([had], f'{had} has failed'), (payload['from'], payload['reason']))
        others = site.create(8000, 9000, hosts=3)
        self.assertNotIn(had, [item.resource_name for item in site.allocations(others)])
        self.assertRaises(exceptions.NotEnoughResources, site.create, 9000, 9600, hosts=4)
        site.away_until(10)
        site.cloud.set_hypervisor(had, state='up')
        self.say(host=had)
        self.eventually(lambda: f'{had} works again' in self.log.output)
        site.create(9000, 9600, hosts=4)

    def test_an_exchange_that_nova_has_not_made_is_waited_for(self) -> None:
        listener = self.listener()
        self.eventually(lambda: 'Cannot subscribe' in self.log.output)
        self.assertEqual([], self.missed)
        self.say()
        self.eventually(lambda: self.missed == ['one'])
        self.say(forced_down=True)
        self.assertEqual('compute-1: it was forced down', self.next_fault(listener))

    def test_a_broker_that_comes_back_is_a_reason_to_check(self) -> None:
        self.say()
        door, url = self.door()
        listener = self.listener(url)
        self.eventually(lambda: 'Cannot subscribe' in self.log.output)
        for times in (1, 2):
            door.open()
            self.eventually(lambda: len(self.missed) == times)  # noqa: B023  at once
            self.say(disabled=True)
            self.assertEqual('compute-1: it was disabled', self.next_fault(listener))
            door.shut()
