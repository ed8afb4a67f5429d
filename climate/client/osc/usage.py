# SPDX-License-Identifier: Apache-2.0

"""``openstack usage report``."""

from __future__ import annotations

import argparse
from typing import Any
from typing import Final

from cliff import columns

from climate.client.osc import commands
from climate.client.osc import options
from climate.client.osc import plugin

_FIGURES: Final = ('booked', 'used', 'unused', 'ahead', 'refused')
_HOUR: Final = 3600
_WHOLE: Final = 'whole'


class HoursColumn(columns.FormattableColumn[int]):
    """An amount: hours in tables, seconds in formats for programs."""

    def human_readable(self) -> str:
        """Return the hours with two digits, without zeros at the end."""
        return f'{self._value / _HOUR:.2f}'.rstrip('0').rstrip('.')


class ReportUsage(commands.Lister):
    """Show how much of what leases booked was used, and refused, in hours (administrators).

    Formats such as csv and json have seconds. An hour of a resource class is one unit of it
    for an hour; whole resources count as one.
    """

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            '--from', dest='start', metavar='TIME', type=options.past,
            help="Start, such as '7d ago'; 30 days before the end by default",
        )  # fmt: skip
        parser.add_argument(
            '--to', dest='end', metavar='TIME', type=options.past, help='End, now by default'
        )
        parser.add_argument(
            '--by', choices=('project', 'type', 'class'), default='type',
            help='What the rows are for, resource types by default',
        )  # fmt: skip
        parser.add_argument('--project', metavar='ID', help='Only leases of this project')
        parser.add_argument('--type', metavar='TYPE', help='Only this resource type')

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and rows."""
        query = {
            'start': parsed_args.start and options.written(parsed_args.start, ''),
            'end': parsed_args.end and options.written(parsed_args.end, ''),
            'by': parsed_args.by,
            'project_id': parsed_args.project,
            'resource_type': parsed_args.type,
        }
        report = plugin.client(self.app).usage(**{key: one for key, one in query.items() if one})
        keys = {
            'project': {'Project': 'project_id', 'Type': 'resource_type'},
            'type': {'Type': 'resource_type'},
            'class': {},
        }[parsed_args.by]
        rows = (
            (
                *(row[key] for key in keys.values()),
                row['resource_class'] or _WHOLE,
                row['leases'],
                *(HoursColumn(row[figure]) for figure in _FIGURES),
                row['refusals'],
            )
            for row in report.rows
        )
        figures = (each.capitalize() for each in _FIGURES)
        return (*keys, 'Class', 'Leases', *figures, 'Refusals'), rows
