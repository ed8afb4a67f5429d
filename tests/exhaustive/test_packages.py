# SPDX-License-Identifier: Apache-2.0

"""A wheel and a source archive: complete, and enough outside a clone."""

from __future__ import annotations

import pathlib
import shutil
import sys
import sysconfig
import tarfile
import textwrap
import zipfile
from importlib import metadata

from tests import commands
from tests.architecture import ROOT
from tests.base import FolderCase

_BUILD = 'import sys; from pbr import build; print(build.build_{kind}(sys.argv[1]))'
_ANSWER = """
import json, webob
from climate.wsgi.api import application
for path in ('/v1/openapi.json', '/v1/os-hosts'):
    request = webob.Request.blank(path, headers={'X-Auth-Token': 'root:operators:admin'})
    answer = request.get_response(application)
    assert answer.status_int == 200, answer
    print(len(answer.body))
"""


class PackagesTest(FolderCase):
    """What is built of the tree as it is."""

    def setUp(self) -> None:
        super().setUp()
        self.clone = self.folder / 'clone'
        self.cloned()

    def cloned(self) -> None:
        """Make a clone with changes that are not committed yet: pbr packages what git tracks."""
        listed = self.run_in(ROOT, 'git', 'ls-files', '-z', '--cached').split('\0')
        for name in filter(None, listed):
            source, target = ROOT / name, self.clone / name
            if source.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)
        self.run_in(self.clone, 'git', 'init', '--quiet')
        self.run_in(self.clone, 'git', 'add', '--all', '--force')
        author = ('-c', 'user.name=Tests', '-c', 'user.email=tests@example.com')
        self.run_in(self.clone, 'git', *author, 'commit', '--quiet', '--message', 'All')

    def run_in(self, folder: pathlib.Path, *argv: str, **environment: str) -> str:
        """Return what a command prints, without the environment of this process."""
        done = commands.captured(
            argv, cwd=folder, env={'PATH': '/usr/bin:/bin', 'HOME': str(self.folder), **environment}
        )
        self.assertEqual(0, done.returncode, done.stdout[-2000:] + done.stderr[-4000:])
        return done.stdout

    def built(self, kind: str, tree: pathlib.Path) -> pathlib.Path:
        """Return a wheel or an archive that is built of *tree*."""
        target = self.folder / f'{kind}-of-{tree.name}'
        target.mkdir()
        self.run_in(
            tree, sys.executable, '-c', _BUILD.format(kind=kind), str(target), PBR_VERSION='1.2.3'
        )
        (found,) = target.iterdir()
        return found

    def test_wheel_and_archive(self) -> None:
        wheel, archive = self.built('wheel', self.clone), self.built('sdist', self.clone)
        names = self.names(wheel)
        for wanted in self.wanted():
            self.assertIn(wanted, names)
        with tarfile.open(archive) as packed:
            packed.extractall(self.folder, filter='data')
        unpacked = self.folder / archive.name.removesuffix('.tar.gz')
        self.assertEqual(names, self.names(self.built('wheel', unpacked)))
        self.check_installed(wheel)

    def names(self, wheel: pathlib.Path) -> set[str]:
        """Return the files in a wheel, without its version."""
        with zipfile.ZipFile(wheel) as packed:
            found = (name.partition('.data/data/')[2] or name for name in packed.namelist())
            # Only a wheel of a clone names the commit.
            return {name for name in found if not name.endswith('/pbr.json')}

    def wanted(self) -> set[str]:
        """Return files that are no code, and that nothing works without."""
        listed = self.run_in(ROOT, 'git', 'ls-files', 'climate', 'etc').split()
        data = {name for name in listed if name.startswith('climate/') and '.' in name}
        generators = {name for name in listed if name.endswith('-generator.conf')}
        etc = {name for name in listed if name.startswith('etc/')} - generators
        return data | {
            name if name.startswith('etc/climate/') else name.replace('etc/', 'share/climate/', 1)
            for name in etc
        }

    def check_installed(self, wheel: pathlib.Path) -> None:
        """Install a wheel in an environment of its own, and use it."""
        place = self.folder / 'venv'
        self.run_in(self.folder, sys.executable, '-m', 'venv', '--without-pip', str(place))
        pip = (sys.executable, '-m', 'pip', '--python', str(place / 'bin' / 'python'))
        self.run_in(self.folder, *pip, 'install', '--quiet', '--no-deps', '--no-index', str(wheel))
        # The libraries are those of the tests; Climate itself is editable there, which a
        # folder that a .pth file adds is not.
        own = pathlib.Path(self.python(place, _PURE).strip())
        (own / 'libraries.pth').write_text(sysconfig.get_path('purelib'), encoding='utf-8')
        where = self.python(place, 'import climate; print(climate.__file__)').strip()
        self.assertTrue(where.startswith(str(own)), where)
        conf = self.folder / 'climate.conf'
        conf.write_text(
            textwrap.dedent(f"""\
                [DEFAULT]
                auth_strategy = noauth
                cloud = simulated
                [database]
                connection = sqlite:///{self.folder}/climate.sqlite
                [simulator]
                state_dir = {self.folder}
                """),
            encoding='utf-8',
        )
        manage = str(place / 'bin' / 'climate-manage')
        self.run_in(self.folder, manage, '--config-file', str(conf), 'db', 'sync')
        self.python(place, _ANSWER, OS_CLIMATE_CONFIG_DIR=str(self.folder))
        for name in self.commands():
            self.run_in(self.folder, str(place / 'bin' / name), '--help')

    def python(self, place: pathlib.Path, code: str, **environment: str) -> str:
        """Return what the Python of an environment prints."""
        return self.run_in(self.folder, str(place / 'bin' / 'python'), '-c', code, **environment)

    def commands(self) -> list[str]:
        """Return the names of the commands that are installed."""
        return sorted(
            one.name
            for one in metadata.entry_points(group='console_scripts')
            if one.dist is not None and one.dist.name == 'openstack-climate'
        )


_PURE = 'import sysconfig; print(sysconfig.get_path("purelib"))'
