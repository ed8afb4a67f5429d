# SPDX-License-Identifier: Apache-2.0

"""What a booking would do, as JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from climate.allocation import shares
from climate.api.views.lease_writer import LeaseWriter
from climate.booking.writing.rehearsal import Rehearsed
from climate.domain.holdings import Holding
from climate.domain.leases import Allocation
from climate.domain.leases import Reservation
from climate.domain.listed import ListedLease


def text(value: Rehearsed, writer: LeaseWriter, *, named: bool) -> str:
    """Return what a booking would do.

    :param named: whether the caller may see the names of the resources
    """
    # What is rolled back holds nothing.
    parts = tuple(dataclasses.replace(one, holding=Holding()) for one in value.lease.reservations)
    lease = dataclasses.replace(value.lease, reservations=parts)
    chosen = [_chosen(one, value.allocations, named=named) for one in value.lease.reservations]
    return (
        f'{{"lease": {writer.object(ListedLease.of(lease))}, "reservations": {json.dumps(chosen)},'
        f' "filters_not_asked": {json.dumps(list(value.unasked))}}}'
    )


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
