# SPDX-License-Identifier: Apache-2.0

"""Notifications reach those who listen, or stay in the outbox."""

from __future__ import annotations

import logging
import os
import pathlib
import signal
import subprocess
import sys

import fixtures
import kombu
from oslo_config import cfg

from climate import exceptions
from climate.messaging import broker
from climate.messaging import listener
from climate.messaging import publisher
from tests import services
from tests import waiting
from tests.functional.messaging import bus
from tests.unit.messaging import samples


class NotificationCase(bus.BusCase):
    """A test that publishes."""

    def publisher(
        self, url: str | None = None, conf: cfg.ConfigOpts | None = None
    ) -> publisher.BusPublisher:
        return self.closing(publisher.from_conf(conf or self.conf(), url or self.url))

    def listener(self, url: str | None = None, pool: str | None = None) -> listener.Listener:
        self.heard_of: list[bool] = []
        made = listener.listen(
            self.conf(), url=url or self.url, pool=pool, on_broker=self.heard_of.append
        )
        self.addCleanup(made.stop)
        made.start()
        return made


class TestInProcess(NotificationCase):
    """On the bus of the process."""

    def test_what_is_published_arrives_whole_and_in_order(self) -> None:
        ears = self.listener()
        self.eventually(lambda: self.heard_of == [True])
        messages = [
            samples.message(1, 'lease.create'),
            samples.message(2, 'lease.event.before_start_lease'),
            samples.message(3, 'lease.event.start_lease'),
        ]
        self.publisher().publish(messages)
        for message in messages:
            self.assertEqual(publisher.envelope(message, 'climate.lease'), ears.get(bus.SOON))

    def test_errors_have_a_priority_of_their_own(self) -> None:
        ears = self.listener()
        self.eventually(lambda: self.heard_of == [True])
        self.publisher().publish([samples.message(1, 'lease.event.error')])
        self.assertEqual('ERROR', (ears.get(bus.SOON) or {}).get('priority'))

    def test_a_pool_receives_it_too(self) -> None:
        ears = self.listener(pool=f'{self.topic}.info')
        self.eventually(lambda: self.heard_of == [True])
        self.publisher().publish([samples.message(1)])
        self.assertEqual(samples.message(1).id, (ears.get(bus.SOON) or {}).get('message_id'))

    def test_no_driver_sends_nothing(self) -> None:
        ears = self.listener()
        self.eventually(lambda: self.heard_of == [True])
        self.publisher(conf=self.conf(driver=['noop'])).publish([samples.message(1)])
        self.publisher().publish([samples.message(2)])
        self.assertEqual(samples.message(2).id, (ears.get(bus.SOON) or {}).get('message_id'))

    def test_several_drivers_get_it(self) -> None:
        ears = self.listener()
        self.eventually(lambda: self.heard_of == [True])
        logging.getLogger('oslo.messaging.notification').setLevel(logging.INFO)
        self.publisher(conf=self.conf(driver=['log', 'messaging'])).publish([samples.message(1)])
        self.assertEqual(samples.message(1).id, (ears.get(bus.SOON) or {}).get('message_id'))
        self.assertIn(samples.message(1).id, self.log.output)

    def test_an_unknown_driver_is_refused(self) -> None:
        with self.assertRaisesRegex(exceptions.ConfigurationError, "'pigeon'"):
            self.publisher(conf=self.conf(driver=['pigeon']))


class TestRabbit(TestInProcess, bus.RabbitCase):
    """The same on RabbitMQ, and what only a real broker does."""

    def test_a_watcher_takes_nothing_from_others(self) -> None:
        ears = [self.listener(), self.listener()]
        self.eventually(lambda: self.heard_of == [True])
        reader = self.listener(pool=f'{self.topic}.info')
        self.eventually(lambda: self.heard_of == [True])
        self.eventually(lambda: self._publish_and_hear(ears[0]))
        for other in (ears[1], reader):
            self.assertIsNotNone(other.get(bus.SOON))

    def _publish_and_hear(self, ears: listener.Listener) -> bool:
        self.publisher().publish([samples.message(1)])
        return ears.get(1.0) is not None

    def test_no_listener_is_no_error(self) -> None:
        self.publisher().publish([samples.message(1)])
        ears = self.listener(pool=f'{self.topic}.info')
        self.assertEqual(samples.message(1).id, (ears.get(bus.SOON) or {}).get('message_id'))

    def test_what_the_broker_refuses_is_not_taken(self) -> None:
        bus_publisher = self.publisher()
        bus_publisher.publish([samples.message(1)])
        # A queue that is full with one message, and says so in its confirmation.
        url = services.address(services.RABBITMQ).set(drivername='amqp')
        with kombu.Connection(url.render_as_string(hide_password=False)) as connection:
            channel = connection.channel()
            full = {'x-max-length': 1, 'x-overflow': 'reject-publish'}
            queue = self.broker.topic('full')
            channel.queue_declare(queue, auto_delete=False, arguments=full)
            channel.queue_bind(queue, self.exchange, f'{self.topic}.info')
        messages = [samples.message(number) for number in (2, 3, 4)]
        error = self.assertRaises(publisher.BrokerUnavailable, bus_publisher.publish, messages)
        self.assertEqual(1, error.published)

    def test_a_wrong_password_is_an_error_in_time(self) -> None:
        url = services.address(services.RABBITMQ).set(password='wrong')
        stranger = url.render_as_string(hide_password=False)
        with waiting.coming_back():
            error = self.assertRaises(
                publisher.BrokerUnavailable, self.publisher(stranger).publish, [samples.message(1)]
            )
        self.assertNotIn('wrong', error.message)
        self.assertIn('AccessRefused', broker.BrokerCheck(self.conf(), stranger).problem() or '')


