# SPDX-License-Identifier: Apache-2.0

"""How many records of what was sent to a webhook are kept."""

from __future__ import annotations

import fixtures

from tests import services
from tests.functional.manager import test_webhooks
from tests.functional.manager.test_webhooks import ANY


@services.on_each_engine(test_webhooks.WebhookTest, 'TestOn')
class Records:
    """What is the same on all databases."""

    def test_only_the_newest_records_are_kept(self) -> None:
        """Whatever a user sends to a webhook within the time that records are kept."""
        self.useFixture(fixtures.MonkeyPatch('climate.db.messages.deliveries.MOST_FINISHED', 2))
        webhook, other = self.subscribe(), self.subscribe()
        for _ in range(5):
            self.subscriptions.test(webhook.id, ANY)
        self.subscriptions.test(other.id, ANY)
        self.sender().send_once()
        newest = [one.id for one in self.deliveries(webhook)][:2]
        waiting = self.subscriptions.test(webhook.id, ANY)
        for most, left in ((1, 5), (500, 3), (500, 3)):
            self.site.store.run(lambda tx, most=most: tx.deliveries.forget_surplus(most))
            self.assertEqual(left, len(self.deliveries(webhook)))
        self.assertEqual([waiting, *newest], [one.id for one in self.deliveries(webhook)])
        self.assertEqual(1, len(self.deliveries(other)))

    def test_the_sender_forgets_surplus(self) -> None:
        self.useFixture(fixtures.MonkeyPatch('climate.db.messages.deliveries.MOST_FINISHED', 2))
        webhook = self.subscribe()
        for _ in range(5):
            self.subscriptions.test(webhook.id, ANY)
        self.sender().send_once()
        self.sender().send_once()
        self.assertEqual(2, len(self.deliveries(webhook)))
