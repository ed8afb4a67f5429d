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

"""``climate-manage``: administrative commands."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable
from collections.abc import Sequence
from typing import Any

from oslo_config import cfg

from climate import exceptions
from climate.clock import SystemClock
from climate.cmd import composition
from climate.cmd import config
from climate.cmd import webhooks
from climate.cmd.composition import say
from climate.db import migration
from climate.db import purge
from climate.db import rotation
from climate.db import vault
from climate.db.store import Store
from climate.domain.events import EventKind
from climate.domain.resources import ResourceDraft
from climate.manager.clocks import Clocks
from climate.resources import catalog
from climate.resources.registrar import Registrar
from climate.running import force

_A_MINUTE = datetime.timedelta(minutes=1)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status."""
    conf = config.new_conf()
    conf.register_cli_opt(cfg.SubCommandOpt('command', handler=_commands, help='The command'))
    try:
        conf(
            list(sys.argv[1:] if argv is None else argv),
            project='climate',
            prog='climate-manage',
        )
        config.set_up_logging(conf, 'climate-manage')
        if conf.command.run is _new_key:
            return _new_key()
        store = Store(conf, SystemClock())
        return int(conf.command.run(conf, store))
    except cfg.Error as error:
        return _refuse(str(error), 2)
    except (exceptions.ConfigurationError, exceptions.DatabaseUnavailable) as error:
        return _refuse(error.message, 2)
    except exceptions.ClimateError as error:
        return _refuse(error.message, 1)


def _refuse(why: str, status: int) -> int:
    sys.stderr.write(f'climate-manage: {why}\n')
    return status


def _commands(subparsers: Any) -> None:
    subparsers.required = True
    add = subparsers.add_parser
    db = add('db', help='The tables').add_subparsers(dest='what', required=True)
    sync = db.add_parser('sync', help='upgrade the tables to the version of the code')
    sync.add_argument('--revision', default='head', help='stop at this revision')
    sync.set_defaults(run=_sync)
    db.add_parser('version', help='print the version of the tables').set_defaults(run=_version)
    old = db.add_parser('purge', help='remove leases that ended or were deleted long ago')
    old.add_argument('--days', type=int, default=90, help='how many days ago (default 90)')
    old.add_argument('--deleted-only', action='store_true', help='only those deleted by users')
    old.add_argument('--dry-run', action='store_true', help='only print how many')
    old.set_defaults(run=_purge)
    event = add('event', help='The events').add_subparsers(dest='what', required=True)
    late = event.add_parser('list', help='list overdue events')
    late.add_argument('--older', type=float, default=0.0, help='by this many seconds (default 0)')
    late.add_argument('--limit', type=int, default=100, help='at most this many (default 100)')
    late.set_defaults(run=_late)
    lease = add('lease', help='The leases').add_subparsers(dest='what', required=True)
    repair = lease.add_parser('repair', help='compare cloud and leases, and correct differences')
    repair.add_argument('--dry-run', action='store_true', help='only report the differences')
    repair.add_argument('--lease', metavar='ID', help='only this lease')
    repair.set_defaults(run=_repair)
    end = lease.add_parser('end', help='end a lease now, despite failures')
    end.add_argument('--force', action='store_true', required=True, help='give up what fails')
    end.add_argument('lease', metavar='ID')
    end.set_defaults(run=_end)
    host = add('host', help='The hosts').add_subparsers(dest='what', required=True)
    found = host.add_parser('discover', help='list hypervisors that are not registered')
    found.add_argument('--register', metavar='NAME', nargs='+', help='register these')
    found.set_defaults(run=_discover)
    _hold_commands(add('hold', help='The holds of offers'))
    add('clock', help='compare the clock of this machine with that of the database').set_defaults(
        run=_clock
    )
    _sending_commands(add)
    keys = add('keys', help='The keys of secrets').add_subparsers(dest='what', required=True)
    keys.add_parser('new', help='print a new key').set_defaults(run=_new_key)
    keys.add_parser(
        'rotate', help='encrypt all drafts with the first key, including those in clear text'
    ).set_defaults(run=_rotate)


def _sending_commands(add: Callable[..., Any]) -> None:
    _outbox_commands(add('outbox', help='The notifications'))
    webhooks.add_commands(add('webhook', help='The webhooks'))


def _hold_commands(parser: Any) -> None:
    hold = parser.add_subparsers(dest='what', required=True)
    hold.add_parser('list', help='list offers whose resources are held').set_defaults(run=_holds)


def _outbox_commands(parser: Any) -> None:
    outbox = parser.add_subparsers(dest='what', required=True)
    outbox.add_parser('list', help='list notifications that could not be sent').set_defaults(
        run=_failing
    )
    for name, run, what in (
        ('retry', _retry, 'send notifications again that were set aside'),
        ('drop', _drop, 'discard notifications that were set aside'),
    ):
        command = outbox.add_parser(name, help=what)
        which = command.add_mutually_exclusive_group(required=True)
        which.add_argument('ids', metavar='ID', nargs='*', default=[], help='these')
        which.add_argument('--all', action='store_true', help='all that were set aside')
        command.set_defaults(run=run)


def _new_key() -> int:
    say(vault.new_key())
    return 0


