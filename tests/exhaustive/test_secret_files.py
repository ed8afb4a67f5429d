# SPDX-License-Identifier: Apache-2.0

"""No secret is in anything that a real service writes, says or sends.

One run of ``climate-standalone`` through its features, with debug lines, and of what sends its
emails. Afterwards all files, rows and messages are searched, and the numbers of what was searched
are printed.
"""

from __future__ import annotations

import contextlib
import datetime
import email.message
import json
import logging
import pathlib
import sqlite3
import sys
from collections.abc import Iterator
from typing import Any

import fixtures
from webob.client import send_request_app

from climate.clock import SystemClock
from climate.conf import mail as mail_options
from climate.mail.mail_sender import MailSender
from climate.mail.mail_sender import PostSettings
from climate.mail.mail_writer import LetterSettings
from climate.mail.mail_writer import MailWriter
from climate.mail.people import People
from climate.mail.smtp import Smtp
from climate.mail.smtp import SmtpSettings
from climate.mail.spool import Spool
from climate.simulator import SimulatedCloud
from tests import base
from tests.functional import http
from tests.functional.mail import server
from tests.functional.manager.receivers import Receiver
from tests.functional.processes import Standalone
from tests.functional.processes import until
from tests.functional.secret_traffic import PATH
from tests.functional.secret_traffic import pattern
from tests.functional.secret_traffic import SecretTraffic
from tests.functional.secret_traffic import TOKEN

CONFIGURED = {
    'password of the database': 'database-hunter10',
    'password of the message bus': 'broker-hunter11',
    'password of the service user': 'service-hunter12',
    'token of the usage enforcement service': 'enforcement-hunter13',
}
OPTIONS = """
[DEFAULT]
debug = true
log_dir = {folder}/log
transport_url = rabbit://climate:broker-hunter11@127.0.0.1:1/
[database]
connection = mysql+pymysql://climate:database-hunter10@127.0.0.1:1/climate
[oslo_messaging_notifications]
transport_url = rabbit://climate:broker-hunter11@127.0.0.1:1/
[keystone_authtoken]
password = service-hunter12
[keystone]
password = service-hunter12
[nova]
password = service-hunter12
[audit]
enabled = true
[enforcement]
enabled_filters = external_service
external_service_base_endpoint = {filter}
external_service_token = enforcement-hunter13
[webhooks]
allow_http = true
allowed_networks = 127.0.0.0/8
[manager]
notify_before_start = 2
"""
# The simulated cloud has what Nova and Heat were given, and roles, which it reads from the token;
# the configuration and the key file are what operators protect.
MEANT: dict[str, set[str]] = {
    'state/cloud': {'user data', 'template', 'parameter', 'file', 'token'},
    'standalone.conf': set(CONFIGURED),
    'state/encryption.key': {'encryption key'},
}


