# SPDX-License-Identifier: Apache-2.0

"""``climate-manage plan``: what the planner does with flexible leases of any project."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any
from typing import Final

from oslo_config import cfg

from climate import exceptions
from climate.booking.leases import Leases
from climate.booking.planning import explanations
from climate.booking.planning import yield_times
from climate.cmd import composition
from climate.cmd import output
from climate.cmd.composition import say
from climate.db.transactions.store import Store
from climate.domain.budgets import UNLIMITED
from climate.domain.offers import Shortage
from climate.domain.queue import MOST_QUEUED
from climate.domain.queue import QueuedLease
from climate.domain.queue import QueueQuery
from climate.upkeep.planning import Planner

_COLUMNS: Final = (
    *('place', 'id', 'project_id', 'status', 'forecast', 'room_at', 'earliest', 'latest'),
    *('firm_at', 'since', 'ahead', 'waits_for', 'name'),
)
_BLOCKER_COLUMNS: Final = (
    *('resource', 'lease_id', 'project_id', 'status', 'start', 'end', 'firm_at', 'since'),
)

_YIELD_COLUMNS: Final = ('resource_type', 'mode', 'seconds', 'source', 'known')


def add_commands(add: Any) -> None:
    """Add the commands to those of ``climate-manage``.

    :param add: adds a command
    """
    plan = add('plan', help='The planner').add_subparsers(dest='what', required=True)
    shown = plan.add_parser('show', help='list the leases that may still move, or wait')
    shown.add_argument('--type', metavar='TYPE', help='with a reservation of this type')
    shown.add_argument('--limit', type=int, default=100, help='at most this many (default 100)')
    shown.set_defaults(run=_show)
    run = plan.add_parser('run', help='plan now, and print how many leases were moved or booked')
    run.set_defaults(run=_run)
    explained = plan.add_parser('explain', help='say why a lease is where it is')
    explained.add_argument('lease', metavar='ID')
    explained.set_defaults(run=_explain)
    yields = plan.add_parser('yields', help='list how long preemptible leases take to yield')
    yields.set_defaults(run=_yields)
    for command in (shown, explained, yields):
        output.add_format(command)


@contextlib.contextmanager
def _leases(conf: cfg.ConfigOpts) -> Iterator[Leases]:
    parts = composition.core(conf)
    try:
        yield composition.leases(parts, wake=lambda: None)
    finally:
        parts.store.close()


def _show(conf: cfg.ConfigOpts, _store: Store) -> int:
    command = conf.command
    if command.limit < 1:
        raise exceptions.InvalidInput('--limit must be at least 1')
    with _leases(conf) as leases:
        lines = [_line(one) for one in _queue(leases, command.type, command.limit)]
    output.rows(lines, _COLUMNS, command.format)
    return 0


def _queue(leases: Leases, resource_type: str | None, limit: int) -> Iterator[QueuedLease]:
    """Yield the first leases of the queue, page by page."""
    marker: str | None = None
    while limit > 0:
        size = min(limit, MOST_QUEUED)
        query = QueueQuery(resource_type=resource_type, marker=marker, limit=size)
        page = leases.queue(UNLIMITED, query)
        yield from page[:size]
        if len(page) <= size:
            return
        limit -= size
        marker = page[size - 1].id


def _line(one: QueuedLease) -> dict[str, Any]:
    lease, forecast = one.lease, one.forecast
    return {
        'place': one.place,
        **output.row(lease, ('id', 'project_id', 'status')),
        'forecast': forecast.start,
        'room_at': forecast.room_at,
        **output.row(lease, ('earliest', 'latest', 'firm_at')),
        'since': lease.created_at,
        'ahead': one.ahead.leases,
        'waits_for': _lacks(forecast.waits_for),
        'name': lease.name,
    }


def _lacks(found: Iterable[Shortage]) -> str:
    return ', '.join(
        f'{one.missing} {one.resource_class or one.resource_type}'
        + (f' until {one.until:%Y-%m-%dT%H:%M:%SZ}' if one.until else '')
        for one in found
    )


def _run(conf: cfg.ConfigOpts, _store: Store) -> int:
    with _leases(conf) as leases:
        moved = Planner(leases).round()
    say(f'{moved} leases were moved, booked, or have ended')
    return 0


def _yields(conf: cfg.ConfigOpts, _store: Store) -> int:
    with _leases(conf) as leases, leases.store.reading() as tx:
        lines = [
            {
                'resource_type': one.resource_type,
                'mode': one.mode,
                'seconds': one.estimate.seconds,
                'source': one.estimate.source,
                'known': one.known,
            }
            for one in yield_times.planned(tx, leases)
        ]
    output.rows(lines, _YIELD_COLUMNS, conf.command.format)
    return 0


def _explain(conf: cfg.ConfigOpts, _store: Store) -> int:
    with _leases(conf) as leases:
        found = explanations.explain(leases, conf.command.lease)
    blockers = [output.row(one, _BLOCKER_COLUMNS) for one in found.blockers]
    fields = {'why': found.why, **_line(found.queued), 'wanted_from': found.period.start}
    if conf.command.format == output.JSON:
        output.document({**fields, 'blockers': blockers})
        return 0
    output.fields(fields)
    if blockers:
        say('')
        output.rows(blockers, _BLOCKER_COLUMNS, output.TABLE)
    return 0
