# SPDX-License-Identifier: Apache-2.0

"""Rehearses a new lease or a change: everything is chosen and verified, nothing is kept.

A rehearsal runs the transaction of the booking and rolls it back. It reads in the cloud
what a request names, but makes nothing there, and asks only filters that need no other
service.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any
from typing import cast
from typing import TypeVar

from climate.booking.requests import new_leases
from climate.booking.requests import prepare
from climate.booking.requests.context import Context
from climate.booking.requests.prepare import Findings
from climate.booking.requests.prepare import Missing
from climate.booking.writing import change as changes
from climate.booking.writing import commit
from climate.booking.writing import create
from climate.booking.writing.commit import AllocationRequest
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.domain.requests import LeaseDraft

R = TypeVar('R', bound=AllocationRequest)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class DryRun:
    """What a booking would do now.

    :ivar lease: as it would be; ids of new objects are of no use
    :ivar allocations: all that it would have
    :ivar unasked: names of the filters that were not asked
    :ivar displaced: the flexible leases that would give way to it, as they would be then
    """

    lease: Lease
    allocations: tuple[Allocation, ...]
    unasked: tuple[str, ...]
    displaced: tuple[Lease, ...] = ()


class _RolledBackStore:
    """A store whose transactions are rolled back."""

    def __init__(self, store: Store) -> None:
        self.run = functools.partial(store.run, undone=True)
        self.reading = store.reading


@dataclasses.dataclass(frozen=True, kw_only=True)
class _DryRunWork(commit.BookingWork[R]):
    """Work that notes what it would write.

    :ivar target: the work that is rehearsed
    :ivar noted: the last request that it wrote
    """

    target: commit.BookingWork[R]
    noted: list[R] = dataclasses.field(default_factory=list)

    def choose(self, tx: Transaction) -> R | Missing:
        """Choose what the work would book."""
        return self.target.choose(tx)

    def write(self, tx: Transaction, request: R, charge_id: str | None = None) -> Lease:
        """Write it, as if nothing had been made in the cloud."""
        self.noted[:] = [request]
        written = dataclasses.replace(self.target, findings=prepare.NOTHING)
        return written.write(tx, request, charge_id)

    def committed(self, request: R) -> None:
        """Record nothing, since nothing is kept."""


def create_lease(
    context: Context,
    caller: Caller,
    draft: LeaseDraft,
    work: type[create.LeaseWork[create.Chosen]] = create.NewLeaseWork,
) -> DryRun:
    """Return what booking a lease would do.

    :param work: what books it
    :raises climate.exceptions.ClimateError: if it would be refused
    """
    new = new_leases.checked(context, caller, draft)
    return rehearse(work(context=context, caller=caller, new=new))


def change_lease(
    context: Context,
    caller: Caller,
    lease_id: str,
    project_id: str | None,
    change: LeaseChange,
    work: type[changes.ChangeWork] = changes.ChangeWork,
) -> DryRun:
    """Return what changing a lease would do.

    :param project_id: None looks in every project
    :param work: what changes it
    :raises climate.exceptions.ClimateError: if it would be refused
    """
    new = changes.ChangeRequest(
        caller=caller, lease_id=lease_id, project_id=project_id, change=change
    )
    return rehearse(work(context=context, caller=caller, new=new))


def rehearse(work: commit.BookingWork[R]) -> DryRun:
    """Rehearse a booking, again and again until no more is to be found in the cloud.

    :raises climate.exceptions.ClimateError: if it would be refused
    """
    context = work.context
    staged = dataclasses.replace(
        context,
        store=cast(Store, _RolledBackStore(context.store)),
        filters=context.filters.local,
        wake=lambda: None,
    )
    target = dataclasses.replace(work, context=staged)
    dry_run = _DryRunWork(context=staged, caller=work.caller, target=target)
    outcome = commit.book(dry_run)
    if isinstance(outcome, Missing):
        findings = inspected(context, work.caller, outcome, work.findings)
        return rehearse(dataclasses.replace(work, findings=findings))
    (request,) = dry_run.noted
    return DryRun(
        lease=outcome,
        allocations=request.allocations,
        # Others only get other resources, which their owners need not decide about.
        displaced=tuple(
            one.lease
            for one in (*request.displaced, *request.cut)
            if one.old is None or one.lease.period != one.old.period
        ),
        unasked=tuple(
            name for name in context.filters.names if name not in context.filters.local.names
        ),
    )


def inspected(context: Context, caller: Caller, missing: Missing, findings: Findings) -> Findings:
    """Return the findings with what is read in the cloud, as if the rest had been made.

    :raises climate.exceptions.ClimateError: if something in the request does not exist
    """
    cloud = functools.partial(context.cloud, caller)
    nothing: dict[str, Any] = {}
    return dataclasses.replace(
        findings,
        inspected={
            **findings.inspected,
            **{one.reservation_id: prepare.inspect(one, cloud) for one in missing.inspections},
        },
        created={
            **findings.created,
            **{(one.reservation_id, one.what): nothing for one in missing.creations},
        },
    )
