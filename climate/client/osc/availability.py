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

"""``openstack lease availability show``."""

from __future__ import annotations

import argparse
import datetime
import shutil
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any

from climate.client import charts
from climate.client import sizes
from climate.client import terminal
from climate.client.osc import commands
from climate.client.osc import options
from climate.client.osc import plugin
from climate.client.osc.columns import TimeColumn
from climate.client.sdk.availability import Availability


class ShowAvailability(commands.Lister):
    """Show how much of a resource type is free over time."""

    _chart = ''

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the options."""
        parser = super().get_parser(prog_name)
        parser.add_argument('type', metavar='TYPE', help='Resource type, such as physical:host')
        parser.add_argument(
            '--at', metavar='TIME', type=options.instant, help='Start, now by default'
        )
        end = parser.add_mutually_exclusive_group()
        end.add_argument(
            '--for', dest='length', metavar='DURATION', type=options.duration,
            help='Length, a week by default',
        )  # fmt: skip
        options.add_until(end)
        parser.add_argument(
            '--step',
            metavar='DURATION',
            type=options.duration,
            help='Length of a row, an hour by default',
        )
        parser.add_argument(
            '--where', metavar='REQUIREMENT', type=options.requirement,
            help='Count only resources that meet a requirement',
        )  # fmt: skip
        parser.add_argument(
            '--group-by',
            metavar='PROPERTY',
            help='Count each value of a property apart, such as each rack',
        )
        sized = (
            ('vcpus', 'N', options.number, 'VCPUs'),
            ('memory', 'SIZE', options.size(sizes.mebibytes), 'Memory'),
            ('disk', 'SIZE', options.size(sizes.gibibytes), 'Disk'),
        )
        for name, metavar, read, about in sized:
            parser.add_argument(
                f'--{name}', metavar=metavar, type=read,
                help=f'{about} of a server, to count how many servers fit',
            )  # fmt: skip
        parser.add_argument('--chart', action='store_true', help='Draw a chart instead of a table')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and rows, or keep the chart for the output."""
        proxy = plugin.client(self.app)
        found = proxy.availability(
            parsed_args.type,
            **_period(parsed_args),
            resources=_demand(parsed_args) or None,
            resource_properties=parsed_args.where,
            group_by=parsed_args.group_by,
        )
        if parsed_args.chart:
            width = shutil.get_terminal_size().columns
            self._chart = charts.draw(found.to_dict(), width)
        return _columns(found), _rows(found)

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Any, data: Iterable[Any]
    ) -> int:
        """Write the table or the chart; formats for programs have no chart."""
        if not parsed_args.chart or parsed_args.formatter != 'table':
            return int(super().produce_output(parsed_args, column_names, data))
        self.app.stdout.write(terminal.shown(f'{self._chart}\n'))
        return 0


def _period(parsed: argparse.Namespace) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if parsed.at:
        found['start'] = options.written(parsed.at, '')
    if parsed.length:
        found['end'] = options.written((parsed.at or options.now()) + parsed.length, '')
    elif parsed.until:
        found['end'] = options.written(parsed.until.after(parsed.at), '')
    if parsed.step:
        found['step'] = int(parsed.step.total_seconds())
    return found


def _demand(parsed: argparse.Namespace) -> str:
    """Return the demand by resource class, as in Placement."""
    amounts = {
        'VCPU': parsed.vcpus,
        'MEMORY_MB': parsed.memory,
        'DISK_GB': parsed.disk,
    }
    return ','.join(f'{name}:{amount}' for name, amount in amounts.items() if amount)


def _columns(found: Availability) -> tuple[str, ...]:
    group = [] if found.group_by is None else [found.group_by]
    # Each group has the classes of its own resources.
    names = {name: None for each in found.groups for name, _, _ in charts.measures(each)}
    return ('Start', 'End', *group, *names)


def _rows(found: Availability) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each run of buckets with the same figures."""
    names = _columns(found)[2 if found.group_by is None else 3 :]
    start = datetime.datetime.fromisoformat(found.start)
    step = datetime.timedelta(seconds=found.step)
    for group in found.groups:
        lines = {name: (free, total) for name, free, total in charts.measures(group)}
        figures = [
            tuple(
                f'{lines[name][0][bucket]} of {lines[name][1][bucket]}' if name in lines else ''
                for name in names
            )
            for bucket in range(found.buckets)
        ]
        value = () if found.group_by is None else (group.get('value'),)
        for first, after in _runs(figures):
            ends = (options.written(start + step * each, '') for each in (first, after))
            yield (*map(TimeColumn, ends), *value, *figures[first])


def _runs(figures: list[tuple[str, ...]]) -> Iterator[tuple[int, int]]:
    """Yield the beginning of each run of equal figures, and what comes after it."""
    first = 0
    for at in range(1, len(figures) + 1):
        if at == len(figures) or figures[at] != figures[first]:
            yield first, at
            first = at
