# SPDX-License-Identifier: Apache-2.0
"""Reports on the resources of a lease: which are ready, and which are not yet.

A service that gets resources ready, such as one that switches hosts on, is
notified that a lease starts soon, and reports its progress here.
"""

from __future__ import annotations

import dataclasses

from climate import exceptions
from climate.db.transactions.store import Transaction
from climate.domain.events import Event
from climate.domain.history import StepState
from climate.domain.leases import Lease
from climate.domain.leases import Readiness
from climate.domain.lifecycles import LeaseStatus
from climate.domain.requests import Check
from climate.leases import history
from climate.leases import notices

_S = LeaseStatus
_OPEN = frozenset({_S.PENDING, _S.STARTING, _S.ACTIVE, _S.UPDATING})


def record(
    tx: Transaction,
    plugins: notices.Plugins,
    lease_id: str,
    report: Readiness,
    check: Check | None = None,
) -> Lease:
    """Store a report, and send a notification once everything is ready.

    A repeated report sends no second notification.

    :param lease_id: id of a lease of any project
    :param check: of the lease before; None for none
    :raises climate.exceptions.NotFound: if there is no such lease
    :raises climate.exceptions.InvalidState: if it has ended
    """
    lease = tx.leases.get(lease_id, lock=True)
    if check is not None:
        check(tx.holdings.added(lease))
    if lease.status not in _OPEN:
        raise exceptions.InvalidState(state=lease.status, id=lease.id)
    before = lease.readiness
    lease = dataclasses.replace(lease, readiness=report, updated_at=tx.now)
    tx.leases.update(lease)
    same = before is not None and dataclasses.replace(before, at=report.at) == report
    if report.ready and not report.waiting and not same:
        notices.notify(tx, plugins, 'lease.ready', lease, readiness=report)
    return lease


def at_start(tx: Transaction, plugins: notices.Plugins, lease: Lease, event: Event) -> None:
    """Send a notification if a lease starts while some of its resources are not ready."""
    report = lease.readiness
    if report is not None and report.waiting:
        notices.notify(tx, plugins, 'lease.not_ready', lease, event=event, readiness=report)
        text = f'{report.by} says that {", ".join(report.waiting)} is not ready yet'
        history.note(tx, event, StepState.DONE, text=text)
