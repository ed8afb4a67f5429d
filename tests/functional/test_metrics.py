# SPDX-License-Identifier: Apache-2.0

"""Metrics of real processes: a manager, and workers of a WSGI server that forks."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import fixtures
from prometheus_client import parser

from climate.booking.leases import Leases
from climate.clock import SystemClock
from climate.db.migrations import migration
from climate.leases.settings import LeasingSettings
from climate.metrics import catalogue
from climate.metrics.catalogue import Exporter
from climate.plugins.host.plugin import PhysicalHost
from climate.resources.registrar import Registrar
from climate.simulator import SimulatedCloud
from climate.testing.deployment import CALLER
from tests import base
from tests import drafts
from tests.base import FolderCase
from tests.functional import bodies
from tests.functional import processes
from tests.functional.db import cases

Series = dict[str, dict[tuple[str, ...], float]]

# As gunicorn and uWSGI do it: the application is imported first, then workers are forked,
# and those that die are replaced. Each has its own port, so that a test can choose one.
_SERVER = """
import os
import sys

import waitress

from climate.wsgi import api

folder, *ports = sys.argv[1:]
workers = {}

def begin(port):
    pid = os.fork()
    if pid:
        workers[pid] = port
        return
    with open(f'{folder}/{port}.pid', 'w') as file:
        file.write(str(os.getpid()))
    waitress.serve(api.application, host='127.0.0.1', port=int(port), threads=2)
    os._exit(0)

for port in ports:
    begin(port)
while True:
    pid, _ = os.wait()
    begin(workers.pop(pid))
