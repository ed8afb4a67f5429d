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

"""Holds projects to their limits, in the transaction that books.

A first look, before resources are chosen, locks nothing and spares the search.
The second look is exact: it locks the project, so that of two requests at once
the second one counts what the first one has booked.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Protocol

from climate import exceptions
from climate.allocation import timeline
from climate.db.store import Transaction
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.enforcement.limits import Limits


class Plan(Protocol):
    """A lease as it would be; see :class:`climate.leasing.judging.Plan`."""

    @property
    def lease(self) -> Lease:
        """As it would be."""
        ...

    @property
    def old(self) -> Lease | None:
        """As it is."""
        ...

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        """What it would have."""
        ...

    @property
    def had(self) -> tuple[Allocation, ...]:
        """What it has."""
        ...

    @property
    def limits(self) -> Limits:
        """Those of the project."""
        ...


@contextlib.contextmanager
def refusing(old: Lease | None) -> Iterator[None]:
    """Tell of a limit as clients know refusals: 403 to a new lease, 400 to a change.

    :param old: the lease as it is; None for a new one
    """
    try:
        yield
    except exceptions.ProjectLimit as error:
        if old is not None:
            raise
        raise exceptions.LeaseRefused(error.message) from error


def look(tx: Transaction, limits: Limits, lease: Lease) -> None:
    """Check a new lease before anything is searched for it.

    :raises climate.exceptions.LeaseRefused: naming the limit and both figures
    """
    with refusing(None):
        limits.check_lease(lease, None, tx.now)
        if limits.leases:
            limits.check('leases', tx.projects.leases(lease.project_id) + 1)


@contextlib.contextmanager
def held(tx: Transaction, plan: Plan) -> Iterator[None]:
    """Hold a project to its limits while something is written for it.

    :raises climate.exceptions.LeaseRefused: if it may not have a new lease
    :raises climate.exceptions.ProjectLimit: if it may not have a change
    """
    limits, lease, old = plan.limits, plan.lease, plan.old
    with refusing(old):
        if old is not None:
            limits.check_lease(lease, old, tx.now)
        grows = old is None or _grows(plan, old)
        if (limits.leases and old is None) or (limits.resources and grows):
            tx.projects.lock(lease.project_id)
        if limits.leases and old is None:
            limits.check('leases', tx.projects.leases(lease.project_id) + 1)
        yield
        if limits.resources and grows:
            has = tx.projects.resources(lease.project_id, lease.period)
            peak = timeline.peak(((period, 1) for period in has), lease.period)
            limits.check('resources', peak)


def _grows(plan: Plan, old: Lease) -> bool:
    """Whether the project may have more at some instant than before."""
    new = plan.lease.period
    had = {item.resource_id for item in plan.had}
    return (
        new.start < old.period.start
        or new.end > old.period.end
        or any(item.resource_id not in had for item in plan.allocations)
    )
