# SPDX-License-Identifier: Apache-2.0

"""``openstack reservable resource allocation list``: when resources are reserved."""

from __future__ import annotations

import argparse
from typing import Any

from climate.client.osc import commands
from climate.client.osc import leases
from climate.client.osc import plugin
from climate.client.osc.columns import IdColumn
from climate.client.osc.columns import TimeColumn
from climate.client.osc.columns import ValuesColumn


class ListAllocations(commands.Lister):
    """List when resources are reserved; ``lease calendar`` draws it."""

    spare = ('Reservation', 'Amounts')

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument('--type', metavar='TYPE', help='Only resources of this type')
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            '--resource', metavar='RESOURCE', help='Only this resource, by name or ID'
        )
        which.add_argument('--lease', metavar='LEASE', help='Only this lease, by name or ID')

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and rows."""
        proxy = plugin.client(self.app)
        query = {'type': parsed_args.type} if parsed_args.type else {}
        if parsed_args.resource:
            resource = proxy.find_resource(parsed_args.resource, parsed_args.type)
            listed = [proxy.get_resource_allocations(resource)]
        else:
            if parsed_args.lease:
                query['lease_id'] = leases.find(proxy, parsed_args.lease).id
            listed = list(proxy.allocations(**query))
        rows = (
            (
                each.resource_name,
                TimeColumn(one['start_date']),
                TimeColumn(one['end_date']),
                IdColumn(one['lease_id']),
                IdColumn(one['id']),
                ValuesColumn(one.get('resources')),
            )
            for each in listed
            for one in each.reservations
        )
        return ('Resource', 'Start', 'End', 'Lease', 'Reservation', 'Amounts'), rows
