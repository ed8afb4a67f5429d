# SPDX-License-Identifier: Apache-2.0
"""Silent receivers hold the workers of their projects, and of no others."""

from __future__ import annotations

import dataclasses
import threading
from typing import Any

from climate.db.transactions.store import Transaction
from climate.domain.webhooks import Delivery
from climate.domain.webhooks import Webhook
from climate.manager.senders.webhooks import WebhookSender
from climate.manager.senders.webhooks import WebhookSenderSettings
from climate.webhooks.posts import NotAccepted
from tests.functional.manager import harness
from tests.functional.manager import test_webhooks
from tests.functional.processes import until

SILENT = 'http://localhost:9/silent'


class SilentReceivers:
    """Sends events: some receivers never answer, until the time limit comes."""

    def __init__(self) -> None:
        self.gives_up = threading.Event()
        self.hanging: list[str] = []
        self.accepted: list[str] = []

    def send(self, webhook: Webhook, delivery: Delivery, deadline: float | None = None) -> int:
        """Return the status of the response."""
        if webhook.url != SILENT:
            self.accepted.append(webhook.id)
            return 204
        self.hanging.append(webhook.project_id)
        self.gives_up.wait(120)
        raise NotAccepted('no response')


class SilenceTest(test_webhooks.WebhookTest):
    """Projects with silent receivers and long backlogs, and another project."""

    def setUp(self) -> None:
        super().setUp()
        self.receivers = SilentReceivers()
        self.addCleanup(self.receivers.gives_up.set)

    def start(self, settings: WebhookSenderSettings = test_webhooks.SETTINGS) -> None:
        """Send whatever is due, in a thread."""
        events: Any = self.receivers
        site = self.site
        sender = WebhookSender(site.store, site.clock, events, 'me', settings, max_sleep=1.0)
        thread = threading.Thread(target=sender.send_once)

        def stop() -> None:
            self.receivers.gives_up.set()
            sender.stop(60)
            thread.join(60)

        thread.start()
        self.addCleanup(stop)

    def of(self, project: str, number: int, url: str, events: int) -> list[Webhook]:
        """Create webhooks of a project, with events that wait."""
        caller = dataclasses.replace(harness.CALLER, project_id=project)
        found = [self.subscribe(caller, url=url) for _ in range(number)]

        def write(tx: Transaction) -> None:
            for webhook in found:
                for _ in range(events):
                    tx.deliveries.add_test(webhook.id, {})

        self.site.store.run(write)
        return found

    def test_two_projects_with_silent_receivers(self) -> None:
        for project in ('red', 'green'):
            self.of(project, 5, SILENT, 20)
        mine = self.of('blue', 2, self.receiver.url, 10)
        self.start()
        until('all others are sent', lambda: len(self.receivers.accepted) == 20, 60)
        self.assertEqual({each.id for each in mine}, set(self.receivers.accepted))
        # All of it while the first attempts were still in progress.
        self.assertLessEqual(len(self.receivers.hanging), 4)

    def test_many_projects_with_one_silent_receiver(self) -> None:
        for number in range(12):
            self.of(f'silent-{number}', 1, SILENT, 2)
        self.of('blue', 1, self.receiver.url, 10)
        self.start()
        until('all others are sent', lambda: len(self.receivers.accepted) == 10, 60)
        self.assertLessEqual(len(self.receivers.hanging), 2)

    def test_events_that_come_later(self) -> None:
        self.of('red', 5, SILENT, 20)
        self.start()
        until('they hang', lambda: self.receivers.hanging)
        self.of('blue', 1, self.receiver.url, 3)
        until('they are sent', lambda: len(self.receivers.accepted) == 3, 60)
