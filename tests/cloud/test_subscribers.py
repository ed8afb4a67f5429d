# SPDX-License-Identifier: Apache-2.0

"""Processes that act on notifications, with a real Keystone and a real Nova."""

from __future__ import annotations

import pathlib
import threading
import urllib.error
import uuid
from typing import Any

import fixtures
import kombu

from climate.domain.health import ASLEEP
from tests.cloud.base import CloudTest
from tests.cloud.waiting import until
from tests.functional.mail.server import SmtpServer
from tests.functional.power.yard import Emulator
from tests.functional.processes import Command
from tests.unit.mail import samples

# Nova notices after a minute that a service is dead.
PATIENCE = 150.0


class SubscriberTest(CloudTest):
    """A process with the configuration of the cloud, and options of its own."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def run_process(self, name: str, **options: Any) -> Command:
        """Start one of Climate's processes, and return it."""
        text = '\n'.join(f'{key} = {value}' for key, value in options.items())
        own = self.folder / f'{name}.conf'
        own.write_text(f'[{name}]\n{text}\n')
        words = ['python', '-m', f'climate.cmd.{name}']
        for file in (self.cloud.climate_conf, own):
            words += ['--config-file', str(file)]
        command = Command(*words, folder=self.folder)
        self.addCleanup(command.cleanUp)
        command.setUp()
        until(lambda: 'Listening to notifications' in command.said, 60, f'climate-{name} listens')
        return command


class MailTest(SubscriberTest):
    """An owner whose address Keystone knows gets mails about her lease."""

    def setUp(self) -> None:
        super().setUp()
        self.smtp = self.useFixture(SmtpServer())
        self.queue = f'climate-mail-{uuid.uuid4().hex}'
        self.addCleanup(self.delete_queue)
        identity = self.admin.sdk.identity
        alice = self.alice.sdk.current_user_id
        # The library leaves out what is to be nothing.
        self.addCleanup(identity.patch, f'/users/{alice}', json={'user': {'email': None}})
        self.address = f'{self.cloud.account("alice")}@example.org'
        identity.update_user(alice, email=self.address)

    def delete_queue(self) -> None:
        """Remove the queue of the process, which would go on collecting."""
        with kombu.Connection(self.cloud.transport_url.replace('rabbit://', 'amqp://')) as broker:
            for suffix in ('', '.info', '.warn', '.error'):
                broker.default_channel.queue_delete(f'{self.queue}{suffix}')

    def letters(self) -> list[Any]:
        """Return the mails to this owner: the process is notified of the leases of all sites."""
        return [each for each in self.smtp.handler.letters if self.address in str(each['To'])]

    def test_mails_for_what_an_owner_asked_for(self) -> None:
        smtp = {'host': '127.0.0.1', 'port': self.smtp.port, 'sender': 'climate@example.org'}
        spool = {'queue': self.queue, 'spool_dir': self.folder / 'spool', 'retry_after': 0.5}
        command = self.run_process('mail', **smtp, **spool)
        body = self.lease_body(10, 600) | {'notices': ['started', 'error']}
        response = self.alice.call('POST', '/leases', body, version='1.3')
        self.assertEqual(201, response.status_code, response.text)
        lease = response.json()['lease']
        self.await_active(self.alice, lease)
        until(self.letters, 30, 'the mail is there')
        (letter,) = self.letters()
        self.assertEqual(
            [self.address], [each for each in self.smtp.handler.recipients if each == self.address]
        )
        self.assertIn(lease['name'], str(letter['Subject']) + samples.text(letter))
        self.assertNotIn(self.cloud.password, command.said + letter.as_string())


class PowerTest(SubscriberTest):
    """A machine that sleeps, and is up when its lease starts."""

    # The process asks the Climate in the region of its configuration.
    site = 1

    def setUp(self) -> None:
        super().setUp()
        (self.host,) = self.lent
        self.emulator = self.useFixture(Emulator([self.host]))
        self.over = threading.Event()
        self.compute = threading.Thread(target=self.follow, daemon=True)
        self.addCleanup(self.compute.join, 60)
        self.addCleanup(self.over.set)
        self.compute.start()

    def follow(self) -> None:
        """Let the nova-compute of the machine run as long as it has power."""
        runs = True
        while not self.over.wait(0.3):
            try:
                wanted = self.emulator.power(self.host) == 'On'
            except (OSError, urllib.error.URLError):
                continue
            if wanted != runs:
                process = self.compute_process(self.host)
                (self.house.start if wanted else self.house.stop)(process)
                runs = wanted

    def reason(self) -> str:
        """Return why the nova-compute is disabled; '' if it is not."""
        found = self.compute_service(self.host)
        return str(found.disabled_reason or '') if found.status == 'disabled' else ''

    def is_up(self) -> bool:
        """Whether the nova-compute reports."""
        return bool(self.compute_service(self.host).state == 'up')

    def test_a_host_that_slept_is_there_in_time(self) -> None:
        (self.folder / 'hosts.yaml').write_text(
            f'hosts:\n  {self.host}: {{address: "{self.emulator.address}"}}\n'
        )
        files = {'hosts_file': self.folder / 'hosts.yaml', 'state_path': self.folder / 'power.json'}
        times = {
            'idle_after': 2,
            'interval': 2,
            'waking_interval': 1,
            'boot_time': 20,
            'margin': 20,
        }
        command = self.run_process('power', **files, **times)
        until(lambda: self.emulator.powers() == ['Off'], PATIENCE, 'it sleeps')
        self.assertEqual(ASLEEP, self.reason())
        # It can be booked although Nova has noticed that it is down.
        until(lambda: not self.is_up(), PATIENCE, 'Nova has noticed')
        (host,) = self.admin.call('GET', '/os-hosts', version='1.3').json()['hosts']
        self.assertEqual(('false', '40'), (host['awake'], host['lead_time']))
        self.assertTrue(host['reservable'])

        lease = self.book(self.alice, 60)
        notification = self.bus.wait_for(lease['id'], 'lease.ready', 90)['payload']
        self.assertEqual(([self.host], []), (notification['ready'], notification['waiting']))
        self.assertEqual((['On'], ''), (self.emulator.powers(), self.reason()))
        self.await_active(self.alice, lease)
        server = self.boot(self.alice, lease)
        self.assertEqual('ACTIVE', self.alice.settled(server))
        self.assertNotIn('lease.not_ready', self.bus.types(lease['id']))
        self.assertNotIn(self.cloud.password, command.said)
