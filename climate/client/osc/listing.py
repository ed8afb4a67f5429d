# SPDX-License-Identifier: Apache-2.0

"""``openstack lease list``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any

from climate.client import times
from climate.client.osc import commands
from climate.client.osc import plugin
from climate.client.osc import projects
from climate.client.osc import type_nouns
from climate.client.osc.columns import IdColumn
from climate.client.osc.columns import period
from climate.client.osc.columns import SummaryColumn
from climate.client.sdk.leases import Lease
from climate.client.sdk.proxy import ReservationProxy
from climate.domain.lifecycles import LeaseStatus


class ListLeases(commands.Lister):
    """List the leases of your project, or of all, the soonest first.

    Leases that have ended are left out unless --ended or --status TERMINATED is given.
    """

    spare = ('Owner', 'Reservations')
    alike = ('Project',)

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            '--status', metavar='STATUS', help='Only leases of this status, such as ACTIVE'
        )
        parser.add_argument('--ended', action='store_true', help='Leases that have ended, too')
        parser.add_argument('--mine', action='store_true', help='Only leases that you created')
        parser.add_argument('--name', metavar='NAME', help='Only leases of this name')
        parser.add_argument('--type', metavar='TYPE', help='Only leases of this resource type')
        projects.add_projects(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and rows."""
        proxy = plugin.client(self.app)
        project = projects.wanted(self.app, parsed_args)
        listed = _leases(proxy, _query(proxy, parsed_args, project), parsed_args.mine)
        if not (parsed_args.ended or parsed_args.status):
            listed = (each for each in listed if each.status != LeaseStatus.TERMINATED)
        if project:
            listed = (each for each in listed if each.project_id == project)
        columns = ('ID', 'Name', 'Status', 'Start', 'End', 'Reservations', 'Owner')
        every = project is None
        return (*columns, *(['Project'] if every else [])), _rows(proxy, listed, every)


def _query(
    proxy: ReservationProxy, parsed: argparse.Namespace, project: str | None
) -> dict[str, Any]:
    query = {
        'status': parsed.status and parsed.status.upper(),
        'name': parsed.name,
        'resource_type': parsed.type,
    }
    given = {key: value for key, value in query.items() if value}
    if given or parsed.project:
        proxy.require('1.1', 'filters')
    if proxy.microversion() == '1.0':
        return given
    if project:
        given['project_id'] = project
    return {**given, 'sort_key': 'start_date'}


def _leases(proxy: ReservationProxy, query: dict[str, Any], mine: bool) -> Iterable[Lease]:
    """Return leases, the soonest first."""
    if mine and proxy.supports('1.7'):
        return proxy.leases(**query, user='me')
    listed: Iterable[Lease] = proxy.leases(**query)
    if mine:
        user = proxy.me()['user_id']
        listed = (each for each in listed if each.user_id == user)
    if 'sort_key' in query:
        return listed
    return sorted(listed, key=lambda each: times.read(each.start_date))


def _rows(
    proxy: ReservationProxy, leases: Iterable[Lease], with_project: bool
) -> Iterator[tuple[Any, ...]]:
    for lease in leases:
        type_nouns.learn(proxy, lease.reservations)
        yield (
            IdColumn(lease.id),
            lease.name,
            lease.status,
            *period(lease).values(),
            SummaryColumn(lease.reservations),
            lease.user_name or IdColumn(lease.user_id),
            *([lease.project_name or IdColumn(lease.project_id)] if with_project else []),
        )
