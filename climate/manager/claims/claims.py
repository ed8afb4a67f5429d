# SPDX-License-Identifier: Apache-2.0

"""The claims of this manager, and the thread that renews them."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import logging
import threading
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from typing import Final

from climate import exceptions
from climate.clock import Clock
from climate.cloud.fence import ClaimGuard
from climate.cloud.fence import MARGIN
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.manager.claims.clocks import Clocks
from climate.metrics import catalogue
from climate.metrics import recording
from climate.threads import RepeatingThread

LOG = logging.getLogger(__name__)

# As a share of the duration of a claim, so that one or two renewals may fail.
_RENEWED: Final = 1 / 5
# Claims of this age, as a share of the same, are renewed before a transaction locks them.
_AGED: Final = 3 / 10


Take = Callable[
    [Transaction, datetime.datetime, datetime.datetime], tuple[list[str], datetime.datetime | None]
]
"""Claims leases in a transaction, until the first instant; the second is the present one by
the clock of claims. Returns their ids, and when something is due next."""


@dataclasses.dataclass(kw_only=True, slots=True)
class _Mine:
    """A claim of this manager.

    :ivar next: a second claim on the same lease, taken while work under this one,
        which had expired or was released, was still in progress
    """

    guard: ClaimGuard
    next: ClaimGuard | None = None


class ClaimKeeper:
    """Takes, renews and releases claims on leases.

    :param owner: the unique name of this manager
    :param seconds: the duration of a claim
    :param clocks: measures the difference from the clock of the database, by which
        claims expire; None if both are the same
    """

    def __init__(
        self, store: Store, clock: Clock, owner: str, seconds: float, clocks: Clocks | None = None
    ) -> None:
        self.owner = owner
        self._store = store
        self._clock = clock
        self._clocks = clocks
        self._lasts = datetime.timedelta(seconds=seconds)
        self._mine: dict[str, _Mine] = {}
        self._lock = threading.Lock()
        # Held by a renewal until its transaction has ended.
        self._renewing = threading.Lock()
        self._written: set[str] = set()
        pause = seconds * _RENEWED
        self._renewals = RepeatingThread(
            'claims', self._renew_all, failure='Claims could not be renewed', retry=pause
        )

    def start(self) -> None:
        """Start renewing claims."""
        self._renewals.start()

    def stop(self) -> None:
        """Stop renewing; the remaining claims expire."""
        self._renewals.stop(2.0)

    def take(self, limit: int) -> list[str]:
        """Claim up to *limit* due leases and return their ids.

        :raises climate.exceptions.DatabaseUnavailable: if the database does not answer
        """
        return self.take_and_look(limit)[0]

    def take_and_look(self, limit: int) -> tuple[list[str], datetime.datetime | None]:
        """Claim as :meth:`take` does, and return when something is due next.

        :returns: None as the time if nothing is due, the present if more may be due already
        :raises climate.exceptions.DatabaseUnavailable: if the database does not answer
        """

        def take(
            tx: Transaction, until: datetime.datetime, at: datetime.datetime
        ) -> tuple[list[str], datetime.datetime | None]:
            ids = tx.claims.take(self.owner, until, limit, at)
            return ids, tx.claims.next_due(at) if len(ids) < limit else tx.now

        return self.claim(take)

    def claim(self, take: Take) -> tuple[list[str], datetime.datetime | None]:
        """Claim leases by *take*, and keep their claims.

        :returns: the ids of the leases, and the time, that *take* returns; leases on which
            this manager is still working are left out
        :raises climate.exceptions.DatabaseUnavailable: if the database does not answer
        """
        if self.trouble() is not None:
            return [], None
        since, at = self._present()
        ids, due = self._store.run(lambda tx: take(tx, at + self._lasts, at))
        recording.count(catalogue.CLAIMS, number=len(ids))
        return [lease_id for lease_id in ids if self._record(lease_id, since)], due

    def take_one(self, lease_id: str) -> bool:
        """Claim a lease, due or not; return whether that succeeded.

        :raises climate.exceptions.DatabaseUnavailable: if the database does not answer
        """
        if self.trouble() is not None:
            return False
        since, at = self._present()
        taken = self._store.run(
            lambda tx: tx.claims.take_one(self.owner, at + self._lasts, lease_id, at)
        )
        return taken and self._record(lease_id, since)

    def guard(self, lease_id: str) -> ClaimGuard | None:
        """Return the guard of the claim under which work on a lease is in progress, if any."""
        with self._lock:
            mine = self._mine.get(lease_id)
            return None if mine is None else mine.guard

    def forget(self, lease_id: str) -> bool:
        """Stop renewing a claim, because its work is done or lost to another manager.

        :returns: False if the lease was claimed again meanwhile; the caller then works
            on it again, and calls this method again
        """
        with self._lock:
            mine = self._mine.pop(lease_id, None)
            if mine is None or mine.next is None:
                return True
            self._mine[lease_id] = _Mine(guard=mine.next)
            return False

    def claimed(self) -> set[str]:
        """Return the ids of the leases that this manager has claimed."""
        with self._lock:
            return set(self._mine)

    @contextlib.contextmanager
    def writing(self, lease_ids: Collection[str]) -> Iterator[None]:
        """Renew no claims on leases that a transaction is about to lock.

        Transactions with many leases skip rows that are locked, also those that a renewal
        has locked. While it holds its locks, a renewal could not renew them either, so
        claims that are not recent are renewed before.

        :raises climate.exceptions.DatabaseUnavailable: if the database does not answer
        """
        with self._renewing:
            if self._aged(lease_ids):
                self._renew_valid()
            self._written.update(lease_ids)
        try:
            yield
        finally:
            self._written.difference_update(lease_ids)

    def extended(self) -> tuple[float, datetime.datetime]:
        """Return the present, and when a claim ends that is extended now.

        :returns: the present on the monotonic clock, and the end on the clock of claims
        :raises climate.exceptions.DatabaseUnavailable: if the database does not answer
        """
        since, at = self._present()
        return since, at + self._lasts

    def _aged(self, lease_ids: Collection[str]) -> bool:
        age = self._lasts.total_seconds() * _AGED
        guards = map(self.guard, lease_ids)
        return any(guard is not None and guard.age() >= age for guard in guards)

    def renew(self) -> None:
        """Renew every claim that is still valid.

        Locked rows are skipped: waiting for one would delay the renewal of all others.

        :raises climate.exceptions.DatabaseUnavailable: if the database does not answer
        """
        with self._renewing:
            self._renew_valid()

    def _renew_valid(self) -> None:
        with self._lock:
            guards = {lease_id: mine.next or mine.guard for lease_id, mine in self._mine.items()}
        valid = {
            lease_id: guard
            for lease_id, guard in guards.items()
            # In this order: a claim that a transaction has locked cannot be lost.
            if lease_id not in self._written and guard.is_valid()
        }
        if not valid:
            return
        since, at = self._present()
        for lease_id in self._store.run(lambda tx: self._renew(tx, valid, at + self._lasts)):
            valid[lease_id].renewed(since)

    def trouble(self) -> str | None:
        """Return why this manager may not claim leases; None if it may.

        :raises climate.exceptions.DatabaseUnavailable: if the database does not answer
        """
        return None if self._clocks is None else self._clocks.trouble()

    def _renew(
        self, tx: Transaction, lease_ids: Collection[str], until: datetime.datetime
    ) -> list[str]:
        return tx.claims.renew(self.owner, lease_ids, until)

    def at(self) -> datetime.datetime:
        """Return the present time on the clock of claims.

        :raises climate.exceptions.DatabaseUnavailable: if the database does not answer
        """
        return self._present()[1]

    def _present(self) -> tuple[float, datetime.datetime]:
        """Return the present time on the monotonic clock, and on the clock of claims."""
        offset = datetime.timedelta(0) if self._clocks is None else self._clocks.offset()
        return self._clock.ticks(), self._clock.now() + offset

    def _record(self, lease_id: str, since: float) -> bool:
        """Record a claim; return whether no worker of this manager has the lease.

        This manager can claim a lease that one of its workers still has if the claim
        could not be renewed in time, or if the lease has become due again between the
        last commit and :meth:`forget`. Two workers would disturb each other, so the
        first one continues.
        """
        seconds = self._lasts.total_seconds() * (1 - MARGIN)
        guard = ClaimGuard(f'lease {lease_id}', seconds, self._clock.ticks, since)
        with self._lock:
            mine = self._mine.get(lease_id)
            if mine is None:
                self._mine[lease_id] = _Mine(guard=guard)
                return True
            mine.guard.invalidate()
            mine.next = guard
            return False

    def _renew_all(self) -> float:
        try:
            self.renew()
        except exceptions.DatabaseUnavailable:
            # The store logs why, once a minute.
            LOG.debug('Claims could not be renewed', exc_info=True)
        return self._lasts.total_seconds() * _RENEWED