"""


def get(port: int, path: str) -> tuple[int, str]:
    """Return the status and body of a response; status 0 if there is none yet."""
    try:
        with urllib.request.urlopen(f'http://127.0.0.1:{port}{path}', timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ''


def scraped(port: int) -> Series:
    """Return all series at a port, by name and values of labels; none if it is not open."""
    found: Series = {}
    status, text = get(port, '/metrics')
    if status == 200:
        for family in parser.text_string_to_metric_families(text):
            for sample in family.samples:
                labels = tuple(sample.labels[name] for name in sorted(sample.labels))
                found.setdefault(sample.name, {})[labels] = sample.value
    return found


class ProcessCase(FolderCase):
    """A folder with a configuration, and a database.

    :ivar port: the port of the metrics
    """

    def setUp(self) -> None:
        super().setUp()
        self.port = processes.free_port()
        self.url = f'sqlite:///{self.folder}/climate.sqlite'
        (self.folder / 'climate.conf').write_text(
            '[DEFAULT]\nauth_strategy = noauth\ncloud = simulated\ntransport_url = fake://\n'
            f'[simulator]\nstate_dir = {self.folder}/cloud\n'
            f'[database]\nconnection = {self.url}\n'
            '[manager]\nmax_sleep = 0.2\n'
            f'[metrics]\nenabled = true\napi_port = {self.port}\nmanager_port = {self.port}\n'
            f'directory = {self.folder}/metrics\ncache_seconds = 1\n'
        )
        self.store = self.closing(cases.connect(self.url, SystemClock()))
        migration.metadata().create_all(self.store.engine)

    def wait(self, what: str, condition: Callable[[Series], Any]) -> Series:
        """Scrape until *condition* is true, and return the series."""
        found: Series = {}

        def enough() -> Any:
            found.clear()
            found.update(scraped(self.port))
            return found and condition(found)

        processes.until(what, enough, 120)
        return found


class TestManagerMetrics(ProcessCase):
    """``climate-manager``."""

    def book(self) -> None:
        """Book one of two hosts from now on."""
        clock = SystemClock()
        cloud = self.closing(SimulatedCloud(self.folder / 'cloud', clock=clock))
        cloud.seed(2)
        plugins = {'physical:host': PhysicalHost()}
        registrar = Registrar(self.store, plugins, cloud)
        for name in ('compute-1', 'compute-2'):
            registrar.register_resource(drafts.host(name))
        now = clock.now()
        draft = drafts.lease(
            now, now + datetime.timedelta(hours=1), bodies.hosts(), name='lease', asked_at=now
        )
        Leases(self.store, plugins, clock, LeasingSettings(), lambda: None).create(CALLER, draft)

    def test_a_lease_that_starts(self) -> None:
        self.book()
        config = str(self.folder / 'climate.conf')
        self.assertEqual(1, self.check(config).returncode)
        self.useFixture(
            processes.Command('climate-manager', '--config-file', config, folder=self.folder)
        )
        found = self.wait(
            'the start is counted',
            lambda series: (
                series.get('climate_events_total', {}).get(('start_lease', 'done'))
                and series['climate_leases']['ACTIVE',]
            ),
        )
        self.assertEqual(1, found['climate_lease_lateness_seconds_count']['start_lease',])
        self.assertEqual(1, found['climate_database_up'][()])
        self.assertEqual({('physical:host',): 1}, found['climate_resources_reserved'])
        self.assertLess(0, found['climate_claims_total'][()])
        self.assertEqual(64, found['climate_manager_workers'][()])
        # All that a manager should have, and nothing else; some labels have no value yet.
        known = {
            name
            for metric in catalogue.ALL
            if metric.exporter is not Exporter.API
            for name in metric.series
        }
        self.assertEqual(set(), found.keys() - known)
        unlabelled = {
            metric.series[-1]
            for metric in catalogue.ALL
            if metric.exporter is not Exporter.API and not metric.labels
        }
        self.assertEqual(set(), unlabelled - found.keys())
        for path in ('/healthcheck?checks=all', '/healthz'):
            status, text = get(self.port, path)
            self.assertEqual((200, 'ok'), (status, json.loads(text)['status']))
            self.assertEqual({'clock', 'database', 'loop'}, set(json.loads(text)['checks']))
        self.assertEqual(404, get(self.port, '/v1/leases')[0])
        done = self.check(config)
        self.assertEqual((0, 'ok: clock, database, loop\n'), (done.returncode, done.stdout))

    def check(self, config: str) -> subprocess.CompletedProcess[str]:
        """Run ``climate-manager --check``."""
        command = str(processes.BIN / 'climate-manager')
        return processes.run(command, '--config-file', config, '--check')


class TestWorkers(ProcessCase):
    """The API in a WSGI server that forks."""

    def setUp(self) -> None:
        super().setUp()
        self.ports = [processes.free_port() for _ in range(3)]
        with (self.folder / 'server.log').open('wb') as log:
            server = subprocess.Popen(
                [sys.executable, '-c', _SERVER, str(self.folder), *map(str, self.ports)],
                env={**processes.clean_environment(), 'OS_CLIMATE_CONFIG_DIR': str(self.folder)},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.addCleanup(server.wait, 60)
        self.addCleanup(os.killpg, server.pid, signal.SIGKILL)

    def ask(self, port: int) -> None:
        """Have a worker answer a request."""
        processes.until('a worker answers', lambda: get(port, '/v1/leases')[0] == 200, 120)

    def kill(self, port: int) -> None:
        """Kill a worker, and wait until another one has its port."""
        path = self.folder / f'{port}.pid'
        old = path.read_text()
        os.kill(int(old), signal.SIGKILL)
        processes.until('it is replaced', lambda: path.read_text() not in ('', old), 60)

    def answered(self, series: Series) -> float:
        """Return how many requests for leases all workers have answered."""
        return series['climate_api_request_seconds_count'].get(('GET', '/v1/leases', '200'), 0)

    def test_one_exposes_the_metrics_of_all(self) -> None:
        first, second, third = self.ports
        self.ask(first)
        self.wait('the first worker listens', lambda series: self.answered(series) == 1)
        for port in (second, third, third):
            self.ask(port)
        found = self.wait('all are counted', lambda series: self.answered(series) == 4)
        limit = found['climate_database_connections_limit'][()]

        # Another worker takes over, with all that the dead one has counted.
        self.kill(first)
        found = self.wait('another worker listens', lambda series: self.answered(series) == 4)
        # That is the only one whose gauges are gone.
        self.assertEqual(limit * 2 / 3, found['climate_database_connections_limit'][()])

        # Its successor continues with its files.
        self.ask(first)
        found = self.wait('the new one is counted', lambda series: self.answered(series) == 5)
        self.assertEqual(limit, found['climate_database_connections_limit'][()])
        files = {path.name for path in (self.folder / 'metrics').glob('*.db')}
        kinds = ('counter', 'gauge_livesum', 'histogram')
        self.assertEqual({f'{kind}_{number}.db' for kind in kinds for number in range(3)}, files)


class TestDisabled(base.TestCase):
    """By default."""

    def test_nothing_listens_and_prometheus_is_not_loaded(self) -> None:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        port = processes.free_port()
        (folder / 'climate.conf').write_text(
            '[DEFAULT]\nauth_strategy = noauth\ntransport_url = fake://\n'
            f'[database]\nconnection = sqlite:///{folder}/climate.sqlite\n'
            f'[metrics]\napi_port = {port}\n'
        )
        script = (
            'import sys, webob; from climate.wsgi import api; '
            "webob.Request.blank('/v1').get_response(api.application); "
            "print('prometheus_client' in sys.modules)"
        )
        done = processes.run(sys.executable, '-c', script, OS_CLIMATE_CONFIG_DIR=str(folder))
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual('False', done.stdout.split()[-1])
        with contextlib.closing(socket.socket()) as listener:
            listener.bind(('127.0.0.1', port))
