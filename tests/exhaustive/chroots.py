# SPDX-License-Identifier: Apache-2.0

"""A Debian in a folder, and the packages that Climate needs, for tests of installations."""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import unittest
from collections.abc import Mapping
from collections.abc import Sequence

import fixtures
from packaging import markers

from tests import commands
from tests import services
from tests.architecture import ROOT
from tests.functional import processes

Done = subprocess.CompletedProcess[str]
# A folder that debootstrap has filled, with the packages below; saves minutes.
BASE = 'CLIMATE_CHROOT'
SUITE = 'bookworm'
EXTRAS = (
    *('gunicorn', 'ortools', 'psycopg', 'psycopg-binary', 'pymemcache', 'pymysql'),
    *('python-memcached', 'redis'),
)
MOUNTED = 'mounted'
# procps has the kill that haproxy.service calls.
_INCLUDED = 'haproxy,nginx-light,procps,python3,python3-venv,systemd'
_ENVIRONMENT = {
    'PATH': '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'HOME': '/root',
    'LANG': 'C.UTF-8',
}

_KINDS = ('mount', 'net', 'pid', 'ipc', 'uts', 'cgroup')
# The flags IFF_UP and IFF_RUNNING; not every system has a program for that.
_LOOPBACK = (
    'import fcntl, socket, struct; '
    'fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 0x41))'
)

# systemd wants to own its control groups, so they are below one of the test.
_BOOT = """
mount --bind {root} {root}
mount -t sysfs sysfs {root}/sys
mount -t cgroup2 cgroup2 {root}/sys/fs/cgroup
mkdir {root}/sys/fs/cgroup/{group}
echo $$ > {root}/sys/fs/cgroup/{group}/cgroup.procs
umount {root}/sys/fs/cgroup
mount -t proc proc {root}/proc
mount -t tmpfs -o mode=755 tmpfs {root}/dev
for each in null zero full random urandom tty; do
    cp --archive /dev/$each {root}/dev/
done
mkdir {root}/dev/pts {root}/dev/shm
mount -t tmpfs tmpfs {root}/dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts {root}/dev/pts
ln -s pts/ptmx {root}/dev/ptmx
mount -t tmpfs -o mode=755 tmpfs {root}/run
mount -t tmpfs tmpfs {root}/tmp
cd {root}
exec unshare --cgroup sh -euc '
    mount -t cgroup2 cgroup2 sys/fs/cgroup
    pivot_root . mnt
    umount -l /mnt
    echo mounted
    exec /lib/systemd/systemd --system --log-target=journal
'
"""


class Chroot(fixtures.Fixture):
    """A Debian of its own, with its own mounts.

    :ivar root: its folder
    """

    def setUp(self) -> None:
        """Make it; skip or fail if it cannot be made."""
        # Not in _setUp, whose exceptions are wrapped: a skip would become an error.
        if os.geteuid() != 0:
            # What a run as another user cannot have is not a server that is missing.
            raise unittest.SkipTest('only root can change the root')
        if not os.environ.get(BASE) and shutil.which('debootstrap') is None:
            services.missing(f'debootstrap is not installed, and {BASE} names no folder')
        super().setUp()

    def _setUp(self) -> None:
        self.root = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'root'
        base = os.environ.get(BASE)
        if base:
            subprocess.run(['cp', '--archive', f'{base}/.', str(self.root)], check=True)
        else:
            subprocess.run(
                [
                    *('debootstrap', '--variant=minbase', f'--include={_INCLUDED}'),
                    *(SUITE, str(self.root)),
                ],
                check=True,
                capture_output=True,
            )
        # Debian's installer writes this file, debootstrap does not. Without it, only a name
        # server can know localhost, and the one of the network need not answer inside.
        hosts = '127.0.0.1 localhost\n::1 localhost\n'
        (self.root / 'etc' / 'hosts').write_text(hosts, encoding='utf-8')

    def run(self, *argv: str, user: str = '', **environment: str) -> Done:
        """Run a command inside, and return what came of it.

        :param user: numbers of the user and the group, with a colon; root if empty
        """
        assignments = [f'{name}={value}' for name, value in (_ENVIRONMENT | environment).items()]
        as_user = [f'--userspec={user}'] if user else []
        inside = ['chroot', *as_user, str(self.root), 'env', '-i', *assignments, *argv]
        mount = shlex.join(['mount', '-t', 'proc', 'proc', str(self.root / 'proc')])
        return commands.captured(
            ['unshare', '--mount', '--fork', 'sh', '-c', f'{mount} && exec {shlex.join(inside)}']
        )

    def python_version(self) -> str:
        """Return the full version of its Python."""
        code = 'import platform; print(platform.python_version())'
        return self.run('python3', '-c', code).stdout.strip()