def _rotate(conf: cfg.ConfigOpts, store: Store) -> int:
    if not conf.database.encryption_keys:
        raise exceptions.ConfigurationError('[database] encryption_keys is empty')
    done = rotation.rotate(store, store.vault)
    say(f'{done.encrypted} drafts encrypted, {done.forgotten} of ended leases forgotten')
    for reservation_id in done.unreadable:
        say(f'no key decrypts the draft of reservation {reservation_id}')
    return 1 if done.unreadable else 0


def _clock(conf: cfg.ConfigOpts, store: Store) -> int:
    found = store.difference()
    say(
        f'the clock of this machine must be moved by {found.offset.total_seconds():+.3f} s'
        f' (give or take {found.uncertainty.total_seconds():.3f} s)'
    )
    Clocks(store, SystemClock(), conf.manager.claim_seconds).check()
    return 0


def _sync(conf: cfg.ConfigOpts, store: Store) -> int:
    with store.answering() as engine:
        before = migration.version(engine)
        migration.sync(engine, conf.command.revision)
        say(f'{before or "empty"} -> {migration.version(engine)}')
    return 0


def _version(_conf: cfg.ConfigOpts, store: Store) -> int:
    with store.answering() as engine:
        say(f'{migration.version(engine) or "empty"} (the code has {migration.head()})')
    return 0


def _purge(conf: cfg.ConfigOpts, store: Store) -> int:
    if conf.command.days < 0:
        raise exceptions.InvalidInput('--days must not be negative')
    before = SystemClock().now() - datetime.timedelta(days=conf.command.days)
    count = purge.purge(
        store,
        before,
        deleted_only=conf.command.deleted_only,
        dry_run=conf.command.dry_run,
    )
    say(f'{count} leases {"would be " if conf.command.dry_run else ""}removed')
    return 0


def _late(conf: cfg.ConfigOpts, store: Store) -> int:
    now = SystemClock().now()
    before = now - datetime.timedelta(seconds=conf.command.older)
    # The longest pause between two attempts of a failing event.
    pause = datetime.timedelta(seconds=conf.manager.retry_longest_pause)
    with store.reading() as tx:
        found = tx.events.overdue(
            before, list(EventKind), conf.command.limit, looked_at=now + pause + _A_MINUTE
        )
    for event in found:
        since = int((now - event.time).total_seconds())
        # A preparation is not late before its lease starts.
        word = 'failing for' if event.kind is EventKind.PREPARE and event.attempts else 'late'
        say(
            f'{event.lease_id} {event.kind:<18} {event.state:<11} {word} {since} s, '
            f'{event.attempts} failures, {event.error or "no error"}'
        )
    return 0


def _repair(conf: cfg.ConfigOpts, _store: Store) -> int:
    found = left = 0
    with composition.repair(composition.core(conf)) as repair:
        look = repair.rehearse if conf.command.dry_run else repair.run
        for finding in look(lease_id=conf.command.lease):
            found += 1
            left += not finding.done
            say(f'{finding.what}: {finding.done or "left as it is"}')
    say(f'{found} found, {left} left')
    return 1 if left else 0


def _end(conf: cfg.ConfigOpts, store: Store) -> int:
    lease = store.run(lambda tx: force.end(tx, conf.command.lease))
    say(f'{lease.id} ends as soon as a manager processes it; what fails stays in the cloud')
    return 0


def _discover(conf: cfg.ConfigOpts, store: Store) -> int:
    parts = composition.core(conf)
    host = catalog.host_type(parts.plugins)
    cloud = composition.cloud(parts)
    if conf.command.register:
        registrar = Registrar(store, parts.plugins, cloud)
        for name in conf.command.register:
            host_id = registrar.register_resource(ResourceDraft(resource_type=host, name=name))
            say(f'{name} is host {host_id}')
        return 0
    with store.reading() as tx:
        registered = set(tx.resources.names_of_type(host).values())
    for found in cloud.compute.list_hypervisors():
        if found.hostname not in registered:
            say(
                f'{found.hostname:<32} {found.vcpus} VCPU, {found.memory_mb} MiB,'
                f' {found.local_gb} GiB, {found.state}, {found.status}'
            )
    return 0


def _holds(_conf: cfg.ConfigOpts, store: Store) -> int:
    with store.reading() as tx:
        for found in tx.offers.held():
            period = found.offer.period
            wanted = ', '.join(
                f'{one.amount} {one.resource_type}' for one in found.offer.reservations
            )
            say(
                f'{found.id} of project {found.project_id} holds {wanted}'
                f' from {period.start:%Y-%m-%dT%H:%M:%SZ} to {period.end:%Y-%m-%dT%H:%M:%SZ}'
                f' until {found.held_until:%Y-%m-%dT%H:%M:%SZ}'
            )
    return 0


def _failing(_conf: cfg.ConfigOpts, store: Store) -> int:
    with store.reading() as tx:
        found = tx.outbox.failing()
    for row in found:
        state = 'tried again' if row.set_aside_at is None else 'set aside'
        say(
            f'{row.id} {row.created_at:%Y-%m-%dT%H:%M:%SZ} {row.event_type} of lease'
            f' {row.lease_id}, {state}, {row.attempts} tries: {row.error}'
        )
    return 0


def _retry(conf: cfg.ConfigOpts, store: Store) -> int:
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
