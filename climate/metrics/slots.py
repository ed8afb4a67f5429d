# SPDX-License-Identifier: Apache-2.0

"""How the processes of one service share their counters.

WSGI servers fork workers, of which only one can listen on the port of metrics. Each worker
therefore keeps its counters in files of a common directory, and the one that listens adds
up all files.

``prometheus_client`` names these files after the id of the process. Workers that are
recycled would leave files forever, or reset counters if their files were deleted. Here they
are named after a slot: a process takes the first slot that no running process has, and
continues with the counters of the slot. There are never more files than there were
processes at once.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import pathlib
import threading
from typing import IO

_LOCK = '.lock'


class SlotTaker:
    """Takes a slot for this process, and another one after a fork.

    :param folder: the directory that the processes share
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._process = 0
        self._number = -1
        # Open as long as the process runs, which keeps the slot locked.
        self._file: IO[str] | None = None

    def number(self) -> int:
        """Return the number of the slot of this process."""
        if self._process != os.getpid():
            with self._lock:
                if self._process != os.getpid():
                    self._number, self._file = _take(self._folder)
                    self._process = os.getpid()
        return self._number


def _take(folder: pathlib.Path) -> tuple[int, IO[str]]:
    for number in itertools.count():
        file = _locked(folder / f'{number}{_LOCK}')
        if file is not None:
            # Values of the process that had the slot before.
            _forget_gauges(folder, number)
            return number, file
    raise AssertionError('unreachable')


def _locked(path: pathlib.Path) -> IO[str] | None:
    """Return the file, locked; None if another process has locked it."""
    file = path.open('w')
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def _forget_gauges(folder: pathlib.Path, number: int) -> None:
    for path in folder.glob(f'gauge_live*_{number}.db'):
        path.unlink(missing_ok=True)


def forget_dead(folder: pathlib.Path) -> None:
    """Delete the gauges of processes that do not run any more; counters remain."""
    for path in folder.glob(f'*{_LOCK}'):
        file = _locked(path)
        if file is not None:
            with file:
                _forget_gauges(folder, int(path.stem))
