# SPDX-License-Identifier: Apache-2.0

"""``openstack lease queue``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from climate.client import nouns
from climate.client.osc import commands
from climate.client.osc import plugin
from climate.client.osc import type_nouns
from climate.client.osc.columns import IdColumn
from climate.client.osc.columns import ShortagesColumn
from climate.client.osc.columns import TimeColumn
from climate.client.sdk.leases import Lease
from climate.client.sdk.proxy import ReservationProxy
from climate.client.sdk.queues import LeaseInQueue


class ShowQueue(commands.Lister):
    """List the flexible leases of your project that may still move or wait, in their order.

    Administrators see those of all projects; others only count them in the places.
    """

    spare = ('Ahead', 'Room at')
    alike = ('Project', 'Priority')

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument('--type', metavar='TYPE', help='Only leases of this resource type')

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and rows."""
        proxy = plugin.client(self.app)
        columns = (
            *('Place', 'ID', 'Name', 'Status', 'Forecast', 'Room at', 'Ahead', 'Waits for'),
            *('Priority', 'Project'),
        )
        query = {'resource_type': parsed_args.type} if parsed_args.type else {}
        return columns, _rows(proxy, proxy.queue(**query))


def _rows(proxy: ReservationProxy, queue: Iterator[LeaseInQueue]) -> Iterator[tuple[Any, ...]]:
    for one in queue:
        type_nouns.learn(proxy, one.waits_for)
        yield (
            one.place,
            IdColumn(one.lease_id),
            one.name,
            one.status,
            TimeColumn(one.forecast),
            TimeColumn(one.room_at),
            ahead(one.ahead),
            ShortagesColumn(one.waits_for),
            one.priority,
            one.project_id,
        )


def of_lease(proxy: ReservationProxy, lease: Lease) -> dict[str, Any]:
    """Return what a flexible lease shows of its place in the queue; no columns for other leases."""
    if lease.earliest is None or lease.status not in ('PENDING', 'WAITING'):
        return {}
    for one in proxy.queue(lease_id=lease.id):
        return {
            'forecast': TimeColumn(one.forecast),
            'room_at': TimeColumn(one.room_at),
            'ahead': ahead(one.ahead),
            'waits_for': ShortagesColumn(one.waits_for),
        }
    return {}


def ahead(value: Mapping[str, Any]) -> str:
    """Return how many leases compete and come before, and how much they require."""
    amounts = [nouns.counted(str(number), kind) for kind, number in value['amounts'].items()]
    return f'{value["leases"]} ({", ".join(amounts)})' if amounts else str(value['leases'])
