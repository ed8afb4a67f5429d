# SPDX-License-Identifier: Apache-2.0

"""``openstack lease delete``."""

from __future__ import annotations

import argparse
import sys
from typing import Final

from osc_lib import exceptions

from climate.client import nouns
from climate.client import terminal
from climate.client import times
from climate.client.osc import commands
from climate.client.osc import holdings
from climate.client.osc import leases
from climate.client.osc import options
from climate.client.osc import plugin
from climate.client.osc import type_nouns
from climate.client.sdk.leases import Lease
from climate.domain.lifecycles import LeaseStatus

_INTERVAL: Final = 1
_MOST: Final = 10
_HOST: Final = 'physical:host'
# Whose resources users have nothing on.
_EMPTY: Final = (LeaseStatus.PENDING, LeaseStatus.TERMINATED)


class DeleteLease(commands.Command):
    """Cancel or end leases, and delete them.

    On a terminal, what is deleted is shown first, and has to be confirmed.
    """

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            'leases', metavar='LEASE', nargs='+', type=options.name,
            help='Name or ID of the lease',
        )  # fmt: skip
        parser.add_argument('--yes', action='store_true', help='Do not ask on a terminal')
        parser.add_argument('--wait', action='store_true', help='Wait until the leases are gone')

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Delete the leases; look all of them up before the first is deleted.

        :raises osc_lib.exceptions.CommandError: if the user does not confirm it
        """
        proxy = plugin.client(self.app)
        given = [leases.find(proxy, name) for name in parsed_args.leases]
        if not parsed_args.yes and sys.stdin.isatty() and sys.stderr.isatty():
            whole = [holdings.completed(proxy, proxy.get_lease(each)) for each in given]
            for each in whole:
                type_nouns.learn(proxy, each.reservations)
            _confirm('\n'.join(map(effect, whole)))
        for lease in given:
            proxy.delete_lease(lease)
        for lease in given if parsed_args.wait else ():
            proxy.wait_for_deleted_lease(lease.id, interval=_INTERVAL)


def effect(lease: Lease) -> str:
    """Return what the deletion of a lease does."""
    what = ', '.join(
        nouns.counted(holdings.amount(each), str(each['resource_type']))
        for each in lease.reservations or ()
    )
    if lease.status == LeaseStatus.TERMINATED:
        return f'This removes {lease.name!r}, which has ended, from the list.'
    if lease.status == LeaseStatus.PENDING:
        start = times.write(lease.start_date)
        return f'This cancels {lease.name!r} ({what}), which starts {start}.'
    lost = ' and '.join(filter(None, (_servers(lease), _others(lease))))
    return f'This ends {lease.name!r} ({what}) and {lost or "releases its resources"}.'


def _servers(lease: Lease) -> str:
    """Return what is lost on whole hosts; '' if the lease has none."""
    items = [each for each in lease.reservations or () if each['resource_type'] == _HOST]
    names = [name for each in items for name in holdings.resource_names(each)]
    if not items:
        return ''
    count = max(len(names), *(each.get('resources_count') or 0 for each in items))
    more = [f'{count - _MOST} more'] if count > _MOST else []
    *most, last = [*names[:_MOST], *more] or ['its hosts']
    hosts = f'{", ".join(most)} and {last}' if most else last
    return f'deletes all servers on {hosts}'


def _others(lease: Lease) -> str:
    return (
        'releases its other resources'
        if any(each['resource_type'] != _HOST for each in lease.reservations or ())
        and _servers(lease)
        else ''
    )


def _confirm(text: str) -> None:
    question = 'It cannot be undone. Delete? [y/N] '
    sys.stderr.write(terminal.shown(f'{text}\n{question}'))
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ('y', 'yes'):
        raise exceptions.CommandError('Nothing was deleted')
