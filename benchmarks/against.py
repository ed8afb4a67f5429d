# SPDX-License-Identifier: Apache-2.0

"""Compares the processor time of requests in two source trees.

Each tree has a database with the same rows, and a process with its API. They handle the same
requests in turns, so that other work on the machine affects both alike.
"""

from __future__ import annotations

import argparse
import contextlib
import pathlib
import statistics
import sys
import tempfile
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any

from benchmarks import against_answers
from benchmarks import engines
from benchmarks import parts
from benchmarks.against_trees import load
from benchmarks.against_trees import Process
from benchmarks.against_trees import started
from benchmarks.against_trees import Tree
from benchmarks.figures import Figure

CLIENTS = 8
_AIM = 50.0
_HOST = {
    'name': 'host',
    'events': [],
    'reservations': [
        {
            'resource_type': 'physical:host',
            'min': 1,
            'max': 1,
            'hypervisor_properties': '',
            'resource_properties': '',
        }
    ],
}
_SLOTS = {
    'name': 'slots',
    'events': [],
    'reservations': [
        {
            'resource_type': 'virtual:instance',
            'amount': 2,
            'vcpus': 1,
            'memory_mb': 2048,
            'disk_gb': 10,
            'affinity': None,
            'resource_properties': '',
        }
    ],
}
# What the processes of the trees do in turns, by name.
_COMMANDS: dict[str, tuple[Any, ...]] = {
    'create': ('create', 5, _HOST),
    'create of two slots': ('create', 3, _SLOTS),
    'show': ('show', 10),
    'list of 100': ('list', 2, '/v1/leases?limit=100', 100),
    'list of 1,000': ('list', 1, '/v1/leases?limit=1000', 1000),
}
# The processor time that a list of 1,000 leases may take, in milliseconds.
_LIST_AIM = 25.0


def main() -> int:
    """Run the suite; return the exit status."""
    options = _parser().parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trees = [
            Tree(path, pathlib.Path(folder) / str(place))
            for place, path in enumerate((options.old.resolve(), parts.ROOT))
        ]
        if options.answers:
            return against_answers.main(trees, options.engine or ['sqlite'])
        engines.measure(options, lambda engine: _measure(engine, trees, options))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = engines.parser(__doc__)
    parser.add_argument(
        '--old', type=pathlib.Path, required=True, help='directory of the other source tree'
    )
    parser.add_argument('--rounds', type=int, default=30, help='number of turns of each tree')
    parser.add_argument('--hosts', type=int, default=1000)
    parser.add_argument('--allocations', type=int, default=100_000)
    parser.add_argument(
        '--only', action='append', choices=list(_COMMANDS), help='measure this; may be repeated'
    )
    parser.add_argument(
        '--seconds', type=float, default=5.0, help='duration of a turn of all clients; 0 for none'
    )
    parser.add_argument(
        '--answers', action='store_true', help='compare the answers instead of the times'
    )
    return parser


def _measure(engine: str, trees: Sequence[Tree], options: argparse.Namespace) -> Iterator[Figure]:
    name = engines.NAMES[engine]
    with started(engine, trees, load(options.hosts, options.allocations)) as found:
        processes = [process for process, _ in found]
        yield from _times(name, processes, options.rounds, options.only)
        if options.seconds:
            yield from _rates(name, trees, [url for _, url in found], options.seconds)


def _times(
    engine: str, processes: Sequence[Process], rounds: int, only: Sequence[str] | None
) -> Iterator[Figure]:
    for what in only or _COMMANDS:
        command = _COMMANDS[what]
        for process in processes:
            process.ask(*command)
        times: tuple[list[float], list[float]] = ([], [])
        for number in range(rounds):
            for place in (number % 2, 1 - number % 2):
                times[place].extend(processes[place].ask(*command))
        old, new = (statistics.median(each) for each in times)
        aim = _LIST_AIM if what == 'list of 1,000' else None
        yield Figure(engine=engine, what=f'{what}, old', value=old)
        yield Figure(engine=engine, what=f'{what}, new', value=new, aim=aim)
        yield Figure(
            engine=engine,
            what=f'{what}, new, percent of old',
            value=100 * new / old,
            unit='%',
            aim=_AIM,
        )


def _rates(
    engine: str, trees: Sequence[Tree], urls: Sequence[str], seconds: float
) -> Iterator[Figure]:
    with contextlib.ExitStack() as stack:
        clients: list[list[Process]] = []
        for tree, url in zip(trees, urls, strict=True):
            clients.append([tree.start(url, seed) for seed in range(CLIENTS)])
            for client in clients[-1]:
                stack.callback(client.close)
        for each in clients:
            _together(each, ('create', 3, _HOST))
        counts = [0, 0]
        for number in range(4):
            for place in (number % 2, 1 - number % 2):
                counts[place] += sum(_together(clients[place], ('rate', seconds, _HOST)))
        what = f'{CLIENTS} clients, creates'
        for which, count in zip(('old', 'new'), counts, strict=True):
            yield Figure(
                engine=engine, what=f'{what}, {which}', value=count / seconds / 4, unit='/s'
            )
        what, share = f'{what}, old, percent of new', 100 * counts[0] / counts[1]
        yield Figure(engine=engine, what=what, value=share, unit='%', aim=_AIM)


def _together(clients: Sequence[Process], command: tuple[Any, ...]) -> list[Any]:
    for client in clients:
        client.send(*command)
    return [client.answer() for client in clients]


if __name__ == '__main__':
    sys.exit(main())
