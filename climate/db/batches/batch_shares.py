# SPDX-License-Identifier: Apache-2.0

"""The shares of resources that may keep the leases of a batch from starting."""

from __future__ import annotations

import dataclasses
import datetime
from collections import defaultdict
from collections.abc import Collection
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from climate.db.schema.tables import ALLOCATIONS
from climate.db.statements.lists import Among
from climate.domain.leases import Allocation
from climate.domain.leases import AllocationState

# Built once, see leases.py.
_NOW: sa.BindParameter[Any] = sa.bindparam('now', type_=ALLOCATIONS.c.end_date.type)
_SINCE: sa.BindParameter[Any] = sa.bindparam('since', type_=ALLOCATIONS.c.end_date.type)
_SHARES = sa.select(
    *ALLOCATIONS.c['resource_id', 'reservation_id', 'resource_class', 'end_date']
).where(Among(ALLOCATIONS.c.resource_id, 'resource_ids'))
_HELD = _SHARES.where(ALLOCATIONS.c.live == 1, ALLOCATIONS.c.state == AllocationState.HELD.value)
_RELEASED = _SHARES.where(
    ALLOCATIONS.c.live == 0, ALLOCATIONS.c.end_date > _SINCE, ALLOCATIONS.c.end_date <= _NOW
)


@dataclasses.dataclass(frozen=True, slots=True)
class _Share:
    reservation_id: str
    resource_class: str | None
    end: datetime.datetime


class Shares:
    """Shares of resources, among which those of other leases are looked for."""

    def __init__(self, rows: Iterable[Any] = ()) -> None:
        self._by_resource: dict[int, list[_Share]] = defaultdict(list)
        for resource_id, reservation_id, resource_class, end in rows:
            share = _Share(reservation_id, resource_class, end)
            self._by_resource[resource_id].append(share)

    def add(self, items: Iterable[Allocation]) -> None:
        """Add the allocations of a lease, which it holds from now on."""
        for item in items:
            share = _Share(item.reservation_id, item.resource_class, item.period.end)
            self._by_resource[item.resource_id].append(share)

    def in_the_way(
        self,
        mine: Iterable[Allocation],
        ours: Collection[str],
        overdue_at: datetime.datetime | None = None,
    ) -> bool:
        """Whether other leases have a resource of which either has the whole.

        :param mine: the allocations of a lease
        :param ours: the ids of its reservations
        :param overdue_at: an instant at which parts of the same class are in the way,
            too, if they should have been released by then; None if they never are
        """
        for item in mine:
            for share in self._by_resource.get(item.resource_id, ()):
                if share.reservation_id in ours:
                    continue
                if item.resource_class is None or share.resource_class is None:
                    return True
                alike = share.resource_class == item.resource_class
                if alike and overdue_at is not None and share.end <= overdue_at:
                    return True
        return False


def held(session: sa.Connection, resource_ids: Collection[int]) -> Shares:
    """Return what leases hold of some resources."""
    return Shares(session.execute(_HELD, {'resource_ids': sorted(resource_ids)}))


def released(
    session: sa.Connection,
    resource_ids: Collection[int],
    since: datetime.datetime,
    now: datetime.datetime,
) -> Shares:
    """Return what leases have released of some resources after *since*."""
    values = {'resource_ids': sorted(resource_ids), 'since': since, 'now': now}
    return Shares(session.execute(_RELEASED, values))
