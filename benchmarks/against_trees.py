# SPDX-License-Identifier: Apache-2.0

"""Source trees whose API can be started, each on a database of its own."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from benchmarks import parts
from climate.clock import SystemClock
from tests import services
from tests.functional import bulk
from tests.functional import bulk_parts

_CHILD = pathlib.Path(__file__).with_name('against_child.py')
_CAPACITY = {**bulk_parts.CAPACITY, 'DISK_GB': 1000}


class Tree:
    """A source tree whose API can be started.

    :ivar path: of the tree
    :param metadata: a directory for the entry points that the tree declares
    """

    def __init__(self, path: pathlib.Path, metadata: pathlib.Path) -> None:
        self.path = path
        metadata.mkdir()
        subprocess.run(
            [sys.executable, 'setup.py', '-q', 'egg_info', '--egg-base', str(metadata)],
            cwd=path,
            env={**os.environ, 'PBR_VERSION': '0.0.1'},
            check=True,
            capture_output=True,
        )
        self._python_path = f'{path}{os.pathsep}{metadata}'

    def start(self, url: str, seed: int = 7) -> Process:
        """Start a process with the API on the database at *url*.

        :param seed: of the times of leases
        """
        # The same directory for each tree.
        child = subprocess.Popen(
            [sys.executable, '-P', str(_CHILD), url, str(seed)],
            cwd=parts.ROOT,
            env={**os.environ, 'PYTHONPATH': self._python_path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return Process(child)


class Process:
    """A running :mod:`benchmarks.against_child`."""

    def __init__(self, child: subprocess.Popen[str]) -> None:
        self._child = child

    def ask(self, *command: Any) -> Any:
        """Send a command, and return its result."""
        self.send(*command)
        return self.answer()

    def send(self, *command: Any) -> None:
        """Send a command."""
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps(command) + '\n')
        self._child.stdin.flush()

    def answer(self) -> Any:
        """Return the result of a command.

        :raises RuntimeError: if the process has ended
        """
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            raise RuntimeError(f'{self._child.args!r} ended with {self._child.wait()}')
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        assert self._child.stdin is not None
        self._child.stdin.close()
        self._child.wait()


@contextlib.contextmanager
def started(
    engine: str, trees: Sequence[Tree], fill: Callable[[sa.Engine], None]
) -> Iterator[list[tuple[Process, str]]]:
    """Yield a process of each tree, with the URL of its database.

    :param fill: writes the first rows
    :raises RuntimeError: if a process runs the code of another tree
    """
    with contextlib.ExitStack() as stack:
        found = []
        for tree in trees:
            url = stack.enter_context(services.Database(engine)).url
            process = tree.start(url)
            stack.callback(process.close)
            package = pathlib.Path(process.ask('sync'))
            if package.parents[1] != tree.path:
                raise RuntimeError(f'{package} is not in {tree.path}')
            database = sa.create_engine(url)
            fill(database)
            database.dispose()
            found.append((process, url))
        yield found


def load(hosts: int, allocations: int) -> Callable[[sa.Engine], None]:
    """Return a function that fills a database with hosts and leases."""
    now = SystemClock().now()

    def fill(engine: sa.Engine) -> None:
        bulk.Load(hosts=hosts, allocations=allocations, now=now).fill(engine)
        bulk.insert(
            engine,
            'inventories',
            'resource_id, resource_class, total, reserved, min_unit, max_unit, step_size,'
            ' allocation_ratio',
            (
                (host, name, total, 0, 1, total, 1, 1.0)
                for host in range(1, hosts + 1)
                for name, total in _CAPACITY.items()
            ),
        )
        bulk.analyze(engine)

    return fill
