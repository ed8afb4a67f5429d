# SPDX-License-Identifier: Apache-2.0

"""Queries of charges: reports that external filters of leases have not received yet."""

from __future__ import annotations

import datetime
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from climate.db.schema.tables import CHARGES
from climate.db.statements.repository import Repository
from climate.db.statements.repository import UNCLAIMED
from climate.domain import copies
from climate.domain.charges import Charge
from climate.domain.charges import ChargeState


class Charges(Repository):
    """Rows of ``charges``."""

    def insert(self, charges: Iterable[Charge]) -> None:
        """Insert charges, in one statement."""
        values = [
            {
                **copies.picked(charge, 'charge_id', 'lease_id', 'state'),
                'judge': charge.filter_name,
                'payload': dict(charge.payload),
                **copies.picked(charge, 'due', 'attempts', 'error'),
                'created_at': self._now,
            }
            for charge in charges
        ]
        self._insert_rows(CHARGES, values)

    def decide(self, charge_id: str, state: ChargeState, filter_names: Collection[str]) -> int:
        """Record the outcome of a question; the first call wins.

        ::

            UPDATE charges SET state = :state, due = :now
            WHERE charge_id = :charge_id AND judge IN (:filter_names) AND state = 'asked'

        :returns: the number of rows; fewer than *filter_names* if another process has withdrawn
            the question meanwhile
        """
        return self._update_rows(
            CHARGES, *_asked(charge_id, filter_names), state=state, due=self._now
        )

    def forget(self, charge_id: str, filter_names: Collection[str]) -> None:
        """Delete a question that had no effect with these filters."""
        self._delete_rows(CHARGES, *_asked(charge_id, filter_names))

    def give_up(self) -> int:
        """Withdraw questions without a timely decision, whose process has died.

        The lease of such a question does not exist, because the transaction that
        inserts the lease also records the decision; see :meth:`decide`.

        :returns: the number of questions
        """
        late = (CHARGES.c.state == ChargeState.ASKED, CHARGES.c.due <= self._now)
        return self._update_rows(CHARGES, *late, state=ChargeState.RELEASE)

    def claim(
        self, owner: str, until: datetime.datetime, filter_names: Collection[str], limit: int
    ) -> list[Charge]:
        """Claim the first waiting charge of each of some leases.

        A filter receives the reports on one lease in order: the second one can be
        claimed after the first has arrived::

            SELECT head.seq FROM charges head
            WHERE head.state != 'asked' AND head.due <= :now AND head.judge IN (:filter_names)
              AND (head.claim_until IS NULL OR head.claim_until < :now
                   OR head.claim_owner = :owner)
              AND NOT EXISTS (SELECT 1 FROM charges earlier
                              WHERE earlier.lease_id = head.lease_id
                                AND earlier.judge = head.judge
                                AND earlier.state != 'asked' AND earlier.seq < head.seq)
            ORDER BY head.due, head.seq LIMIT :limit FOR UPDATE SKIP LOCKED

        :param owner: the claiming manager
        :param until: when the claim expires (aware UTC)
        :param filter_names: of the filters that *owner* can reach
        """
        head, earlier = CHARGES.alias('head'), CHARGES.alias('earlier')
        free = sa.or_(
            head.c.claim_until.is_(None),
            head.c.claim_until < self._now,
            head.c.claim_owner == owner,
        )
        first = ~sa.exists().where(
            earlier.c.lease_id == head.c.lease_id,
            earlier.c.judge == head.c.judge,
            earlier.c.state.in_(_DECIDED),
            earlier.c.seq < head.c.seq,
        )
        ready = (
            head.c.state.in_(_DECIDED),
            head.c.due <= self._now,
            head.c.judge.in_(list(filter_names)),
        )
        query = (
            sa.select(head.c.seq)
            .where(*ready, free, first)
            .order_by(head.c.due, head.c.seq)
            .limit(limit)
            .with_for_update(skip_locked=True, of=head)
        )
        seqs = list(self._session.scalars(query))
        if not seqs:
            return []
        mine = CHARGES.c.seq.in_(seqs)
        self._update_rows(CHARGES, mine, claim_owner=owner, claim_until=until)
        rows = self._session.execute(
            sa.select(CHARGES).where(mine).order_by(CHARGES.c.due, CHARGES.c.seq)
        )
        return [_charge(row) for row in rows]

    def delivered(self, charge: Charge) -> None:
        """Delete a charge that its filter has accepted."""
        self._delete_rows(CHARGES, CHARGES.c.seq == charge.seq)

    def postpone(self, charge: Charge, due: datetime.datetime, error: str) -> None:
        """Postpone a charge, and release the claim on it."""
        values = {'due': due, 'attempts': charge.attempts + 1, 'error': error, **UNCLAIMED}
        self._update_rows(CHARGES, CHARGES.c.seq == charge.seq, **values)

    def give_back(self, owner: str) -> None:
        """Release the claims of *owner*."""
        self._update_rows(CHARGES, CHARGES.c.claim_owner == owner, **UNCLAIMED)

    def next_due(self, filter_names: Collection[str]) -> datetime.datetime | None:
        """Return when the first charge is to be reported or withdrawn; None without charges."""
        query = sa.select(sa.func.min(CHARGES.c.due)).where(
            sa.or_(CHARGES.c.judge.in_(list(filter_names)), CHARGES.c.state == ChargeState.ASKED)
        )
        due: datetime.datetime | None = self._session.scalar(query)
        return due

    def of_lease(self, lease_id: str) -> list[Charge]:
        """Return the charges of a lease that are still to be reported, in order."""
        query = sa.select(CHARGES).where(CHARGES.c.lease_id == lease_id).order_by(CHARGES.c.seq)
        return [_charge(row) for row in self._session.execute(query)]

    def waiting(self) -> Mapping[str, int]:
        """Return the number of charges, by state."""
        query = sa.select(CHARGES.c.state, sa.func.count()).group_by(CHARGES.c.state)
        return {state: int(count) for state, count in self._session.execute(query)}


_DECIDED = (ChargeState.COMMIT, ChargeState.RELEASE, ChargeState.END)


def _asked(charge_id: str, filter_names: Collection[str]) -> tuple[Any, ...]:
    return (
        CHARGES.c.charge_id == charge_id,
        CHARGES.c.judge.in_(list(filter_names)),
        CHARGES.c.state == ChargeState.ASKED,
    )


def _charge(row: Any) -> Charge:
    return copies.converted(Charge, row, filter_name=row.judge, state=ChargeState(row.state))
