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

"""The command line of the twin: play with the cloud of a running service."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import sys
from collections.abc import Callable
from collections.abc import Sequence

from climate.clients.fake import catalogue
from climate.clients.fake.faults import ERRORS
from climate.clients.fake.faults import VERBS
from climate.clients.fake.store import FILE_NAME
from climate.clients.fake.twin import Twin
from climate.clock import SystemClock

EPILOG = """\
A VERB is one of the verbs that Climate uses, or a pattern: 'compute.add_host',
'compute.*' or '*'. They are:

  {verbs}

examples{where}:
  {prog} show
  {prog} boot --name mine --flavor m1.medium
  {prog} fail 'compute.*'
  {prog} fail compute.add_host --times 2 --when after
  {prog} slow 'placement.*' 1.5
  {prog} host compute-2 --state down
  {prog} heal
"""
MODULE = 'python -m climate.clients.fake'

Action = Callable[[Twin, argparse.Namespace], None]
Adding = Callable[[str, Action, str], argparse.ArgumentParser]


def _say(text: str) -> None:
    sys.stdout.write(f'{text}\n')


def _seed(twin: Twin, arguments: argparse.Namespace) -> None:
    hosts = twin.seed(arguments.hosts)
    _say(f'{len(hosts)} hypervisors')


def _furnish(twin: Twin, arguments: argparse.Namespace) -> None:
    hosts = twin.furnish(arguments.hosts)
    _say(f'{len(hosts)} hypervisors')


def _template(_twin: Twin, _arguments: argparse.Namespace) -> None:
    sys.stdout.write(catalogue.TEMPLATE)


def _show(twin: Twin, arguments: argparse.Namespace) -> None:
    contents = {
        kind: [dataclasses.asdict(each) for each in found]
        for kind, found in twin.overview().items()
    }
    if arguments.json:
        shown = {'reachable': twin.reachable, **contents}
        _say(json.dumps(shown, indent=2, default=_plain))
        return
    for name, rows in contents.items():
        _say(f'{name}: {len(rows)}')
        for row in rows:
            row.pop('cpu_info', None)
            _say('  ' + '  '.join(f'{key}={_text(value)}' for key, value in row.items()))
    if not twin.reachable:
        _say('the cloud cannot be reached')


def _plain(value: object) -> object:
    """Return what JSON has for a value that it does not know."""
    return sorted(value) if isinstance(value, frozenset) else str(value)


def _text(value: object) -> str:
    if isinstance(value, frozenset):
        value = tuple(sorted(value))
    if isinstance(value, tuple):
        return ','.join(map(str, value)) or '-'
    if isinstance(value, dict):
        return ','.join(f'{key}:{item}' for key, item in value.items()) or '-'
    return '-' if value is None else str(value)


def _boot(twin: Twin, arguments: argparse.Namespace) -> None:
    server = twin.boot_server(arguments.host, arguments.project, arguments.name, arguments.flavor)
    _say(server.id)


def _host(twin: Twin, arguments: argparse.Namespace) -> None:
    twin.set_hypervisor(arguments.hostname, state=arguments.state, status=arguments.status)


def _deletion(twin: Twin, arguments: argparse.Namespace) -> None:
    twin.set_server_deletion_seconds(arguments.seconds)


def _fail(twin: Twin, arguments: argparse.Namespace) -> None:
    twin.fail(arguments.verb, arguments.times, when=arguments.when, error=arguments.error)


def _slow(twin: Twin, arguments: argparse.Namespace) -> None:
    twin.slow(arguments.verb, arguments.seconds)


def _reach(twin: Twin, arguments: argparse.Namespace) -> None:
    twin.reachable = arguments.answer == 'yes'


def _heal(twin: Twin, _arguments: argparse.Namespace) -> None:
    twin.heal()


def parser(standalone: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line.

    :param standalone: the command that knows the directory; None if it is to be said
    """
    prog = f'{MODULE} --state-dir .state/cloud' if standalone is None else standalone
    where = ', for a service that keeps its state in .state' if standalone is None else ''
    top = argparse.ArgumentParser(
        prog=standalone or MODULE,
        description='Look into the simulated cloud and disturb it. It takes effect at once, in '
        'every process that uses the same state directory.',
        epilog=EPILOG.format(verbs='\n  '.join(VERBS), where=where, prog=prog),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if standalone is None:
        top.add_argument(
            '--state-dir',
            required=True,
            help='directory of the state of the simulated cloud: that of [twin] state_dir, or '
            'the directory "cloud" in that of climate-standalone',
        )
    commands = top.add_subparsers(metavar='COMMAND', required=True)

    def command(name: str, action: Action, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.set_defaults(action=action)
        return added

    _add_contents(command)
    host = command('host', _host, 'let a hypervisor fail, recover, be disabled or enabled')
    host.add_argument('hostname')
    host.add_argument('--state', choices=('up', 'down'))
    host.add_argument('--status', choices=('enabled', 'disabled'))
    deletion = command('deletion', _deletion, 'say how long the deletion of a server takes')
    deletion.add_argument('seconds', type=float)
    _add_faults(command)
    return top


def _add_contents(command: Adding) -> None:
    seed = command('seed', _seed, 'make sure that there are hypervisors and a freepool')
    seed.add_argument('--hosts', type=int, default=4, help='how many (default: 4)')
    furnish = command('furnish', _furnish, 'the same, with a catalogue to try')
    furnish.add_argument('--hosts', type=int, default=4, help='how many (default: 4)')
    command('template', _template, 'print a template of a stack')
    show = command('show', _show, 'show everything that is in the cloud, and the faults')
    show.add_argument('--json', action='store_true', help='as JSON')
    boot = command('boot', _boot, 'start a server and print its id')
    boot.add_argument('host', nargs='?', help='service host; any that has room if left out')
    boot.add_argument('--flavor', default='m1.small', help='name or id (default: m1.small)')
    boot.add_argument('--project', default='demo', help='id of its project (default: demo)')
    boot.add_argument('--name', default='server', help='its name (default: server)')


def _add_faults(command: Adding) -> None:
    fail = command('fail', _fail, 'let a verb fail')
    fail.add_argument('verb', metavar='VERB')
    fail.add_argument('--times', type=int, help='how often (default: until it is healed)')
    fail.add_argument(
        '--when',
        choices=('before', 'after'),
        default='before',
        help='before the work, or after it, when only the answer is lost (default: before)',
    )
    fail.add_argument('--error', choices=tuple(ERRORS), default='transient')
    slow = command('slow', _slow, 'let a verb take longer')
    slow.add_argument('verb', metavar='VERB')
    slow.add_argument('seconds', type=float)
    reach = command('reachable', _reach, 'say whether the cloud can be reached at all')
    reach.add_argument('answer', choices=('yes', 'no'))
    command('heal', _heal, 'remove every fault')


def main(
    argv: Sequence[str] | None = None,
    *,
    state_dir: pathlib.Path | None = None,
    prog: str = MODULE,
) -> int:
    """Run one command and return its exit code.

    :param state_dir: the directory, if the command *prog* knows it
    """
    arguments = parser(None if state_dir is None else prog).parse_args(argv)
    place = state_dir or pathlib.Path(arguments.state_dir)
    # Only these make a cloud: a misspelt directory must not look like an empty one.
    makes = arguments.action in (_seed, _furnish)
    if not makes and not (place / FILE_NAME).exists():
        sys.stderr.write(f'there is no simulated cloud in {place}\n')
        return 1
    twin = Twin(place, clock=SystemClock())
    try:
        arguments.action(twin, arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whatever reads it has read enough; Python is not to write the rest at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (LookupError, ValueError) as error:
        sys.stderr.write(f'{error.args[0]}\n')
        return 1
    finally:
        twin.close()
    return 0
