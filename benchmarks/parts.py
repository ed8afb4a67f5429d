# SPDX-License-Identifier: Apache-2.0
"""The common parts of the benchmarks and of the processes that they start."""

from __future__ import annotations

import atexit
import contextlib
import datetime
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import Any

import sqlalchemy as sa
from oslo_config import cfg

from climate.clock import SystemClock
from climate.cmd import composition
from climate.cmd import config

ROOT = pathlib.Path(__file__).parents[1]
HOUR = datetime.timedelta(hours=1)


def configuration(url: str) -> cfg.ConfigOpts:
    """Return the configuration of a service on the database at *url*."""
    conf = config.new_conf()
    conf([], project='climate', default_config_files=[])
    conf.set_override('connection', url, group='database')
    conf.set_override('auth_strategy', 'noauth')
    # One project books all leases, from one address.
    conf.set_override('project_share', 1.0, group='api')
    conf.set_override('per_project', '', group='rate_limit')
    conf.set_override('per_address', '', group='rate_limit')
    conf.set_override('transport_url', 'fake://')
    conf.set_override('leases', 0, group='limits')
    # Log lines are written as in production, but not to the output of the benchmark.
    conf.set_override('log_file', os.devnull)
    config.set_up_logging(conf, 'benchmarks')
    # oslo.log would write the traceback of a failed benchmark to the log.
    sys.excepthook = sys.__excepthook__
    return conf


def core(url: str) -> composition.Core:
    """Return the parts of a service on the database at *url*."""
    return composition.core(configuration(url), SystemClock())


def api(parts: composition.Core) -> Any:
    """Return the API as a WSGI application; it registers no hosts and wakes no managers."""
    no_registry: Any = None
    return composition.api(parts, registry=no_registry, wake=lambda _: None, health={})


def lease_body(name: str, start: datetime.datetime, hours: float = 1.0) -> dict[str, Any]:
    """Return the body of a request for one host."""
    return {
        'name': name,
        'start_date': f'{start:%Y-%m-%d %H:%M}',
        'end_date': f'{start + hours * HOUR:%Y-%m-%d %H:%M}',
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


def resident_megabytes(pid: int | str = 'self') -> float:
    """Return the resident memory of a process, in MiB."""
    for line in pathlib.Path(f'/proc/{pid}/status').read_text().splitlines():
        if line.startswith('VmRSS:'):
            return int(line.split()[1]) / 1024
    return 0.0


def database_seconds(url: str) -> float:
    """Return the processor time of the server of a database, in seconds; 0 if it is not here.

    For MariaDB it includes other work of the server; for PostgreSQL, only the processes of
    the database count.
    """
    address = sa.engine.make_url(url)
    wanted = {'mysql': 'mariadbd', 'postgresql': 'postgres'}.get(address.get_backend_name())
    ticks = 0
    for folder in pathlib.Path('/proc').glob('[0-9]*'):
        with contextlib.suppress(OSError):
            name, _, rest = (folder / 'stat').read_text().partition('(')[2].rpartition(')')
            command = (folder / 'cmdline').read_text()
            if name == wanted and (name == 'mariadbd' or str(address.database) in command):
                user, system = rest.split()[11:13]
                ticks += int(user) + int(system)
    return ticks / os.sysconf('SC_CLK_TCK')


@functools.cache
def _environment() -> dict[str, str]:
    """Return the environment of children: they find the byte code that earlier ones have written.

    An installed service finds it, too. Without it, a start takes three times as long.
    """
    kept = dict(os.environ)
    if kept.pop('PYTHONDONTWRITEBYTECODE', ''):
        kept['PYTHONPYCACHEPREFIX'] = folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return kept


class Child:
    """A child process of the benchmark that reads lines and writes lines of JSON.

    :param module: the module that it runs
    :param arguments: the arguments of its command line
    """

    def __init__(self, module: str, *arguments: object) -> None:
        self._process = subprocess.Popen(
            [sys.executable, '-m', module, *map(str, arguments)],
            cwd=ROOT,
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def answer(self) -> Any:
        """Wait for its next line; return the value in it.

        :raises RuntimeError: if it has died
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f'{self._process.args!r} ended with {self._process.wait()}')
        return json.loads(line)

    def send(self, word: object = '') -> None:
        """Send a line to the process."""
        assert self._process.stdin is not None
        self._process.stdin.write(f'{word}\n')
        self._process.stdin.flush()

    def close(self) -> None:
        """Stop the process; kill it after 20 s."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def say(value: object) -> None:
    """Send a line of JSON to the benchmark that started this process."""
    sys.stdout.write(json.dumps(value) + '\n')
    sys.stdout.flush()


def read_line() -> str:
    """Wait for a line from the benchmark; '' at the end."""
    return sys.stdin.readline()
