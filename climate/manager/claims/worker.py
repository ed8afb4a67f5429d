# SPDX-License-Identifier: Apache-2.0

"""Processes a claimed lease alone: begin, perform, settle, until nothing is due.

It does so for leases that a batch cannot handle; see
:mod:`climate.manager.claims.pipeline`.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import logging
from collections.abc import Callable
from collections.abc import Iterator

from climate import exceptions
from climate.booking.choosing.choose import LostRace
from climate.cloud.base import Cloud
from climate.cloud.deletions import Record
from climate.cloud.fence import ClaimGuard
from climate.cloud.fence import ClaimLost
from climate.cloud.fence import Fenced
from climate.context import WorkContext
from climate.context import Working
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.enforcement.filters import Filters
from climate.leases.jobs import Job
from climate.leases.jobs import Report
from climate.leases.notices import Plugins
from climate.leases.settings import LeasingSettings
from climate.manager.claims import measures
from climate.manager.claims.claims import ClaimKeeper
from climate.manager.running.begin import EventStarter
from climate.manager.running.begin import Resumes
from climate.manager.running.deletions import DeletionRecorder
from climate.manager.running.perform import perform
from climate.manager.running.settle import EventSettler
from climate.metrics import catalogue
from climate.metrics import recording

LOG = logging.getLogger(__name__)


class Worker:
    """Processes the due events of leases.

    :param claims: the claims of this manager, which every lease requires
    :param wake_senders: called after each commit, which may have written notifications
    :param filters: the filters of leases; None for none
    :param on_claim_lost: called if a claim is lost within an effect, whose last call may
        have reached the cloud too late
    :param record: records deletions; None for a recorder without an audit trail
    :param resumes: forecasts when leases resume; None for no forecasts
    :ivar starter: begins events
    """

    def __init__(
        self,
        store: Store,
        plugins: Plugins,
        cloud: Cloud,
        settings: LeasingSettings,
        claims: ClaimKeeper,
        wake_senders: Callable[[], None],
        filters: Filters | None = None,
        on_claim_lost: Callable[[], None] = lambda: None,
        record: Record | None = None,
        resumes: Resumes | None = None,
    ) -> None:
        self._store = store
        self._record = record or DeletionRecorder(store)
        self._on_claim_lost = on_claim_lost
        self._plugins = plugins
        self._cloud = cloud
        self._claims = claims
        self._wake_senders = wake_senders
        self._attempts = settings.booking_attempts
        self._deadline = settings.effect_deadline
        self.starter = EventStarter(plugins, settings, claims.owner, filters, resumes=resumes)
        self._settler = EventSettler(plugins, settings, claims.owner, filters)

    def work(self, lease_id: str) -> None:
        """Process all due events of a claimed lease.

        After an error the claim expires, and the next manager that claims the lease
        continues.
        """
        guard = self._claims.guard(lease_id)
        with self.errors_of(lease_id):
            while guard is not None and self._one(guard, lease_id):
                continue

    def settle(self, guard: ClaimGuard, job: Job, report: Report) -> None:
        """Settle a job, and process all other due events of its lease."""
        with self.errors_of(job.lease.id):
            if self._settled(guard, job, report):
                self.work(job.lease.id)

    @contextlib.contextmanager
    def errors_of(self, lease_id: str) -> Iterator[None]:
        """Log the errors of the work on a lease."""
        try:
            with Working(WorkContext(lease_id)):
                yield
        except ClaimLost:
            # oslo.log appends the exception, which says why.
            LOG.warning('Lease %s: another manager continues with it', lease_id)
            recording.count(catalogue.LOST_CLAIMS)
            self._on_claim_lost()
        except exceptions.DatabaseUnavailable:
            # The store logs why, once a minute.
            LOG.debug('Lease %s: it will be retried', lease_id, exc_info=True)
        except Exception:
            LOG.exception('Lease %s: unexpected error; it will be retried', lease_id)

    def perform(self, guard: ClaimGuard, job: Job) -> Report:
        """Run the effects of a job, fenced by the claim on its lease.

        :raises climate.cloud.fence.ClaimLost: if the claim may have expired
        """
        return perform(job, self._plugins, Fenced(self._cloud, guard.check, self._record))

    def settle_in(self, tx: Transaction, guard: ClaimGuard, job: Job, report: Report) -> bool:
        """Settle a job in a transaction; return whether more of its lease is due now.

        :raises climate.cloud.fence.ClaimLost: if the claim may have expired
        """
        more = self.settle_locked(tx, job, report)
        # The row is locked, so that the claim cannot change before the commit. In SQL, a
        # later claim of this manager looks the same, and a plugin may have caught
        # the exception of the fence; so the claim itself is checked, too.
        guard.check()
        return more

    def measure(self, job: Job, report: Report, at: datetime.datetime) -> None:
        """Record a job that was settled *at* an instant (aware UTC), for metrics."""
        measures.settled(job, report, self._deadline, at)

    def settle_locked(self, tx: Transaction, job: Job, report: Report) -> bool:
        """Settle a job as :meth:`settle_in` does, whose claim the caller has checked.

        The row of the lease has to be locked since before that check.
        """
        return self._settler.settle(tx, job, report)

    def _one(self, guard: ClaimGuard, lease_id: str) -> bool:
        job = self._begin(lease_id)
        if job is None:
            self._wake_senders()
            return False
        return self._settled(guard, job, self.perform(guard, job))

    def _settled(self, guard: ClaimGuard, job: Job, report: Report) -> bool:
        more, at = self._store.run(lambda tx: (self.settle_in(tx, guard, job, report), tx.now))
        self.measure(job, report, at)
        self._wake_senders()
        return more

    def _begin(self, lease_id: str) -> Job | None:
        begin = functools.partial(self.starter.begin, lease_id=lease_id)
        for _ in range(self._attempts):
            try:
                return self._store.run(begin)
            except (LostRace, exceptions.BookedMeanwhile):
                continue
        # Others were faster each time. Start without a move; a later attempt may move it.
        return self._store.run(functools.partial(begin, moves=False))
