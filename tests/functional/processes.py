# SPDX-License-Identifier: Apache-2.0

"""Climate's own commands as processes of their own."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import fixtures

BIN = pathlib.Path(sys.executable).parent
# Above the ports of well-known servers, and below those of connections.
_LOWEST_PORT = 16000
_CONNECTIONS = pathlib.Path('/proc/sys/net/ipv4/ip_local_port_range')


def until(what: str, condition: Callable[[], Any], seconds: float = 180.0) -> Any:
    """Wait until *condition* is true and return what it gave.

    :raises AssertionError: naming *what*, if it is not after *seconds*
    """
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f'not within {seconds} s: {what} (last: {found!r})')
        time.sleep(0.02)


def free_port() -> int:
    """Return a port that no socket has.

    The kernel gives none of these to a connection, so it is still free when a server
    starts some seconds later.
    """
    highest = _first_of_connections() - 1
    while True:
        port = random.randint(_LOWEST_PORT, highest)
        with contextlib.suppress(OSError), socket.socket() as listener:
            listener.bind(('', port))
            return port


def _first_of_connections() -> int:
    """Return the first port that the kernel may give to a connection."""
    with contextlib.suppress(OSError):
        first = int(_CONNECTIONS.read_text().split()[0])
        if first >= 2 * _LOWEST_PORT:
            return first
    return 32768


def clean_environment() -> dict[str, str]:
    """Return the environment without what would lead a client elsewhere.

    Options of Climate, such as ``OS_ALLOCATION__SAMPLE_SIZE``, remain.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith('OS_') or '__' in name
    }
    return {**kept, 'PYTHONUNBUFFERED': '1', 'PYTHONWARNINGS': 'ignore'}


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a clean environment; return how it has ended, and what it wrote."""
    facts = {'env': {**clean_environment(), **environment}, 'timeout': 120}
    return subprocess.run(words, capture_output=True, text=True, check=False, **facts)


class Command(fixtures.Fixture):
    """A command of the virtual environment, killed at the end of the test.

    :ivar output: the file that its output goes to
    """

    def __init__(self, *words: str, folder: pathlib.Path, code: pathlib.Path | None = None) -> None:
        """Prepare to run a command.

        :param code: the tree whose code it runs; None for this one
        """
        super().__init__()
        self._words = words
        self._folder = folder
        self._code = code
        self.process: subprocess.Popen[bytes] | None = None

    def _setUp(self) -> None:
        self.output = self._folder / f'{self._words[0]}-{id(self)}.log'
        self.addCleanup(self.kill)
        self.start()

    def start(self) -> None:
        """Start it, or start it again."""
        environment = clean_environment()
        if self._code is not None:
            environment['PYTHONPATH'] = str(self._code)
        with self.output.open('ab') as output:
            self.process = subprocess.Popen(
                [str(BIN / self._words[0]), *self._words[1:]],
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        """What it has written so far."""
        return self.output.read_text(errors='replace')

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.process is not None and self.process.poll() is None

    def kill(self) -> None:
        """End it at once, without a word."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGKILL)
            self.process.wait(60)

    def terminate(self, seconds: float) -> int:
        """Tell it to end; return its exit status.

        :raises subprocess.TimeoutExpired: if it has not after *seconds*
        """
        self.process.terminate()
        return self.process.wait(seconds)


class Standalone(fixtures.Fixture):
    """A ``climate-standalone`` with a state directory of its own.

    :ivar state: the state directory
    :ivar endpoint: the address of its API, with ``/v1``
    """

    def __init__(
        self, *, hosts: int = 2, options: str = '', state: pathlib.Path | None = None
    ) -> None:
        super().__init__()
        self._hosts = hosts
        self._options = options
        self._state = state

    def _setUp(self) -> None:
        self.state = self._state or pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'state'
        self.state.mkdir(parents=True, exist_ok=True)
        configuration = self.state.parent / 'standalone.conf'
        configuration.write_text(self._options)
        port = free_port()
        self.endpoint = f'http://127.0.0.1:{port}/v1'
        options = {'port': port, 'state-dir': self.state, 'hosts': self._hosts}
        options['config-file'] = configuration
        words = [word for name, value in options.items() for word in (f'--{name}', str(value))]
        command = Command('climate-standalone', *words, folder=self.state.parent)
        self.command = self.useFixture(command)
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Wait until it has said that it is ready once more than before."""

        def answers() -> bool:
            if not self.command.running:
                raise AssertionError(f'it has ended: {self.command.said}')
            with contextlib.suppress(OSError, urllib.error.URLError):
                return self.ask('GET', '/leases')[0] == 200
            return False

        until('climate-standalone answers', answers, 180)

    def again(self) -> None:
        """Start it again after it has ended."""
        self.command.start()
        self.wait_until_ready()

    def ask(
        self, method: str, path: str, body: Any = None, *, version: str = '1.1', timeout: float = 10
    ) -> tuple[int, Any]:
        """Send a request; return the status and what the body holds."""
        request = urllib.request.Request(
            self.endpoint + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                'Content-Type': 'application/json',
                'OpenStack-API-Version': f'reservation {version}',
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                text, status = answer.read(), answer.status
        except urllib.error.HTTPError as error:
            text, status = error.read(), error.code
        return status, json.loads(text) if text else None

    def notifications(self) -> list[dict[str, Any]]:
        """Return the notifications so far."""
        return notifications(self.state / 'notifications.jsonl')


def notifications(journal: pathlib.Path) -> list[dict[str, Any]]:
    """Return the notifications in a journal."""
    if not journal.exists():
        return []
    # The last line may be half written.
    return [json.loads(line) for line in journal.read_text().split('\n')[:-1] if line]
