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

"""``openstack lease``: show, list, delete and wait."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any
from typing import Final

from openstack import exceptions as sdk_exceptions
from osc_lib import exceptions
from osc_lib.command import command

from climate.client.osc import commands
from climate.client.osc import options
from climate.client.osc import plugin
from climate.client.osc import projects
from climate.client.osc.columns import DurationsColumn
from climate.client.osc.columns import EventsColumn
from climate.client.osc.columns import NamesColumn
from climate.client.osc.columns import ReservationsColumn
from climate.client.osc.columns import summary
from climate.client.osc.columns import TimeColumn
from climate.client.sdk.leases import Lease
from climate.client.sdk.proxy import ReservationProxy
from climate.domain import lifecycles

_PATIENCE: Final = '10m'
_INTERVAL: Final = 1


def shown(lease: Any) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Return the columns of a lease, and their values."""
    columns = {
        'id': lease['id'],
        'name': lease['name'],
        'status': lease['status'],
        'degraded': lease['degraded'] if 'degraded' in lease else lease['is_degraded'],
        'start_date': TimeColumn(lease['start_date']),
        'end_date': TimeColumn(lease['end_date']),
        'end_reason': lease['end_reason'] or '',
        'reservations': ReservationsColumn(lease['reservations']),
        'events': EventsColumn(lease['events']),
        'notify_before_start': DurationsColumn(lease['notify_before_start']),
        'notices': NamesColumn(lease['notices']),
        'project_id': lease['project_id'],
        'user_id': lease['user_id'],
    }
    return tuple(columns), tuple(columns.values())


def rehearsed(answer: dict[str, Any]) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Return the columns of a lease that was rehearsed, and their values."""
    lease = answer['lease']
    amounts = [
        f'{each["resources"]} of {each["resource_type"]}'
        + ''.join(f', {amount} {name}' for name, amount in sorted(each['classes'].items()))
        for each in answer['reservations']
    ]
    columns = {
        'dry_run': True,
        'name': lease['name'],
        'start_date': TimeColumn(lease['start_date']),
        'end_date': TimeColumn(lease['end_date']),
        'resources': '\n'.join(amounts),
        'filters_not_asked': ', '.join(answer['filters_not_asked']),
    }
    return tuple(columns), tuple(columns.values())


def find(proxy: ReservationProxy, name: str) -> Lease:
    """Return the lease of a name or an id.

    :raises osc_lib.exceptions.CommandError: if there is none, or if several have the name
    """
    try:
        found = proxy.find_lease(name)
    except sdk_exceptions.DuplicateResource:
        raise exceptions.CommandError(f'Several leases have the name {name!r}; use an id') from None
    if found is None:
        raise exceptions.CommandError(f'There is no lease {name!r}')
    return found


def add_lease(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names a lease."""
    parser.add_argument('lease', metavar='LEASE', type=options.name, help='Name or ID of the lease')


def add_status(parser: argparse.ArgumentParser, about: str) -> None:
    """Add the option for the status that a command awaits."""
    parser.add_argument(
        '--status', default='ACTIVE', metavar='STATUS', type=str.upper,
        choices=[str(each) for each in lifecycles.LeaseStatus], help=about,
    )  # fmt: skip


class ListLeases(commands.Lister):
    """List the leases of your project, or of all."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the options."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--status', metavar='STATUS', help='Only leases of this status, such as ACTIVE'
        )
        parser.add_argument('--name', metavar='NAME', help='Only leases of this name')
        parser.add_argument('--type', metavar='TYPE', help='Only leases of this resource type')
        projects.add_projects(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and rows."""
        proxy = plugin.client(self.app)
        query = {
            'status': parsed_args.status and parsed_args.status.upper(),
            'name': parsed_args.name,
            'resource_type': parsed_args.type,
        }
        given = {key: value for key, value in query.items() if value}
        if given or parsed_args.project:
            proxy.require('1.1', 'filters')
        project = projects.wanted(self.app, parsed_args)
        if project and proxy.microversion() != '1.0':
            given['project_id'] = project
        every = parsed_args.all_projects
        found = (each for each in proxy.leases(**given) if project in (None, each.project_id))
        columns = ('ID', 'Name', 'Status', 'Start', 'End', 'Reservations')
        return (*columns, *(['Project'] if every else [])), _rows(found, every)


def _rows(leases: Iterator[Lease], with_project: bool) -> Iterator[tuple[Any, ...]]:
    for lease in leases:
        # Ids of reservations would widen the table beyond a terminal.
        items = [
            {key: value for key, value in each.items() if key not in ('id', 'status')}
            for each in lease.reservations or ()
        ]
        yield (
            lease.id,
            lease.name,
            lease.status,
            TimeColumn(lease.start_date),
            TimeColumn(lease.end_date),
            '\n'.join(map(summary, items)),
            *([lease.project_id] if with_project else []),
        )


class ShowLease(commands.ShowOne):
    """Show a lease."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the options."""
        parser = super().get_parser(prog_name)
        add_lease(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and values."""
        return shown(find(plugin.client(self.app), parsed_args.lease))


class DeleteLease(command.Command):
    """Cancel or end leases, and delete them."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the options."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'leases', metavar='LEASE', nargs='+', type=options.name,
            help='Name or ID of the lease',
        )  # fmt: skip
        parser.add_argument('--wait', action='store_true', help='Wait until the leases are gone')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Delete the leases; look all of them up before the first is deleted."""
        proxy = plugin.client(self.app)
        found = [find(proxy, name) for name in parsed_args.leases]
        for lease in found:
            proxy.delete_lease(lease)
        for lease in found if parsed_args.wait else ():
            proxy.wait_for_deleted_lease(lease.id, interval=_INTERVAL)


class WaitForLease(commands.ShowOne):
    """Wait until a lease has a status, ACTIVE by default."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the options."""
        parser = super().get_parser(prog_name)
        add_lease(parser)
        add_status(parser, 'Status to wait for')
        parser.add_argument(
            '--timeout',
            type=options.duration,
            default=_PATIENCE,
            metavar='DURATION',
            help=f'Give up after this time, {_PATIENCE} by default',
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Wait, and return columns and values."""
        proxy = plugin.client(self.app)
        lease = find(proxy, parsed_args.lease)
        seconds = parsed_args.timeout.total_seconds()
        try:
            lease = proxy.wait_for_lease(lease, parsed_args.status, _INTERVAL, seconds)
        except (sdk_exceptions.ResourceTimeout, sdk_exceptions.ResourceFailure):
            status = proxy.get_lease(lease).status
            raise exceptions.CommandError(f'Lease {lease.name!r} is {status}') from None
        return shown(lease)
