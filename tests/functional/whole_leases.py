# SPDX-License-Identifier: Apache-2.0

"""Whole leases, with their reservations and events, for tests that look at all of them."""

from __future__ import annotations

from typing import Final

from climate.db.transactions.store import Transaction
from climate.domain.leases import Lease
from climate.domain.requests import LeaseQuery

_EVERY: Final = LeaseQuery(project_id=None)
_MOST: Final = 1_000_000


def ids(tx: Transaction, query: LeaseQuery = _EVERY) -> list[str]:
    """Return the ids of all leases that match a query, in its order."""
    found, _ = tx.lease_lists.page(query, _MOST)
    return [one.id for one in found]


def every(tx: Transaction, query: LeaseQuery = _EVERY) -> list[Lease]:
    """Return all leases that match a query, in its order."""
    found = map(tx.leases.find, ids(tx, query))
    # One may have been deleted since.
    return [lease for lease in found if lease is not None]
