# SPDX-License-Identifier: Apache-2.0

"""``climate-manage event`` and ``outbox``: what managers have yet to do."""

from __future__ import annotations

import datetime
from collections import defaultdict
from typing import Any
from typing import Final

from oslo_config import cfg

from climate import exceptions
from climate.clock import SystemClock
from climate.cmd import output
from climate.cmd.composition import say
from climate.cmd.manage_leases import longest_pause
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.manager.running.retry import retry

_MESSAGES: Final = ('id', 'lease_id', 'event_type', 'state', 'created_at', 'attempts', 'error')


def add_commands(add: Any) -> None:
    """Add the commands to those of ``climate-manage``.

    :param add: adds a command
    """
    event = add('event', help='The events').add_subparsers(dest='what', required=True)
    late = event.add_parser('list', help='list overdue events, or those of a lease')
    late.add_argument('--older', type=float, default=0.0, help='by this many seconds (default 0)')
    late.add_argument('--limit', type=int, default=100, help='at most this many (default 100)')
    late.add_argument('--lease', metavar='ID', help='all events of this lease')
    output.add_format(late)
    late.set_defaults(run=_list)
    again = event.add_parser('retry', help='try failing events now instead of after a pause')
    which = again.add_mutually_exclusive_group(required=True)
    which.add_argument('ids', metavar='ID', nargs='*', default=[], help='these')
    which.add_argument('--lease', metavar='ID', help='all of this lease')
    which.add_argument('--all', action='store_true', help='all')
    again.add_argument('--dry-run', action='store_true', help='only list them')
    again.set_defaults(run=_retry)
    _add_outbox(add('outbox', help='The notifications'))


def _add_outbox(parser: Any) -> None:
    outbox = parser.add_subparsers(dest='what', required=True)
    listed = outbox.add_parser('list', help='list notifications that could not be sent')
    listed.add_argument('--all', action='store_true', help='also those that wait for their turn')
    output.add_format(listed)
    listed.set_defaults(run=_messages)
    for name, run, what in (
        ('retry', _resend, 'send notifications again that were set aside'),
        ('drop', _drop, 'discard notifications that were set aside'),
    ):
        command = outbox.add_parser(name, help=what)
        which = command.add_mutually_exclusive_group(required=True)
        which.add_argument('ids', metavar='ID', nargs='*', default=[], help='these')
        which.add_argument('--all', action='store_true', help='all that were set aside')
        command.set_defaults(run=run)


# -- events


def _list(conf: cfg.ConfigOpts, store: Store) -> int:
    command = conf.command
    with store.reading() as tx:
        if command.lease is None:
            listed = _overdue(conf, tx)
        else:
            listed = list(tx.leases.get(command.lease).events)
    events = [output.row(event, output.EVENT) for event in listed]
    output.rows(events, output.EVENT, command.format)
    return 0


def _overdue(conf: cfg.ConfigOpts, tx: Transaction) -> list[Event]:
    before = tx.now - datetime.timedelta(seconds=conf.command.older)
    until = tx.now + longest_pause(conf)
    return tx.events.overdue(before, list(EventKind), conf.command.limit, looked_at=until)


def _retry(conf: cfg.ConfigOpts, store: Store) -> int:
    command = conf.command
    with store.reading() as tx:
        chosen = _failing(conf, tx)
    if command.dry_run:
        for lease_id, ids in chosen.items():
            for event_id in ids:
                say(f'event {event_id} of lease {lease_id} would be tried now')
        say(f'{sum(map(len, chosen.values()))} events would be tried now')
        return 0
    count = 0
    for lease_id, ids in chosen.items():
        # One that is named has to be there; of all, some may have succeeded meanwhile.
        count += _retried(store, lease_id, ids if command.ids else None)
    say(f'{count} events are tried now')
    return 0


def _retried(store: Store, lease_id: str, ids: list[str] | None) -> int:
    try:
        return len(store.run(lambda tx: retry(tx, lease_id, ids)))
    except exceptions.NotFound:
        if ids is not None:
            raise
        return 0


def _failing(conf: cfg.ConfigOpts, tx: Transaction) -> dict[str, list[str]]:
    """Return the failing events that the command names, by lease.

    :raises climate.exceptions.NotFound: if one that it names is not failing
    """
    command = conf.command
    if command.lease is not None:
        tx.leases.get(command.lease)
    far = datetime.datetime.max.replace(tzinfo=datetime.UTC)
    until = SystemClock().now() + longest_pause(conf)
    rows = tx.operator_lists.failing(far if command.ids or command.lease else until)
    wanted = set(command.ids)
    failing: dict[str, list[str]] = defaultdict(list)
    for lease_id, event_id in rows:
        if command.all or event_id in wanted or lease_id == command.lease:
            failing[lease_id].append(event_id)
            wanted.discard(event_id)
    if wanted:
        raise exceptions.NotFound(f'No failing event {", ".join(sorted(wanted))}')
    return failing


# -- notifications


def _messages(conf: cfg.ConfigOpts, store: Store) -> int:
    with store.reading() as tx:
        messages = tx.outbox.unsent() if conf.command.all else tx.outbox.failing()
    rows = [
        {
            **output.row(each, ('id', 'lease_id', 'event_type', 'created_at', 'attempts', 'error')),
            'state': _state(each.attempts, each.set_aside_at),
        }
        for each in messages
    ]
    output.rows(rows, _MESSAGES, conf.command.format)
    return 0


def _state(attempts: int, set_aside_at: datetime.datetime | None) -> str:
    if set_aside_at is not None:
        return 'set_aside'
    return 'failing' if attempts else 'waiting'


def _resend(conf: cfg.ConfigOpts, store: Store) -> int:
    return _aside(conf, store.run(lambda tx: tx.outbox.retry(_chosen(conf))), 'sent again')


def _drop(conf: cfg.ConfigOpts, store: Store) -> int:
    return _aside(conf, store.run(lambda tx: tx.outbox.drop(_chosen(conf))), 'dropped')


def _chosen(conf: cfg.ConfigOpts) -> list[str] | None:
    return None if conf.command.all else sorted(set(conf.command.ids))


def _aside(conf: cfg.ConfigOpts, count: int, done: str) -> int:
    say(f'{count} notifications {"are" if done != "dropped" else "were"} {done}')
    missing = 0 if conf.command.all else len(set(conf.command.ids)) - count
    if missing:
        raise exceptions.NotFound(f'{missing} of these were not set aside')
    return 0
