# SPDX-License-Identifier: Apache-2.0

"""Compares the database with the cloud, and repairs the differences.

The steps, in this order: contradictions within the database; trusts and other objects of
leases that have ended or were never booked; resources that the cloud has changed; active
leases, which plugins check; objects of ended leases in the cloud, which plugins sweep. A
lease is claimed while it is checked, like for any other work, and only one repair runs at
a time.
"""

from __future__ import annotations

import datetime
import logging
from collections.abc import Iterable
from collections.abc import Iterator

from climate import exceptions
from climate.clock import Clock
from climate.cloud.base import Cloud
from climate.cloud.deletions import Record
from climate.cloud.fence import ClaimGuard
from climate.cloud.fence import ClaimLost
from climate.cloud.fence import Fenced
from climate.cloud.fence import MARGIN
from climate.cloud.read_only import ReadOnlyCloud
from climate.cloud.read_only import WouldChange
from climate.db.leases.intents import Intent
from climate.db.transactions import expired_holds
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.lifecycles import LeaseStatus
from climate.leases.jobs import Job
from climate.leases.jobs import Report
from climate.leases.notices import Plugins
from climate.leases.settings import LeasingSettings
from climate.manager.claims.claims import ClaimKeeper
from climate.manager.periodic import left_trusts
from climate.manager.running.begin import EventStarter
from climate.manager.running.deletions import DeletionRecorder
from climate.manager.running.perform import perform
from climate.manager.running.settle import EventSettler
from climate.plugins.contract import Records
from climate.plugins.contract import SweepFinding
from climate.resources import changes
from climate.upkeep import repair

# A lease that was not booked within this time never will be: filters answer earlier.
_BOOKING_LASTS = datetime.timedelta(hours=1)


def _sweep_intents(
    store: Store, plugins: Plugins, cloud: Cloud, *, dry_run: bool
) -> Iterator[SweepFinding]:
    """Delete the objects in the cloud that were created for leases that were not booked.

    :param dry_run: report what would be done, without doing it
    :raises climate.cloud.fence.ClaimLost: if the claim on the repair has expired
    """
    with store.reading() as tx:
        left = tx.intents.left(tx.now - _BOOKING_LASTS)
    for intent in left:
        what = f'{intent.resource_type} {intent.reservation_id}, which was not booked'
        try:
            done = '' if dry_run else _unmake(store, plugins, cloud, intent)
        except ClaimLost:
            raise
        except exceptions.ClimateError as error:
            yield SweepFinding(what=f'{what}, may have left objects: {error.message}')
        else:
            yield SweepFinding(what=f'{what}, may have left objects', done=done)


def _unmake(store: Store, plugins: Plugins, cloud: Cloud, intent: Intent) -> str:
    plugin = plugins.get(intent.resource_type)
    if plugin is None:
        raise exceptions.UnsupportedResourceType(resource_type=intent.resource_type)
    plugin.unmake(intent.reservation_id, intent.project_id, {}, cloud)
    store.run(lambda tx: tx.intents.forget([intent.reservation_id]))
    return 'removed, if there were any'


LOG = logging.getLogger(__name__)

CHORE = 'repair'
# The duration of the claim on the repair. It is renewed before changes of the cloud, and
# after each step.
_LASTS = datetime.timedelta(minutes=10)
_RENEWED = _LASTS.total_seconds() / 10
# Expired rows deleted in one transaction.
_EXPIRED = 500