class TestSecretFiles(SecretTraffic, base.TestCase):
    """A service that runs."""

    def setUp(self) -> None:
        super().setUp()
        self.seen: set[str] = set()
        self.logged = self.useFixture(fixtures.FakeLogger('climate', level=logging.DEBUG))
        self.receiver = self.useFixture(Receiver())
        self.filter = self.useFixture(Receiver())
        self.url = f'{self.receiver.url}/{PATH}?token={PATH}'
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (self.folder / 'log').mkdir()
        options = OPTIONS.format(folder=self.folder, filter=self.filter.url)
        self.service = self.useFixture(
            Standalone(hosts=3, options=options, state=self.folder / 'state')
        )
        key = (self.folder / 'state' / 'encryption.key').read_text(encoding='utf-8').strip()
        self.secrets = {
            **self.handed_in(),
            **CONFIGURED,
            'encryption key': key,
            'password of the mail server': server.PASSWORD,
        }

    @property
    def period(self) -> dict[str, str]:
        """Soon, so that a lease can be changed before it starts."""
        return {'start_date': _in(4), 'end_date': _in(6)}

    @property
    def later(self) -> dict[str, str]:
        """A second later than before."""
        return {'end_date': _in(7)}

    def send(self, method: str, path: str, body: Any = None, **facts: Any) -> Any:
        facts = {'token': TOKEN, 'version': '1.6', **facts}
        return http.send(send_request_app, method, f'{self.service.endpoint}{path}', body, **facts)

    def page(self, body: Any) -> Any:
        url = self.service.endpoint.replace('/v1', '/ui/session')
        return http.send(send_request_app, 'POST', url, body, headers={'X-Climate-UI': '1'})

    def post(self, notifications: list[dict[str, Any]]) -> list[bytes]:
        """Send the emails of notifications; return them as they arrive."""
        smtp = self.useFixture(server.SmtpServer('starttls', login=True))
        password = self.folder / 'password'
        password.write_text(server.PASSWORD, encoding='utf-8')
        clock = SystemClock()
        cloud = self.closing(SimulatedCloud(':memory:', clock=clock))
        cloud.set_email('alice', 'alice@example.org')
        spool = self.closing(Spool(self.folder / 'spool'))
        settings = SmtpSettings(
            host='127.0.0.1',
            port=smtp.port,
            sender='climate@example.org',
            security='starttls',
            cafile=smtp.cafile,
            username=server.USER,
            password_file=password,
        )
        sender = MailSender(
            spool=spool,
            letters=MailWriter(LetterSettings(sender='climate@example.org')),
            people=People(cloud.identity, ''),
            server=Smtp(settings),
            clock=clock,
            settings=PostSettings(defaults=mail_options.KINDS),
        )
        for one in notifications:
            sender.take(one)
        sender.round()
        password.unlink()
        return [
            bytes(letter) + b''.join(_content(part) for part in letter.walk())
            for letter in smtp.handler.letters
        ]

    def rows(self) -> Iterator[str]:
        """Yield the rows of the database, which a file has in pieces."""
        with contextlib.closing(sqlite3.connect(self.folder / 'state' / 'climate.sqlite')) as db:
            query = "SELECT name FROM sqlite_master WHERE type = 'table'"
            for (table,) in db.execute(query).fetchall():
                for row in db.execute(f'SELECT * FROM "{table}"'):
                    yield f'{table} {row}'

    def statuses(self) -> list[str]:
        return [one['status'] for one in self.send('GET', '/leases').json['leases']]

    def test_no_secret_is_written_printed_or_sent(self) -> None:
        self.hooks()
        self.leases()
        self.sign_ins()
        until('the leases are over', lambda: self.statuses() == ['TERMINATED'] * 2, 120)
        calendar = self.send('GET', f'/feeds/{self.secrets["link 2"]}.ics')
        notifications = self.service.notifications()
        self.assertIn('lease.event.end_lease', {one['event_type'] for one in notifications})
        until('events have arrived', lambda: len(self.receiver.received) >= 2 * len(notifications))
        mails = self.post(notifications)
        self.assertEqual(0, self.service.command.terminate(60))
        files = [path for path in self.folder.rglob('*') if path.is_file()]
        log = self.folder / 'log' / 'climate-standalone.log'
        searched: dict[str, list[bytes]] = {
            'mails': mails,
            'deliveries': [_received(one) for one in self.receiver.received],
            'calls of the filter': [one.body for one in self.filter.received],
            'notifications': [json.dumps(one).encode() for one in notifications],
            'rows': [row.encode() for row in self.rows()],
            'lines of the log': log.read_bytes().splitlines(),
            'lines of the mailer': self.logged.output.encode().splitlines(),
            'lines of the output': self.service.command.said.encode().splitlines(),
            'audit events': (self.folder / 'state' / 'audit.jsonl').read_bytes().splitlines(),
            'lines of a calendar': calendar.body.splitlines(),
        }
        numbers = ', '.join(f'{len(found)} {what}' for what, found in searched.items())
        sys.stderr.write(
            f'\n{len(self.secrets)} secrets looked for in {len(files)} files, {numbers}\n'
        )
        for what, texts in searched.items():
            self.assertGreater(len(texts), 3, what)
            self.look(what, texts)
        for path in files:
            self.look(str(path.relative_to(self.folder)), [path.read_bytes()])
        # The search finds what is there.
        self.assertLessEqual({*CONFIGURED, 'encryption key', 'token'}, self.seen)

    def look(self, where: str, texts: list[bytes]) -> None:
        """Check that texts from one place have only the secrets that belong there."""
        meant = {one for place, ones in MEANT.items() if where.startswith(place) for one in ones}
        for name, secret in self.secrets.items():
            sought = pattern([secret])
            found = [text[:300] for text in texts if sought.search(text)]
            if name in meant:
                self.seen.update({name} if found else ())
            else:
                self.assertEqual([], found[:3], f'{name} in {where}')


def _content(part: email.message.Message) -> bytes:
    found = part.get_payload(decode=True)
    return found if isinstance(found, bytes) else b''


def _in(seconds: float) -> str:
    return (SystemClock().now() + datetime.timedelta(seconds=seconds)).isoformat()


def _received(one: Any) -> bytes:
    """Return a request without its path, which is that of the webhook."""
    return '\n'.join(f'{key}: {value}' for key, value in one.headers.items()).encode() + one.body
