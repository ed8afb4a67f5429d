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

"""How many records of what was sent to a webhook are kept."""

from __future__ import annotations

import fixtures

from tests import services
from tests.functional.manager import test_webhooks
from tests.functional.manager.test_webhooks import ANY


class Records:
    """What is the same on all databases."""

    def test_only_the_newest_records_are_kept(self) -> None:
        """Whatever a user sends to a webhook within the time that records are kept."""
        self.useFixture(fixtures.MonkeyPatch('climate.db.deliveries.MOST_FINISHED', 2))
        webhook, other = self.subscribe(), self.subscribe()
        for _ in range(5):
            self.subscriptions.test(webhook.id, ANY)
        self.subscriptions.test(other.id, ANY)
        sender = self.sender()
        sender.send_once()
        newest = [one.id for one in self.deliveries(webhook)][:2]
        waiting = self.subscriptions.test(webhook.id, ANY)
        for most, left in ((1, 5), (500, 3), (500, 3)):
            self.office.store.run(lambda tx, most=most: tx.deliveries.forget_surplus(most))
            self.assertEqual(left, len(self.deliveries(webhook)))
        self.assertEqual([waiting, *newest], [one.id for one in self.deliveries(webhook)])
        self.assertEqual(1, len(self.deliveries(other)))

    def test_the_sender_forgets_surplus(self) -> None:
        self.useFixture(fixtures.MonkeyPatch('climate.db.deliveries.MOST_FINISHED', 2))
        webhook = self.subscribe()
        for _ in range(5):
            self.subscriptions.test(webhook.id, ANY)
        self.sender().send_once()
        self.sender().send_once()
        self.assertEqual(2, len(self.deliveries(webhook)))


class TestOnSqlite(Records, test_webhooks.WebhookTest):
    """SQLite."""


class TestOnMariadb(Records, test_webhooks.WebhookTest):
    """MariaDB."""

    database = services.MARIADB


class TestOnPostgresql(Records, test_webhooks.WebhookTest):
    """PostgreSQL."""

    database = services.POSTGRESQL
