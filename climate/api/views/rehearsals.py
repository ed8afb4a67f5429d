# SPDX-License-Identifier: Apache-2.0

"""What a booking would do, as JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from climate.allocation import shares
from climate.api.http import dates
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_8
from climate.api.views.lease_writer import LeaseWriter
from climate.booking.writing.rehearsal import DryRun
from climate.domain.holdings import Holding
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.listed import ListedLease
from climate.domain.requests import Caller


def text(value: DryRun, writer: LeaseWriter, caller: Caller, version: Microversion) -> str:
    """Return what a booking would do.

    Only those who see all projects see the names of the resources.
    """
    named = caller.all_projects
    # What is rolled back holds nothing.
    parts = tuple(dataclasses.replace(one, holding=Holding()) for one in value.lease.reservations)
    lease = dataclasses.replace(value.lease, reservations=parts)
    chosen = [_chosen(one, value.allocations, named=named) for one in value.lease.reservations]
    shown: dict[str, Any] = {'reservations': chosen, 'filters_not_asked': list(value.unasked)}
    if version >= V1_8:
        shown['displaced'] = _displaced(value.displaced, caller, version)
    return f'{{"lease": {writer.object(ListedLease.of(lease))}, {json.dumps(shown)[1:]}'


def _displaced(leases: Sequence[Lease], caller: Caller, version: Microversion) -> dict[str, Any]:
    """Return where the displaced leases would be, and how many are of other projects."""
    mine = [one for one in leases if caller.all_projects or one.project_id == caller.project_id]
    found = [
        {
            'id': one.id,
            'name': one.name,
            'start_date': dates.write(one.period.start, version),
            'end_date': dates.write(one.period.end, version),
        }
        for one in mine
    ]
    return {'leases': found, 'others': len(leases) - len(mine)}


def _chosen(
    reservation: Reservation, allocations: Sequence[Allocation], *, named: bool
) -> dict[str, Any]:
    mine = [item for item in allocations if item.reservation_id == reservation.id]
    names = sorted({item.resource_name for item in mine})
    shown: dict[str, Any] = {
        'id': reservation.id,
        'resource_type': reservation.resource_type,
        'resources': len(names),
        'classes': {name: units for name, units in shares.total(mine).items() if name},
    }
    if named:
        shown['resource_names'] = names
    return shown
