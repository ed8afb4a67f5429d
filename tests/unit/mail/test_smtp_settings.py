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

"""What is said at the start of the way to the SMTP server."""

from __future__ import annotations

import fixtures
from oslo_config import cfg

from climate.conf import mail as options
from climate.mail.smtp import SmtpSettings
from tests import base


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
            conf = cfg.ConfigOpts()
            conf([])
            options.register_opts(conf)
            wanted = {'host': host, 'security': security, 'username': username}
            wanted['password_file'] = '/nowhere' if username else None
            for name, value in wanted.items():
                conf.set_override(name, value, group='mail')
            SmtpSettings.from_conf(conf)
            self.assertEqual(warned, 'clear text' in log.output, (host, security, username))
            log.reset_output()
