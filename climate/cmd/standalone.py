# SPDX-License-Identifier: Apache-2.0

"""``climate-standalone``: the whole service in one process, for trials.

Uses SQLite in the state directory, a message bus inside the process, no Keystone, and a
simulated cloud with registered resources of each type. Restarted with the same state
directory, it continues where it stopped.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pathlib
import shlex
import sys
import threading
from collections.abc import Callable
from typing import IO

from oslo_config import cfg

from climate import exceptions
from climate.clock import SystemClock
from climate.cmd import auditing
from climate.cmd import composition
from climate.cmd import config
from climate.cmd import exposure
from climate.cmd import managing
from climate.cmd import samples
from climate.cmd import serving
from climate.cmd import signals
from climate.cmd import standalone_mail
from climate.cmd import standalone_metrics
from climate.cmd import tracing
from climate.db.encryption import vault
from climate.db.engine import addresses
from climate.db.migrations import migration
from climate.manager.service import Manager
from climate.messaging import journal
from climate.simulator import cli
from climate.simulator import SimulatedCloud

CLOUD = 'cloud'
CONFIGURATION = 'climate.conf'
_KEY = 'encryption.key'
_I_KNOW = '--i-know'
# The subcommand for the simulated cloud.
_SIMULATOR = 'simulator'


def main() -> int:
    """Run until stopped."""
    received = signals.Signals()
    # Leases may contain secrets.
    os.umask(0o077)
    words, rest = _split(sys.argv[1:])
    options = _parser().parse_args(words)
    if rest is not None:
        return cli.main(
            rest,
            state_dir=pathlib.Path(options.state_dir) / CLOUD,
            prog=f'climate-standalone {_SIMULATOR}',
        )
    try:
        if not options.i_know:
            exposure.check(options.host)
        service = Standalone(options)
    except exceptions.ClimateError as error:
        sys.stderr.write(f'climate-standalone: {error.message}\n')
        return 1
    except OSError as error:
        sys.stderr.write(f'climate-standalone: {error}\n')
        return 1
    service.start()
    composition.say(f'Climate is ready at {service.url}/v1')
    composition.say(f'Its web page is {service.url}/ui/')
    if service.metrics_url:
        composition.say(f'Its metrics are at {service.metrics_url}')
    composition.say(f'Its mails are files in {service.mails}')
    composition.say(_commands(f'{service.url}/v1'))
    return received.wait(service.stop, service.reload)


def _split(words: list[str]) -> tuple[list[str], list[str] | None]:
    """Return the words before and after ``simulator``; the latter are None without it."""
    for number, word in enumerate(words):
        # All other options have a value, which may be anything.
        before = words[number - 1] if number else ''
        value = before.startswith('-') and '=' not in before and before != _I_KNOW
        if word == _SIMULATOR and not value:
            return words[:number], words[number + 1 :]
    return words, None


def _commands(url: str) -> str:
    """Return commands to try, which work when they are copied unchanged."""
    folder, install = pathlib.Path(sys.executable).parent, ''
    if not (folder / 'openstack').exists():
        python = shlex.quote(sys.executable)
        install = f"\n  {python} -m pip install 'openstack-climate[client]'"
    return samples.COMMANDS.format(
        endpoint=shlex.quote(url), folder=shlex.quote(str(folder)), install=install
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='climate-standalone',
        usage='%(prog)s [options] [simulator COMMAND ...]',
        description=__doc__,
        epilog='"climate-standalone simulator COMMAND" inspects the simulated cloud of a running '
        'service and injects failures; see "climate-standalone simulator --help".',
    )
    parser.add_argument('--host', default='127.0.0.1', help='address to listen on')
    parser.add_argument(
        _I_KNOW,
        action='store_true',
        help='listen on an address other than loopback, although callers are not authenticated',
    )
    parser.add_argument(
        '--port', type=_number(0, 65535), default=1234, help='port to listen on; 0 for any'
    )
    parser.add_argument('--state-dir', default='.state', help='directory for all state')
    parser.add_argument(
        '--hosts', type=_number(0, 100_000), default=4, help='hosts of the simulated cloud'
    )
    parser.add_argument(
        '--config-file', action='append', help='file with options to override', default=[]
    )
    return parser


def _number(least: int, most: int) -> Callable[[str], int]:
    """Return what reads a number within bounds, for argparse."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(f'{text!r} is no number from {least} to {most}')
        return int(text)

    return read


