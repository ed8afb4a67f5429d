# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Rehearses a new lease or a change: everything is chosen and judged, nothing is kept.

A rehearsal runs the transaction of the booking and rolls it back. It reads in the cloud
what a request names, but makes nothing there, and asks only filters that need no other
service.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from collections.abc import Sequence
from typing import Any
from typing import cast
from typing import TypeVar

from climate.booking import change as changes
from climate.booking import commit
from climate.booking import create
from climate.booking import prepare
from climate.booking.commit import AllocationRequest
from climate.booking.context import Context
from climate.booking.prepare import Findings
from climate.booking.prepare import Missing
from climate.db.store import Store
from climate.db.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.domain.requests import LeaseDraft

T = TypeVar('T')
R = TypeVar('R', bound=AllocationRequest)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Rehearsed:
    """What a booking would do now.

    :ivar lease: as it would be; ids of new objects are of no use
    :ivar allocations: all that it would have
    :ivar unasked: names of the filters that were not asked
    """

    lease: Lease
    allocations: tuple[Allocation, ...]
    unasked: tuple[str, ...]


class _Stage:
    """A store whose transactions are rolled back."""

    def __init__(self, store: Store) -> None:
        self.run = functools.partial(store.run, undone=True)
        self.reading = store.reading


def create_lease(context: Context, caller: Caller, draft: LeaseDraft) -> Rehearsed:
    """Return what booking a lease would do.

    :raises climate.exceptions.ClimateError: if it would be refused
    """
    new = create.checked(context, caller, draft)

    def steps(staged: Context, findings: Findings) -> commit.Steps[create.Chosen]:
        return commit.Steps(
            choose=lambda tx: create.choose(tx, staged, new, findings),
            write=lambda tx, chosen, _: create.write(tx, staged, chosen),
        )

    return rehearsed(context, caller, steps)


def change_lease(
    context: Context, caller: Caller, lease_id: str, project_id: str | None, change: LeaseChange
) -> Rehearsed:
    """Return what changing a lease would do.

    :param project_id: None looks in every project
    :raises climate.exceptions.ClimateError: if it would be refused
    """
    new = changes.ChangeRequest(
        caller=caller, lease_id=lease_id, project_id=project_id, change=change
    )

    def steps(staged: Context, findings: Findings) -> commit.Steps[changes.Changed]:
        return commit.Steps(
            choose=lambda tx: changes.choose(tx, staged, new, findings),
            write=lambda tx, changed, charge_id: changes.write(tx, staged, new, changed, charge_id),
        )

    return rehearsed(context, caller, steps)


def rehearsed(
    context: Context,
    caller: Caller,
    steps: Callable[[Context, Findings], commit.Steps[R]],
    findings: Findings = prepare.NOTHING,
) -> Rehearsed:
    """Rehearse a booking, again and again until no more is to be found in the cloud.

    :raises climate.exceptions.ClimateError: if it would be refused
    """
    staged = dataclasses.replace(
        context,
        store=cast(Store, _Stage(context.store)),
        filters=context.filters.local,
        wake=lambda: None,
    )
    allocations: Sequence[Allocation] = ()

    def write(tx: Transaction, request: R, charge_id: str | None) -> Lease:
        nonlocal allocations
        allocations = request.allocations
        return wanted.write(tx, request, charge_id)

    wanted = steps(staged, findings)
    outcome = commit.book(staged, caller, dataclasses.replace(wanted, write=write))
    if isinstance(outcome, Missing):
        return rehearsed(context, caller, steps, found(context, caller, outcome, findings))
    return Rehearsed(
        lease=outcome,
        allocations=tuple(allocations),
        unasked=tuple(
            name for name in context.filters.names if name not in context.filters.local.names
        ),
    )


def found(context: Context, caller: Caller, missing: Missing, findings: Findings) -> Findings:
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
