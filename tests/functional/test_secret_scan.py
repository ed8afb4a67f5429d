# SPDX-License-Identifier: Apache-2.0

"""No secret that was ever handed out, or in, is in a row, log line, event or notification.

Requests with secrets of every kind are sent, also wrong ones, and managers do the work.
Afterwards everything that the service has written is searched. The numbers of what was searched
are printed.
"""

from __future__ import annotations

import json
import logging
import sys
from typing import Any
from urllib import parse

import fixtures
from oslo_config import cfg

from climate.db.encryption import vault
from tests import base
from tests import services
from tests.functional import http
from tests.functional.fixtures import Service
from tests.functional.secret_traffic import pattern
from tests.functional.secret_traffic import SecretTraffic
from tests.functional.secret_traffic import TOKEN

KEY = vault.new_key()


class KeyedService(Service):
    """A service with an encryption key."""

    def _configure(self) -> cfg.ConfigOpts:
        conf = super()._configure()
        conf.set_override('encryption_keys', [KEY], group='database')
        return conf


@services.on_each_engine(base.TestCase, engines=(services.SQLITE, services.MARIADB))
class _Scan(SecretTraffic):
    """On each engine."""

    def setUp(self) -> None:
        super().setUp()
        self.logged = self.useFixture(fixtures.FakeLogger(level=logging.DEBUG))
        self.events: list[dict[str, Any]] = []
        service = KeyedService(database=self.kind)
        service.audit = self.events.append
        self.service = self.useFixture(service)
        self.secrets = {**self.handed_in(), 'encryption key': KEY}
        password = parse.urlsplit(str(self.service.conf.database.connection)).password
        if password:
            self.secrets['password of the database'] = password

    @property
    def period(self) -> dict[str, str]:
        return {'start_date': '2030-02-01T12:00:00Z', 'end_date': '2030-02-02T12:00:00Z'}

    @property
    def later(self) -> dict[str, str]:
        return {'end_date': '2030-02-03T12:00:00Z'}

    def send(self, method: str, path: str, body: Any = None, **facts: Any) -> Any:
        facts = {'token': TOKEN, 'version': '1.5', **facts}
        return http.send(self.service.app, method, f'/v1{path}', body, **facts)

    def page(self, body: Any) -> Any:
        headers = {'X-Climate-UI': '1'}
        return http.send(self.service.app, 'POST', '/ui/session', body, headers=headers)

    def test_nothing_of_them_is_written(self) -> None:
        self.hooks()
        self.leases()
        self.service.conf.set_override('enabled', True, group='ui')
        self.service.app = self.service.made()
        self.sign_ins()
        for days, status in ((32, 'ACTIVE'), (1, 'TERMINATED')):
            self.service.clock.advance(days * 86400)
            for _ in range(10):
                self.service.work()
                self.service.clock.advance(5)
            found = [one['status'] for one in self.send('GET', '/leases').json['leases']]
            self.assertEqual([status] * 2, found)
        rows = self.service.rows()
        written = {
            'rows': [str(row) for table in rows.values() for row in table],
            'log lines': self.logged.output.splitlines(),
            'audit events': [json.dumps(event) for event in self.events],
        }
        numbers = ', '.join(f'{len(lines)} {what}' for what, lines in written.items())
        sys.stderr.write(
            f'\n{len(self.secrets)} secrets looked for in {numbers}, {len(rows)} tables, '
            f'{self.kind}\n'
        )
        for what, lines in written.items():
            self.assertGreater(len(lines), 10, what)
            for name, secret in self.secrets.items():
                sought = pattern([secret])
                found = [line for line in lines if sought.search(line.encode())]
                self.assertEqual([], found[:3], f'{name} in {what}')
