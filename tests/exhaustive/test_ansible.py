# SPDX-License-Identifier: Apache-2.0

"""The Ansible role, on a Debian with its own systemd: it installs and starts everything.

The units run as they are shipped, so the test also shows that the processes work with all
that the units forbid.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import ansible
import fixtures
from testtools import content

from tests import base
from tests.architecture import ROOT
from tests.exhaustive import chroots
from tests.functional import processes

VARIABLES = {
    # Without an index, that is a wheel at hand.
    'climate_package': 'openstack-climate',
    'climate_memcached_servers': 'localhost:11211',
    'climate_memcached_secret_key': 'ke$y',
    'climate_pip_arguments': '--no-index --find-links /wheels --pre',
    'climate_database_connection': 'sqlite:////var/lib/climate/climate.sqlite',
    'climate_transport_url': 'rabbit://climate:pa$s@localhost:5672/',
    'climate_keystone_password': 'se$cret',
    'climate_options': {'api': {'max_limit': 500}},
    'climate_start': False,
}
# What runs alone, and the units that come with it.
ALONE = {
    'climate_auth_strategy': 'noauth',
    'climate_cloud': 'simulated',
    'climate_transport_url': 'fake://',
    'climate_options': {
        'api': {'max_limit': 500},
        'simulator': {'state_dir': '/var/lib/climate'},
        'metrics': {'enabled': 'true'},
    },
    'climate_start': True,
}
UNITS = ('climate-api.service', 'climate-manager.service', 'climate-purge.timer')
# Enabled by hand, and not in the list of the host.
OTHERS = ('climate-mail.service', 'climate-manager@2.service')
LIBRARIES = (
    *('ansible', 'ansible_core-*', '[Jj]inja2*', '[Mm]arkup[Ss]afe*', 'packaging*'),
    *('resolvelib*', 'yaml', '_yaml', '[Pp]y[Yy][Aa][Mm][Ll]-*', 'cryptography*'),
    *('cffi*', '_cffi_backend*', 'pycparser*'),
)
_READ = (
    'from oslo_config import cfg; from climate import conf; '
    'c = cfg.ConfigOpts(); conf.register_opts(c); '
    'c(["--config-file", "/etc/climate/climate.conf"]); '
    'print(c.api.max_limit)'
)


def restarts(output: str) -> Iterator[tuple[str, str]]:
    """Yield which host started what, in order."""
    started = None
    for line in output.splitlines():
        if line.startswith('TASK ['):
            started = re.search(r'Enable the (\w+), and start or restart', line)
        changed = re.match(r'changed: \[(\w+)\]', line)
        if started and changed:
            yield changed[1], started[1]


class AnsibleTest(base.TestCase):
    """A host without anything but Python."""

    def setUp(self) -> None:
        super().setUp()
        self.host = self.useFixture(chroots.Chroot())
        shutil.copytree(ROOT / 'deploy' / 'ansible', self.host.root / 'role')
        self.copy_libraries(pathlib.Path(ansible.__file__).parents[1])
        chroots.wheels(self.folder('wheels'), self.host.python_version())
        self.build()
        (self.host.root / 'role' / 'hosts.ini').write_text(
            '[climate]\nlocalhost ansible_python_interpreter=/usr/bin/python3\n'
        )

    def folder(self, name: str) -> pathlib.Path:
        """Return a folder of the host."""
        made = self.host.root / name
        made.mkdir(parents=True, exist_ok=True)
        return made

    def copy_libraries(self, source: pathlib.Path) -> None:
        """Bring the libraries of Ansible: it runs on the host itself."""
        target = self.folder('ansible')
        for pattern in LIBRARIES:
            for path in source.glob(pattern):
                copy = shutil.copytree if path.is_dir() else shutil.copy2
                copy(path, target / path.name)

    def build(self) -> None:
        """Put a wheel of the tree next to the others."""
        target = str(self.host.root / 'wheels')
        pip = [sys.executable, '-m', 'pip', '--quiet', 'wheel', '--no-deps']
        copy = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'clone'
        subprocess.run(['git', 'clone', '--quiet', str(ROOT), str(copy)], check=True)
        argv = [*pip, '--no-build-isolation', '-w', target, str(copy)]
        # Ansible may be elsewhere, with tools for building that do not fit.
        own = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
        subprocess.run(argv, check=True, capture_output=True, env=own)

    def run_playbook(
        self, *arguments: str, inventory: str = 'hosts.ini', **changes: Any
    ) -> chroots.Done:
        """Run the playbook on the host itself."""
        variables = json.dumps(VARIABLES | changes)
        (self.host.root / 'role' / 'vars.json').write_text(variables, encoding='utf-8')
        argv = ('python3', '-m', 'ansible', 'playbook', '--connection', 'local', *arguments)
        files = ('--inventory', f'/role/{inventory}', '--extra-vars', '@/role/vars.json')
        return self.system.run(
            *argv,
            *files,
            '/role/playbook.yaml',
            environment={'PYTHONPATH': '/ansible', 'ANSIBLE_ROLES_PATH': '/role/roles'},
        )

    def play(self, **changes: Any) -> dict[str, int]:
        """Run the playbook, and return the figures of its recap."""
        done = self.run_playbook(**changes)
        self.assertEqual(0, done.returncode, done.stdout[-4000:] + done.stderr[-2000:])
        recap = done.stdout.rpartition('PLAY RECAP')[2]
        return {name: int(number) for name, number in re.findall(r'(\w+)=(\d+)', recap)}

    def ask(self, *argv: str) -> str:
        """Return what a command prints on the host."""
        done = self.system.run(*argv)
        if done.returncode:
            self.add_journal()
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def add_journal(self) -> None:
        """Add what the units have logged to the details of a failure."""
        said = self.system.run('journalctl', '--no-pager', '--lines=80').stdout
        self.addDetail('journal', content.text_content(said))
        # A reload that fails is in this file only.
        errors = self.system.run('tail', '--lines=40', '/var/log/nginx/error.log').stdout
        self.addDetail('nginx', content.text_content(errors))

    def test_it_installs_and_starts_all_and_then_changes_nothing(self) -> None:
        self.system = self.useFixture(chroots.BootedSystem(self.host.root))
        self.assertGreater(self.play()['changed'], 5)
        self.check_files()
        self.ask('systemctl', 'enable', *OTHERS)
        self.assertGreater(self.play(**ALONE)['changed'], 0)
        self.check_units()
        third = self.play(**ALONE)
        self.assertEqual((0, 0), (third['changed'], third['failed']))
        self.check_proxy('nginx')
        self.ask('systemctl', 'disable', '--now', 'nginx')
        with_haproxy = ALONE | {'climate_proxy': 'haproxy'}
        self.play(**with_haproxy)
        self.check_proxy('haproxy')
        self.check_order(with_haproxy)

    def check_order(self, variables: dict[str, Any]) -> None:
        """Check that two hosts restart one after the other, and not after a failure."""
        lines = ['[climate]']
        for name in ('one', 'two'):
            # The same machine, which has something new twice.
            marks = self.folder(f'run-{name}')
            self.mark(name)
            python = 'ansible_python_interpreter=/usr/bin/python3'
            lines.append(f'{name} {python} climate_marks=/{marks.name}')
        (self.host.root / 'role' / 'two.ini').write_text('\n'.join([*lines, '']))
        start = ('--tags', 'start')
        done = self.run_playbook(*start, inventory='two.ini', **variables)
        if done.returncode:
            self.add_journal()
        self.assertEqual(0, done.returncode, done.stdout[-4000:] + done.stderr[-2000:])
        expected = [(name, verb) for verb in ('managers', 'API') for name in ('one', 'two')]
        self.assertEqual(expected, [*restarts(done.stdout)], done.stdout)
        self.mark('one')
        self.mark('two')
        units = [*UNITS, 'climate-manager@missing-on-purpose.timer']
        done = self.run_playbook(*start, inventory='two.ini', **variables, climate_units=units)
        self.assertNotEqual(0, done.returncode, done.stdout)
        # Both are asked for facts before.
        started = done.stdout.partition('PLAY [Start the managers')[2]
        self.assertIn('[one]', started)
        self.assertNotIn('[two]', started)
        self.assertTrue((self.host.root / 'run-two' / 'managers').exists())

    def mark(self, name: str) -> None:
        """Say that the processes of a host have to restart."""
        for kind in ('managers', 'api'):
            (self.host.root / f'run-{name}' / kind).touch()

    def check_proxy(self, name: str) -> None:
        """Check that a proxy runs, and answers for the API with its own limit of bodies."""
        self.assertEqual('active', self.ask('systemctl', 'is-active', name).strip())
        self.assertEqual('enabled', self.ask('systemctl', 'is-enabled', name).strip())
        code = (
            'import http.client as h; c = h.HTTPConnection("localhost", 1234); '
            'c.request("POST", "/v1/leases", b"x" * 114689); print(c.getresponse().status)'
        )
        self.assertEqual('413', self.ask('python3', '-c', code).strip())

    def check_units(self) -> None:
        """Check that all units do their work."""
        for unit in UNITS:
            self.assertEqual('active', self.ask('systemctl', 'is-active', unit).strip())
            self.assertEqual('enabled', self.ask('systemctl', 'is-enabled', unit).strip())
        for unit in OTHERS:
            found = self.system.run('systemctl', 'is-enabled', unit).stdout.strip()
            self.assertEqual('disabled', found)
        code = (
            'import urllib.request as r; '
            'print(r.urlopen("http://localhost:1234/healthcheck?checks=database").status)'
        )
        api = ('python3', '-c', code)
        manager = ('/opt/climate/bin/climate-manager', '--check')
        try:
            for argv in (api, manager):
                processes.until(argv[0], lambda argv=argv: not self.system.run(*argv).returncode)
        except AssertionError:
            self.add_journal()
            raise
        self.ask('systemctl', 'start', 'climate-purge.service')
        restarts = self.ask('systemctl', 'show', '--property=NRestarts', *UNITS[:2]).split()
        self.assertEqual(['NRestarts=0'] * 2, restarts)
        self.ask('systemctl', 'reload', 'climate-api.service')
        self.ask(*api)

    def check_files(self) -> None:
        """Check the configuration and the modes of files."""
        # The passwords are closed to others, and are what was given.
        conf = self.host.root / 'etc' / 'climate' / 'climate.conf'
        self.assertEqual(0o640, conf.stat().st_mode & 0o777)
        self.assertIn('password = se$$cret', conf.read_text(encoding='utf-8'))
        self.assertIn('memcache_secret_key = ke$$y', conf.read_text(encoding='utf-8'))
        for name in ('climate-api.service', 'climate-manager.service'):
            unit = self.host.root / 'etc' / 'systemd' / 'system' / name
            self.assertEqual(0o644, unit.stat().st_mode & 0o777)
            self.assertEqual(0o755, unit.parent.stat().st_mode & 0o777)
        done = self.host.run('/opt/climate/bin/python', '-c', _READ)
        self.assertEqual('500', done.stdout.strip(), done.stderr)
