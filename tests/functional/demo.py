# SPDX-License-Identifier: Apache-2.0

"""``make demo`` as a process."""

from __future__ import annotations

import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

from tests.architecture import ROOT


class Demo:
    """A running demo.

    :ivar lines: what it has said up to now
    :param folder: where it may put temporary files
    :param use_case: which one it plays; its own choice if ''
    """

    def __init__(self, folder: str, use_case: str = '') -> None:
        self.folder = pathlib.Path(folder)
        self.lines: list[str] = []
        words = [sys.executable, str(ROOT / 'tools' / 'demo.py'), *use_case.split()]
        facts = {'cwd': ROOT, 'env': {**os.environ, 'TMPDIR': folder}, 'text': True}
        output = {'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT}
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, **output, **facts)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip('\n'))

    @property
    def text(self) -> str:
        """All it has said."""
        return '\n'.join(self.lines)

    def wait_for(self, pattern: str, seconds: float = 180) -> re.Match[str]:
        """Return the first match of *pattern* in what it says."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = re.search(pattern, self.text)
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f'no {pattern} in:\n{self.text}')

    def children(self) -> list[int]:
        """Return the processes it has started and that are there now."""
        pid = self.process.pid
        found = pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text(encoding='ascii')
        return [int(child) for child in found.split()]

    def end(self, seconds: float = 180) -> int:
        """Return its exit status."""
        status = self.process.wait(seconds)
        self._reader.join(60)
        return status

    def close(self) -> None:
        """End it, if the test has not."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)
        self._reader.join(60)
        assert self.process.stdout is not None
        self.process.stdout.close()
