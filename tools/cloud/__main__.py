# SPDX-License-Identifier: Apache-2.0

"""``python -m tools.cloud VERB``: runs a real OpenStack on this machine."""

from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Sequence

from tools.cloud import deploy
from tools.cloud import processes
from tools.cloud import state
from tools.cloud import status
from tools.cloud import updown
from tools.cloud.errors import CloudError


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog='python -m tools.cloud', description=__doc__)
    parser.add_argument(
        '--dir',
        type=pathlib.Path,
        default=state.directory(),
        help='directory of the cloud (default: $CLIMATE_CLOUD_DIR, $CLOUD_DIR or .cloud)',
    )
    verbs = parser.add_subparsers(dest='verb', required=True)
    up = verbs.add_parser('up', help='install missing requirements, and start all processes')
    up.add_argument('--hosts', type=int, help='number of compute hosts (default: 9)')
    up.add_argument('--ports', help='the first port of the range (default: 15000), or auto')
    verbs.add_parser('install', help='install missing requirements without starting anything')
    down = verbs.add_parser('down', help='stop all processes')
    down.add_argument('--wipe', action='store_true', help='delete all data')
    verbs.add_parser('status', help='show processes, ports and memory; fails if one is down')
    verbs.add_parser('deploy', help="install this clone's Climate, and restart it if it changed")
    for verb in ('start', 'stop', 'restart'):
        one = verbs.add_parser(verb, help=f'{verb} single processes')
        one.add_argument('names', nargs='+', metavar='NAME')
    return parser


def main(argv: Sequence[str]) -> int:
    """Run the command; return its exit status."""
    arguments = _parser().parse_args(argv)
    directory = arguments.dir.absolute()
    try:
        return _do(arguments, directory)
    except CloudError as error:
        sys.stderr.write(f'{error}\n')
        return 1


def _do(arguments: argparse.Namespace, directory: pathlib.Path) -> int:
    if arguments.verb == 'up':
        updown.up(updown.options(directory, arguments.ports, arguments.hosts))
        return 0
    if arguments.verb == 'install':
        updown.installed(updown.options(directory, None, None))
        return 0
    if arguments.verb == 'down' and not (directory / state.FILE).exists():
        print(f'no cloud in {directory}')
        return 0
    cloud = state.load(directory)
    if arguments.verb == 'down':
        updown.down(cloud, wipe=arguments.wipe)
    elif arguments.verb == 'status':
        found = status.rows(cloud)
        print('\n'.join(status.table(found)))
        return int(not all(row.pids for row in found))
    elif arguments.verb == 'deploy':
        deploy.redeploy(cloud)
    else:
        verb = {'start': processes.start, 'stop': processes.stop, 'restart': processes.restart}
        for name in arguments.names:
            verb[arguments.verb](cloud, name)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
