# SPDX-License-Identifier: Apache-2.0

"""``openstack lease``: show and wait, and what the other commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Final

from openstack import exceptions as sdk_exceptions
from osc_lib import exceptions

from climate.client import nouns
from climate.client import terminal
from climate.client import times
from climate.client.osc import commands
from climate.client.osc import holdings
from climate.client.osc import options
from climate.client.osc import plugin
from climate.client.osc import prefixes
from climate.client.osc import queue
from climate.client.osc import type_nouns
from climate.client.osc.columns import attributes
from climate.client.osc.columns import DurationColumn
from climate.client.osc.columns import DurationsColumn
from climate.client.osc.columns import EventsColumn
from climate.client.osc.columns import NamesColumn
from climate.client.osc.columns import period
from climate.client.osc.columns import ReservationsColumn
from climate.client.sdk import errors
from climate.client.sdk.leases import Lease
from climate.client.sdk.proxy import ReservationProxy
from climate.domain import lifecycles

_PATIENCE: Final = '10m'
_INTERVAL: Final = 1
_TABLES: Final = ('table', 'wide')


def shown(lease: Any) -> dict[str, Any]:
    """Return the columns of a lease, and their values."""
    return {
        **attributes(lease, 'id', 'name', 'status'),
        'degraded': lease['degraded'] if 'degraded' in lease else lease['is_degraded'],
        **period(lease),
        **_window(lease),
        **_slices(lease),
        'end_reason': lease['end_reason'] or '',
        'reservations': ReservationsColumn(lease['reservations']),
        'resources': NamesColumn(
            [name for each in lease['reservations'] or () for name in holdings.resource_names(each)]
        ),
        'instructions': holdings.instructions(lease['reservations']),
        'events': EventsColumn(lease['events']),
        'notify_before_start': DurationsColumn(lease['notify_before_start']),
        'notices': NamesColumn(lease['notices']),
        'project_id': lease['project_id'],
        'project_name': lease['project_name'] or '',
        'user_id': lease['user_id'],
        'user_name': lease['user_name'] or '',
    }


def _window(lease: Any) -> dict[str, Any]:
    """Return the columns that only flexible leases have."""
    if lease['earliest'] is None:
        return {}
    waits = ('wait_until',) if lease['wait_until'] else ()
    return attributes(lease, 'earliest', 'latest', 'firm_at', *waits)


def _slices(lease: Any) -> dict[str, Any]:
    """Return the columns that only preemptible leases have."""
    if not lease['preemptible']:
        return {}
    return {
        'yield': lease['yields'],
        'min_duration': DurationColumn(lease['min_duration']),
        'time_left': DurationColumn(lease['time_left']),
    }


def rehearse(proxy: ReservationProxy, request: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the columns of a lease that a request would book, and their values.

    :param request: sends it
    :raises osc_lib.exceptions.CommandError: with the reasons, if it is refused
    """
    try:
        answer = request()
    except errors.RefusedRequest as error:
        raise exceptions.CommandError(type_nouns.describe(proxy, error)) from None
    type_nouns.learn(proxy, answer['reservations'])
    return rehearsed(answer)


