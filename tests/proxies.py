# SPDX-License-Identifier: Apache-2.0

"""The API as the install page runs it: gunicorn behind nginx or HAProxy, on free ports.

The configuration of the proxies is that of the package; only addresses are replaced.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Mapping

import fixtures

from tests.architecture import ROOT
from tests.functional import processes

NGINX = ROOT / 'etc' / 'nginx' / 'climate.conf'
HAPROXY = ROOT / 'etc' / 'haproxy' / 'climate.cfg'
PAGE = ROOT / 'doc' / 'source' / 'install' / 'cloud.rst'
# The ports in the configuration of the proxies.
PUBLIC, OWN = 1234, 1235

# What Debian's own file has, as far as it matters here.
_NGINX = """
daemon off;
{user}
worker_processes auto;
pid {folder}/nginx.pid;
error_log stderr;
events {{ worker_connections 768; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {included};
}}
"""


def documented() -> list[str]:
    """Return the words of gunicorn's command on the install page, without the program."""
    lines = PAGE.read_text(encoding='utf-8').replace('\\\n', ' ').splitlines()
    (line,) = [line for line in lines if '/bin/gunicorn ' in line]
    return line.partition('/bin/gunicorn ')[2].split()


def program(name: str) -> str:
    """Return the path of a program, which may be in ``/usr/sbin``.

    :raises FileNotFoundError: if it is not installed
    """
    found = shutil.which(name, path=f'{os.environ.get("PATH", "")}:/usr/sbin:/sbin')
    if found is None:
        raise FileNotFoundError(name)
    return found


class _Process(fixtures.Fixture):
    """A server, killed with its children at the end.

    :ivar port: where it listens
    """

    def __init__(self) -> None:
        super().__init__()
        self.port = processes.free_port()

    def begin(
        self, argv: list[str], folder: pathlib.Path, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start the server, and wait until it answers."""
        self.log = folder / f'{pathlib.Path(argv[0]).name}.log'
        with self.log.open('wb') as output:
            self._running = subprocess.Popen(
                argv,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env={**processes.clean_environment(), **(environment or {})},
                start_new_session=True,
            )
        self.addCleanup(self.end)
        processes.until(f'{argv[0]} listens', self._listens, 120)

    def end(self) -> None:
        """Kill it and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._running.pid, signal.SIGKILL)
        self._running.wait(60)

    @property
    def pid(self) -> int:
        """The number of the first of its processes."""
        return self._running.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._running.poll() is None

    @property
    def said(self) -> str:
        """What it has written so far."""
        return self.log.read_text(errors='replace')

    def _listens(self) -> bool:
        if not self.running:
            raise AssertionError(f'it has ended: {self.said}')
        with contextlib.suppress(OSError), socket.create_connection(('127.0.0.1', self.port), 5):
            return True
        return False


class Gunicorn(_Process):
    """The API, by the command of the install page.

    :param folder: the directory of ``climate.conf``
    """

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__()
        self._folder = folder

    def _setUp(self) -> None:
        words = [word for word in documented() if not word.startswith('--bind')]
        argv = [str(processes.BIN / 'gunicorn'), f'--bind=127.0.0.1:{self.port}', *words]
        self.begin(argv, self._folder, {'OS_CLIMATE_CONFIG_DIR': str(self._folder)})
        processes.until('the API answers', self._answers, 180)

    def _answers(self) -> bool:
        with contextlib.suppress(OSError):
            address = f'http://127.0.0.1:{self.port}/healthcheck'
            with urllib.request.urlopen(address, timeout=30) as answer:
                return bool(answer.status == 200)
        return False


class Proxy(_Process):
    """A proxy in front of the API.

    :param api: the port of the API
    :param tls: the file with certificate and key; None for none
    """

    def __init__(self, folder: pathlib.Path, api: int, tls: pathlib.Path | None = None) -> None:
        super().__init__()
        self._folder = folder / f'proxy-{self.port}'
        self._api = api
        self._tls = tls

    def configured(self, source: pathlib.Path) -> pathlib.Path:
        """Return a copy of a configuration with the addresses of this test."""
        text = source.read_text(encoding='utf-8')
        if self._tls is not None:
            text = self.with_tls(text)
        text = re.sub(rf'(listen |:){PUBLIC}\b', rf'\g<1>{self.port}', text)
        text = re.sub(rf':{OWN}\b', f':{self._api}', text)
        if not has_ipv6():
            text = re.sub(r'(?m)^ *listen \[::\].*\n', '', text)
            text = text.replace('bind :::', 'bind :').replace(' v4v6', '')
        self._folder.mkdir()
        copy = self._folder / source.name
        copy.write_text(text, encoding='utf-8')
        return copy

    def with_tls(self, text: str) -> str:
        """Return a configuration as its own comments say for TLS."""
        text = re.compile(r'(?m)^ +(?:listen|bind) [^\n]*\b1234\b[^\n]*\n').sub('', text)
        commented = re.compile(r'(?m)^( +)# ((?:listen|bind|ssl_certificate)[ _][^\n]*)$')
        text = commented.sub(r'\1\2', text)
        return re.sub(r'/etc/\S+?\.(?:pem|key)\b', str(self._tls), text)


class Nginx(Proxy):
    """nginx, with the main configuration of Debian."""

    def _setUp(self) -> None:
        own, main = self.configured(NGINX), self._folder / 'nginx.conf'
        text = _NGINX.format(
            folder=self._folder,
            included=own,
            # Its workers need the folder of the test.
            user='user root;' if os.geteuid() == 0 else '',
        )
        main.write_text(text, encoding='utf-8')
        argv = [program('nginx'), '-e', 'stderr', '-p', str(self._folder), '-c', str(main)]
        self.begin(argv, self._folder)


class HAProxy(Proxy):
    """HAProxy."""

    def _setUp(self) -> None:
        own = self.configured(HAPROXY)
        self.begin([program('haproxy'), '-db', '-f', str(own)], self._folder)


def has_ipv6() -> bool:
    """Whether the machine has an IPv6 loopback address."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as probe:
        probe.bind(('::1', 0))
        return True
    return False
