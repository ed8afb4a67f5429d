# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.
"""The installation of the install page, with a simulated cloud, for a benchmark."""

from __future__ import annotations

import contextlib
import http.client
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Final

from benchmarks import parts
from climate.cmd import samples
from climate.db import migration
from climate.simulator import SimulatedCloud

HOST: Final = '127.0.0.1'
_STARTS_WITHIN: Final = 120.0
_FORMAT: Final = """[DEFAULT]
auth_strategy = noauth
cloud = simulated
transport_url = fake://
log_file = {folder}/climate.log
resource_types = physical:host, virtual:instance

[database]
connection = {url}

[simulator]
state_dir = {folder}/cloud
"""


def prepare(folder: pathlib.Path, url: str, hosts: int) -> None:
    """Write the configuration, and register the hosts of a simulated cloud."""
    (folder / 'climate.conf').write_text(_FORMAT.format(folder=folder, url=url.replace('%', '%%')))
    core = parts.core(url)
    migration.sync(core.store.engine)
    cloud = SimulatedCloud(folder / 'cloud', clock=core.clock)
    try:
        cloud.furnish(hosts)
        samples.register(core, cloud)
    finally:
        cloud.close()
        core.store.close()


@contextlib.contextmanager
def gunicorn(folder: pathlib.Path, workers: int, threads: int) -> Iterator[int]:
    """Serve the API as the install page says; yield the port."""
    port = _free_port()
    process = subprocess.Popen(
        [
            *(sys.executable, '-m', 'gunicorn', f'--bind={HOST}:{port}'),
            *(f'--workers={workers}', f'--threads={threads}', 'climate.wsgi.api:application'),
        ],
        cwd=parts.ROOT,
        env={**os.environ, 'OS_CLIMATE_CONFIG_DIR': str(folder)},
        stderr=(folder / 'gunicorn.log').open('w'),
        start_new_session=True,
    )
    try:
        _wait(port, process)
        yield port
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until the API answers.

    :raises RuntimeError: if it does not
    """
    until = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < until:
        connection = http.client.HTTPConnection(HOST, port, timeout=_STARTS_WITHIN)
        try:
            connection.request('GET', '/healthcheck')
            if connection.getresponse().status == http.client.OK:
                return
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.1)
        finally:
            connection.close()
    raise RuntimeError('the API does not answer')
