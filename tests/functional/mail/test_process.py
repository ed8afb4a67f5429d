# SPDX-License-Identifier: Apache-2.0

"""``climate-mail`` as a process: killed, terminated, and with the bus down."""

from __future__ import annotations

import pathlib
from typing import Any

import fixtures

from climate.clock import SystemClock
from climate.messaging import publisher
from climate.messaging import subscriber
from climate.simulator import SimulatedCloud
from tests.functional.mail.server import SmtpServer
from tests.functional.messaging import bus
from tests.functional.processes import Command
from tests.functional.processes import until
from tests.unit.mail.samples import envelope
from tests.unit.mail.samples import spooled


class MailCase(bus.RabbitCase):
    """A bus with a queue of its own, and somebody who publishes."""

    def setUp(self) -> None:
        super().setUp()
        self.queue = self.broker.topic('mail')

    def publish(self, *numbers: int) -> None:
        """Say that some leases end soon."""
        if not hasattr(self, 'sender'):
            self.sender = publisher.from_conf(self.conf(driver=['messagingv2']), self.url)
            self.addCleanup(self.sender.close)
        now = SystemClock().now()
        for one in numbers:
            said = envelope('lease.event.before_end_lease', one)
            facts = {name: said[name] for name in ('event_type', 'payload')}
            message = publisher.OutboxMessage(id=said['message_id'], created_at=now, **facts)
            self.sender.publish([message])


class TestSubscriber(MailCase):
    """A queue that stays, and messages that are given until they are taken."""

    def setUp(self) -> None:
        super().setUp()
        self.received: list[str] = []
        self.moods: list[Exception] = []

    def receive(self, message: dict[str, Any]) -> None:
        if self.moods:
            raise self.moods.pop(0)
        self.received.append(message['message_id'])

    def subscribe(self, url: str | None = None) -> subscriber.Subscriber:
        made = subscriber.Subscriber(self.conf(), self.queue, self.receive, url=url or self.url)
        made.start()
        self.addCleanup(made.stop)
        self.eventually(lambda: 'Listening to notifications' in self.log.output)
        return made

    def test_messages_without_a_subscriber_are_received_later(self) -> None:
        first = self.subscribe()
        self.publish(1)
        self.eventually(lambda: self.received == ['message-1'])
        first.stop()
        self.publish(2, 3)
        self.subscribe()
        self.eventually(lambda: self.received == ['message-1', 'message-2', 'message-3'])

    def test_what_cannot_be_taken_is_given_again(self) -> None:
        self.moods = [subscriber.NotTaken('the disk is full'), ValueError('rubbish')]
        self.subscribe()
        self.publish(1)
        self.eventually(lambda: not self.moods)
        self.publish(2)
        self.eventually(lambda: self.received == ['message-2'])
        self.assertIn('message-1 is put back: the disk is full', self.log.output)
        self.assertIn('message-1 could not be handled', self.log.output)

    def test_a_broker_comes_back(self) -> None:
        door, url = self.door()
        door.open()
        self.subscribe(url)
        self.publish(1)
        self.eventually(lambda: self.received == ['message-1'])
        door.shut()
        self.publish(2)
        door.open()
        self.eventually(lambda: 'message-2' in self.received)


class TestProcess(MailCase):
    """The command."""

    def setUp(self) -> None:
        super().setUp()
        self.smtp = self.useFixture(SmtpServer())
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        cloud = SimulatedCloud(self.folder / 'cloud', clock=SystemClock())
        cloud.set_email('alice', 'alice@example.org')
        cloud.close()

    def command(self, **options: Any) -> Command:
        values = {
            'port': self.smtp.port,
            'host': '127.0.0.1',
            'queue': self.queue,
            'spool_dir': self.folder / 'spool',
            'sender': 'climate@example.org',
            'retry_after': 0.2,
            **options,
        }
        text = '\n'.join(f'{key} = {value}' for key, value in values.items())
        (self.folder / 'climate.conf').write_text(
            f'[DEFAULT]\ncloud = simulated\ntransport_url = {self.url}\n'
            f'control_exchange = {self.exchange}\n'
            f'[oslo_messaging_notifications]\ntopics = {self.topic}\n'
            f'[simulator]\nstate_dir = {self.folder / "cloud"}\n[mail]\n{text}\n'
        )
        words = ('python', '-m', 'climate.cmd.mail')
        return Command(
            *words, '--config-file', str(self.folder / 'climate.conf'), folder=self.folder
        )

    def started(self) -> Command:
        command = self.useFixture(self.command())
        until('it listens', lambda: 'Listening to notifications' in command.said)
        return command

    def test_killed_it_loses_nothing_and_says_nothing_twice(self) -> None:
        command = self.started()
        self.publish(1)
        until('the first mail', lambda: len(self.smtp.handler.letters) == 1)
        # Killed before it has noted that, it would send the same mail again.
        until('it is noted', lambda: spooled(self.folder / 'spool', 'done'))
        self.smtp.close()
        self.publish(2)
        until('it is kept', lambda: spooled(self.folder / 'spool', 'pending'))
        command.kill()
        self.publish(3, 1)
        self.smtp.open()
        command.start()
        until('all mails', lambda: len(self.smtp.handler.letters) == 3)
        self.assertEqual(0, command.terminate(60))
        subjects = sorted(subject.split('"')[1] for subject in self.smtp.handler.subjects)
        self.assertEqual(['demo 1', 'demo 2', 'demo 3'], subjects)

    def test_an_unusable_configuration_is_reported_in_one_line(self) -> None:
        for options, why in (
            ({'sender': 'nobody'}, '[mail] sender'),
            ({'username': 'me'}, 'belong together'),
            ({'default_notices': 'sometimes'}, 'sometimes'),
        ):
            command = self.useFixture(self.command(**options))
            self.assertEqual(1, command.process.wait(180), command.said)
            lines = [line for line in command.said.splitlines() if 'rehearsal' not in line]
            self.assertEqual(1, len(lines), lines)
            self.assertIn(why, lines[0])

    def test_the_spool_is_for_one(self) -> None:
        self.started()
        other = self.useFixture(self.command())
        self.assertEqual(1, other.process.wait(180))
        self.assertIn('in use by another climate-mail', other.said)