class TestBrokerAway(NotificationCase, bus.RabbitCase):
    """What the broker did not take is not lost."""

    def test_it_is_an_error_in_time_and_works_later(self) -> None:
        proxy, url = self.door()
        bus_publisher = self.publisher(url)
        messages = [samples.message(1), samples.message(2)]
        with waiting.coming_back():
            error = self.assertRaises(publisher.BrokerUnavailable, bus_publisher.publish, messages)
        self.assertEqual((0, 503), (error.published, error.code))
        proxy.open()
        bus_publisher.publish(messages)
        # The connection that was in use is cut, and the next one not answered.
        proxy.shut()
        with waiting.coming_back():
            self.assertRaises(publisher.BrokerUnavailable, bus_publisher.publish, messages)
        # A broker that was away for a moment only costs no error at all.
        proxy.open()
        bus_publisher.publish(messages)
        proxy.shut()
        proxy.open()
        bus_publisher.publish(messages)

    def test_a_listener_comes_back(self) -> None:
        proxy, url = self.door()
        ears = self.listener(url)
        self.eventually(lambda: self.heard_of[:1] == [False])
        proxy.open()
        self.eventually(lambda: self.heard_of[-1:] == [True])
        proxy.shut()
        self.eventually(lambda: self.heard_of[-1:] == [False])
        proxy.open()
        self.eventually(lambda: self.heard_of[-1:] == [True])
        self.publisher().publish([samples.message(1)])
        self.assertEqual(samples.message(1).id, (ears.get(bus.SOON) or {}).get('message_id'))


class TestWatch(NotificationCase, bus.RabbitCase):
    """The command, as people start it."""

    def watch(self, url: str, *arguments: str) -> subprocess.Popen[str]:
        # Shells start what runs in the background deaf to Ctrl-C, and it stays
        # so in all that is started by it: tests as well.
        before = signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            process = subprocess.Popen(
                [sys.executable, '-m', 'climate.cmd.watch', '--transport-url', url]
                + ['--config-file', self.config, '--topic', self.topic, *arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, 'PYTHONWARNINGS': 'ignore'},
            )
        finally:
            signal.signal(signal.SIGINT, before)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def setUp(self) -> None:
        super().setUp()
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'climate.conf'
        path.write_text(f'[DEFAULT]\ncontrol_exchange = {self.exchange}\n', encoding='utf-8')
        self.config = str(path)

    def test_a_notification_is_one_line(self) -> None:
        process = self.watch(self.url, '--count', '1', '--event', 'lease.event.*')
        self.assertEqual('climate-watch: listening\n', process.stderr.readline())
        self.publisher().publish(
            [samples.message(1), samples.message(2, 'lease.event.start_lease')]
        )
        out, err = process.communicate(timeout=bus.SOON)
        self.assertEqual((0, ''), (process.returncode, err))
        self.assertEqual(
            '2029-12-31 12:00:00Z  lease.event.start_lease  demo (l1) of project p1: started\n', out
        )

    def test_an_outage_is_reported_once_and_ctrl_c_is_quiet(self) -> None:
        proxy, url = self.door()
        process = self.watch(url)
        assert process.stderr is not None
        away = 'climate-watch: the message bus is unavailable; reconnecting\n'
        self.assertEqual(away, process.stderr.readline())
        proxy.open()
        self.assertEqual('climate-watch: listening\n', process.stderr.readline())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=bus.SOON)
        self.assertEqual((0, '', ''), (process.returncode, out, err))
