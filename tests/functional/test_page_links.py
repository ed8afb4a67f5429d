# SPDX-License-Identifier: Apache-2.0

"""The links that mails print, opened in a browser."""

from __future__ import annotations

import email
import email.policy
import re
import subprocess
from typing import Any

from climate.domain import addresses
from tests import base
from tests import browsers
from tests.functional.processes import Standalone
from tests.functional.processes import until
from tests.narrowing import present

LEASE: dict[str, Any] = {
    'name': 'linked',
    'start_date': 'now',
    'duration': '1h',
    'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1}],
}


class TestLinks(base.TestCase):
    """They show the lease; calendar feeds have the same links."""

    def test_a_browser_shows_the_lease(self) -> None:
        browsers.need(browsers.CHROMIUM)
        service = self.useFixture(Standalone())
        status, answer = service.ask('POST', '/leases', LEASE)
        self.assertEqual(201, status, answer)
        files = service.state / 'mail'
        (file,) = until('it is mailed', lambda: list(files.glob('*has-started*.eml')))
        mail = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
        assert isinstance(mail, email.message.EmailMessage)
        link = self.link(mail, 'plain', r'^Page: +(\S+)$')
        self.assertEqual(link, self.link(mail, 'html', 'href="(.*?)"'))
        page_url = f'{service.endpoint.removesuffix("/v1")}/ui'
        self.assertEqual(addresses.lease_page(page_url, answer['lease']['id']), link)
        done = subprocess.run(
            ['node', 'tests/links.mjs', LEASE['name'], link],
            cwd=browsers.SOURCES,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def link(self, mail: email.message.EmailMessage, part: str, pattern: str) -> str:
        """Return the link in a part of a mail."""
        text = present(mail.get_body((part,))).get_content().replace('\r\n', '\n')
        match = re.search(pattern, text, re.MULTILINE)
        assert match is not None, text
        return match[1]
