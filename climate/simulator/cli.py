# SPDX-License-Identifier: Apache-2.0

"""The command line of the simulated cloud."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import sqlite3
import sys
from collections.abc import Callable
from collections.abc import Sequence

from climate import exceptions
from climate.clock import SystemClock
from climate.simulator import catalogue
from climate.simulator.arguments import MODULE
from climate.simulator.arguments import parser
from climate.simulator.cloud import SimulatedCloud
from climate.simulator.store import FILE_NAME

Action = Callable[[SimulatedCloud, argparse.Namespace], None]


def _print(text: str) -> None:
    sys.stdout.write(f'{text}\n')


def _seed(cloud: SimulatedCloud, arguments: argparse.Namespace) -> None:
    hosts = cloud.seed(arguments.hosts)
    _print(f'{len(hosts)} hypervisors')


def _furnish(cloud: SimulatedCloud, arguments: argparse.Namespace) -> None:
    hosts = cloud.furnish(arguments.hosts)
    _print(f'{len(hosts)} hypervisors')


def _template(_cloud: SimulatedCloud, _arguments: argparse.Namespace) -> None:
    sys.stdout.write(catalogue.TEMPLATE)


def _show(cloud: SimulatedCloud, arguments: argparse.Namespace) -> None:
    contents = {
        kind: [dataclasses.asdict(each) for each in items]
        for kind, items in cloud.overview().items()
    }
    if arguments.json:
        shown = {'reachable': cloud.reachable, **contents}
        _print(json.dumps(shown, indent=2, default=_plain))
        return
    for name, rows in contents.items():
        _print(f'{name}: {len(rows)}')
        for row in rows:
            row.pop('cpu_info', None)
            _print('  ' + '  '.join(f'{key}={_text(value)}' for key, value in row.items()))
    if not cloud.reachable:
        _print('the cloud cannot be reached')


def _plain(value: object) -> object:
    """Convert a value that JSON does not support."""
    return sorted(value) if isinstance(value, frozenset) else str(value)


def _text(value: object) -> str:
    if isinstance(value, frozenset):
        value = tuple(sorted(value))
    if isinstance(value, tuple):
        return ','.join(map(str, value)) or '-'
    if isinstance(value, dict):
        return ','.join(f'{key}:{item}' for key, item in value.items()) or '-'
    return '-' if value is None else str(value)


def _boot(cloud: SimulatedCloud, arguments: argparse.Namespace) -> None:
    server = cloud.boot_server(arguments.host, arguments.project, arguments.name, arguments.flavor)
    _print(server.id)


def _host(cloud: SimulatedCloud, arguments: argparse.Namespace) -> None:
    name = arguments.hostname
    cloud.set_hypervisor(name, state=arguments.state, status=arguments.status)
    sizes = (arguments.vcpus, arguments.memory_mb, arguments.disk_gb)
    if any(sizes):
        vcpus, memory_mb, disk_gb = sizes
        cloud.resize_hypervisor(name, vcpus=vcpus, memory_mb=memory_mb, local_gb=disk_gb)
    if arguments.zone or arguments.no_zone:
        cloud.set_zone(name, arguments.zone)
    if arguments.node:
        cloud.add_node(name, arguments.node)
    if arguments.rename:
        cloud.rename_hypervisor(name, arguments.rename)
    if arguments.remove:
        cloud.remove_hypervisor(name)


def _deletion(cloud: SimulatedCloud, arguments: argparse.Namespace) -> None:
    cloud.set_server_deletion_seconds(arguments.seconds)


def _fail(cloud: SimulatedCloud, arguments: argparse.Namespace) -> None:
    cloud.fail(arguments.verb, arguments.times, when=arguments.when, error=arguments.error)


def _slow(cloud: SimulatedCloud, arguments: argparse.Namespace) -> None:
    cloud.slow(arguments.verb, arguments.seconds)


def _late(cloud: SimulatedCloud, arguments: argparse.Namespace) -> None:
    cloud.show_late(arguments.seconds)


def _reach(cloud: SimulatedCloud, arguments: argparse.Namespace) -> None:
    cloud.reachable = arguments.answer == 'yes'


def _heal(cloud: SimulatedCloud, _arguments: argparse.Namespace) -> None:
    cloud.heal()


ACTIONS: dict[str, Action] = {
    'seed': _seed,
    'furnish': _furnish,
    'template': _template,
    'show': _show,
    'boot': _boot,
    'host': _host,
    'deletion': _deletion,
    'fail': _fail,
    'slow': _slow,
    'late': _late,
    'reachable': _reach,
    'heal': _heal,
}
# Only these create a cloud, so that a misspelt directory is not taken for an empty one.
_CREATE = {'seed', 'furnish'}


def main(
    argv: Sequence[str] | None = None, *, state_dir: pathlib.Path | None = None, prog: str = MODULE
) -> int:
    """Run one command and return its exit status.

    :param state_dir: the state directory, if the command *prog* knows it; None to
        require ``--state-dir``
    """
    arguments = parser(None if state_dir is None else prog).parse_args(argv)
    place = state_dir or pathlib.Path(arguments.state_dir)
    try:
        if arguments.command not in _CREATE and not (place / FILE_NAME).exists():
            raise LookupError(f'there is no simulated cloud in {place}')
        cloud = SimulatedCloud(place, clock=SystemClock())
    except (LookupError, OSError, sqlite3.Error) as error:
        return _refuse(prog, error)
    try:
        ACTIONS[arguments.command](cloud, arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe: Python must not write the rest when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (LookupError, ValueError, sqlite3.Error, exceptions.EffectError) as error:
        return _refuse(prog, error)
    finally:
        cloud.close()
    return 0


def _refuse(prog: str, error: Exception) -> int:
    text = error.args[0] if isinstance(error, LookupError) else error
    sys.stderr.write(f'{prog}: {text}\n')
    return 2
