# SPDX-License-Identifier: Apache-2.0

"""The parts of ``make demo``: service, client, notifications and output."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from typing import Any
from typing import Final

from rich import console
from rich.text import Text

from climate.clock import SystemClock
from climate.messaging import follow
from climate.messaging import lines

PATIENCE = 15.0
# Also enough on a busy machine.
START_PATIENCE = 180.0
CLOCK = SystemClock()
# python-blazarclient, which is installed with our tests, declares a command that it lacks.
NOISE: Final = re.compile(r"Could not load 'reservation_.*?\n")
_STYLES = {'bus:': 'green', 'cloud:': 'magenta'}
# Operations of the simulated cloud are fast, so it is polled more often than a real one.
OPTIONS = """
[storage]
poll = 0.2
[virtual:stack]
poll = 0.2
"""


class DemoFailed(Exception):
    """Something did not happen as expected."""


def expect(condition: bool, text: str) -> None:
    """Check a condition.

    :raises DemoFailed: if it is false, with *text*
    """
    if not condition:
        raise DemoFailed(text)


def _style(text: str, mark: str) -> str:
    if text.startswith('$ '):
        return 'not dim bold cyan'
    return f'not dim {_STYLES.get(mark.strip(), "")}'.strip()


class Printer:
    """Prints messages, without mixing those of several threads; in color on a terminal."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._console = console.Console(highlight=False, markup=False, soft_wrap=True)

    def say(self, text: str, *, mark: str = '') -> None:
        """Print *text* after the current time (UTC); further lines are indented.

        :param mark: the prefix of the first line, such as ``bus: ``
        """
        first, *rest = text.splitlines() or ['(nothing)']
        stamp = CLOCK.now().strftime('%H:%M:%S.%f')[:-4]
        line = Text(f'{stamp}  ', style='dim')
        line.append(f'{mark}{first}', style=_style(first, mark))
        with self._lock:
            self._console.print(line)
            for each in rest:
                self._console.print(Text(f'             {each}'))
            sys.stdout.flush()


