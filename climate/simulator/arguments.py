# SPDX-License-Identifier: Apache-2.0

"""The arguments of the simulator's command line, and their help."""

from __future__ import annotations

import argparse
import math
import textwrap
from typing import NoReturn

from climate.simulator.faults import ERRORS
from climate.simulator.faults import VERBS

MODULE = 'python -m climate.simulator'
_EXAMPLE = '.state/cloud'

_DESCRIPTION = (
    'Inspect the simulated cloud of a service and inject failures. Changes take effect at '
    'once in every process that uses the same state directory.'
)
_STATE_DIR = (
    'directory of the state of the simulated cloud: [simulator] state_dir of the service, or '
    'the directory "cloud" in the state directory of climate-standalone'
)
_VERB = (
    "a call of Climate to the cloud, such as compute.add_host, or a pattern: 'compute.*' or "
    "'*'; listed below"
)


class _Parser(argparse.ArgumentParser):
    """Reports an error in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f'{self.prog}: {message}\n')


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f'{text} is less than 1')
    return number


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f'{text!r} is not a number of seconds')
    return number


# argparse uses the name of a type in its messages.
_count.__name__ = 'number'


def _verbs() -> str:
    """Return the verbs of each service, for a help text."""
    services: dict[str, list[str]] = {}
    for verb in VERBS:
        service, _, name = verb.partition('.')
        services.setdefault(service, []).append(name)
    return 'verbs:\n' + '\n'.join(
        textwrap.fill(
            ', '.join(names), 78, initial_indent=f'  {service}: ', subsequent_indent='    '
        )
        for service, names in services.items()
    )


class _Commands:
    """Adds the subcommands to a parser.

    :param prog: the command before the subcommand in examples
    :param state: a sentence that says where the state is
    """

    def __init__(self, top: argparse.ArgumentParser, prog: str, state: str) -> None:
        self._group = top.add_subparsers(
            title='subcommands',
            metavar='SUBCOMMAND',
            dest='command',
            required=True,
            prog=prog.replace(_EXAMPLE, 'DIR'),
        )
        self._prog = prog
        self._state = state

    def add(
        self, name: str, summary: str, description: str, *examples: str, more: str = ''
    ) -> argparse.ArgumentParser:
        """Add a subcommand.

        :param summary: one line for the help of the whole command
        :param examples: the arguments of each example
        :param more: a section that follows the examples
        """
        lines = '\n'.join(f'  {self._prog} {example}' for example in (examples or (name,)))
        parts = [f'examples:\n{lines}', more, textwrap.fill(self._state, 78)]
        return self._group.add_parser(
            name,
            help=summary,
            description=textwrap.fill(description, 78),
            epilog='\n\n'.join(filter(None, parts)),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )


def parser(standalone: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line; ``command`` is the name of the subcommand.

    :param standalone: the command that knows the state directory; None to require
        ``--state-dir``
    """
    state = (
        'The state is in the directory that --state-dir names.'
        if standalone is None
        else 'The state is in the directory "cloud" in the state directory of the service.'
    )
    prog = f'{MODULE} --state-dir {_EXAMPLE}' if standalone is None else standalone
    top = _Parser(
        prog=standalone or MODULE,
        description=textwrap.fill(_DESCRIPTION, 78),
        epilog=f"examples:\n  {prog} show\n  {prog} fail 'compute.*'\n  {prog} heal\n\n"
        + textwrap.fill(
            f'{state} The exit status is 0, or 2 with one line on standard error if an argument '
            'is wrong or there is no simulated cloud in the directory.',
            78,
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if standalone is None:
        top.add_argument('--state-dir', metavar='DIR', required=True, help=_STATE_DIR)
    commands = _Commands(top, prog, state)
    _add_contents(commands)
    _add_servers(commands)
    _add_hosts(commands)
    _add_deletion(commands)
    _add_faults(commands)
    _add_delays(commands)
    return top


def _add_contents(commands: _Commands) -> None:
    seed = commands.add(
        'seed',
        'add hosts, a freepool and the network and storage that leases need',
        'Add the hosts compute-1 to compute-N, the aggregate "freepool", two flavors, an '
        'external network, a storage pool and a volume type, each unless it exists. Creates '
        'the state directory if it is missing.',
        'seed --hosts 8',
    )
    furnish = commands.add(
        'furnish',
        'like seed, and add a catalogue to try: servers, volumes, a stack and more',
        'Do what seed does, and add the catalogue of climate-standalone: more flavors, images, '
        'networks, volume types, a server, a volume and a stack. Objects of the catalogue that '
        'were deleted are not added again.',
        'furnish --hosts 8',
    )
    for each in (seed, furnish):
        each.add_argument(
            '--hosts',
            type=_count,
            default=4,
            metavar='N',
            help='number of hosts compute-1 to compute-N (default: %(default)s)',
        )
    commands.add(
        'template',
        'print a template of a stack',
        'Print a Heat template that works with the objects of the catalogue, for a lease of a '
        'stack.',
        'template > stack.yaml',
    )
    show = commands.add(
        'show',
        'show all objects in the cloud, and the faults',
        'Show all objects in the cloud by kind, one per line, and the active faults.',
        'show',
        'show --json',
    )
    show.add_argument('--json', action='store_true', help='print one JSON object')


def _add_servers(commands: _Commands) -> None:
    boot = commands.add(
        'boot',
        'start a server and print its id',
        'Start a server, as a user does without Climate, and print its id.',
        'boot --name mine --flavor m1.medium',
        'boot compute-2 --project alt',
    )
    boot.add_argument(
        'host', nargs='?', metavar='HOST', help='service host (default: any with enough room)'
    )
    boot.add_argument(
        '--flavor', default='m1.small', help='name or id of a flavor (default: %(default)s)'
    )
    boot.add_argument('--project', default='demo', help='project id (default: %(default)s)')
    boot.add_argument('--name', default='server', help='server name (default: %(default)s)')


def _add_hosts(commands: _Commands) -> None:
    host = commands.add(
        'host',
        'let a host fail or recover, disable, enable, resize or rename it',
        'Change a hypervisor and its nova-compute service, as operators do without Climate. '
        'Omitted options change nothing.',
        'host compute-2 --state down',
        'host compute-2 --state up --status enabled',
        'host compute-2 --vcpus 8 --memory-mb 32768',
        'host compute-2 --zone az1',
        'host compute-2 --rename compute-2.example.org',
    )
    host.add_argument('hostname', metavar='HOSTNAME', help='hypervisor hostname')
    host.add_argument('--state', choices=('up', 'down'), help='whether nova-compute is alive')
    host.add_argument(
        '--status', choices=('enabled', 'disabled'), help='whether new servers may start there'
    )
    host.add_argument('--vcpus', type=_count, metavar='N', help='number of processors')
    host.add_argument('--memory-mb', type=_count, metavar='N', help='memory, in MiB')
    host.add_argument('--disk-gb', type=_count, metavar='N', help='disk space, in GiB')
    zones = host.add_mutually_exclusive_group()
    zones.add_argument(
        '--zone', metavar='NAME', help='availability zone; its aggregate has the same name'
    )
    zones.add_argument('--no-zone', action='store_true', help='remove it from its zone')
    host.add_argument('--node', metavar='NAME', help='add a node to its nova-compute')
    host.add_argument('--rename', metavar='NAME', help='hypervisor hostname from now on')
    host.add_argument('--remove', action='store_true', help='remove it from the cloud')


def _add_deletion(commands: _Commands) -> None:
    deletion = commands.add(
        'deletion',
        'set how long the deletion of a server takes',
        'Set how long the deletion of a server takes from now on. By default it takes no time.',
        'deletion 30',
    )
    deletion.add_argument('seconds', type=_seconds, metavar='SECONDS', help='0 or more')


def _add_faults(commands: _Commands) -> None:
    fail = commands.add(
        'fail',
        'let calls to the cloud fail',
        'Let calls to the cloud fail from now on.',
        "fail 'compute.*'",
        'fail compute.add_host --times 2 --when after',
        more=_verbs(),
    )
    fail.add_argument('verb', metavar='VERB', help=_VERB)
    fail.add_argument(
        '--times', type=_count, metavar='N', help='number of failures (default: until "heal")'
    )
    fail.add_argument(
        '--when',
        choices=('before', 'after'),
        default='before',
        help='fail before the work is done, or after it, so that only the response is lost '
        '(default: %(default)s)',
    )
    fail.add_argument(
        '--error',
        choices=tuple(ERRORS),
        default='transient',
        help='kind of error: "transient" is temporary, the others are responses of the service '
        '(default: %(default)s)',
    )


def _add_delays(commands: _Commands) -> None:
    slow = commands.add(
        'slow',
        'let calls to the cloud take longer',
        'Delay calls to the cloud from now on, until "heal".',
        "slow 'placement.*' 1.5",
        more=_verbs(),
    )
    slow.add_argument('verb', metavar='VERB', help=_VERB)
    slow.add_argument('seconds', type=_seconds, metavar='SECONDS', help='delay of each call')
    late = commands.add(
        'late',
        'show what is made only after a while',
        'Show what is made from now on only after this long, as replicas and caches do, until '
        '"heal".',
        'late 5',
    )
    late.add_argument(
        'seconds', type=_seconds, metavar='SECONDS', help='how long; 0 shows everything at once'
    )
    reach = commands.add(
        'reachable',
        'disconnect the cloud, or connect it again',
        'Disconnect the cloud, so that all calls fail with a transient error, or connect it again.',
        'reachable no',
    )
    reach.add_argument(
        'answer', choices=('yes', 'no'), help='whether the cloud can be reached at all'
    )
    commands.add(
        'heal',
        'remove all faults',
        'Remove all faults: failures, delays, late results and a lost connection.',
    )
