# SPDX-License-Identifier: Apache-2.0

"""The examples of the pages about webhooks and calendar feeds, as they are printed."""

from __future__ import annotations

import json
import pathlib
import re
import time
from typing import Any

import fixtures

from climate.domain.requests import Reach
from climate.domain.webhooks import WebhookDraft
from climate.testing import connection
from climate.testing.service import subscriptions
from climate.webhooks import cloud_events
from climate.webhooks import signatures
from tests import base
from tests import databases
from tests.architecture import ROOT
from tests.functional.manager import harness
from tests.functional.manager.receivers import Receiver
from tests.functional.manager.receivers import signed_by
from tests.functional.manager.test_webhooks import HERE
from tests.functional.test_manage import run

FOLDER = ROOT / 'doc' / 'source'


def blocks(page: str, language: str) -> list[str]:
    """Return the code blocks of a page."""
    text = (FOLDER / page).read_text(encoding='utf-8')
    found = re.findall(rf'^\.\. code-block:: {language}\n\n((?:   .*\n|\n)+)', text, re.M)
    return [re.sub('^   ', '', block, flags=re.M).strip('\n') for block in found]


class TestPages(base.TestCase):
    """What users copy from the pages works."""

    def test_the_event_has_the_attributes_that_are_shown(self) -> None:
        (shown,) = blocks('user/webhooks.rst', 'json')
        site = self.useFixture(harness.Site(hosts=0))
        webhooks = subscriptions(site.store, site.settings.limits, HERE)
        webhook = webhooks.create(harness.CALLER, WebhookDraft(url='http://127.0.0.1/'))
        site.create(600, 3600, hosts=0)
        site.store.run(lambda tx: tx.outbox.copy_to_webhooks(tx.now, 9))
        (one,) = webhooks.deliveries(webhook.id, Reach(), None, None, 9)
        event = json.loads(cloud_events.body(one, '/reservation'))
        self.assertEqual(set(json.loads(shown)), set(event))

    def test_verification(self) -> None:
        (code,) = blocks('user/webhooks.rst', 'python')
        names: dict[str, Any] = {}
        exec(compile(code, 'webhooks.rst', 'exec'), names)
        verify, secret, body = names['verify'], signatures.new_secret(), b'{"a": 1}'
        now = int(time.time())
        sent = signatures.headers('m1', now, body, [signatures.new_secret(), secret])
        self.assertTrue(verify(secret, sent, body))
        self.assertFalse(verify(secret, sent, b'{"a": 2}'))
        self.assertFalse(verify(signatures.new_secret(), sent, body))
        self.assertFalse(verify(secret, {**sent, 'webhook-id': 'm2'}, body))
        self.assertFalse(verify(secret, {**sent, 'webhook-timestamp': str(now + 1)}, body))
        old = signatures.headers('m1', now - 301, body, [secret])
        self.assertFalse(verify(secret, old, body))
        self.assertTrue(verify(secret, old, body, tolerance=400))


class TestCommands(base.TestCase):
    """``climate-manage webhook``, as the page of operators shows it."""

    def setUp(self) -> None:
        super().setUp()
        database = self.useFixture(databases.TabledDatabase())
        self.receiver = self.useFixture(Receiver())
        self.file = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'climate.conf'
        self.file.write_text(
            f'[database]\nconnection = {database.url}\n'
            '[webhooks]\nallow_http = true\nallowed_networks = 127.0.0.0/8\n'
        )
        site = self.useFixture(harness.Site(hosts=0))
        connection.use(site.conf, database.url)
        store = self.closing(type(site.store)(site.conf, site.clock))
        webhooks = subscriptions(store, site.settings.limits, HERE)
        draft = WebhookDraft(url=f'{self.receiver.url}?token=hunter2')
        self.webhook = webhooks.create(harness.CALLER, draft)

    def run_printed(self) -> list[tuple[int, list[str]]]:
        (block,) = blocks('admin/webhooks.rst', 'console')
        found = []
        for line in block.splitlines():
            words = line.removeprefix('$ climate-manage ').split()
            words = [self.webhook.id if word == '$WEBHOOK_ID' else word for word in words]
            found.append(run('--config-file', str(self.file), *words))
        return found

    def test_a_receiver_that_accepts(self) -> None:
        listed, tested = self.run_printed()
        webhook = self.webhook.id
        self.assertEqual((0, [f'{webhook} enabled for project blue: 127.0.0.1']), listed)
        accepted = f'{webhook} at 127.0.0.1 accepted the event with status 204'
        self.assertEqual((0, [accepted]), tested)
        (one,) = self.receiver.received
        self.assertEqual('webhook.test', one.event['type'])
        self.assertTrue(signed_by(one, self.webhook.secrets[0]))

    def test_one_that_does_not(self) -> None:
        self.receiver.answers = lambda _: 500
        _, (status, lines) = self.run_printed()
        self.assertEqual(1, status)
        self.assertIn('did not accept the event: the response has status 500', lines[0])

    def test_an_id_that_is_none(self) -> None:
        status, lines = run('--config-file', str(self.file), 'webhook', 'test', 'x')
        self.assertEqual((1, 1), (status, len(lines)))
