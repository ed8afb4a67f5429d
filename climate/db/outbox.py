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

"""SQL of the outbox: notifications on their way to the bus."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from climate.db import models
from climate.db.repository import Repository

_table = models.Base.metadata.tables['outbox']


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OutboxRow:
    """A notification that was not yet accepted by the bus.

    :ivar id: unique, so that receivers can drop what comes twice
    """

    id: str
    lease_id: str
    event_type: str
    payload: Mapping[str, Any]
    created_at: datetime.datetime
    priority: str = 'INFO'


class Outbox(Repository):
    """Rows of ``outbox``."""

    def insert(self, messages: Iterable[OutboxRow]) -> None:
        """Write notifications, in one statement."""
        values = [
            {
                'id': message.id,
                'lease_id': message.lease_id,
                'event_type': message.event_type,
                'priority': message.priority,
                'payload': dict(message.payload),
                'created_at': message.created_at,
            }
            for message in messages
        ]
        if values:
            self._session.execute(sa.insert(_table), values)

    def claim(self, owner: str, until: datetime.datetime, leases: int) -> list[OutboxRow]:
        """Take notifications to send, all that wait of each of some leases.

        Only the head of a lease's queue can be taken, and the rest comes with
        it: another sender cannot overtake, and order is kept per lease::

            SELECT head.lease_id FROM outbox head
            WHERE (head.claim_until IS NULL OR head.claim_until < :now
                   OR head.claim_owner = :owner)
              AND NOT EXISTS (SELECT 1 FROM outbox earlier
                              WHERE earlier.lease_id = head.lease_id AND earlier.seq < head.seq)
            ORDER BY head.seq LIMIT :leases FOR UPDATE SKIP LOCKED

        What *owner* has taken before and not settled, because the database went
        away, comes again: nobody else is at it.

        :param owner: who takes them
        :param until: when others may take them over (aware UTC)
        """
        head, earlier = _table.alias('head'), _table.alias('earlier')
        free = sa.or_(
            head.c.claim_until.is_(None),
            head.c.claim_until < self._now,
            head.c.claim_owner == owner,
        )
        first = sa.not_(
            sa.exists().where(earlier.c.lease_id == head.c.lease_id, earlier.c.seq < head.c.seq)
        )
        query = (
            sa.select(head.c.lease_id)
            .where(free, first)
            .order_by(head.c.seq)
            .limit(leases)
            .with_for_update(skip_locked=True, of=head)
        )
        lease_ids = list(self._session.scalars(query))
        if not lease_ids:
            return []
        mine = _table.c.lease_id.in_(lease_ids)
        self._session.execute(
            sa.update(_table).where(mine).values(claim_owner=owner, claim_until=until)
        )
        found = self._session.execute(
            sa.select(_table).where(mine, _table.c.claim_owner == owner).order_by(_table.c.seq)
        )
        return [_row(row) for row in found]

    def delete(self, ids: Collection[str]) -> None:
        """Forget notifications that the bus has accepted."""
        if ids:
            self._session.execute(sa.delete(_table).where(_table.c.id.in_(ids)))

    def give_back(self, owner: str) -> None:
        """Let others send what *owner* could not."""
        self._session.execute(
            sa.update(_table)
            .where(_table.c.claim_owner == owner)
            .values(claim_owner=None, claim_until=None)
        )

    def waiting(self) -> int:
        """How many notifications were not yet accepted."""
        return int(self._session.scalar(sa.select(sa.func.count()).select_from(_table)) or 0)


def _row(row: Any) -> OutboxRow:
    return OutboxRow(
        id=row.id,
        lease_id=row.lease_id,
        event_type=row.event_type,
        payload=row.payload,
        created_at=row.created_at,
        priority=row.priority,
    )
