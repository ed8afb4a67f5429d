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

"""SQL of the trusts that users have given us and that are not deleted yet.

A trust is written down before its lease is booked, and forgotten once Keystone
has deleted it. So none is lost between the two, whoever crashes when; only one
that Keystone has made, and whose answer nobody was there to read, is unknown.
Only what is written here is ever deleted: several services may have one user,
and Keystone does not say which of them a trust was made for.
"""

from __future__ import annotations

import dataclasses
import datetime

import sqlalchemy as sa

from climate.db import models
from climate.db.oddities import OVER
from climate.db.repository import Repository

_table = models.Base.metadata.tables['trusts']
_leases = models.Base.metadata.tables['leases']


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LeftTrust:
    """A trust that nothing needs.

    :ivar lease_id: of the lease that it was for, which is over; None if there
        never was one
    :ivar made_at: when it was made (aware UTC)
    """

    id: str
    lease_id: str | None
    made_at: datetime.datetime


class Trusts(Repository):
    """Rows of ``trusts``."""

    def add(self, trust_id: str, expires_at: datetime.datetime | None = None) -> None:
        """Write down that there is a trust.

        :param expires_at: aware UTC; None if it lasts until it is deleted
        """
        row = {'id': trust_id, 'made_at': self._now, 'expires_at': expires_at}
        self._session.execute(sa.insert(_table), [row])

    def expiry(self, lease_id: str) -> datetime.datetime | None:
        """Return when the trust that a lease has expires; None if it has none, or never does."""
        query = sa.select(_table.c.expires_at).where(
            _table.c.id
            == sa.select(_leases.c.trust_id).where(_leases.c.id == lease_id).scalar_subquery()
        )
        return self._session.scalar(query)

    def give(self, trust_id: str, lease_id: str) -> None:
        """Say which lease it is for."""
        self._session.execute(
            sa.update(_table).where(_table.c.id == trust_id).values(lease_id=lease_id)
        )

    def forget(self, trust_id: str) -> None:
        """Say that it was deleted."""
        self._session.execute(sa.delete(_table).where(_table.c.id == trust_id))

    def left(self, before: datetime.datetime, lease_id: str | None = None) -> list[LeftTrust]:
        """Return the trusts that nothing needs.

        ::

            SELECT … FROM trusts LEFT OUTER JOIN leases ON leases.id = trusts.lease_id
            WHERE (leases.id IS NULL AND trusts.made_at < :before)
               OR leases.deleted_at IS NOT NULL OR leases.status = 'TERMINATED'

        :param before: those whose lease is not there count if they were made
            before this (aware UTC); another one is perhaps about to be used
        :param lease_id: only that of this lease
        """
        unused = sa.and_(_leases.c.id.is_(None), _table.c.made_at < before)
        query = (
            sa.select(_table.c.id, _table.c.lease_id, _table.c.made_at)
            .select_from(_table.outerjoin(_leases, _leases.c.id == _table.c.lease_id))
            .where(sa.or_(unused, OVER))
            .order_by(_table.c.made_at, _table.c.id)
        )
        if lease_id is not None:
            query = query.where(_table.c.lease_id == lease_id)
        return [
            LeftTrust(id=row.id, lease_id=row.lease_id, made_at=row.made_at)
            for row in self._session.execute(query)
        ]
