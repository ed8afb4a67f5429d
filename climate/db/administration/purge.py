# SPDX-License-Identifier: Apache-2.0

"""Deletes the rows of leases that ended long ago; nothing else deletes leases."""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy as sa

from climate.db.leases.deletions import Deletions
from climate.db.schema.tables import ALLOCATIONS
from climate.db.schema.tables import DELETIONS
from climate.db.schema.tables import EVENTS
from climate.db.schema.tables import LEASES
from climate.db.schema.tables import RESERVATIONS
from climate.db.transactions import expired_holds
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.lifecycles import LeaseStatus

_BATCH = 200


def purge(
    store: Store, before: datetime.datetime, *, deleted_only: bool = False, dry_run: bool = False
) -> int:
    """Delete the rows of leases that were deleted, or ended, before *before*.

    Also deletes things of projects that no lease refers to any more, expired idempotency
    keys with their answers, expired offers with what is held for them, and the counts of
    refusals, the times of yields and the records of deletions of earlier days. Works in small
    transactions, so that it does not block a running service.

    :param deleted_only: keep leases that ended but were not deleted
    :param dry_run: only count the leases
    :returns: the number of leases
    """
    conditions = _old(before, deleted_only)
    if dry_run:
        with store.reading() as tx:
            query = sa.select(sa.func.count()).select_from(LEASES).where(conditions)
            return int(tx.session.scalar(query) or 0)
    # The row of a hold is deleted as of its end.
    expired_holds.release(store)
    total = 0
    while True:
        count = store.run(lambda tx: _remove_some(tx, conditions))
        total += count
        if count < _BATCH:
            break
    while store.run(lambda tx: tx.things.forget_unused(before)):
        pass
    while store.run(lambda tx: tx.idempotency_keys.forget_expired(_BATCH)):
        pass
    while store.run(lambda tx: tx.offers.forget_expired(_BATCH)):
        pass
    store.run(lambda tx: tx.refusals.forget(before))
    store.run(lambda tx: tx.yield_times.forget(before))
    store.run(lambda tx: Deletions(tx.session, tx.now).forget_old(before))
    return total


def _old(before: datetime.datetime, deleted_only: bool) -> Any:
    leases = LEASES
    conditions = [leases.c.deleted_at < before]
    if not deleted_only:
        conditions.append(
            sa.and_(leases.c.status == LeaseStatus.TERMINATED, leases.c.end_date < before)
        )
    return sa.or_(*conditions)


def _remove_some(tx: Transaction, conditions: Any) -> int:
    leases, reservations = LEASES, RESERVATIONS
    ids = list(tx.session.scalars(sa.select(leases.c.id).where(conditions).limit(_BATCH)))
    if not ids:
        return 0
    lines = list(
        tx.session.scalars(sa.select(reservations.c.id).where(reservations.c.lease_id.in_(ids)))
    )
    allocations, events = ALLOCATIONS, EVENTS
    tx.session.execute(sa.delete(allocations).where(allocations.c.reservation_id.in_(lines)))
    tx.session.execute(sa.delete(events).where(events.c.lease_id.in_(ids)))
    tx.session.execute(sa.delete(reservations).where(reservations.c.lease_id.in_(ids)))
    tx.session.execute(sa.delete(DELETIONS).where(DELETIONS.c.lease_id.in_(ids)))
    # The database deletes the steps of the leases with them.
    tx.session.execute(sa.delete(leases).where(leases.c.id.in_(ids)))
    return len(ids)
