# SPDX-License-Identifier: Apache-2.0

"""Processes that send the events of the same webhooks, on the same database."""

from __future__ import annotations

import collections
import subprocess
import sys
import threading
import time

from climate.domain.requests import Reach
from climate.domain.webhooks import Webhook
from climate.domain.webhooks import WebhookDraft
from climate.enforcement.limits import ProjectLimits
from climate.testing.deployment import CALLER
from climate.testing.service import subscriptions
from tests import base
from tests import databases
from tests import services
from tests.architecture import ROOT
from tests.exhaustive import webhook_senders
from tests.functional.manager.receivers import Received
from tests.functional.manager.receivers import Receiver

PROCESSES = 4
WEBHOOKS = 5
EVENTS = 20


class Overlaps:
    """Holds each request for a moment, and counts those that arrive twice at once.

    :ivar twice: ids of events that were here more than once at the same time
    :ivar seconds: for how long, as long as none has been
    """

    def __init__(self) -> None:
        self.twice: list[str] = []
        self.seconds = 0.02
        self._here: collections.Counter[str] = collections.Counter()
        self._lock = threading.Lock()

    def __call__(self, one: Received) -> int:
        """Return the status of the answer."""
        event = one.headers['webhook-id']
        with self._lock:
            self._here[event] += 1
            if self._here[event] > 1:
                self.twice.append(event)
        until = time.monotonic() + self.seconds
        while time.monotonic() < until and not self.twice:
            time.sleep(0.01)
        with self._lock:
            self._here[event] -= 1
        return 204


@services.on_each_engine(base.TestCase, 'TestOn', engines=services.DATABASE_SERVERS)
class Races:
    """The races on one database."""

    def setUp(self) -> None:
        super().setUp()
        self.url = self.useFixture(databases.TabledDatabase(self.kind)).url
        self.store = webhook_senders.opened(self.url)
        self.addCleanup(self.store.close)
        self.receiver = self.useFixture(Receiver())
        self.overlaps = self.receiver.answers = Overlaps()
        webhooks = subscriptions(self.store, ProjectLimits(), webhook_senders.SETTINGS)
        for _ in range(WEBHOOKS):
            made: Webhook = webhooks.create(CALLER, WebhookDraft(url=self.receiver.url))
            for _ in range(EVENTS):
                webhooks.test(made.id, Reach())

    def start(self, kind: str = 'claimed') -> list[subprocess.Popen[str]]:
        """Start the processes at once."""
        found = [
            subprocess.Popen(
                [sys.executable, '-m', webhook_senders.__name__, self.url, kind],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(PROCESSES)
        ]
        for one in found:
            self.addCleanup(one.communicate)
            self.addCleanup(one.kill)
            assert one.stdout is not None
            self.assertEqual('ready\n', one.stdout.readline())
        for one in found:
            assert one.stdin is not None
            one.stdin.write('go\n')
            one.stdin.flush()
        return found

    def times(self) -> list[int]:
        """Return how often each event arrived."""
        counted = collections.Counter(one.headers['webhook-id'] for one in self.receiver.received)
        return list(counted.values())

    def test_no_event_is_sent_twice(self) -> None:
        for one in self.start():
            self.assertEqual(0, one.wait(120))
        self.assertEqual([1] * (WEBHOOKS * EVENTS), self.times())
        self.assertEqual([], self.overlaps.twice)

    def test_a_killed_process_loses_none(self) -> None:
        first, *others = self.start()
        while len(self.receiver.received) < EVENTS:
            time.sleep(0.01)
        first.kill()
        for one in others:
            self.assertEqual(0, one.wait(180))
        self.assertEqual(WEBHOOKS * EVENTS, len(self.times()))
        self.assertEqual([], self.overlaps.twice)

    def test_without_claims_they_would_be(self) -> None:
        """So the two tests above can fail."""
        self.overlaps.seconds = 3.0
        for one in self.start('unclaimed'):
            one.wait(120)
        self.assertNotEqual([], self.overlaps.twice)