def environment(folder: pathlib.Path, url: str = '') -> dict[str, str]:
    """Return the environment of child processes, without settings of another cloud.

    :param url: the endpoint for the client
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith('OS_')}
    kept['NO_PROXY'] = kept['no_proxy'] = '127.0.0.1'
    kept['OS_CLIENT_CONFIG_FILE'] = str(folder / 'no-clouds.yaml')
    if url:
        kept['OS_AUTH_TYPE'], kept['OS_ENDPOINT'] = 'none', url
    return kept


def ask(
    url: str, printer: Printer, method: str, path: str, body: dict[str, Any], version: str
) -> Any:
    """Send a plain request, print it, and return the body of the response.

    :param version: the microversion
    :raises DemoFailed: if the request is refused
    """
    printer.say(
        f'{method} {url}{path}\nOpenStack-API-Version: reservation {version}\n{json.dumps(body)}'
    )
    request = urllib.request.Request(
        url + path,
        data=json.dumps(body).encode(),
        method=method,
        headers={
            'Content-Type': 'application/json',
            'OpenStack-API-Version': f'reservation {version}',
        },
    )
    # Ignore the proxies of the environment, because the service is on this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=10) as answer:
            printer.say(f'{answer.status} {answer.reason}')
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        raise DemoFailed(f'{error.code}: {error.read().decode()}') from None


def command(name: str) -> str:
    """Return the path of a command, next to this Python or on ``PATH``.

    :raises DemoFailed: if it is not installed
    """
    neighbor = pathlib.Path(sys.executable).with_name(name)
    found = str(neighbor) if neighbor.exists() else shutil.which(name)
    if found is None:
        raise DemoFailed(f'the command {name} is not installed; "make demo" installs it')
    return found


class Service:
    """Runs ``climate-standalone``.

    :ivar state: the state directory of the service
    """

    def __init__(self, folder: pathlib.Path, *, hosts: int = 4) -> None:
        self.state = folder / 'state'
        self._folder = folder
        self._log = folder / 'service.log'
        options = folder / 'demo.conf'
        options.write_text(OPTIONS)
        with self._log.open('w') as output:
            # In a separate session, so that Ctrl-C in the terminal interrupts only the
            # demo, which then stops the service properly.
            self._process = subprocess.Popen(
                [
                    command('climate-standalone'),
                    '--port=0',
                    f'--hosts={hosts}',
                    f'--state-dir={self.state}',
                    f'--config-file={options}',
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment(folder),
                start_new_session=True,
            )

    def wait(self) -> str:
        """Wait until the service is ready; return its URL.

        :raises DemoFailed: if it does not become ready
        """
        deadline = time.monotonic() + START_PATIENCE
        while time.monotonic() < deadline and self._process.poll() is None:
            for line in self._log.read_text().splitlines():
                if line.startswith('Climate is ready at '):
                    return line.rpartition(' ')[2]
            time.sleep(0.05)
        raise DemoFailed('climate-standalone does not start')

    def stop(self) -> None:
        """Stop the service; kill it after six seconds."""
        self._process.terminate()
        try:
            self._process.wait(6)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def log_tail(self) -> str:
        """Return the last lines of the log of the service."""
        return '\n'.join(self._log.read_text().splitlines()[-15:])


class Bus:
    """Prints the notifications as they arrive.

    The bus of the standalone service is inside its process. The service also writes
    notifications to a file, which this class reads like ``climate-watch``.
    """

    def __init__(self, path: pathlib.Path, printer: Printer) -> None:
        self._follower = follow.Follower(path, from_start=True)
        self._printer = printer
        self._seen: list[dict[str, Any]] = []
        self._changed = threading.Condition()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._listen, name='bus', daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        while not self._ended.wait(0.02):
            for envelope in self._follower.read():
                project = envelope['payload']['project_id']
                text = lines.line(envelope).partition(f' of project {project}: ')[2]
                self._printer.say(f'{envelope["event_type"]}: {text}', mark='  bus: ')
                with self._changed:
                    self._seen.append(envelope)
                    self._changed.notify_all()

    def wait_for(self, event_type: str, seconds: float = PATIENCE) -> dict[str, Any]:
        """Wait for a notification of a type; return the payload of the first one.

        :raises DemoFailed: if none arrives within *seconds*
        """

        def found() -> dict[str, Any] | None:
            return next((one for one in self._seen if one['event_type'] == event_type), None)

        with self._changed:
            envelope = self._changed.wait_for(found, seconds)
        if not envelope:
            raise DemoFailed(f'no {event_type} arrived within {seconds:.0f} s')
        payload: dict[str, Any] = envelope['payload']
        return payload

    def count(self, event_type: str) -> int:
        """Return the number of notifications of a type."""
        with self._changed:
            return sum(one['event_type'] == event_type for one in self._seen)

    def close(self) -> None:
        """Stop listening."""
        self._ended.set()
        self._thread.join()
        self._follower.close()


class Client:
    """Runs ``openstack``, without authentication."""

    def __init__(self, folder: pathlib.Path, url: str, printer: Printer) -> None:
        self._program = command('openstack')
        self._environment = environment(folder, url)
        self._printer = printer

    def run(self, *arguments: str, refused: bool = False) -> str:
        """Run a command, print it with its output, and return the output.

        :param refused: whether the command should fail
        :raises DemoFailed: if it fails or succeeds unexpectedly
        """
        shown = ' '.join(f"'{word}'" if ' ' in word else word for word in arguments)
        self._printer.say(f'$ openstack {shown}')
        done = subprocess.run(
            [self._program, *arguments],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=START_PATIENCE,
            check=False,
        )
        output = NOISE.sub('', done.stderr if refused else done.stdout).strip()
        if (done.returncode != 0) != refused:
            raise DemoFailed(f'the client ended with {done.returncode}: {done.stderr or output}')
        self._printer.say(output)
        return output