class Namespaces(fixtures.Fixture):
    """Processes with mounts, numbers and a network of their own, below a root.

    :param script: commands for a shell outside of the root, which mount what it needs, change
        the root, print :data:`MOUNTED`, and end with ``exec``
    :param environment: of that process
    :ivar log: what it says
    """

    def __init__(self, script: str, **environment: str) -> None:
        super().__init__()
        self._script = script
        self._environment = _ENVIRONMENT | environment

    def _setUp(self) -> None:
        self.log = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'log'
        kinds = [f'--{kind}' for kind in _KINDS]
        script = f'{shlex.join([sys.executable, "-c", _LOOPBACK])}\n{self._script}'
        with self.log.open('wb') as log:
            process = subprocess.Popen(
                ['unshare', *kinds, '--fork', '--kill-child', 'sh', '-euc', script],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.addCleanup(self._remove_groups)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        children = pathlib.Path(f'/proc/{process.pid}/task/{process.pid}/children')

        def mounted() -> bool:
            said = self.log.read_text(encoding='utf-8', errors='replace')
            assert process.poll() is None, said
            return MOUNTED in said.splitlines()

        processes.until('all is mounted', mounted)
        self._first = children.read_text().split()[0]

    def _remove_groups(self) -> None:
        """Clean up when all processes have ended."""

    def argv(self, *argv: str, **environment: str) -> list[str]:
        """Return what runs a command inside."""
        assignments = [f'{name}={value}' for name, value in (_ENVIRONMENT | environment).items()]
        kinds = [f'--{kind}' for kind in _KINDS]
        enter = ['nsenter', '--target', self._first, *kinds, '--root']
        return [*enter, 'env', '-i', '--chdir=/', *assignments, *argv]

    def run(self, *argv: str, environment: Mapping[str, str] | None = None) -> Done:
        """Run a command inside, and return what came of it."""
        return commands.captured(self.argv(*argv, **(environment or {})))


class BootedSystem(Namespaces):
    """A system that systemd has booted.

    :param root: a folder with Debian
    """

    def __init__(self, root: pathlib.Path) -> None:
        self._group = f'climate-test-{os.getpid()}'
        quoted = {'root': shlex.quote(str(root)), 'group': self._group}
        super().__init__(_BOOT.format(**quoted), container='other')

    def _setUp(self) -> None:
        super()._setUp()
        running = ('systemctl', 'is-system-running')
        # A unit of Debian that fails in namespaces makes it degraded.
        processes.until(
            'it has booted', lambda: self.run(*running).stdout.strip() in ('running', 'degraded')
        )

    def _remove_groups(self) -> None:
        """Remove the control groups that systemd has left."""
        script = (
            'mount -t cgroup2 cgroup2 /mnt && '
            f'find /mnt/{self._group} -depth -type d -exec rmdir {{}} +'
        )
        argv = ['unshare', '--mount', 'sh', '-c', script]
        processes.until(
            'its processes have ended',
            lambda: subprocess.run(argv, capture_output=True, check=False).returncode == 0,
        )


def wheels(folder: pathlib.Path, version: str) -> None:
    """Put the wheels of everything that an installation needs into a folder.

    :param version: the full version of the Python that installs them
    """
    names = ('requirements.txt', 'build-requirements.txt', *EXTRAS)
    text = _output([sys.executable, str(ROOT / 'tools' / 'locked.py'), *names])
    locked = folder / 'locked.txt'
    locked.write_text(_for_version(text, version), encoding='utf-8')
    pip = [sys.executable, '-m', 'pip', '--quiet', '--disable-pip-version-check']
    _output([*pip, 'download', '--no-deps', '-r', str(locked), '-d', str(folder)])


def _for_version(text: str, version: str) -> str:
    """Return requirements without their markers, and without those for other versions.

    pip has no option for that: it evaluates markers for the Python that runs it.
    """
    environment = {'python_full_version': version, 'python_version': version.rpartition('.')[0]}
    kept = []
    for entry in re.split(r'^(?=[a-z0-9])', text, flags=re.MULTILINE):
        first, separator, rest = entry.partition(' \\\n')
        requirement, _, marker = first.partition(' ; ')
        if not marker or markers.Marker(marker).evaluate(environment):
            kept.append(f'{requirement}{separator}{rest}')
    return ''.join(kept)


def _output(argv: Sequence[str]) -> str:
    done = commands.captured(argv, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout
