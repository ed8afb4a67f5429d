# SPDX-License-Identifier: Apache-2.0

"""``openstack lease availability show``."""

from __future__ import annotations

import argparse
import datetime
import shutil
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

from osc_lib import exceptions

from climate.client import buckets
from climate.client import charts
from climate.client import sizes
from climate.client import terminal
from climate.client.osc import commands
from climate.client.osc import options
from climate.client.osc import plugin
from climate.client.osc.columns import TimeColumn
from climate.client.sdk.proxy import ReservationProxy
from climate.domain.periods import Period

_USUAL: Final = datetime.timedelta(days=7)
# The step of charts, in which several buckets share a character.
_FINE: Final = datetime.timedelta(hours=1)


class ShowAvailability(commands.Lister):
    """Show how much of a resource type is free over time."""

    _chart = ''

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument('type', metavar='TYPE', help='Resource type, such as physical:host')
        options.add_period(parser, 'Length, a week by default')
        options.add_duration(
            parser,
            '--step',
            'Length of a row; by default one with which there are few rows. A row shows what '
            'is free throughout it',
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

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Return columns and rows, or keep the chart for the output."""
        proxy = plugin.client(self.app)
        present = options.now()
        asked = _runs(parsed_args, present)
        answer = _ask(proxy, parsed_args, asked)
        if parsed_args.chart:
            width = shutil.get_terminal_size().columns
            period = Period(start=max(asked[0].start, present), end=asked[-1].end)
            self._chart = charts.draw(answer, period, width)
        return _columns(answer), _rows(answer, asked, present)

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Any, data: Iterable[Any]
    ) -> int:
        """Write the table or the chart; formats for programs have no chart."""
        if not parsed_args.chart or parsed_args.formatter != 'table':
            return int(super().produce_output(parsed_args, column_names, data))
        self.app.stdout.write(terminal.shown(f'{self._chart}\n'))
        return 0


def _runs(parsed: argparse.Namespace, present: datetime.datetime) -> list[buckets.BucketRun]:
    """Return the buckets to ask for.

    :raises osc_lib.exceptions.CommandError: if there are too many
    """
    start = parsed.at.astimezone(present.tzinfo) if parsed.at else present
    length = parsed.length or _USUAL
    end = parsed.until.after(start) if parsed.until else start + length
    step = parsed.step or (_FINE if parsed.chart else buckets.step_for(end - start))
    if not parsed.at:
        start = buckets.floored(present, step)
    try:
        return buckets.runs(start, end, step)
    except ValueError as error:
        raise exceptions.CommandError(str(error)) from None


def _ask(
    proxy: ReservationProxy, parsed: argparse.Namespace, asked: Iterable[buckets.BucketRun]
) -> dict[str, Any]:
    """Return ``group_by`` and the ``groups`` of all buckets."""
    answers = [
        proxy.availability(
            parsed.type,
            start=options.written(each.start, ''),
            end=options.written(each.end, ''),
            step=int(each.step.total_seconds()),
            resources=_demand(parsed) or None,
            resource_properties=parsed.where,
            group_by=parsed.group_by,
        ).to_dict()
        for each in asked
    ]
    return {'group_by': answers[0]['group_by'], 'groups': buckets.joined(answers)}


def _demand(parsed: argparse.Namespace) -> str:
    """Return the demand by resource class, as in Placement."""
    amounts = {'VCPU': parsed.vcpus, 'MEMORY_MB': parsed.memory, 'DISK_GB': parsed.disk}
    return ','.join(f'{name}:{amount}' for name, amount in amounts.items() if amount)


def _columns(answer: Mapping[str, Any]) -> tuple[str, ...]:
    group = [] if answer['group_by'] is None else [answer['group_by']]
    # Each group has the classes of its own resources.
    names = {name: None for each in answer['groups'] for name, _, _ in charts.measures(each)}
    return ('Start', 'End', *group, *names)


def _rows(
    answer: Mapping[str, Any], asked: Iterable[buckets.BucketRun], present: datetime.datetime
) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each bucket, of which nothing is in the past.

    What is free in two buckets may be different resources, so that buckets are never joined.
    """
    names = _columns(answer)[2 if answer['group_by'] is None else 3 :]
    starts = [each.start + at * each.step for each in asked for at in range(_number(each))]
    ends = [each.start + (at + 1) * each.step for each in asked for at in range(_number(each))]
    for group in answer['groups']:
        lines = {name: (free, total) for name, free, total in charts.measures(group)}
        moved = charts.if_moved(group)
        value = () if answer['group_by'] is None else (group.get('value'),)
        for bucket, (start, end) in enumerate(zip(starts, ends, strict=True)):
            times = (options.written(each, '') for each in (max(start, present), end))
            figures = (
                _figure(lines[name], moved.get(name), bucket) if name in lines else ''
                for name in names
            )
            yield (*map(TimeColumn, times), *value, *figures)


def _figure(
    line: tuple[Sequence[int], Sequence[int]], moved: Sequence[int] | None, bucket: int
) -> str:
    free, total = line[0][bucket], line[1][bucket]
    text = f'{free} of {total}'
    if moved is not None and moved[bucket] > free:
        text += f', {moved[bucket]} if others move'
    return text


def _number(run: buckets.BucketRun) -> int:
    return (run.end - run.start) // run.step
