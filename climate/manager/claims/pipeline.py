# SPDX-License-Identifier: Apache-2.0

"""Processes claimed leases in batches: begin all, perform each, settle all.

A batch is one transaction, in which each lease begins or settles by the same code as alone;
see :mod:`climate.db.batches.batches`. Leases do not affect each other: one that a batch cannot
handle is left to the :class:`climate.manager.claims.worker.Worker`, and so are all leases of a
transaction that fails.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import logging
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Sequence

from climate.cloud.fence import ClaimGuard
from climate.db.batches.batches import Batch
from climate.db.engine import errors
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.leases.jobs import Job
from climate.leases.jobs import Report
from climate.leases.notices import Plugins
from climate.manager.claims.claims import ClaimKeeper
from climate.manager.claims.worker import Worker

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class BegunJob:
    """A job that is under way, and the claim on its lease."""

    guard: ClaimGuard
    job: Job

    @property
    def lease_id(self) -> str:
        """The id of the lease."""
        return self.job.lease.id


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class FinishedJob:
    """A job whose effects have run."""

    begun: BegunJob
    report: Report

    @property
    def lease_id(self) -> str:
        """The id of the lease."""
        return self.begun.lease_id


@dataclasses.dataclass(kw_only=True, slots=True)
class BegunBatch:
    """The result of beginning a batch.

    :ivar jobs: the jobs to perform
    :ivar over: ids of the leases with nothing to do, which are released
    :ivar alone: ids of the leases to process alone
    :ivar due: when the first of the released leases is due again (aware UTC)
    :ivar since: when the claims of the jobs were extended, on the monotonic clock
    """

    jobs: list[BegunJob] = dataclasses.field(default_factory=list)
    over: list[str] = dataclasses.field(default_factory=list)
    alone: list[str] = dataclasses.field(default_factory=list)
    due: datetime.datetime | None = None
    since: float = 0.0


@dataclasses.dataclass(kw_only=True, slots=True)
class SettledBatch:
    """The result of settling a batch.

    :ivar again: ids of the leases with more to do now
    :ivar over: ids of the leases that are released, or whose claims were lost
    :ivar alone: the jobs to settle alone
    :ivar due: when the first of the released leases is due again (aware UTC)
    """

    again: list[str] = dataclasses.field(default_factory=list)
    over: list[str] = dataclasses.field(default_factory=list)
    alone: list[FinishedJob] = dataclasses.field(default_factory=list)
    due: datetime.datetime | None = None


@dataclasses.dataclass(eq=False, repr=False)
class Pipeline:
    """Begins, performs and settles jobs for one manager. Has no threads of its own.

    :param claims: the claims of this manager, which every lease requires
    :param worker: performs and settles the jobs of each lease
    :param wake_senders: called after each commit, which may have written notifications
    """

    _store: Store
    _plugins: Plugins
    _claims: ClaimKeeper
    _worker: Worker
    _wake_senders: Callable[[], None]

    def begin(self, lease_ids: Sequence[str]) -> BegunBatch:
        """Begin the next due event of each of some claimed leases."""
        try:
            with self._claims.writing(lease_ids):
                begun = self._store.run(lambda tx: self._begin(tx, lease_ids))
                for each in begun.jobs:
                    each.guard.extended(begun.since)
        except Exception as error:
            _note_failure('begin', len(lease_ids), error)
            return BegunBatch(alone=list(lease_ids))
        self._wake_senders()
        return begun

    def perform(self, begun: BegunJob) -> FinishedJob | None:
        """Run the effects of a job; None if its claim was lost."""
        finished = None
        with self._worker.errors_of(begun.lease_id):
            report = self._worker.perform(begun.guard, begun.job)
            finished = FinishedJob(begun=begun, report=report)
        return finished

    def settle(self, finished: Sequence[FinishedJob]) -> SettledBatch:
        """Settle jobs whose effects have run."""
        try:
            with self._claims.writing([each.lease_id for each in finished]):
                settled, at = self._store.run(lambda tx: (self._settle(tx, finished), tx.now))
        except Exception as error:
            _note_failure('settle', len(finished), error)
            return SettledBatch(alone=list(finished))
        self._wake_senders()
        # These are measured once they are settled alone.
        alone = {each.lease_id for each in settled.alone}
        for each in finished:
            if each.lease_id not in alone:
                self._worker.measure(each.begun.job, each.report, at)
        return settled

    def _begin(self, tx: Transaction, lease_ids: Collection[str]) -> BegunBatch:
        result = BegunBatch()
        batch = self._batch(tx, lease_ids)
        for lease_id in lease_ids:
            guard = self._claims.guard(lease_id)
            if guard is None:
                result.over.append(lease_id)
                continue
            try:
                begin = functools.partial(self._worker.starter.begin, lease_id=lease_id)
                job = batch.attempt(begin)
            except errors.RAISED:
                raise
            except Exception as error:
                _note_lease(lease_id, error)
                result.alone.append(lease_id)
            else:
                if job is None:
                    result.over.append(lease_id)
                else:
                    result.jobs.append(BegunJob(guard=guard, job=job))
        # Under load, a transaction may take as long as its claims would last.
        result.since, until = self._claims.extended()
        batch.write(until)
        result.due = batch.next_due
        return result

    def _settle(self, tx: Transaction, finished: Collection[FinishedJob]) -> SettledBatch:
        result = SettledBatch()
        batch = self._batch(tx, [each.lease_id for each in finished])
        # The rows are locked: claims that are valid now stay so until the commit, however
        # long it takes until then.
        valid = [each.begun.guard.is_valid() for each in finished]
        for each, is_valid in zip(finished, valid, strict=True):
            lease_id, begun = each.lease_id, each.begun
            try:
                if not is_valid:
                    begun.guard.check()
                settle = functools.partial(
                    self._worker.settle_locked, job=begun.job, report=each.report
                )
                more = batch.attempt(settle)
            except errors.RAISED:
                raise
            except Exception as error:
                # Also a lost claim, which the worker finds again, and reports.
                _note_lease(lease_id, error)
                result.alone.append(each)
            else:
                (result.again if more else result.over).append(lease_id)
        batch.write()
        result.due = batch.next_due
        return result

    def _batch(self, tx: Transaction, lease_ids: Collection[str]) -> Batch:
        early = [name for name, plugin in self._plugins.items() if plugin.prepares_at_once]
        return Batch(tx, lease_ids, self._claims.owner, early)


def _note_failure(step: str, count: int, error: Exception) -> None:
    LOG.warning(
        'A batch of %d leases could not %s, they are processed one by one: %s: %s',
        count,
        step,
        type(error).__name__,
        error,
    )


def _note_lease(lease_id: str, error: Exception) -> None:
    LOG.debug('Lease %s is processed alone: %s: %s', lease_id, type(error).__name__, error)
