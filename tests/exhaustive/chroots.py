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

"""A Debian in a folder, and the packages that Climate needs, for tests of installations."""

from __future__ import annotations

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence

import fixtures

from tests import services
from tests.architecture import ROOT

Done = subprocess.CompletedProcess[str]
# A folder that debootstrap has filled, with python3-venv and systemd; saves minutes.
BASE = 'CLIMATE_CHROOT'
SUITE = 'bookworm'
EXTRAS = (
    *('gunicorn', 'ortools', 'psycopg', 'psycopg-binary', 'pymemcache', 'pymysql'),
    *('python-memcached', 'redis'),
)
_INCLUDED = 'python3,python3-venv,systemd'
_ENVIRONMENT = {
    'PATH': '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'HOME': '/root',
    'LANG': 'C.UTF-8',
}


class Chroot(fixtures.Fixture):
    """A Debian of its own, with its own mounts.

    :ivar root: its folder
    """

    def setUp(self) -> None:
        """Make it; skip or fail if it cannot be made."""
        # Not in _setUp, whose exceptions are wrapped: a skip would become an error.
        if os.geteuid() != 0:
            services.missing('only root can change the root')
        if not os.environ.get(BASE) and shutil.which('debootstrap') is None:
            services.missing(f'debootstrap is not installed, and {BASE} names no folder')
        super().setUp()

    def _setUp(self) -> None:
        self.root = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'root'
        base = os.environ.get(BASE)
        if base:
            subprocess.run(['cp', '--archive', f'{base}/.', str(self.root)], check=True)
            return
        subprocess.run(
            ['debootstrap', '--variant=minbase', f'--include={_INCLUDED}', SUITE, str(self.root)],
            check=True,
            capture_output=True,
        )

    def run(self, *argv: str, user: str = '', **environment: str) -> Done:
        """Run a command inside, and return what came of it.

        :param user: numbers of the user and the group, with a colon; root if empty
        """
        assignments = [f'{name}={value}' for name, value in (_ENVIRONMENT | environment).items()]
        as_user = [f'--userspec={user}'] if user else []
        inside = ['chroot', *as_user, str(self.root), 'env', '-i', *assignments, *argv]
        mount = shlex.join(['mount', '-t', 'proc', 'proc', str(self.root / 'proc')])
        return subprocess.run(
            ['unshare', '--mount', '--fork', 'sh', '-c', f'{mount} && exec {shlex.join(inside)}'],
            capture_output=True,
            text=True,
            check=False,
        )


def wheels(folder: pathlib.Path) -> None:
    """Put the wheels of everything that an installation needs into a folder."""
    locked = folder / 'locked.txt'
    names = ('requirements.txt', 'build-requirements.txt', *EXTRAS)
    text = _output([sys.executable, str(ROOT / 'tools' / 'locked.py'), *names])
    locked.write_text(text, encoding='utf-8')
    pip = [sys.executable, '-m', 'pip', '--quiet', '--disable-pip-version-check']
    _output([*pip, 'download', '--no-deps', '-r', str(locked), '-d', str(folder)])


def _output(argv: Sequence[str]) -> str:
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
