# SPDX-License-Identifier: Apache-2.0

"""``climate-manage lease``: what operators do about leases of any project."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any
from typing import Final

from oslo_config import cfg

from climate import exceptions
from climate.clock import SystemClock
from climate.cmd import composition
from climate.cmd import managing
from climate.cmd import output
from climate.cmd.composition import say
from climate.db.reports.operator_lists import LeaseLine
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.manager.running import force
from climate.upkeep import stuck

_COLUMNS: Final = (
    *('id', 'project_id', 'status', 'start', 'end', 'next_due'),
    *('manager', 'claimed_until', 'name'),
)
_LEASE_FIELDS: Final = ('id', 'name', 'project_id', 'user_id', 'status', 'degraded')
_EVENT_COLUMNS: Final = ('id', 'kind', 'state', 'time', 'due', 'attempts', 'error')
_RESERVATION_COLUMNS: Final = ('id', 'resource_type', 'status', 'resources')
_STUCK_COLUMNS: Final = (
    *('id', 'project_id', 'status', 'event', 'event_id', 'late_seconds'),
    *('attempts', 'manager', 'why', 'error'),
)


def add_commands(add: Any) -> None:
    """Add the commands to those of ``climate-manage``.

    :param add: adds a command
    """
    lease = add('lease', help='The leases').add_subparsers(dest='what', required=True)
    every = lease.add_parser('list', help='list leases of all projects')
    every.add_argument(
        '--status',
        action='append',
        default=[],
        type=str.upper,
        choices=[status.value for status in LeaseStatus],
        help='with this status, repeatable (default: all that are not over)',
    )
    every.add_argument('--project', metavar='ID', help='of this project')
    every.add_argument(
        '--overdue', action='store_true', help='that a manager should be processing now'
    )
    every.add_argument('--limit', type=int, default=100, help='at most this many (default 100)')
    every.set_defaults(run=_list)
    shown = lease.add_parser('show', help='show a lease with its events, even a deleted one')
    shown.add_argument('lease', metavar='ID')
    shown.set_defaults(run=_show)
    late = lease.add_parser('stuck', help='list leases that make no progress, and say why')
    late.add_argument(
        '--older', type=float, default=60.0, help='late by this many seconds (default 60)'
    )
    late.add_argument('--limit', type=int, default=100, help='at most this many (default 100)')
    late.set_defaults(run=_stuck)
    repair = lease.add_parser('repair', help='compare cloud and leases, and correct differences')
    repair.add_argument('--dry-run', action='store_true', help='only report the differences')
    repair.add_argument('--lease', metavar='ID', help='only this lease')
    repair.set_defaults(run=_repair)
    for command in (every, shown, late, repair):
        output.add_format(command)
    end = lease.add_parser('end', help='end a lease now')
    end.add_argument('--force', action='store_true', help='give up what fails')
    end.add_argument('--dry-run', action='store_true', help='only check that it can be ended')
    end.add_argument('lease', metavar='ID')
    end.set_defaults(run=_end)


def _list(conf: cfg.ConfigOpts, store: Store) -> int:
    command = conf.command
    _check_limit(command.limit)
    with store.reading() as tx:
        lines = tx.operator_lists.lines(
            statuses=[LeaseStatus(status) for status in command.status],
            project_id=command.project,
            due_before=tx.now if command.overdue else None,
            limit=command.limit,
        )
    output.rows([dataclasses.asdict(line) for line in lines], _COLUMNS, command.format)
    return 0


def _check_limit(limit: int) -> None:
    if limit < 1:
        raise exceptions.InvalidInput('--limit must be at least 1')


def _show(conf: cfg.ConfigOpts, store: Store) -> int:
    lease_id = conf.command.lease
    with store.reading() as tx:
        lease = tx.operator_lists.lease(lease_id)
        if lease is None:
            raise exceptions.NotFound(object={'lease_id': lease_id})
        line = tx.operator_lists.with_ids([lease_id])[lease_id]
        fields = _fields(tx, lease, line)
        reservations = _reservations(tx, lease)
    events = [output.row(event, output.EVENT) for event in lease.events]
    if conf.command.format == output.JSON:
        output.document({**fields, 'reservations': reservations, 'events': events})
        return 0
    output.fields(fields)
    for rows, columns in ((reservations, _RESERVATION_COLUMNS), (events, _EVENT_COLUMNS)):
        say('')
        output.rows(rows, columns, output.TABLE)
    return 0


def _fields(tx: Transaction, lease: Lease, line: LeaseLine) -> output.Row:
    return {
        **output.row(lease, _LEASE_FIELDS),
        'start': lease.period.start,
        'end': lease.period.end,
        **output.row(lease, ('created_at', 'updated_at', 'deleted_at')),
        **output.row(line, ('next_due', 'manager', 'claimed_until')),
        'notifications_to_send': tx.operator_lists.waiting_messages(lease.id),
    }


def _reservations(tx: Transaction, lease: Lease) -> list[dict[str, Any]]:
    live = tx.allocations.live_of([item.id for item in lease.reservations])
    return [
        {
            'id': item.id,
            'resource_type': item.resource_type,
            'status': item.status.value,
            'resources': sorted(
                {each.resource_name for each in live if each.reservation_id == item.id}
            ),
        }
        for item in lease.reservations
    ]


def _stuck(conf: cfg.ConfigOpts, store: Store) -> int:
    command = conf.command
    _check_limit(command.limit)
    older = datetime.timedelta(seconds=command.older)
    pause = longest_pause(conf)
    with store.reading() as tx:
        leases = stuck.find(tx, older, pause, command.limit)
    output.rows([_stuck_row(each) for each in leases], _STUCK_COLUMNS, command.format)
    return 1 if leases else 0


def longest_pause(conf: cfg.ConfigOpts) -> datetime.timedelta:
    """Return how far in the future an event may be that has failed, with a margin."""
    return datetime.timedelta(seconds=conf.manager.retry_longest_pause, minutes=1)


def _stuck_row(stuck_lease: stuck.StuckLease) -> dict[str, Any]:
    event = stuck_lease.event
    return {
        **dataclasses.asdict(stuck_lease.lease),
        'event': event and event.kind.value,
        'event_id': event and event.id,
        'late_seconds': int(stuck_lease.seconds),
        'attempts': 0 if event is None else event.attempts,
        'why': stuck_lease.why,
        'error': event and event.error,
    }


def _repair(conf: cfg.ConfigOpts, _store: Store) -> int:
    findings: list[dict[str, Any]] = []
    table = conf.command.format == output.TABLE
    with managing.repair(composition.core(conf)) as repair:
        look = repair.rehearse if conf.command.dry_run else repair.run
        for finding in look(lease_id=conf.command.lease):
            findings.append({'what': finding.what, 'done': finding.done or None})
            if table:
                say(f'{finding.what}: {finding.done or "left as it is"}')
    left = sum(each['done'] is None for each in findings)
    if table:
        say(f'{len(findings)} found, {left} left')
    else:
        output.rows(findings, ('what', 'done'), output.JSON)
    return 1 if left else 0


# -- ending a lease


def _end(conf: cfg.ConfigOpts, store: Store) -> int:
    lease_id, dry_run = conf.command.lease, conf.command.dry_run
    with store.reading() as tx:
        lease = tx.leases.get(lease_id)
    what = 'ends as soon as a manager processes it'
    if conf.command.force:
        what += '; what fails stays in the cloud'
    if lease.status is LeaseStatus.ACTIVE and not conf.command.force:
        _shorten(conf, lease, dry_run=dry_run)
    else:
        _bring_forward(store, lease_id, forced=conf.command.force, dry_run=dry_run)
    say(f'{lease_id} {f"would end: it {what}" if dry_run else what}')
    return 0


def _shorten(conf: cfg.ConfigOpts, lease: Lease, *, dry_run: bool) -> None:
    """End an active lease as its owner would: by a change of its end.

    :raises climate.exceptions.ClimateError: if it cannot be changed
    """
    now = SystemClock().now()
    change = LeaseChange(end=now, asked_at=now, grain=datetime.timedelta(microseconds=1))
    leases = composition.leases(composition.core(conf), wake=lambda: None)
    caller = Caller(user_id=lease.user_id, project_id=lease.project_id, all_projects=True)
    update = leases.rehearse_update if dry_run else leases.update
    update(caller, lease.id, None, change)


class _RolledBack(Exception):
    """Rolls a transaction back."""


def _bring_forward(store: Store, lease_id: str, *, forced: bool, dry_run: bool) -> None:
    """Have managers take up the end of a lease now.

    :raises climate.exceptions.ClimateError: if there is nothing to end
    """

    def bring(tx: Transaction) -> None:
        lease = tx.leases.get(lease_id, lock=True)
        # Its effects are under way, and the end would leave them half done.
        if lease.status is LeaseStatus.UPDATING and not forced:
            raise exceptions.Conflict(
                f'Lease {lease_id} cannot be ended: it is being changed; wait, or use --force'
            )
        force.end(tx, lease_id, forced=forced)
        if dry_run:
            raise _RolledBack

    try:
        store.run(bring)
    except _RolledBack:
        return
