# SPDX-License-Identifier: Apache-2.0

"""The numbers of notifications, by which receivers of webhooks order them."""

from __future__ import annotations

import uuid

from climate.db.messages.outbox_rows import OutboxRow
from tests import services
from tests.functional.db import cases


def _message() -> OutboxRow:
    return cases.notification(str(uuid.uuid4()), str(uuid.uuid4()))


@services.on_each_engine(cases.StoreCase, 'TestNumbers')
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
