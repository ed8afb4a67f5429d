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

from climate.db.repository import Repository
from climate.db.tables import OUTBOX


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OutboxRow:
    """A notification that was not yet accepted by the bus.

    :ivar id: unique, so that receivers can drop what comes twice
    :ivar attempts: how often it could not be sent while the bus was there
    :ivar error: why, the last time
    :ivar set_aside_at: when it was given up (aware UTC); None if it was not
    """

    id: str
    lease_id: str
    event_type: str
    payload: Mapping[str, Any]
    created_at: datetime.datetime
    priority: str = 'INFO'
    attempts: int = 0
    error: str | None = None
    set_aside_at: datetime.datetime | None = None


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
            self._session.execute(sa.insert(OUTBOX), values)

    def claim(self, owner: str, until: datetime.datetime, most: int) -> list[OutboxRow]:
        """Take notifications to send, those that wait longest.

        Only the head of a lease's queue can be taken, and what waits behind it
        comes with it: another sender cannot overtake, and order is kept per
        lease. What is set aside waits for nothing and holds nothing up::

            SELECT head.lease_id FROM outbox head
            WHERE head.set_aside_at IS NULL AND (head.due IS NULL OR head.due <= :now)
              AND (head.claim_until IS NULL OR head.claim_until < :now
                   OR head.claim_owner = :owner)
              AND NOT EXISTS (SELECT 1 FROM outbox earlier
                              WHERE earlier.lease_id = head.lease_id AND earlier.seq < head.seq
                                AND earlier.set_aside_at IS NULL)
            ORDER BY head.seq LIMIT :most FOR UPDATE SKIP LOCKED

        What *owner* has taken before and not settled, because the database went
        away, comes again: no other sender has it.

        :param owner: who takes them
        :param until: when others may take them over (aware UTC)
        :param most: how many at most, of all leases together
        """
        lease_ids = list(self._session.scalars(self._heads(owner, most)))
        if not lease_ids:
            return []
        # Locked by their heads. In the order of all, so that what is taken of
        # each lease is a beginning.
        query = (
            sa.select(OUTBOX.c.seq)
            .where(OUTBOX.c.lease_id.in_(lease_ids), OUTBOX.c.set_aside_at.is_(None))
            .order_by(OUTBOX.c.seq)
            .limit(most)
        )
        mine = OUTBOX.c.seq.in_(list(self._session.scalars(query)))
        self._session.execute(
            sa.update(OUTBOX).where(mine).values(claim_owner=owner, claim_until=until)
        )
        found = self._session.execute(sa.select(OUTBOX).where(mine).order_by(OUTBOX.c.seq))
        return [_row(row) for row in found]

    def _heads(self, owner: str, most: int) -> sa.Select[Any]:
        head, earlier = OUTBOX.alias('head'), OUTBOX.alias('earlier')
        free = sa.or_(
            head.c.claim_until.is_(None),
            head.c.claim_until < self._now,
            head.c.claim_owner == owner,
        )
        first = sa.not_(
            sa.exists().where(
                earlier.c.lease_id == head.c.lease_id,
                earlier.c.seq < head.c.seq,
                earlier.c.set_aside_at.is_(None),
            )
        )
        due = sa.or_(head.c.due.is_(None), head.c.due <= self._now)
        return (
            sa.select(head.c.lease_id)
            .where(head.c.set_aside_at.is_(None), due, free, first)
            .order_by(head.c.seq)
            .limit(most)
            .with_for_update(skip_locked=True, of=head)
        )

    def delete(self, ids: Collection[str]) -> None:
        """Forget notifications that the bus has accepted."""
        if ids:
            self._session.execute(sa.delete(OUTBOX).where(OUTBOX.c.id.in_(ids)))

    def give_back(self, owner: str) -> None:
        """Let others send what *owner* could not."""
        self._session.execute(
            sa.update(OUTBOX)
            .where(OUTBOX.c.claim_owner == owner)
            .values(claim_owner=None, claim_until=None)
        )

    def postpone(self, message_id: str, due: datetime.datetime, error: str) -> None:
        """Have one sent later that could not be sent, and those of its lease behind it."""
        self._change(message_id, due=due, error=error, attempts=OUTBOX.c.attempts + 1)

    def set_aside(self, message_id: str, error: str) -> None:
        """Give one up; those of its lease behind it go on without it."""
        self._change(
            message_id, set_aside_at=self._now, error=error, attempts=OUTBOX.c.attempts + 1
        )

    def _change(self, message_id: str, **values: Any) -> None:
        self._session.execute(
            sa.update(OUTBOX)
            .where(OUTBOX.c.id == message_id)
            .values(claim_owner=None, claim_until=None, **values)
        )

    def failing(self) -> list[OutboxRow]:
        """Return what could not be sent though the bus was there, oldest first."""
        query = sa.select(OUTBOX).where(OUTBOX.c.attempts > 0).order_by(OUTBOX.c.seq)
        return [_row(row) for row in self._session.execute(query)]

    def retry(self, ids: Collection[str] | None) -> int:
        """Have what was set aside sent again, as if it was never tried.

        :param ids: None for all of it
        :returns: how many were set aside
        """
        return self._of_those_aside(
            sa.update(OUTBOX).values(set_aside_at=None, due=None, error=None, attempts=0), ids
        )

    def drop(self, ids: Collection[str] | None) -> int:
        """Forget what was set aside.

        :param ids: None for all of it
        :returns: how many were set aside
        """
        return self._of_those_aside(sa.delete(OUTBOX), ids)

    def _of_those_aside(self, statement: sa.Update | sa.Delete, ids: Collection[str] | None) -> int:
        statement = statement.where(OUTBOX.c.set_aside_at.is_not(None))
        if ids is not None:
            statement = statement.where(OUTBOX.c.id.in_(ids))
        result: Any = self._session.execute(statement)
        return int(result.rowcount)

    def waiting(self) -> int:
        """How many notifications are still to be accepted."""
        query = sa.select(sa.func.count()).where(OUTBOX.c.set_aside_at.is_(None))
        return int(self._session.scalar(query) or 0)


def _row(row: Any) -> OutboxRow:
    return OutboxRow(
        id=row.id,
        lease_id=row.lease_id,
        event_type=row.event_type,
        payload=row.payload,
        created_at=row.created_at,
        priority=row.priority,
        attempts=row.attempts,
        error=row.error,
        set_aside_at=row.set_aside_at,
    )
