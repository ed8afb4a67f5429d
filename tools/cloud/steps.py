# SPDX-License-Identifier: Apache-2.0

"""Runs steps that depend on each other, in parallel, and prints their durations."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import sys
import threading
import time
from collections.abc import Callable
from collections.abc import Sequence

from tools.cloud.errors import CloudError

# More than the number of processors, because most steps sometimes wait for a server.
AT_ONCE = 6

_lock = threading.Lock()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Step:
    """An action, and the names of the steps that must be done first."""

    name: str
    action: Callable[[], object]
    needs: tuple[str, ...] = ()


def say(text: str) -> None:
    """Print a line at once, without mixing it with those of other threads."""
    with _lock:
        sys.stdout.write(f'{text}\n')
        sys.stdout.flush()


def do(step: Step) -> None:
    """Do one step, and print its duration.

    :raises CloudError: if it failed
    """
    began = time.monotonic()
    step.action()
    say(f'  {step.name:<28} {time.monotonic() - began:6.1f} s')


def do_all(steps: Sequence[Step], at_once: int = AT_ONCE) -> None:
    """Do all *steps*; of those that are ready, the first in the list begin first.

    :raises CloudError: for the first failure, after the steps in progress have ended; no
        further step begins
    """
    waiting = list(steps)
    done: set[str] = set()
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        under_way: dict[concurrent.futures.Future[None], Step] = {}
        while waiting or under_way:
            for step in [each for each in waiting if done.issuperset(each.needs)]:
                if len(under_way) < at_once:
                    waiting.remove(step)
                    under_way[pool.submit(do, step)] = step
            if not under_way:
                raise CloudError(f'no step provides what {waiting[0].name} needs')
            ended, _ = concurrent.futures.wait(
                under_way, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for future in ended:
                step = under_way.pop(future)
                _check(step, future)
                done.add(step.name)


def _check(step: Step, future: concurrent.futures.Future[None]) -> None:
    error = future.exception()
    if isinstance(error, CloudError):
        raise CloudError(f'{step.name}: {error}')
    if error is not None:
        raise error
