# SPDX-License-Identifier: Apache-2.0

"""What a mail says about extending a lease works as it is printed."""

from __future__ import annotations

import datetime
import pathlib
import re
import shlex
from typing import Any

import webob
from fixtures import TempDir

from climate.client.osc import changes
from climate.client.osc import deletion
from climate.conf import mail as options
from climate.mail.mail_writer import LetterSettings
from climate.mail.mail_writer import MailWriter
from climate.mail.notices import Notice
from tests.base import TestCase
from tests.functional import fixtures
from tests.functional import http
from tests.unit.mail import samples

_ADVICE = re.compile(r'^(PUT) http://climate(\S+) (\{.*\})$', re.MULTILINE)
_COMMAND = re.compile(r'^ +openstack lease (\w+) (.*)$', re.MULTILINE)
_COMMANDS = {'extend': changes.ExtendLease, 'delete': deletion.DeleteLease}
# A text of an operator, for users without the command.
_TEXT = 'Subject: $name\n\n$prolong_request\n'


def notice(kind: str, **facts: Any) -> Notice:
    """Return a notice."""
    now = fixtures.NOW
    values: dict[str, Any] = {
        'id': '1',
        'key': '1',
        'kind': kind,
        'lease_id': 'l1',
        'name': 'demo',
        'user_id': 'u',
        'project_id': 'p',
        'start': now,
        'end': now + datetime.timedelta(hours=1),
        'status': 'PENDING',
    }
    return Notice(**values | facts)


class TestCommands(TestCase):
    """The commands in mails are those of the client."""

    def test_the_client_knows_them(self) -> None:
        writer = MailWriter(LetterSettings(sender='climate@example.org'))
        found = {}
        for kind in options.KINDS:
            letter = writer.one(notice(kind), 'alice@example.org', 'Alice', fixtures.NOW)
            for verb, words in _COMMAND.findall(samples.text(letter)):
                parser = _COMMANDS[verb](None, None).get_parser('x')
                parsed = vars(parser.parse_args(shlex.split(words)))
                found[kind] = (verb, parsed.get('lease', parsed.get('leases')))
        extend, delete = ('extend', 'l1'), ('delete', ['l1'])
        self.assertEqual({'before_start': delete, 'started': extend, 'before_end': extend}, found)


class TestAdvice(TestCase):
    """The request in the text of an operator."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(TempDir()).path)
        (self.folder / 'before_end.txt').write_text(_TEXT)

    def test_the_request_prolongs_by_a_day(self) -> None:
        service = self.useFixture(fixtures.Service())
        for version in ('1.0', '1.1', '1.3'):
            lease = http.send(service.app, 'POST', '/v1/leases', http.LEASE).json['lease']
            end = datetime.datetime.fromisoformat(lease['end_date'])
            later = webob.Request.blank(**self.advice(lease, end))
            later.headers['OpenStack-API-Version'] = f'reservation {version}'
            answer = http.expect(200, later.get_response(service.app))
            changed = datetime.datetime.fromisoformat(answer.json['lease']['end_date'])
            self.assertEqual(
                end + datetime.timedelta(days=1), changed.replace(tzinfo=None), version
            )
            http.send(service.app, 'DELETE', f'/v1/leases/{lease["id"]}')

    def advice(self, lease: dict[str, str], end: datetime.datetime) -> dict[str, object]:
        """Return the request that a mail prints, as WebOb makes one."""
        aware = end.replace(tzinfo=datetime.UTC)
        said = notice(
            'before_end', lease_id=lease['id'], start=aware - datetime.timedelta(hours=1), end=aware
        )
        settings = LetterSettings(
            sender='climate@example.org', api_url='http://climate', folder=self.folder
        )
        letter = MailWriter(settings).one(said, 'alice@example.org', 'Alice', fixtures.NOW)
        found = _ADVICE.search(samples.text(letter))
        assert found, samples.text(letter)
        return {
            'path': found[2],
            'method': found[1],
            'body': found[3].encode(),
            'content_type': 'application/json',
        }