class Repair:
    """Finds differences, and repairs those that can be repaired.

    :param claims: claims leases while they are checked; separate from those of the
        claim loop, which would otherwise work on these leases, too
    :param record: records deletions; None for a recorder without an audit trail
    """

    def __init__(
        self,
        store: Store,
        plugins: Plugins,
        cloud: Cloud,
        clock: Clock,
        settings: LeasingSettings,
        claims: ClaimKeeper,
        record: Record | None = None,
    ) -> None:
        self._store = store
        self._record = record or DeletionRecorder(store)
        self._plugins = plugins
        self._cloud = cloud
        self._clock = clock
        self._claims = claims
        self._owner = claims.owner
        self._own_claim = self._new_claim()
        self._fenced = Fenced(cloud, self._guard, self._record)
        self._starter = EventStarter(plugins, settings, claims.owner)
        self._settler = EventSettler(plugins, settings, claims.owner)

    def begun_at(self) -> datetime.datetime | None:
        """Return when the last repair began; None if there was none."""
        with self._store.reading() as tx:
            return tx.chores.begun_at(CHORE)

    def run(
        self, *, lease_id: str | None = None, not_since: datetime.datetime | None = None
    ) -> Iterator[SweepFinding]:
        """Repair, and yield each finding after its repair.

        :param lease_id: only this lease, active or ended
        :param not_since: only if no repair was started after this instant (aware UTC)
        :raises climate.exceptions.Conflict: if another repair is in progress, or the
            clock of this machine is wrong
        :raises climate.exceptions.NotFound: if the lease does not exist
        """
        self._check_lease(lease_id)
        trouble = self._claims.trouble()
        if trouble is not None:
            raise exceptions.Conflict(trouble)
        if not self._take(not_since):
            raise exceptions.Conflict('Another repair is in progress, or has just finished')
        try:
            for step in self._steps(lease_id):
                yield from step
                # A sweep handles a refusal of the fence like one of the cloud.
                self._guard()
                self._renew()
        except ClaimLost:
            LOG.warning('This repair took so long that another one may have begun')
        finally:
            self._store.run(lambda tx: tx.chores.release(CHORE, self._owner))

    def rehearse(self, *, lease_id: str | None = None) -> Iterator[SweepFinding]:
        """Yield what :meth:`run` would find; read-only.

        :raises climate.exceptions.NotFound: if the lease does not exist
        """
        self._check_lease(lease_id)
        with self._store.reading() as tx:
            yield from repair.release_strays(tx, lease_id=lease_id, dry_run=True)
            yield from repair.reschedule(tx, lease_id=lease_id, dry_run=True)
        yield from left_trusts.sweep(self._store, self._cloud, lease_id, dry_run=True)
        if lease_id is None:
            yield from left_trusts.sweep_unconfirmed(self._store, self._cloud, dry_run=True)
            yield from _sweep_intents(self._store, self._plugins, self._cloud, dry_run=True)
        for active in self._active(lease_id):
            yield from self._rehearse_check(active)
        if lease_id is None:
            yield from changes.compare(self._store, self._plugins, self._cloud, dry_run=True)
        for resource_type in self._plugins:
            trial = ReadOnlyCloud(self._cloud)
            records = self._records(resource_type, lease_id)
            yield from self._sweep(resource_type, records, trial, dry_run=True)
            yield from _noted(trial)

    def _steps(self, lease_id: str | None) -> Iterator[Iterable[SweepFinding]]:
        yield self._store.run(
            lambda tx: repair.release_strays(tx, lease_id=lease_id, dry_run=False)
        )
        yield self._store.run(lambda tx: repair.reschedule(tx, lease_id=lease_id, dry_run=False))
        yield left_trusts.sweep(self._store, self._fenced, lease_id, dry_run=False)
        if lease_id is None:
            yield left_trusts.sweep_unconfirmed(self._store, self._fenced, dry_run=False)
            yield _sweep_intents(self._store, self._plugins, self._fenced, dry_run=False)
            self._forget_expired()
            yield changes.compare(self._store, self._plugins, self._fenced, dry_run=False)
        for active in self._active(lease_id):
            yield self._check(active)
        for resource_type in self._plugins:
            records = self._records(resource_type, lease_id)
            yield self._sweep(resource_type, records, self._fenced, dry_run=False)

    def _forget_expired(self) -> None:
        """Delete expired idempotency keys, offers and holds, which are nothing to report."""
        expired_holds.release(self._store)
        while self._store.run(lambda tx: tx.idempotency_keys.forget_expired(_EXPIRED)) == _EXPIRED:
            self._guard()
        while self._store.run(lambda tx: tx.offers.forget_expired(_EXPIRED)) == _EXPIRED:
            self._guard()

    # -- one at a time

    def _take(self, not_since: datetime.datetime | None) -> bool:
        self._own_claim = self._new_claim()
        until = self._clock.now() + _LASTS
        return self._store.run(
            lambda tx: tx.chores.take(CHORE, self._owner, until, not_since=not_since)
        )

    def _new_claim(self) -> ClaimGuard:
        seconds = _LASTS.total_seconds() * (1 - MARGIN)
        return ClaimGuard('the repair', seconds, self._clock.ticks, self._clock.ticks())

    def _renew(self) -> None:
        since, until = self._clock.ticks(), self._clock.now() + _LASTS
        if self._store.run(lambda tx: tx.chores.renew(CHORE, self._owner, until)):
            self._own_claim.renewed(since)
        else:
            self._own_claim.invalidate()

    def _guard(self) -> None:
        """Check the claim on the repair, and renew it if it gets old.

        :raises ClaimLost: if it has expired
        """
        self._own_claim.check()
        if self._own_claim.age() >= _RENEWED:
            self._renew()
        self._own_claim.check()

    # -- what is checked

    def _check_lease(self, lease_id: str | None) -> None:
        """Refuse a lease that never existed; deleted ones may have left objects."""
        if lease_id is None:
            return
        with self._store.reading() as tx:
            if tx.leases.find(lease_id) is None and not tx.reservations.of_leases([lease_id]):
                raise exceptions.NotFound(object={'lease_id': lease_id})

    def _active(self, lease_id: str | None) -> list[str]:
        with self._store.reading() as tx:
            return [item for item in tx.inconsistencies.active() if lease_id in (None, item)]

    def _records(self, resource_type: str, lease_id: str | None) -> Records:
        with self._store.reading() as tx:
            return repair.records(tx, resource_type, lease_id)

    # -- active leases

    def _check(self, lease_id: str) -> list[SweepFinding]:
        if not self._claims.take_one(lease_id):
            LOG.debug('Lease %s: not checked, because it is being worked on', lease_id)
            return []
        try:
            return self._checked(lease_id)
        except ClaimLost:
            LOG.warning('Lease %s: another manager continues with it', lease_id)
            return []
        finally:
            self._claims.forget(lease_id)
            self._store.run(lambda tx: tx.claims.release(self._owner, lease_id))

    def _checked(self, lease_id: str) -> list[SweepFinding]:
        guard = self._claims.guard(lease_id)
        job = self._store.run(lambda tx: self._begin(tx, lease_id))
        if job is None or guard is None:
            return []
        report = perform(job, self._plugins, Fenced(self._cloud, guard.check, self._record))

        def settle(tx: Transaction) -> None:
            self._settler.settle(tx, job, report)
            guard.check()

        self._store.run(settle)
        return _of_report(job, report, 'repaired')

    def _begin(self, tx: Transaction, lease_id: str) -> Job | None:
        lease = tx.leases.claimed(lease_id, self._owner)
        if lease is None or lease.status is not LeaseStatus.ACTIVE:
            return None
        return self._starter.check(tx, lease)

    def _rehearse_check(self, lease_id: str) -> list[SweepFinding]:
        with self._store.reading() as tx:
            lease = tx.leases.find(lease_id)
            if lease is None or lease.status is not LeaseStatus.ACTIVE:
                return []
            job = self._starter.check(tx, lease)
        trial = ReadOnlyCloud(self._cloud)
        report = perform(job, self._plugins, trial)
        if trial.calls and (report.error or report.again is not None or not report.repaired):
            # The check did not finish, because a rehearsal changes nothing.
            return [SweepFinding(what=f'lease {lease_id}: {noted.what}') for noted in _noted(trial)]
        return _of_report(job, report, '')

    # -- ended leases

    def _sweep(
        self, resource_type: str, records: Records, cloud: Cloud, *, dry_run: bool
    ) -> Iterator[SweepFinding]:
        plugin = self._plugins[resource_type]
        try:
            yield from plugin.sweep(records, cloud, dry_run=dry_run)
        except WouldChange:
            # The plugin ignores dry_run; the rehearsal has recorded its calls.
            return
        except ClaimLost:
            raise
        except exceptions.ClimateError as error:
            yield SweepFinding(what=f'{resource_type} cannot be swept: {error.message}')
        except Exception as error:
            LOG.exception('%s: the sweep raised', resource_type)
            yield SweepFinding(what=f'{resource_type} cannot be swept: {type(error).__name__}')


def _of_report(job: Job, report: Report, done: str) -> list[SweepFinding]:
    lease_id = job.lease.id
    findings = [
        SweepFinding(what=f'lease {lease_id}: {line}', done=done) for line in report.repaired
    ]
    if report.error is not None:
        findings.append(SweepFinding(what=f'lease {lease_id}: {report.error.message}'))
    elif report.again is not None:
        findings.append(SweepFinding(what=f'lease {lease_id}: {report.why or "not done yet"}'))
    return findings


def _noted(trial: ReadOnlyCloud) -> Iterator[SweepFinding]:
    for call in trial.calls:
        yield SweepFinding(what=f'{call} is wanted')
