# SPDX-License-Identifier: Apache-2.0

"""``climate-manage``: administrative commands."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Sequence
from typing import Any
from typing import Final

from oslo_config import cfg

from climate import exceptions
from climate.client import terminal
from climate.clock import SystemClock
from climate.cmd import composition
from climate.cmd import config
from climate.cmd import manage_events
from climate.cmd import manage_leases
from climate.cmd import manage_plans
from climate.cmd import samples
from climate.cmd import webhooks
from climate.cmd.composition import say
from climate.conf import cloud as cloud_conf
from climate.db.administration import keys
from climate.db.administration import purge
from climate.db.administration import rotation
from climate.db.encryption import vault
from climate.db.engine import error_log
from climate.db.engine import files
from climate.db.engine import prerequisites
from climate.db.engine.clock_difference import Difference
from climate.db.migrations import current
from climate.db.migrations import migration
from climate.db.transactions.store import Store
from climate.domain.resources import ResourceDraft
from climate.manager.claims.clocks import Clocks
from climate.resources import catalog
from climate.resources.registrar import Registrar
from climate.simulator import SimulatedCloud

_MOST_HOSTS: Final = 100_000


def _sample_commands(parser: Any) -> None:
    """Add the commands of *parser*, that of ``samples``."""
    commands = parser.add_subparsers(dest='what', required=True)
    added = commands.add_parser(
        'add', help='furnish the simulated cloud, and register what can be leased there'
    )
    added.add_argument(
        '--hosts', type=int, default=4, metavar='N', help='hosts of the cloud (default 4)'
    )
    added.set_defaults(run=_add_samples)


def _add_samples(conf: cfg.ConfigOpts, store: Store) -> int:
    if not 0 <= conf.command.hosts <= _MOST_HOSTS:
        raise exceptions.InvalidInput(f'--hosts must be from 0 to {_MOST_HOSTS}')
    if conf.cloud != cloud_conf.SIMULATED:
        raise exceptions.ConfigurationError(
            f'Samples are for a simulated cloud: [DEFAULT] cloud is {conf.cloud}'
        )
    parts = composition.core(conf)
    cloud = SimulatedCloud(conf.simulator.state_dir, clock=parts.clock)
    try:
        cloud.furnish(conf.command.hosts)
        samples.register(parts, cloud)
    finally:
        cloud.close()
    with store.reading() as tx:
        for name in sorted(parts.plugins):
            if count := len(tx.resources.of_type(name)):
                say(f'{name}: {count} resources')
    return 0


_EXACT = datetime.timedelta(milliseconds=1)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status."""
    conf = config.new_conf()
    conf.register_cli_opt(cfg.SubCommandOpt('command', handler=_commands, help='The command'))
    try:
        conf(list(sys.argv[1:] if argv is None else argv), project='climate', prog='climate-manage')
        config.set_up_logging(conf, 'climate-manage')
        if conf.command.run is _new_key:
            return _new_key()
        with error_log.printed():
            store = Store(conf, SystemClock())
            return int(conf.command.run(conf, store))
    except cfg.Error as error:
        return _refuse(str(error), 2)
    except exceptions.DatabaseUnavailable as error:
        return _refuse(error.explanation, 2)
    except exceptions.ConfigurationError as error:
        return _refuse(error.sentence, 2)
    except exceptions.ClimateError as error:
        return _refuse(error.sentence, 1)


def _refuse(why: str, status: int) -> int:
    sys.stderr.write(f'climate-manage: {terminal.shown(why)}\n')
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
    manage_events.add_commands(add)
    manage_leases.add_commands(add)
    manage_plans.add_commands(add)
    host = add('host', help='The hosts').add_subparsers(dest='what', required=True)
    discover = host.add_parser('discover', help='list hypervisors that are not registered')
    discover.add_argument('--register', metavar='NAME', nargs='+', help='register these')
    discover.set_defaults(run=_discover)
    _hold_commands(add('hold', help='The holds of offers'))
    add('clock', help='compare the clock of this machine with that of the database').set_defaults(
        run=_clock
    )
    webhooks.add_commands(add('webhook', help='The webhooks'))
    _sample_commands(add('samples', help='Something to lease in a simulated cloud'))
    secrets = add('keys', help='The keys of secrets').add_subparsers(dest='what', required=True)
    secrets.add_parser('new', help='print a new key').set_defaults(run=_new_key)
    secrets.add_parser(
        'rotate', help='encrypt all secrets with the first key, including those in clear text'
    ).set_defaults(run=_rotate)


