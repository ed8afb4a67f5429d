# SPDX-License-Identifier: Apache-2.0

"""The files for systemd and its relatives: complete, hardened, and what they say exists."""

from __future__ import annotations

import configparser
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from importlib import metadata

from tests import base
from tests.architecture import ROOT
from tests.commands import captured

ETC = ROOT / 'etc'
UNITS = sorted((ETC / 'systemd').glob('*.service'))
BIN = '/opt/climate/bin/'
MOST_EXPOSED = 3.0

# Commands that run no longer than an operator watches them, and why others have no unit.
WITHOUT_A_UNIT = {
    'climate-api': 'gunicorn serves the API',
    'climate-manage': 'a command; the purge has a timer',
    'climate-standalone': 'for trials',
    'climate-status': 'a command',
    'climate-watch': 'prints to a terminal',
}


class Unit(configparser.RawConfigParser):
    """A file of systemd, in which keys may repeat."""

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__(strict=False, interpolation=None, delimiters=('=',))
        self.optionxform = str  # type: ignore[assignment,method-assign]  # its type is that of a method
        self.read(path, encoding='utf-8')


def words(path: pathlib.Path) -> list[str]:
    """Return the command that a unit starts."""
    return Unit(path)['Service']['ExecStart'].split()


def tool(test: base.TestCase, name: str) -> str:
    """Return a program; skip the test without it, unless services are required."""
    found = shutil.which(name, path=f'{os.environ.get("PATH", "")}:/usr/sbin:/sbin')
    if found is None:
        assert not os.environ.get('CLIMATE_REQUIRE_SERVICES'), f'{name} is required'
        test.skipTest(f'{name} is not installed')
    return found


class SystemdTest(base.TestCase):
    """The units."""

    def test_each_process_has_a_unit_that_starts_it(self) -> None:
        started = {words(path)[0].removeprefix(BIN) for path in UNITS}
        commands = {
            one.name
            for one in metadata.entry_points(group='console_scripts')
            if one.dist is not None and one.dist.name == 'openstack-climate'
        }
        self.assertEqual(set(), commands - started - WITHOUT_A_UNIT.keys())
        self.assertEqual({'gunicorn'}, started - commands)

    def test_variables_have_a_default(self) -> None:
        known = dict(
            line.split('=', 1)
            for line in (ETC / 'default' / 'climate').read_text(encoding='utf-8').splitlines()
            if line and not line.startswith('#')
        )
        for path in UNITS:
            for name in re.findall(r'\$\{?([A-Z_]+)\}?', ' '.join(words(path))):
                self.assertIn(name, known, path.name)
        # The API must listen somewhere without the file too.
        for pair in Unit(ETC / 'systemd' / 'climate-api.service')['Service']['Environment'].split():
            self.assertEqual(known[pair.partition('=')[0]], pair.partition('=')[2])

    def test_what_runs_on_reloads(self) -> None:
        for path in UNITS:
            service = Unit(path)['Service']
            if service['Type'] != 'oneshot':
                self.assertEqual('/bin/sh -c "kill -HUP ${MAINPID}"', service['ExecReload'])
                self.assertEqual('on-failure', service['Restart'])

    def test_what_runs_on_may_open_more_files_than_by_default(self) -> None:
        for path in UNITS:
            service = Unit(path)['Service']
            if service['Type'] != 'oneshot':
                self.assertGreater(int(service['LimitNOFILE']), 1024, path.name)

    def test_all_run_as_the_user_that_is_made(self) -> None:
        user = (ETC / 'sysusers.d' / 'climate.conf').read_text(encoding='utf-8')
        self.assertIn('\nu climate ', user)
        for path in UNITS:
            service = Unit(path)['Service']
            self.assertEqual(('climate', 'climate'), (service['User'], service['Group']))

    def test_timers_start_units_that_exist(self) -> None:
        for path in (ETC / 'systemd').glob('*.timer'):
            self.assertTrue(path.with_suffix('.service').exists())

    def test_little_is_exposed(self) -> None:
        program = tool(self, 'systemd-analyze')
        for path in UNITS:
            done = captured([program, 'security', '--offline=true', '--no-pager', str(path)])
            found = re.search(r'Overall exposure level for \S+: ([0-9.]+)', done.stdout)
            self.assertIsNotNone(found, done.stderr)
            assert found is not None
            self.assertLessEqual(float(found[1]), MOST_EXPOSED, path.name)

    def test_systemd_understands_them(self) -> None:
        program = tool(self, 'systemd-analyze')
        with tempfile.TemporaryDirectory() as folder:
            # It wants the programs to exist.
            names = [str(self.runnable(path, pathlib.Path(folder))) for path in UNITS]
            done = captured([program, 'verify', '--man=no', *names])
        self.assertEqual([], [line for line in done.stderr.splitlines() if 'climate' in line])

    def runnable(self, path: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
        """Return a copy of a unit whose program exists."""
        text = path.read_text(encoding='utf-8')
        copy = folder / path.name.replace('@', '@1')
        copy.write_text(re.sub(rf'{BIN}[\w-]+', '/bin/true', text), encoding='utf-8')
        return copy

    def test_sysusers_and_tmpfiles_make_what_the_units_use(self) -> None:
        if os.geteuid() != 0:
            self.skipTest('only root can make users')
        sysusers, tmpfiles = tool(self, 'systemd-sysusers'), tool(self, 'systemd-tmpfiles')
        with tempfile.TemporaryDirectory() as root:
            (pathlib.Path(root) / 'etc').mkdir()
            for program, name, more in (
                (sysusers, 'sysusers.d', ()),
                (tmpfiles, 'tmpfiles.d', ('--create',)),
            ):
                file = str(ETC / name / 'climate.conf')
                subprocess.run([program, f'--root={root}', *more, file], check=True)
            made = pathlib.Path(root)
            users = (made / 'etc' / 'passwd').read_text(encoding='utf-8')
            self.assertRegex(users, r'(?m)^climate:x?:\d+:\d+:.*:/var/lib/climate:.*/nologin$')
            modes = {
                name: (made / name).stat().st_mode & 0o777
                for name in ('etc/climate', 'var/lib/climate', 'var/log/climate')
            }
            self.assertEqual({0o750}, set(modes.values()), modes)
            self.assertEqual(0, (made / 'etc' / 'climate').stat().st_uid)
            self.assertNotEqual(0, (made / 'var' / 'lib' / 'climate').stat().st_uid)

    def test_logrotate_rotates_logs(self) -> None:
        program = tool(self, 'logrotate')
        if os.geteuid() != 0:
            self.skipTest('only root can rotate the logs of others')
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            text = (ETC / 'logrotate.d' / 'climate').read_text(encoding='utf-8')
            self.assertIn('/var/log/climate/*.log', text)
            rules = folder / 'rules'
            rules.write_text(
                text.replace('/var/log/climate', name).replace('climate climate', 'root root'),
                encoding='utf-8',
            )
            log = folder / 'climate-manager.log'
            for number in range(3):
                log.write_text(f'{number}\n', encoding='utf-8')
                subprocess.run(
                    [program, '--force', '--state', str(folder / 'state'), str(rules)], check=True
                )
            self.assertEqual('', log.read_text(encoding='utf-8'))
            self.assertEqual(0o640, log.stat().st_mode & 0o777)
            self.assertEqual('2\n', (folder / f'{log.name}.1').read_text(encoding='utf-8'))
            self.assertTrue((folder / f'{log.name}.2.gz').exists())
