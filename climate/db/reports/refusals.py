# SPDX-License-Identifier: Apache-2.0

"""Refused demand: written in batches, read by usage reports."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from climate.db.schema.tables import REFUSALS
from climate.db.statements.repository import Repository
from climate.domain.usage import MOST_REFUSED
from climate.domain.usage import RefusedAmount
from climate.domain.usage import RefusedKey
from climate.domain.usage import UsageQuery

_MICROSECOND = datetime.timedelta(microseconds=1)


class RefusalCounts(Repository):
    """Rows of ``refusals``."""

    def add(self, amounts: Mapping[RefusedKey, RefusedAmount]) -> None:
        """Add to the amounts of each key.

        ::

            UPDATE refusals SET requests = requests + :requests,
                amount = CASE WHEN amount > :room THEN :most ELSE amount + :amount END
            WHERE day = :day AND project_id = :project_id AND …

        :raises oslo_db.exception.DBDuplicateEntry: if another process inserts the same row;
            :meth:`climate.db.transactions.store.Store.run` then retries
        """
        # In the same order everywhere, so that processes do not lock each other out.
        for key in sorted(amounts, key=lambda each: (each.day, sorted(_values(each).items()))):
            values, amount = _values(key), amounts[key]
            named = [REFUSALS.c[name] == value for name, value in values.items()]
            changed = self._update_rows(
                REFUSALS,
                REFUSALS.c.day == key.day,
                *named,
                requests=REFUSALS.c.requests + amount.requests,
                amount=sa.case(
                    (REFUSALS.c.amount > MOST_REFUSED - amount.amount, MOST_REFUSED),
                    else_=REFUSALS.c.amount + amount.amount,
                ),
            )
            if not changed:
                self._insert_row(
                    REFUSALS, day=key.day, requests=amount.requests, amount=amount.amount, **values
                )

    def within(self, query: UsageQuery) -> dict[RefusedKey, RefusedAmount]:
        """Return what was refused on the days of a period, summed over the days.

        The days of the keys are all the first one of the period.
        """
        table = REFUSALS
        first = query.period.start.date()
        conditions: list[sa.ColumnElement[bool]] = [
            table.c.day.between(first, (query.period.end - _MICROSECOND).date())
        ]
        if query.project_id is not None:
            conditions.append(table.c.project_id == query.project_id)
        if query.resource_type is not None:
            conditions.append(table.c.resource_type == query.resource_type)
        keys = [table.c.project_id, table.c.resource_type, table.c.resource_class]
        rows: Any = self._session.execute(
            sa.select(*keys, sa.func.sum(table.c.requests), sa.func.sum(table.c.amount))
            .where(*conditions)
            .group_by(*keys)
        )
        return {
            RefusedKey(
                day=first, project_id=project_id, resource_type=type_, resource_class=name or None
            ): RefusedAmount(requests=int(requests), amount=int(amount))
            for project_id, type_, name, requests, amount in rows
        }

    def forget(self, before: datetime.datetime) -> int:
        """Delete the rows of all days before that of *before*; return their number."""
        return self._delete_rows(REFUSALS, REFUSALS.c.day < before.date())


def _values(key: RefusedKey) -> dict[str, str]:
    return {
        'project_id': key.project_id,
        'resource_type': key.resource_type,
        'resource_class': key.resource_class or '',
    }
