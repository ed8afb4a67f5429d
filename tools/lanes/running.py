# SPDX-License-Identifier: Apache-2.0

"""Runs the tests of a lane with stestr."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from collections.abc import Sequence
from typing import TextIO

from tools.lanes import results
from tools.lanes import timings
from tools.lanes.lanes import Lane
from tools.lanes.progress import Progress
from tools.lanes.results import Result

STESTR = (sys.executable, '-m', 'stestr')


class CannotList(Exception):
    """The tests of a lane cannot be imported; the message contains the errors."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outcome:
    """The results of a lane.

    :ivar results: the results, in the order in which they arrived
    :ivar missing: tests that should have run but did not report a result
    :ivar wall: elapsed seconds
    :ivar processor: processor seconds of all its processes
    """

    lane: str
    results: Sequence[Result]
    missing: Sequence[str]
    wall: float
    processor: float
    log: pathlib.Path

    def count(self, outcome: str) -> int:
        """Return how many tests passed, failed or were skipped."""
        missing = len(self.missing) if outcome == 'failed' else 0
        return missing + sum(result.outcome == outcome for result in self.results)


def listed(lane: Lane) -> list[str]:
    """Return the ids of all tests of a lane.

    :raises CannotList: if one of its modules cannot be imported
    """
    timings.repository(lane.root)
    found = subprocess.run(
        [*STESTR, 'list'],
        cwd=lane.root,
        env=_environment(lane),
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode:
        raise CannotList(f'{found.stdout}{found.stderr}')
    return sorted(found.stdout.split())


def _environment(lane: Lane) -> dict[str, str]:
    return os.environ | {'OS_TEST_PATH': lane.path}


def run(lane: Lane, ids: Sequence[str], workers: int, out: TextIO) -> Outcome:
    """Run tests of a lane, and show the progress."""
    repository = timings.repository(lane.root)
    timings.guess(repository, ids)
    times = timings.known(repository, ids)
    progress = Progress(lane.name, list(ids), times, workers, out)
    lane.log.parent.mkdir(exist_ok=True)
    before, began = _processor(), time.monotonic()
    found: list[Result] = []
    with lane.log.open('w', encoding='utf-8') as file:

        def receive(result: Result) -> None:
            found.append(result)
            file.write(f'{result.name} [{result.seconds:.3f} s] {result.outcome}\n{result.log}')
            file.flush()
            progress.add(result)

        with progress.shown():
            for number, (several, at_once) in enumerate(turns(lane, ids, workers)):
                run_on = ('--combine',) if number else ()
                how = ('--concurrency', str(at_once)) if at_once > 1 else ('--serial',)
                _run(lane, several, (*run_on, *how), file, receive)
    return Outcome(
        lane=lane.name,
        results=found,
        missing=_missing(ids, found),
        wall=time.monotonic() - began,
        processor=_processor() - before,
        log=lane.log,
    )


def turns(lane: Lane, ids: Sequence[str], workers: int) -> list[tuple[list[str], int]]:
    """Return the sets of tests to run one after the other, each with its concurrency."""
    alone = [name for name in ids if lane.serial and re.search(lane.serial, name)]
    left = sorted(set(ids) - set(alone))
    waiting = [name for name in left if lane.waiting and re.search(lane.waiting, name)]
    rest = sorted(set(left) - set(waiting))
    turns = ((rest, workers + lane.spare), (waiting, lane.crowd), (alone, 1))
    return [(several, at_once) for several, at_once in turns if several]


def _run(
    lane: Lane,
    ids: Sequence[str],
    options: Sequence[str],
    log: TextIO,
    receive: Callable[[Result], None],
) -> None:
    with tempfile.NamedTemporaryFile('w', encoding='utf-8', suffix='.list') as chosen:
        chosen.write('\n'.join(ids) + '\n')
        chosen.flush()
        command = [*STESTR, 'run', '--subunit', '--load-list', chosen.name, *options]
        # In a separate session, so that killpg ends all workers of stestr.
        child = subprocess.Popen(
            command,
            cwd=lane.root,
            env=_environment(lane),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
        assert child.stdout is not None
        try:
            results.read(child.stdout, receive)
            child.wait()
        except BaseException:
            os.killpg(child.pid, signal.SIGTERM)
            child.wait()
            raise


def _missing(ids: Sequence[str], found: Sequence[Result]) -> list[str]:
    """Return the tests without a result, unless their class or module has one."""
    reported = {result.name for result in found}
    wholes = tuple(
        match[1] + '.'
        for name in reported
        if (match := re.match(r'setUp(?:Class|Module) \((.+)\)', name))
    )
    return [name for name in ids if name not in reported and not name.startswith(wholes)]


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
