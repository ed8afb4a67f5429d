# SPDX-License-Identifier: Apache-2.0

"""``openstack lease``: reallocate."""

from __future__ import annotations

import argparse
import types
from typing import Any

from osc_lib import exceptions

from climate.client.osc import leases
from climate.client.osc import prefixes
from climate.client.osc import type_nouns
from climate.client.sdk import errors
from climate.client.sdk.leases import Lease
from climate.client.sdk.proxy import ReservationProxy


class ReallocateLease(leases.LeaseCommand):
    """Replace a resource of a lease with another one."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        leases.add_lease(parser)
        parser.add_argument('resource', metavar='RESOURCE', help='Name of the resource to replace')
        parser.add_argument(
            '--reservation', metavar='ID', help='The reservation, if several have the resource'
        )
        parser.add_argument(
            '--reason', metavar='TEXT', default='', help='Reason, which the owner sees'
        )
        parser.add_argument(
            '--force', action='store_true',
            help='Replace it even if it is in use; what runs on it is lost (administrators)',
        )  # fmt: skip

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Replace it, and return the values of the columns."""
        lease = leases.find(proxy, parsed.lease)
        if parsed.reservation:
            items = [types.SimpleNamespace(id=each['id']) for each in lease.reservations]
            reservation = prefixes.whole(items, parsed.reservation, 'reservation')
        else:
            reservation = _reservation(proxy, lease, parsed.resource)
        try:
            moved = proxy.reallocate_lease(
                lease,
                reservation,
                resource_name=parsed.resource,
                reason=parsed.reason,
                force=parsed.force,
            )
        except errors.RefusedRequest as error:
            raise exceptions.CommandError(type_nouns.describe(proxy, error)) from None
        return leases.shown(moved)


def _reservation(proxy: ReservationProxy, lease: Lease, name: str) -> str:
    """Return the id of the reservation that has a resource."""
    ids = {
        each['id']
        for kind in {str(each['resource_type']) for each in lease.reservations}
        for resource in proxy.allocations(type=kind, lease_id=lease.id)
        if resource.resource_name == name
        for each in resource.reservations
    }
    if not ids:
        raise exceptions.CommandError(f'Lease {lease.name!r} does not have {name!r}')
    if len(ids) > 1:
        raise exceptions.CommandError(
            f'Several reservations have {name!r}; use --reservation: {", ".join(sorted(ids))}'
        )
    return str(ids.pop())