def _hold_commands(parser: Any) -> None:
    hold = parser.add_subparsers(dest='what', required=True)
    hold.add_parser('list', help='list offers whose resources are held').set_defaults(run=_holds)


def _new_key() -> int:
    say(vault.new_key())
    return 0


def _rotate(_conf: cfg.ConfigOpts, store: Store) -> int:
    if not store.vault.has_keys:
        raise exceptions.ConfigurationError(
            'There is no encryption key: "climate-manage db sync" creates one'
        )
    done = rotation.rotate(store, store.vault)
    store.run(lambda tx: keys.mark(tx, store.vault))
    say(f'{done.encrypted} secrets encrypted, {done.forgotten} of ended leases erased')
    for reservation_id in done.unreadable:
        say(f'no key decrypts the secrets of reservation {reservation_id}')
    return 1 if done.unreadable else 0


def _clock(conf: cfg.ConfigOpts, store: Store) -> int:
    say(standing(store.difference()))
    Clocks(store, SystemClock(), conf.manager.claim_seconds).check()
    return 0


def standing(difference: Difference) -> str:
    """Return how the clock of this machine stands, against that of the database."""
    offset, uncertainty = abs(difference.offset), difference.uncertainty
    if offset <= max(uncertainty, _EXACT):
        within = max(offset + uncertainty, _EXACT) / _EXACT
        return f'the clock of this machine is right, within {within:.0f} ms'
    return (
        f'the clock of this machine must be moved by {difference.offset.total_seconds():+.3f} s'
        f' (give or take {uncertainty.total_seconds():.3f} s)'
    )


def _sync(conf: cfg.ConfigOpts, store: Store) -> int:
    with store.answering() as engine:
        with engine.connect() as connection:
            shortcomings = prerequisites.require(connection, conf.database)
        for text in shortcomings.minor:
            sys.stderr.write(f'climate-manage: {text}\n')
        before = current.version(engine)
        migration.sync(engine, conf.command.revision)
        files.close_to_others(engine)
        say(f'{before or "empty"} -> {current.version(engine)}')
    # An older revision may lack the table that has the mark.
    if conf.command.revision == 'head' and (message := keys.set_up(conf, store)):
        say(message)
    return 0


def _version(_conf: cfg.ConfigOpts, store: Store) -> int:
    with store.answering() as engine:
        say(f'{current.version(engine) or "empty"} (the code has {migration.head()})')
    return 0


def _purge(conf: cfg.ConfigOpts, store: Store) -> int:
    if conf.command.days < 0:
        raise exceptions.InvalidInput('--days must not be negative')
    before = SystemClock().now() - datetime.timedelta(days=conf.command.days)
    count = purge.purge(
        store, before, deleted_only=conf.command.deleted_only, dry_run=conf.command.dry_run
    )
    say(f'{count} leases {"would be " if conf.command.dry_run else ""}removed')
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
    for hypervisor in cloud.compute.list_hypervisors():
        if hypervisor.hostname not in registered:
            say(
                f'{hypervisor.hostname:<32} {hypervisor.vcpus} VCPU, {hypervisor.memory_mb} MiB,'
                f' {hypervisor.local_gb} GiB, {hypervisor.state}, {hypervisor.status}'
            )
    return 0


def _holds(_conf: cfg.ConfigOpts, store: Store) -> int:
    with store.reading() as tx:
        for stored in tx.offers.held():
            period = stored.offer.period
            wanted = ', '.join(
                f'{one.amount} {one.resource_type}' for one in stored.offer.reservations
            )
            say(
                f'{stored.id} of project {stored.project_id} holds {wanted}'
                f' from {period.start:%Y-%m-%dT%H:%M:%SZ} to {period.end:%Y-%m-%dT%H:%M:%SZ}'
                f' until {stored.held_until:%Y-%m-%dT%H:%M:%SZ}'
            )
    return 0
