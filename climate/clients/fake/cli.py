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
import pathlib
import sys
from collections.abc import Callable
from collections.abc import Sequence

from climate.clients.fake.faults import ERRORS
from climate.clients.fake.faults import VERBS
from climate.clients.fake.store import FILE_NAME
from climate.clients.fake.twin import Twin
from climate.clock import SystemClock

EPILOG = """\
A VERB is one of the verbs that Climate uses, or a pattern: 'compute.add_host',
'compute.*' or '*'. They are:

  {verbs}

examples, for a service that keeps its state in .state:
  python -m climate.clients.fake --state-dir .state show
  python -m climate.clients.fake --state-dir .state fail 'compute.*'
  python -m climate.clients.fake --state-dir .state fail compute.add_host --times 2 --when after
  python -m climate.clients.fake --state-dir .state slow 'placement.*' 1.5
  python -m climate.clients.fake --state-dir .state host compute-2 --state down
  python -m climate.clients.fake --state-dir .state heal
"""


def _say(text: str) -> None:
    sys.stdout.write(f'{text}\n')


def _seed(twin: Twin, arguments: argparse.Namespace) -> None:
    hosts = twin.seed(arguments.hosts)
    _say(f'{len(hosts)} hypervisors')


def _contents(twin: Twin) -> dict[str, list[dict[str, object]]]:
    groups: dict[str, Sequence[object]] = {
        'hypervisors': twin.hypervisors(),
        'aggregates': twin.aggregates(),
        'servers': twin.servers(),
        'images': twin.images(),
        'faults': twin.faults(),
    }
    return {
        name: [
            {
                field.name: getattr(value, field.name)
                for field in dataclasses.fields(value)  # type: ignore[arg-type]  # all are
            }
            for value in values
        ]
        for name, values in groups.items()
    }


def _show(twin: Twin, arguments: argparse.Namespace) -> None:
    contents = _contents(twin)
    if arguments.json:
        _say(json.dumps({'reachable': twin.reachable, **contents}, indent=2, default=str))
        return
    for name, rows in contents.items():
        _say(f'{name}: {len(rows)}')
        for row in rows:
            row.pop('cpu_info', None)
            _say('  ' + '  '.join(f'{key}={_text(value)}' for key, value in row.items()))
    if not twin.reachable:
        _say('the cloud cannot be reached')


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ','.join(map(str, value)) or '-'
    if isinstance(value, dict):
        return ','.join(f'{key}:{item}' for key, item in value.items()) or '-'
    return '-' if value is None else str(value)


def _boot(twin: Twin, arguments: argparse.Namespace) -> None:
    server = twin.boot_server(arguments.host, arguments.project, arguments.name)
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


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(
        prog='python -m climate.clients.fake',
        description='Look into the twin of a cloud and disturb it. It takes effect at once, in '
        'every process that uses the same state directory.',
        epilog=EPILOG.format(verbs='\n  '.join(VERBS)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument('--state-dir', required=True, help='directory of the state of the twin')
    commands = top.add_subparsers(metavar='COMMAND', required=True)

    def command(
        name: str, action: Callable[[Twin, argparse.Namespace], None], text: str
    ) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.set_defaults(action=action)
        return added

    seed = command('seed', _seed, 'make sure that there are hypervisors and a freepool')
    seed.add_argument('--hosts', type=int, default=4, help='how many (default: 4)')
    show = command('show', _show, 'show hypervisors, aggregates, servers, images and faults')
    show.add_argument('--json', action='store_true', help='as JSON')
    boot = command('boot', _boot, 'start a server and print its id')
    boot.add_argument('host', help='service host')
    boot.add_argument('--project', default='demo', help='id of its project (default: demo)')
    boot.add_argument('--name', default='server', help='its name (default: server)')
    host = command('host', _host, 'let a hypervisor fail, recover, be disabled or enabled')
    host.add_argument('hostname')
    host.add_argument('--state', choices=('up', 'down'))
    host.add_argument('--status', choices=('enabled', 'disabled'))
    deletion = command('deletion', _deletion, 'say how long the deletion of a server takes')
    deletion.add_argument('seconds', type=float)
    _add_faults(command)
    return top


def _add_faults(
    command: Callable[
        [str, Callable[[Twin, argparse.Namespace], None], str], argparse.ArgumentParser
    ],
) -> None:
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = parser().parse_args(argv)
    place = pathlib.Path(arguments.state_dir)
    # Only seed makes a cloud: a misspelt directory must not look like an empty one.
    if arguments.action is not _seed and not (place / FILE_NAME).exists():
        sys.stderr.write(f'there is no twin in {place}\n')
        return 1
    twin = Twin(arguments.state_dir, clock=SystemClock())
    try:
        arguments.action(twin, arguments)
    except (LookupError, ValueError) as error:
        sys.stderr.write(f'{error.args[0]}\n')
        return 1
    finally:
        twin.close()
    return 0
