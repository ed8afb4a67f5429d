# SPDX-License-Identifier: Apache-2.0

"""``openstack lease calendar``."""

from __future__ import annotations

import argparse
import datetime
import shutil
from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any
from typing import Final
from typing import NamedTuple

from openstack import exceptions as sdk_exceptions
from rich import console
from rich import text

from climate.client import gantt
from climate.client import terminal
from climate.client import times
from climate.client.osc import commands
from climate.client.osc import options
from climate.client.osc import plugin
from climate.client.osc import projects
from climate.client.osc.columns import TimeColumn
from climate.client.sdk.leases import Lease
from climate.client.sdk.proxy import ReservationProxy
from climate.domain.periods import Period

_USUAL: Final = datetime.timedelta(days=7)
_HOSTS: Final = 'physical:host'
_OWN, _OTHER, _OVER, _OUT = '█', '▒', '░', 'x'
_LEGEND: Final = f'{_OWN} your leases   {_OTHER} other leases   {_OUT} maintenance'
_STYLES: Final = {_OWN: 'green', _OTHER: 'yellow', _OUT: 'red'}
_SIGNS: Final = {
    'ACTIVE': _OWN,
    'UPDATING': _OWN,
    'TERMINATING': _OVER,
    'TERMINATED': _OVER,
    'ERROR': _OUT,
}
_LEASES: Final = f'{_OWN} active   {_OTHER} pending   {_OVER} ended   {_OUT} failed'


class CalendarPeriod(NamedTuple):
    """A period in a calendar.

    :ivar row: the name of the lease or resource
    :ivar lease: the name of the lease, or '' if the caller may not see it
    """

    row: str
    lease: str
    start: str
    end: str
    what: str
    sign: str


class ShowCalendar(commands.Lister):
    """Draw when your leases are, or when hosts are reserved."""

    _lines: list[str]

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        rows = parser.add_mutually_exclusive_group()
        rows.add_argument(
            '--hosts', dest='type', action='store_const', const=_HOSTS,
            help='Draw a row for each host instead of each lease',
        )  # fmt: skip
        rows.add_argument(
            '--type', metavar='TYPE', help='Draw a row for each resource of this type'
        )
        options.add_period(parser, 'Length, a week by default')
        projects.add_projects(parser)

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Keep the chart for the output; return columns and rows for other formats."""
        proxy = plugin.client(self.app)
        period = _period(parsed_args)
        if parsed_args.type:
            names, periods = _resources(proxy, parsed_args.type, period)
        else:
            project = projects.wanted(self.app, parsed_args)
            names, periods = _leases(proxy, project, period)
        self._lines = _chart(names, periods, period)
        self._lines.append(_LEGEND if parsed_args.type else _LEASES)
        rows = (
            (each.row, each.lease, TimeColumn(each.start), TimeColumn(each.end), each.what)
            for each in periods
        )
        return ('Row', 'Lease', 'Start', 'End', 'What'), rows

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Any, data: Iterable[Any]
    ) -> int:
        """Write the chart, or the rows if a format for programs is chosen."""
        if parsed_args.formatter != 'table':
            return int(super().produce_output(parsed_args, column_names, data))
        screen = console.Console(file=self.app.stdout, highlight=False)
        for line in self._lines:
            shown = text.Text(terminal.shown(line))
            for sign, style in _STYLES.items():
                shown.highlight_regex(f'{sign}+' if sign != _OUT else 'xx+', style)
            screen.print(shown, soft_wrap=True)
        return 0


def _period(parsed: argparse.Namespace) -> Period:
    start = parsed.at or options.now()
    if parsed.until:
        return Period(start=start, end=parsed.until.after(start))
    return Period(start=start, end=start + (parsed.length or _USUAL))


def _leases(
    proxy: ReservationProxy, project: str | None, period: Period
) -> tuple[list[str], list[CalendarPeriod]]:
    """Return the leases of a period, each in a row of its own."""
    proxy.require('1.1', 'a calendar')
    query = {
        'end_after': options.written(period.start, ''),
        'start_before': options.written(period.end, ''),
        'sort_key': 'start_date',
        **({'project_id': project} if project else {}),
    }
    periods = [
        CalendarPeriod(
            each.name,
            each.name,
            each.start_date,
            each.end_date,
            each.status,
            _SIGNS.get(each.status, _OTHER),
        )
        for each in proxy.leases(**query)
    ]
    # A row for each name: a lease that is booked every day is one row.
    return list(dict.fromkeys(each.row for each in periods)), periods


def _resources(
    proxy: ReservationProxy, resource_type: str, period: Period
) -> tuple[list[str], list[CalendarPeriod]]:
    """Return when the resources of a type are reserved, each in a row of its own."""
    known = {each.id: each for each in proxy.leases()}
    own = _own(proxy, known.values())
    names, periods = [], []
    for resource in proxy.allocations(type=resource_type):
        names.append(resource.resource_name)
        for each in resource.reservations:
            if _overlaps(each, period):
                lease = known.get(each['lease_id'])
                periods.append(
                    CalendarPeriod(
                        resource.resource_name,
                        lease.name if lease else '',
                        each['start_date'],
                        each['end_date'],
                        'lease',
                        _OWN if each['lease_id'] in own else _OTHER,
                    )
                )
    periods += _maintenances(proxy, resource_type, period)
    return names, periods


def _own(proxy: ReservationProxy, leases: Iterable[Lease]) -> set[str]:
    """Return the ids of the caller's own leases.

    Administrators, and everyone without Keystone, see the leases of others, too. Services older
    than 1.5 do not say who calls.
    """
    if not proxy.supports('1.5'):
        return {each.id for each in leases}
    user = proxy.me()['user_id']
    return {each.id for each in leases if each.user_id == user}


def _maintenances(
    proxy: ReservationProxy, resource_type: str, period: Period
) -> Iterator[CalendarPeriod]:
    """Yield maintenances; none if the caller may not list them."""
    try:
        listed = list(proxy.maintenances())
    except sdk_exceptions.ForbiddenException:
        return
    for each in listed:
        closed = {'start_date': each.start_date, 'end_date': each.end_date}
        if each.resource_type == resource_type and _overlaps(closed, period):
            yield CalendarPeriod(
                each.resource_name, '', each.start_date, each.end_date, 'maintenance', _OUT
            )


def _overlaps(entry: dict[str, Any], period: Period) -> bool:
    return times.read(entry['start_date']) < period.end and period.start < times.read(
        entry['end_date']
    )


def _chart(names: list[str], periods: Iterable[CalendarPeriod], period: Period) -> list[str]:
    bars: dict[str, list[gantt.Bar]] = defaultdict(list)
    for each in periods:
        span = Period(start=times.read(each.start), end=times.read(each.end))
        # The row of a lease has its name already.
        label = each.lease if each.lease != each.row else ''
        bars[each.row].append(gantt.Bar(period=span, sign=each.sign, text=label))
    first, last = (times.write(options.written(each, '')) for each in (period.start, period.end))
    rows = [gantt.Row(name=name, bars=bars[name]) for name in names]
    width = shutil.get_terminal_size().columns
    return [f'{first} to {last}', *gantt.draw(rows, period, width)]
