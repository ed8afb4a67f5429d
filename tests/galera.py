# SPDX-License-Identifier: Apache-2.0
"""Two nodes of a Galera cluster on loopback, started for a test and stopped after it."""

from __future__ import annotations

import functools
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import unittest

import fixtures
import sqlalchemy as sa

from tests import waiting

_LIBRARIES = ('/usr/lib/galera/libgalera_smm.so', '/usr/lib64/galera/libgalera_smm.so')
_PROGRAMS = ('mariadbd', 'mariadb-install-db', 'rsync')
_SECONDS = 180
# See tests.services.
_QUERY = 'charset=utf8mb4&ssl_disabled=true'


@functools.cache
def trouble() -> str | None:
    """Return why a cluster cannot be started; None if it can."""
    missing = [name for name in _PROGRAMS if shutil.which(name) is None]
    if _library() is None:
        missing.append('galera-4')
    return f'no Galera cluster without {", ".join(missing)}' if missing else None


def _library() -> str | None:
    return next((path for path in _LIBRARIES if pathlib.Path(path).exists()), None)


def install_mariadb(data: pathlib.Path) -> None:
    """Make the files of a new server in a folder."""
    command = ['mariadb-install-db', '--no-defaults', f'--datadir={data}', '--skip-test-db']
    command.append('--auth-root-authentication-method=normal')
    subprocess.run(command, check=True, capture_output=True)


class Cluster(fixtures.Fixture):
    """A Galera cluster.

    :ivar urls: the URL of a database of the cluster on each node
    """

    def __init__(self, nodes: int = 2) -> None:
        super().__init__()
        self._nodes = nodes
        self.urls: list[str] = []
        self._folder = pathlib.Path()

    def setUp(self) -> None:
        """Start the cluster; skip the test or fail if that is not possible."""
        reason = trouble()
        if reason is not None:
            if os.environ.get('CLIMATE_REQUIRE_SERVICES') == '1':
                raise AssertionError(reason)
            raise unittest.SkipTest(reason)
        super().setUp()

    def _setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix='climate-galera-', ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self._folder = pathlib.Path(folder.name)
        self._folder.chmod(0o755)
        # For clients, replication, and incremental and full state transfers.
        ports = [_free_ports(4) for _ in range(self._nodes)]
        first = f'gcomm://127.0.0.1:{ports[0][1]}'
        for number, mine in enumerate(ports):
            address = 'gcomm://' if number == 0 else first
            process = self._start(number, mine, address)
            engine = sa.create_engine(
                f'mysql+pymysql://root@127.0.0.1:{mine[0]}/?{_QUERY}', poolclass=sa.NullPool
            )
            waiting.until(
                functools.partial(self._synced, engine, process), _SECONDS, 'the node is in step'
            )
            if number == 0:
                with engine.connect() as connection:
                    connection.exec_driver_sql('CREATE DATABASE climate CHARACTER SET utf8mb4')
            self.urls.append(f'mysql+pymysql://root@127.0.0.1:{mine[0]}/climate?{_QUERY}')

    def _start(self, number: int, ports: list[int], address: str) -> subprocess.Popen[bytes]:
        home = self._folder / str(number)
        data = home / 'data'
        data.mkdir(parents=True)
        # mariadbd refuses to run as root.
        user = ['--user=mysql'] if os.geteuid() == 0 else []
        install_mariadb(data)
        if user:
            for path in (home, *home.rglob('*')):
                shutil.chown(path, 'mysql')
        server, group, ist, sst = ports
        options = {
            'datadir': data,
            'tmpdir': home,
            'socket': home / 's',
            'pid-file': home / 'pid',
            'bind-address': '127.0.0.1',
            'port': server,
            'innodb-buffer-pool-size': '32M',
            'innodb-log-file-size': '16M',
            'innodb-flush-log-at-trx-commit': 0,
            'innodb-autoinc-lock-mode': 2,
            'binlog-format': 'ROW',
            'wsrep-on': 'ON',
            'wsrep-provider': _library(),
            'wsrep-cluster-name': f'climate-{self._folder.name}',
            'wsrep-cluster-address': address,
            'wsrep-node-address': '127.0.0.1',
            'wsrep-sst-method': 'rsync',
            'wsrep-sst-receive-address': f'127.0.0.1:{sst}',
            'wsrep-provider-options': (
                f'gmcast.listen_addr=tcp://127.0.0.1:{group};ist.recv_addr=127.0.0.1:{ist};'
                'gcache.size=16M'
            ),
        }
        command = ['mariadbd', '--no-defaults', *user]
        command += [f'--{name}={value}' for name, value in options.items()]
        if address == 'gcomm://':
            command.append('--wsrep-new-cluster')
        log = (home / 'log').open('wb')
        self.addCleanup(log.close)
        process = subprocess.Popen(command, stdout=log, stderr=log)
        self.addCleanup(_stop, process)
        return process

    def _synced(self, engine: sa.Engine, process: subprocess.Popen[bytes]) -> bool:
        if process.poll() is not None:
            logs = [path.read_text(errors='replace')[-3000:] for path in self._folder.glob('*/log')]
            raise AssertionError('a node has ended\n' + '\n'.join(logs))
        try:
            with engine.connect() as connection:
                query = "SHOW STATUS LIKE 'wsrep_local_state_comment'"
                return bool(connection.exec_driver_sql(query).one()[1] == 'Synced')
        except sa.exc.OperationalError:
            return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    # A clean shutdown is not needed, because the data is deleted.
    process.kill()
    process.wait()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(('127.0.0.1', 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