class Standalone:
    """API and manager around one database file.

    :raises climate.exceptions.ConfigurationError: if another process uses the state
        directory
    :raises OSError: if the port or the directory cannot be used
    """

    def __init__(self, options: argparse.Namespace) -> None:
        state = pathlib.Path(options.state_dir).resolve()
        self._lock = _locked(state)
        _close_to_others(state)
        conf = _conf(state, options)
        _write_configuration(state, conf)
        self._metrics = standalone_metrics.StandaloneMetrics(conf)
        tracing.set_up(conf, 'climate-standalone')
        parts = composition.core(conf, SystemClock())
        migration.sync(parts.store.engine)
        self._parts = parts
        self._cloud = SimulatedCloud(state / CLOUD, clock=parts.clock)
        notifications = _journal(parts, state / 'notifications.jsonl')
        self._mails = standalone_mail.StandaloneMails(conf, state, parts.clock)
        # Mails last, since what fails is published again to those before it.
        publisher = journal.Tee([notifications, journal.Printer(composition.say), self._mails])
        trail = _journal(parts, state / 'audit.jsonl')
        self._manager = managing.manager(
            parts,
            self._cloud,
            publisher,
            audit=auditing.deletion_recorder(parts.conf, parts.clock, trail),
        )
        self._cloud.furnish(options.hosts)
        samples.register(parts, self._cloud)
        application = composition.api(
            parts,
            registry=self._manager,
            wake=self._manager.wake,
            health={'broker': _always},
            find_cloud=lambda: self._cloud,
            audit=auditing.recorder(parts.conf, parts.clock, trail),
        )
        self._server = serving.listen(
            self._metrics.mounted(application),
            host=options.host,
            port=options.port,
            threads=parts.conf.api.threads,
            largest_body=conf.api.max_request_body_size,
        )
        self.url = serving.url(options.host, self._server.port)

    @property
    def metrics_url(self) -> str:
        """The address of the metrics; '' if they are disabled."""
        return self._metrics.address(self.url)

    @property
    def mails(self) -> pathlib.Path:
        """The folder of the mails."""
        return self._mails.path

    def start(self) -> None:
        """Begin to serve; returns at once."""
        self._metrics.start(self._parts.store, self._manager)
        self._mails.start(self.url)
        self._manager.start()
        threading.Thread(target=self._server.run, name='http', daemon=True).start()

    def reload(self) -> None:
        """Read the configuration again."""
        config.reload(self._parts.conf)

    @property
    def manager(self) -> Manager:
        """The manager inside."""
        return self._manager

    def stop(self) -> None:
        """Stop serving and release all resources."""
        self._manager.stop(2.0)
        self._server.close()
        self._mails.close()
        self._parts.store.close()
        self._cloud.close()
        self._lock.close()


def _journal(parts: composition.Core, path: pathlib.Path) -> journal.FileJournal:
    return journal.FileJournal(path, publisher_id=parts.conf.notifications.publisher_id)


def _close_to_others(state: pathlib.Path) -> None:
    """Remove permissions that an earlier release gave to other users."""
    for path in (state, *state.rglob('*')):
        if not path.is_symlink() and path.stat().st_mode & 0o077:
            path.chmod(path.stat().st_mode & 0o700)


def _encryption_key(state: pathlib.Path) -> str:
    """Return the encryption key of the state directory; create it at the first use."""
    file = state / _KEY
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(vault.new_key(), encoding='utf-8')
    return file.read_text(encoding='utf-8').strip()


def _locked(state: pathlib.Path) -> IO[str]:
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = (state / 'lock').open('w')
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise exceptions.ConfigurationError(
            f'another climate-standalone is using {state}; give this one another --state-dir'
        ) from None
    return lock


def _conf(state: pathlib.Path, options: argparse.Namespace) -> cfg.ConfigOpts:
    conf, files = config.new_conf(), options.config_file
    try:
        conf([], project='climate', prog='climate-standalone', default_config_files=files)
        config.name_files(conf, files)
    except cfg.Error as error:
        raise exceptions.ConfigurationError(str(error)) from None
    url = addresses.of_file(state / 'climate.sqlite')
    conf.set_override('connection', config.literal(url), group='database')
    if not conf.database.encryption_keys:
        conf.set_override('encryption_keys', [_encryption_key(state)], group='database')
    conf.set_override('auth_strategy', 'noauth')
    conf.set_override('enabled', True, group='ui')
    conf.set_override('transport_url', 'fake://')
    # The simulated cloud has what each of them needs.
    conf.set_default('resource_types', samples.TYPES)
    # Trials and tests come from one address.
    conf.set_default('per_project', '', group='rate_limit')
    conf.set_default('per_address', '', group='rate_limit')
    # Trial leases last minutes, so notifications must come soon before the start and the end.
    conf.set_default('notify_before_start', [3600, 300, 60, 30], group='manager')
    conf.set_default('minutes_before_end_lease', 1, group='manager')
    conf.set_default('max_sleep', 1.0, group='manager')
    standalone_mail.set_defaults(conf)
    if options.port:
        page_url = f'{serving.url(options.host, options.port)}/ui'
        conf.set_default('page_url', page_url, group='feeds')
    config.set_up_logging(conf, 'climate-standalone')
    return conf


def _write_configuration(state: pathlib.Path, conf: cfg.ConfigOpts) -> None:
    """Write a file with which ``climate-manage`` works on the state directory."""
    key = state / _KEY
    # Not that of an earlier start, if the configuration has other keys now.
    own = key.exists() and conf.database.encryption_keys == [_encryption_key(state)]
    options = {
        'DEFAULT': {
            'auth_strategy': 'noauth',
            'cloud': 'simulated',
            'transport_url': 'fake://',
            'resource_types': ','.join(conf.resource_types),
        },
        'simulator': {'state_dir': str(state / CLOUD)},
        'database': {
            'connection': addresses.of_file(state / 'climate.sqlite'),
            **({'encryption_key_file': str(key)} if own else {}),
        },
    }
    lines = ['# climate-standalone writes this file whenever it starts.']
    for group, values in options.items():
        lines += [f'[{group}]', *(f'{key} = {config.literal(values[key])}' for key in values)]
    (state / CONFIGURATION).write_text('\n'.join([*lines, '']), encoding='utf-8')


def _always() -> None:
    """Succeed: the message bus is part of the process."""