def rehearsed(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of a lease that was rehearsed, and their values."""
    lease = answer['lease']
    amounts = [_rehearsed_amount(each) for each in answer['reservations']]
    return {
        'dry_run': True,
        **attributes(lease, 'name', 'start_date', 'end_date'),
        'resources': '\n'.join(amounts),
        'filters_not_asked': ', '.join(answer['filters_not_asked']),
        **({'displaced': _displaced(answer['displaced'])} if 'displaced' in answer else {}),
    }


def _displaced(answer: Mapping[str, Any]) -> str:
    """Return which leases would give way, and when they would begin."""
    lines = [
        f'{one["name"]} would begin {times.write(one["start_date"])}' for one in answer['leases']
    ]
    if answer['others']:
        lines.append(f'leases of other projects: {answer["others"]}')
    return '\n'.join(lines)


def _rehearsed_amount(each: Mapping[str, Any]) -> str:
    """Return what a reservation would get: whole resources, or units of classes."""
    kind, number = str(each['resource_type']), str(each['resources'])
    units = ', '.join(f'{amount} {name}' for name, amount in sorted(each['classes'].items()))
    return f'{nouns.plural(kind)}: {units}' if units else nouns.counted(number, kind)


class LeaseCommand(commands.ShowOne):
    """A command that shows a lease, and what one does with it."""

    def produce_output(self, parsed_args: argparse.Namespace, column_names: Any, data: Any) -> int:
        """Write the lease in the format that the user chose.

        Tables have commands to copy below them, where no border breaks them.
        """
        if parsed_args.formatter not in _TABLES or parsed_args.columns:
            return super().produce_output(parsed_args, column_names, data)
        values = dict(zip(column_names, data, strict=True))
        # The column of the reservations has the names.
        values.pop('resources', None) if 'instructions' in values else None
        steps = values.pop('instructions', ())
        if 'reservations' in values:
            type_nouns.learn(plugin.client(self.app), values['reservations'].machine_readable())
        status = super().produce_output(parsed_args, tuple(values), tuple(values.values()))
        for each in steps:
            self.app.stdout.write(terminal.shown(f'{holdings.written(each, values["status"])}\n'))
        return status


def find(proxy: ReservationProxy, name: str) -> Lease:
    """Return the lease of a name, an id, or the beginning of an id.

    A lease that has ended does not compete for its name with one that has not.

    :raises osc_lib.exceptions.CommandError: if there is none, or if several have the name
    """
    try:
        lease = proxy.find_lease(name)
    except sdk_exceptions.DuplicateResource:
        named = [each for each in proxy.leases() if each.name == name]
        present = [each for each in named if each.status != 'TERMINATED']
        if len(present) == 1:
            return proxy.get_lease(present[0].id)
        alike = ', '.join(f'{each.id} (from {times.write(each.start_date)})' for each in named)
        raise exceptions.CommandError(
            f'Several leases have the name {name!r}; use an id: {alike}'
        ) from None
    return lease or prefixes.found(proxy.leases(), name, 'lease')


def add_lease(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names a lease."""
    parser.add_argument('lease', metavar='LEASE', type=options.name, help='Name or ID of the lease')


def add_status(parser: argparse.ArgumentParser, about: str) -> None:
    """Add the option for the status that a command awaits."""
    parser.add_argument(
        '--status', default='ACTIVE', metavar='STATUS', type=str.upper,
        choices=[str(each) for each in lifecycles.LeaseStatus], help=about,
    )  # fmt: skip


class ShowLease(LeaseCommand):
    """Show a lease."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_lease(parser)

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the values of the columns."""
        # Lists have no names of resources.
        lease = holdings.completed(proxy, proxy.get_lease(find(proxy, parsed.lease)))
        return {**shown(lease), **queue.of_lease(proxy, lease)}


class WaitForLease(LeaseCommand):
    """Wait until a lease has a status, ACTIVE by default."""

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        add_lease(parser)
        add_status(parser, 'Status to wait for')
        parser.add_argument(
            '--timeout',
            type=options.duration,
            default=_PATIENCE,
            metavar='DURATION',
            help=f'Give up after this time, {_PATIENCE} by default',
        )

    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Wait, and return the values of the columns."""
        lease = find(proxy, parsed.lease)
        seconds = parsed.timeout.total_seconds()
        try:
            lease = proxy.wait_for_lease(lease, parsed.status, _INTERVAL, seconds)
        except (sdk_exceptions.ResourceTimeout, sdk_exceptions.ResourceFailure):
            status = proxy.get_lease(lease).status
            raise exceptions.CommandError(f'Lease {lease.name!r} is {status}') from None
        return shown(lease)
