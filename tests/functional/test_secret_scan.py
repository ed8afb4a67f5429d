# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""No secret that was ever handed out, or in, is in a row, log line, event or notification.

Requests with secrets of every kind are sent, also wrong ones, and managers do the work.
Afterwards everything that the service has written is searched. The numbers of what was searched
are printed.
"""

from __future__ import annotations

import base64
import json
import logging
import re
import sys
from typing import Any
from urllib import parse

import fixtures
from oslo_config import cfg

from climate.db import vault
from tests import base
from tests import services
from tests.functional import http
from tests.functional.fixtures import Service

USER_DATA = 'user-data-hunter2'
TEMPLATE = 'template-hunter3'
PARAMETER = 'parameter-hunter4'
FILE = 'file-hunter5'
PATH = 'path-of-url-hunter6'
WRONG = 'wrong-field-hunter7'
TOKEN = 'alice:blue:member,token-hunter8'
KEY = vault.new_key()
LEASE = {
    'start_date': '2031-05-01T12:00:00Z',
    'end_date': '2031-05-02T12:00:00Z',
}
SERVER = {
    'resource_type': 'virtual:server',
    'name': 'web',
    'flavor': '1',
    'image': '',
    'block_device_mapping': [{'source_type': 'blank', 'volume_size': 1}],
    'user_data': f'#!/bin/sh\n# {USER_DATA}',
    'guarantee': False,
}
STACK = {
    'resource_type': 'virtual:stack',
    'name': 'stack',
    'template': f'heat_template_version: 2021-04-16\ndescription: {TEMPLATE}\n'
    'parameters:\n  key: {type: string, hidden: true}\nresources: {}\n',
    'parameters': {'key': PARAMETER},
    'files': {'file:///a': FILE},
}


class KeyedService(Service):
    """A service with an encryption key."""

    def _configure(self) -> cfg.ConfigOpts:
        conf = super()._configure()
        conf.set_override('encryption_keys', [KEY], group='database')
        return conf


class _Scan:
    """On each engine."""

    database = services.SQLITE

    def setUp(self) -> None:
        super().setUp()
        self.logged = self.useFixture(fixtures.FakeLogger(level=logging.DEBUG))
        self.events: list[dict[str, Any]] = []
        service = KeyedService(database=self.database)
        service.audit = self.events.append
        self.service = self.useFixture(service)
        self.secrets = {
            'user data': USER_DATA,
            'template': TEMPLATE,
            'parameter': PARAMETER,
            'file': FILE,
            'URL of a webhook': PATH,
            'value in a wrong field': WRONG,
            'token': 'token-hunter8',
            'encryption key': KEY,
        }
        password = parse.urlsplit(str(self.service.conf.database.connection)).password
        if password:
            self.secrets['password of the database'] = password

    def send(self, method: str, path: str, body: Any = None, **facts: Any) -> Any:
        facts = {'token': TOKEN, 'version': '1.5', **facts}
        return http.send(self.service.app, method, f'/v1{path}', body, **facts)

    def hooks(self) -> None:
        """Create webhooks and feeds, replace their secrets, and use them."""
        url = f'https://example.org/hook/{PATH}?token={PATH}'
        for number in range(2):
            keyed = {'Idempotency-Key': f'hook-{number}'}
            for again in range(2):
                made = self.send('POST', '/webhooks', {'url': url}, headers=keyed).json['webhook']
                self.secrets[f'webhook {number} {again}'] = made['secret']
        path = f'/webhooks/{made["id"]}'
        for overlap in (3600, 0, 60):
            change = {'rotate_secret': True, 'keep_previous_secret_for': overlap}
            shown = self.send('PUT', path, change).json['webhook']
            self.secrets[f'rotated {overlap}'] = shown['secret']
        self.assertEqual(202, self.send('POST', f'{path}/test', {}).status_int)
        self.send('GET', f'{path}/deliveries')
        self.send('PUT', path, {'url': f'http://{PATH}@example.org/{PATH}'})
        self.send('PUT', path, {'url': f'nonsense {PATH}'})
        for again in range(2):
            feed = self.send('POST', '/feeds', {}, headers={'Idempotency-Key': 'feed'}).json['feed']
            link = feed['url'].rpartition('/')[2].removesuffix('.ics')
            self.secrets[f'link {again}'] = link
            for method in ('GET', 'HEAD', 'POST'):
                self.send(method, f'/feeds/{link}.ics')
        self.send('DELETE', f'/feeds/{feed["id"]}')

    def leases(self) -> None:
        """Book what has secrets, rightly and wrongly."""
        for number, one in enumerate((SERVER, STACK)):
            body = {**LEASE, 'name': f'lease {number}', 'reservations': [one]}
            keyed = {'Idempotency-Key': f'lease-{number}'}
            answer = self.send('POST', '/leases', body, headers=keyed)
            self.assertIn(answer.status_int, (201, 400, 409), answer.text)
            self.send('POST', '/leases', body, headers=keyed)
            self.send('POST', '/leases', {**body, 'dry_run': True})
            self.send('POST', '/offers', {'reservations': [one], 'duration': '1h'})
            if answer.status_int == 201:
                path = f'/leases/{answer.json["lease"]["id"]}'
                self.send('PUT', path, {'end_date': '2031-05-03T12:00:00Z'})
                self.send('GET', f'{path}/history')
        for wrong in (
            {'user_data': {'a': WRONG}},
            {'user_data': f'{WRONG}\x00'},
            {'flavor': '1', 'user_data': [WRONG]},
        ):
            body = {**LEASE, 'name': 'x', 'reservations': [{**SERVER, **wrong}]}
            self.assertEqual(400, self.send('POST', '/leases', body).status_int)
        bad = {**STACK, 'template': f'{WRONG}: [', 'parameters': {'key': WRONG}}
        body = {**LEASE, 'name': 'y', 'reservations': [bad]}
        self.assertGreaterEqual(self.send('POST', '/leases', body).status_int, 400)
        self.send('POST', '/leases', token=WRONG, body=body)
        self.service.clock.advance(40_000_000)
        self.service.work()

    def test_nothing_of_them_is_written(self) -> None:
        self.hooks()
        self.leases()
        rows = self.service.rows()
        written = {
            'rows': [str(row) for table in rows.values() for row in table],
            'log lines': self.logged.output.splitlines(),
            'audit events': [json.dumps(event) for event in self.events],
        }
        numbers = ', '.join(f'{len(lines)} {what}' for what, lines in written.items())
        sys.stderr.write(
            f'\n{len(self.secrets)} secrets looked for in {numbers}, {len(rows)} tables, '
            f'{self.database}\n'
        )
        for what, lines in written.items():
            self.assertGreater(len(lines), 10, what)
            for name, secret in self.secrets.items():
                forms = (secret, base64.b64encode(secret.encode()).decode().rstrip('='))
                sought = re.compile('|'.join(map(re.escape, forms)))
                found = [line for line in lines if sought.search(line)]
                self.assertEqual([], found[:3], f'{name} in {what}')


class TestSqlite(_Scan, base.TestCase):
    """On SQLite."""


class TestMariadb(_Scan, base.TestCase):
    """On MariaDB."""

    database = services.MARIADB
