# SPDX-License-Identifier: Apache-2.0

"""Pairs of database servers, of which the second takes over from the first."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
from typing import Any

import fixtures
import sqlalchemy as sa

from tests import galera
from tests import services
from tests import waiting

_SECONDS = 120
_BIN = sorted(pathlib.Path('/usr/lib/postgresql').glob('*/bin'))[-1:]
_USER = 'climate'
_PASSWORD = 'secret'


class Pair(fixtures.Fixture):
    """Two servers; the first is the primary.

    :ivar url: a URL with both addresses, for a user without special rights
    """

    def __init__(self) -> None:
        super().__init__()
        self.url = ''
        self.ports = galera._free_ports(2)
        self.folder = pathlib.Path()
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    def _setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix='climate-pair-', ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)
        self.make()

    def make(self) -> None:
        """Start both, and let the second follow the first."""
        raise NotImplementedError

    def hosts(self) -> str:
        return '&'.join(f'host=127.0.0.1:{port}' for port in self.ports)

    def start(self, number: int, command: list[str]) -> None:
        """Start a server, and wait until it answers."""
        log = (self.folder / f'log{number}').open('ab')
        self.addCleanup(log.close)
        self._processes[number] = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
        self.addCleanup(self.kill, number)
        waiting.until(lambda: self._answers(number), _SECONDS, 'the server answers')

    def kill(self, number: int) -> None:
        """End a server as a loss of power does."""
        process = self._processes[number]
        process.kill()
        process.wait()

    def _answers(self, number: int) -> bool:
        with contextlib.suppress(sa.exc.OperationalError):
            self.ask(number, 'SELECT 1')
            return True
        if self._processes[number].poll() is not None:
            text = (self.folder / f'log{number}').read_text(errors='replace')
            raise AssertionError(f'the server has ended\n{text[-3000:]}')
        return False

    def ask(self, number: int, statement: str) -> Any:
        """Run a statement as an administrator of a server; return the first row, if any."""
        engine = sa.create_engine(
            self.administrators(number), poolclass=sa.NullPool, isolation_level='AUTOCOMMIT'
        )
        with engine.connect() as connection:
            result = connection.exec_driver_sql(statement)
            return result.first() if result.returns_rows else None

    def administrators(self, number: int) -> str:
        """Return the URL of a server for administrators."""
        raise NotImplementedError

    def demote(self) -> None:
        """Make the first server read-only, which goes on to answer."""
        raise NotImplementedError

    def promote(self) -> float:
        """Make the second server the primary; return when it was, on the monotonic clock."""
        raise NotImplementedError


class MariadbPair(Pair):
    """A primary of MariaDB and its replica."""

    def setUp(self) -> None:
        """Start the servers; skip or fail if that is not possible."""
        if shutil.which('mariadbd') is None:
            services.missing('no failover without mariadbd')
        super().setUp()

    def administrators(self, number: int) -> str:
        return f'mysql+pymysql://root@127.0.0.1:{self.ports[number]}/?{galera._QUERY}'

    def make(self) -> None:
        for number in range(2):
            self.start(number, self._command(number))
        for statement in (
            "CREATE USER repl IDENTIFIED BY 'secret'",
            'GRANT REPLICATION SLAVE ON *.* TO repl',
            'CREATE DATABASE climate CHARACTER SET utf8mb4',
            f"CREATE USER {_USER} IDENTIFIED BY '{_PASSWORD}'",
            f'GRANT ALL ON climate.* TO {_USER}',
        ):
            self.ask(0, statement)
        self.ask(
            1,
            "CHANGE MASTER TO master_host='127.0.0.1', master_user='repl',"
            f" master_password='secret', master_port={self.ports[0]}, master_use_gtid=slave_pos",
        )
        self.ask(1, 'START SLAVE')
        self.ask(1, 'SET GLOBAL read_only = 1')
        self.url = f'mysql+pymysql://{_USER}:{_PASSWORD}@/climate?{self.hosts()}&ssl_disabled=true'

    def _command(self, number: int) -> list[str]:
        data = self.folder / f'data{number}'
        galera.install_mariadb(data)
        user = []
        if os.geteuid() == 0:
            user = ['--user=mysql']
            for path in (data, *data.rglob('*')):
                shutil.chown(path, 'mysql')
        options = {
            'datadir': data,
            'socket': data / 's',
            'pid-file': data / 'pid',
            'bind-address': '127.0.0.1',
            'port': self.ports[number],
            'server-id': number + 1,
            'log-bin': data / 'binlog',
            'log-bin-trust-function-creators': 1,
            'gtid-strict-mode': 1,
            'innodb-buffer-pool-size': '32M',
            'innodb-log-file-size': '16M',
            'innodb-flush-log-at-trx-commit': 0,
        }
        arguments = [f'--{name}={value}' for name, value in options.items()]
        return ['mariadbd', '--no-defaults', *user, *arguments]

    def demote(self) -> None:
        self.ask(0, 'SET GLOBAL read_only = 1')

    def promote(self) -> float:
        self.ask(1, 'STOP SLAVE')
        self.ask(1, 'RESET SLAVE ALL')
        self.ask(1, 'SET GLOBAL read_only = 0')
        return time.monotonic()

    def wait_for_replica(self) -> None:
        """Wait until the replica has what the primary has committed."""
        position = self.ask(0, 'SELECT @@gtid_binlog_pos')[0]
        waiting.until(
            lambda: self.ask(1, f"SELECT MASTER_GTID_WAIT('{position}', 1)")[0] == 0,
            _SECONDS,
            'the replica has everything',
        )


class PostgresqlPair(Pair):
    """A primary of PostgreSQL and its standby, which replicates synchronously."""

    def setUp(self) -> None:
        """Start the servers; skip or fail if that is not possible."""
        if not _BIN:
            services.missing('no failover without the programs of PostgreSQL')
        super().setUp()

    def administrators(self, number: int) -> str:
        return (
            f'postgresql+psycopg://postgres@127.0.0.1:{self.ports[number]}/postgres'
            '?sslmode=disable&connect_timeout=5'
        )

    def make(self) -> None:
        if os.geteuid() == 0:
            shutil.chown(self.folder, 'postgres')
        data = self.folder / 'data0'
        self._run('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync')
        self.start(0, self._command(0))
        self.ask(0, f"CREATE ROLE {_USER} LOGIN PASSWORD '{_PASSWORD}'")
        self.ask(0, f"CREATE DATABASE climate OWNER {_USER} ENCODING 'UTF8' TEMPLATE template0")
        self._run(
            *('pg_basebackup', '-D', self.folder / 'data1', '-R', '-U', 'postgres'),
            *('-h', '127.0.0.1', '-p', self.ports[0], '--checkpoint=fast', '--no-sync'),
        )
        self.start(1, self._command(1))
        self.url = (
            f'postgresql+psycopg://{_USER}:{_PASSWORD}@/climate?{self.hosts()}'
            '&target_session_attrs=read-write&sslmode=disable'
        )

    def _as_postgres(self, *words: object) -> list[str]:
        runs_as = ['runuser', '-u', 'postgres', '--'] if os.geteuid() == 0 else []
        return [*runs_as, *map(str, words)]

    def _run(self, program: str, *words: object) -> None:
        command = self._as_postgres(_BIN[0] / program, *words)
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder)

    def _command(self, number: int) -> list[str]:
        return self._as_postgres(
            *(_BIN[0] / 'postgres', '-D', self.folder / f'data{number}'),
            *('-p', self.ports[number], '-c', f'unix_socket_directories={self.folder}'),
            *('-c', 'listen_addresses=127.0.0.1', '-c', 'fsync=off', '-c', 'wal_level=replica'),
        )

    def kill(self, number: int) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            self._run('pg_ctl', '-D', self.folder / f'data{number}', '-m', 'immediate', 'stop')
        super().kill(number)

    def demote(self) -> None:
        self.ask(0, 'ALTER SYSTEM SET default_transaction_read_only = on')
        self.ask(0, 'SELECT pg_reload_conf()')

    def promote(self) -> float:
        self._run('pg_ctl', '-D', self.folder / 'data1', '-w', 'promote')
        return time.monotonic()

    def wait_for_replica(self) -> None:
        """Wait until the standby has what the primary has committed."""
        position = self.ask(0, 'SELECT pg_current_wal_lsn()')[0]
        query = f"SELECT pg_last_wal_replay_lsn() >= '{position}'::pg_lsn"
        waiting.until(lambda: self.ask(1, query)[0], _SECONDS, 'the standby has everything')
