# SPDX-License-Identifier: Apache-2.0

"""``openstack lease feed`` and ``openstack lease webhook``, against a running service."""

from __future__ import annotations

import contextlib
import functools
import pathlib
import sqlite3
import urllib.request

import fixtures

from tests.functional import clients
from tests.functional.manager.receivers import Receiver
from tests.functional.manager.receivers import signed_by
from tests.functional.processes import until
from tests.functional.test_manage import run

OPTIONS = """
[DEFAULT]
resource_types = physical:host
[webhooks]
allow_http = true
allowed_networks = 127.0.0.0/8
"""

setUpModule = functools.partial(clients.begin, OPTIONS, hosts=1)


class TestHooks(clients.ClientCase):
    """From the command to the receiver."""

    def stop(self, table: str, made: str) -> None:
        """Write what a manager writes if a user has left; this service has no Keystone."""
        with contextlib.closing(sqlite3.connect(self.service.state / 'climate.sqlite')) as db:
            db.execute(f"UPDATE {table} SET stopped_reason = 'alice left' WHERE id = ?", [made])
            db.commit()

    def refusal(self, line: str, **environment: str) -> str:
        done = self.run_command(line, fails=True, **environment)
        self.assertEqual(1, done.returncode)
        return done.stderr

    def test_a_webhook_from_creation_to_deletion(self) -> None:
        receiver = self.useFixture(Receiver())
        made = self.json(f'lease webhook create {receiver.url} --name w --event-type webhook.test')
        (row,) = self.json('lease webhook list')
        self.assertEqual((made['id'], ''), (row['ID'], row['Stopped reason']))
        own = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'own.conf'
        own.write_text('')
        state = self.service.state / 'climate.conf'
        found = run('--config-file', str(own), '--config-file', str(state), 'webhook', 'list')
        self.assertEqual((0, [f'{made["id"]} enabled for project demo: 127.0.0.1']), found)
        table = self.run_command('lease webhook set w --name v').stdout
        self.assertRegex(table, r'\| event_types +\| webhook.test +\|')
        delivery = self.json(f'lease webhook test {made["id"]}')['delivery_id']
        until('the test has arrived', lambda: receiver.received)
        self.assertTrue(signed_by(receiver.received[0], made['secret']))
        listed = 'lease webhook delivery list v --state delivered'
        until('it is recorded', lambda: self.json(listed))
        (row,) = self.json(listed)
        self.assertEqual((delivery, 'webhook.test', 1), (row['ID'], row['Type'], row['Attempts']))
        changed = self.json(
            f'lease webhook set {made["id"]} --name x --disable --rotate-secret'
            ' --keep-previous-secret-for 1h'
        )
        self.assertEqual(('x', False), (changed['name'], changed['enabled']))
        self.assertNotEqual(made['secret'], changed['secret'])
        again = f'lease webhook redeliver {made["id"]}'
        self.assertEqual({'redelivered': 0}, self.json(again))
        self.assertEqual({'redelivered': 0}, self.json(f'{again} {delivery}'))
        for named in ('lease webhook show none', 'lease feed delete none'):
            self.assertIn("'none'", self.refusal(named))
        shown = self.json('lease webhook show x')
        self.assert_has(shown, name='x', event_types=['webhook.test'], enabled=False)
        self.assertNotIn('secret', shown)
        self.stop('webhooks', made['id'])
        (row,) = self.json('lease webhook list')
        self.assertEqual('alice left', row['Stopped reason'])
        self.run_command(f'lease webhook delete {made["id"]}')
        self.assertEqual([], self.json('lease webhook list'))

    def test_a_feed_from_creation_to_deletion(self) -> None:
        made = self.json('lease feed create --name ours --time-zone Europe/Berlin --lifetime 2d')
        with urllib.request.urlopen(made['url']) as answer:
            self.assertIn(b'BEGIN:VCALENDAR', answer.read())
        (row,) = self.json('lease feed list')
        self.assertEqual((made['id'], 'ours', 'project'), (row['ID'], row['Name'], row['Kind']))
        self.assertEqual('', row['Stopped reason'])
        shown = self.json(f'lease feed show {made["id"]}')
        self.assertEqual(('ours', 'Europe/Berlin'), (shown['name'], shown['time_zone']))
        self.assertNotIn('url', shown)
        self.assertEqual([900], shown['alarms_before_start'])
        table = self.run_command('lease feed show ours').stdout
        self.assertRegex(table, r'\| alarms_before_end +\| 3600 +\|')
        self.stop('feeds', made['id'])
        (row,) = self.json('lease feed list')
        self.assertEqual('alice left', row['Stopped reason'])
        other = self.json('lease feed create --name ours')['id']
        self.assertIn('use an id', self.refusal('lease feed delete ours'))
        self.run_command(f'lease feed delete {other}')
        self.run_command('lease feed delete ours')
        self.assertEqual([], self.json('lease feed list'))

    def test_a_feed_of_a_lease_or_a_resource_by_name(self) -> None:
        lease = self.json('lease create a --hosts 1 --at +1d --for 1h')
        for option, field, value in (
            ('--lease a', 'lease_id', lease['id']),
            ('--resource compute-1', 'resource_id', '1'),
        ):
            made = self.json(f'lease feed create {option}')
            self.assertEqual(value, self.json(f'lease feed show {made["id"]}')[field])
            self.run_command(f'lease feed delete {made["id"]}')
