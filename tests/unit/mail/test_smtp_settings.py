# SPDX-License-Identifier: Apache-2.0

"""What is said at the start of the way to the SMTP server."""

from __future__ import annotations

import fixtures

from climate.mail.smtp import SmtpSettings
from tests import base
from tests import settings


class TestPlainText(base.TestCase):
    """A password in clear text is warned of."""

    def test_where_it_can_be_read(self) -> None:
        log = self.useFixture(fixtures.FakeLogger())
        for host, security, username, warned in (
            ('mail.example.org', 'none', 'climate', True),
            ('10.0.0.7', 'none', 'climate', True),
            ('mail.example.org', 'none', None, False),
            ('mail.example.org', 'starttls', 'climate', False),
            ('mail.example.org', 'tls', 'climate', False),
            ('localhost', 'none', 'climate', False),
            ('127.0.0.1', 'none', 'climate', False),
            ('::1', 'none', 'climate', False),
        ):
            wanted = {'host': host, 'security': security, 'username': username}
            wanted['password_file'] = '/nowhere' if username else None
            SmtpSettings.from_conf(settings.configured('mail', **wanted))
            self.assertEqual(warned, 'clear text' in log.output, (host, security, username))
            log.reset_output()
