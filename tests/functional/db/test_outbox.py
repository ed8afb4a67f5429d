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

"""The numbers of notifications, by which receivers of webhooks order them."""

from __future__ import annotations

import uuid

import sqlalchemy as sa

from climate.db import migration
from climate.db.outbox_rows import OutboxRow
from tests import base
from tests import services
from tests.functional.db import cases


def _message() -> OutboxRow:
    return OutboxRow(
        id=str(uuid.uuid4()),
        subject=str(uuid.uuid4()),
        event_type='lease.create',
        payload={},
        created_at=cases.NOW,
    )


class _Numbers:
    """The same on each engine."""

    def test_no_number_is_given_twice(self) -> None:
        numbers = []
        for _ in range(3):
            self.store.run(lambda tx: tx.outbox.insert([_message()]))
            (row,) = self.store.run(lambda tx: tx.outbox.unsent())
            numbers.append(row.seq)
            self.store.run(lambda tx, row=row: tx.outbox.delete([row.id]))
        self.assertEqual(sorted(set(numbers)), numbers)


class TestNumbersSqlite(_Numbers, cases.StoreCase):
    """On SQLite."""


class TestNumbersMariadb(_Numbers, cases.StoreCase):
    """On MariaDB."""

    kind = services.MARIADB


class TestNumbersPostgresql(_Numbers, cases.StoreCase):
    """On PostgreSQL."""

    kind = services.POSTGRESQL


class TestUpgrade(base.TestCase):
    """A database of SQLite whose highest numbers are those of webhooks."""

    def test_numbers_go_on(self) -> None:
        store = cases.connect(self.useFixture(services.Database()).url)
        self.addCleanup(store.close)
        migration.sync(store.engine, '0020')
        outbox, deliveries = (
            sa.Table(name, sa.MetaData(), autoload_with=store.engine)
            for name in ('outbox', 'webhook_deliveries')
        )
        kept, sent = _message(), _message()
        with store.engine.begin() as connection:
            facts = {'payload': '{}', 'created_at': cases.NOW.replace(tzinfo=None)}
            connection.execute(
                sa.insert(outbox).values(
                    seq=3, id=kept.id, lease_id='l', event_type='e', priority='INFO', **facts
                )
            )
            connection.execute(
                sa.insert(deliveries).values(
                    id='d', webhook_id='w', message_id=sent.id, sequence=42, event_type='e',
                    state='delivered', attempts=1, due=facts['created_at'], **facts,
                )
            )  # fmt: skip
        migration.sync(store.engine)
        store.run(lambda tx: tx.outbox.insert([_message()]))
        rows = store.run(lambda tx: tx.outbox.unsent())
        self.assertEqual([3, 43], [row.seq for row in rows])
        self.assertEqual(kept.id, rows[0].id)
