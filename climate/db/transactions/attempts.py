# SPDX-License-Identifier: Apache-2.0

"""Repeats failed transactions. This is the only place that does so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from typing import TypeVar

from oslo_db import api as oslo_api

from climate.clock import Clock
from climate.db.booking.projects import NewProject
from climate.db.engine import errors
from climate.db.transactions import expired_holds
from climate.db.transactions.transaction import Transactions
from climate.exceptions.outages import Cause
from climate.metrics import catalogue
from climate.metrics import recording

T = TypeVar('T')

# How often a transaction is repeated at most.
_MOST: Final = 10
# A server that does not answer twice does not answer soon.
_MOST_ON_OTHERS: Final = 3
_ON_OTHERS: Final = frozenset((Cause.GONE, Cause.READ_ONLY))


class Attempts:
    """The attempts at one transaction.

    :param deadline: when to give up, on the monotonic clock
    :ivar began: when the last attempt began (aware UTC)
    :ivar commits: whether it has tried to commit
    """

    def __init__(self, store: Transactions, clock: Clock, deadline: float) -> None:
        self._store = store
        self._clock = clock
        self._failed = 0
        self._on_others = 0
        self.deadline = deadline
        self.began = clock.now()
        self.commits = False

    def run(self, attempt: Callable[[], T]) -> T:
        """Return what an attempt returns; raise what the last one has raised."""
        # It logs a traceback if it gives up itself.
        repeating = oslo_api.wrap_db_retry(
            max_retries=_MOST + 1,
            retry_interval=0.02,
            inc_retry_interval=True,
            max_retry_interval=0.5,
            exception_checker=self._fails,
            jitter=True,
        )
        result: T = repeating(attempt)()
        return result

    def _fails(self, error: Exception) -> bool:
        """Note that an attempt has failed; make room for another one, and return whether to try.

        :raises climate.exceptions.DatabaseUnavailable: if the database does not answer
        """
        if self._failed >= _MOST or not self._is_passing(error):
            return False
        self._failed += 1
        self.commits = False
        recording.count(catalogue.DATABASE_RETRIES)
        return True

    def _is_passing(self, error: Exception) -> bool:
        if isinstance(error, NewProject):
            project_id = error.project_id
            self._store.run(lambda tx: tx.projects.add(project_id))
            return True
        if errors.is_duplicate(error):
            return True
        if not isinstance(error, errors.RAISED):
            return expired_holds.released_after_refusal(self._store, error, self.began)
        if self._clock.ticks() >= self.deadline:
            return False
        cause = errors.cause(error)
        if cause in _ON_OTHERS:
            return self._may_be_done_by_others(cause)
        # Another attempt would only wait for the same lock again.
        return cause is Cause.LOCKED and not errors.is_lock_timeout(error)

    def _may_be_done_by_others(self, cause: Cause | None) -> bool:
        """Whether another connection may do what a broken or read-only one has not done."""
        self._on_others += 1
        # Whether a COMMIT that was not answered has taken effect is unknown.
        undone = cause is Cause.READ_ONLY or not self.commits
        return undone and self._on_others <= _MOST_ON_OTHERS
