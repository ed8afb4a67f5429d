# SPDX-License-Identifier: Apache-2.0

"""The image: its steps are carried out in a chroot, and its processes run as compose runs them.

The base of the image is Debian with Python in ``/usr/local``; here it is the same Debian
with its own Python of the same version.
"""

from __future__ import annotations

import json
import pathlib
import re
import shlex
import shutil
import subprocess

import yaml
from testtools import content

from tests import containerfiles
from tests.architecture import ROOT
from tests.base import FolderCase
from tests.containerfiles import Copy
from tests.containerfiles import Run
from tests.containerfiles import Stage
from tests.exhaustive import chroots
from tests.functional import processes

DEPLOY = ROOT / 'deploy'
BASE = 'docker.io/library/python:3.11-slim-bookworm'
STATE = 'var/lib/climate'
# What compose takes from elsewhere: one file instead of two servers.
SERVERS = {
    'OS_DATABASE__CONNECTION': f'sqlite:////{STATE}/climate.sqlite',
    'OS_DEFAULT__TRANSPORT_URL': 'fake://',
}
HERE = 'http://127.0.0.1:1234'
# What the image of nginx has around the configuration that compose mounts.
NGINX = """
events {}
http {
    access_log off;
    client_body_temp_path /run/body;
    proxy_temp_path /run/proxy;
    fastcgi_temp_path /run/fastcgi;
    uwsgi_temp_path /run/uwsgi;
    scgi_temp_path /run/scgi;
    include /etc/nginx/conf.d/default.conf;
}
"""
BOOK = """
import datetime, json, sys, urllib.request as r
end = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=2)
lease = {
    'name': 'first', 'start_date': 'now', 'end_date': f'{end:%Y-%m-%d %H:%M}',
    'reservations': [{'resource_type': 'physical:host', 'min': 2, 'max': 2}],
}
headers = {'Content-Type': 'application/json', 'Origin': sys.argv[1]}
body = json.dumps(lease).encode()
print(r.urlopen(r.Request(f'{sys.argv[1]}/v1/leases', body, headers)).status)
"""
# A root that cannot be written, but for what compose mounts there.
MOUNTS = """
mount --bind {root} {root}
mount -o remount,bind,ro {root}
mount -t proc proc {root}/proc
mount -t tmpfs -o mode=1777,size=64m tmpfs {root}/tmp
mount -t tmpfs -o mode=1777 tmpfs {root}/dev/shm
mount -t tmpfs tmpfs {root}/run
mount --bind {state} {root}/var/lib/climate
exec chroot {root} sh -c 'echo mounted; exec sleep infinity'
"""
RIGHTS = """
import pathlib
for path in pathlib.Path('/proc').glob('[0-9]*/status'):
    lines = dict(line.split(':', 1) for line in path.read_text().splitlines())
    if lines['Name'].strip() in ('gunicorn', 'climate-manager'):
        print(*(lines[key].split()[0] for key in ('Uid', 'Gid', 'CapEff', 'CapBnd', 'NoNewPrivs')))
"""


class ImageTest(FolderCase):
    """One chroot for each stage."""

    def setUp(self) -> None:
        super().setUp()
        self.hosts: dict[str, chroots.Chroot] = {}
        for stage in containerfiles.parse((DEPLOY / 'Containerfile').read_text(encoding='utf-8')):
            self.build(stage)
            self.final = stage
        self.root = self.hosts[self.final.name].root
        compose = (DEPLOY / 'compose' / 'compose.yaml').read_text(encoding='utf-8')
        self.services = yaml.safe_load(compose)['services']

    def build(self, stage: Stage) -> None:
        """Carry out the steps of a stage."""
        self.assertEqual(BASE, stage.base)
        host = self.hosts[stage.name] = self.useFixture(chroots.Chroot())
        (host.root / 'usr' / 'local' / 'bin' / 'python').symlink_to('/usr/bin/python3')
        for step in stage.steps:
            if isinstance(step, Copy):
                self.copy(step, host.root)
            else:
                self.run_step(step, host)

    def copy(self, step: Copy, root: pathlib.Path) -> None:
        """Copy from the clone, or from another stage."""
        target = root / step.target.lstrip('/')
        if step.stage is not None:
            source = self.hosts[step.stage].root / step.source.lstrip('/')
            shutil.copytree(source, target, symlinks=True)
        else:
            self.assertEqual('.', step.source)
            containerfiles.copy_context(ROOT, target)

    def run_step(self, step: Run, host: chroots.Chroot) -> None:
        """Run a command, with the packages that it wants at hand."""
        wheels = host.root / 'wheels'
        if not wheels.exists() and 'pip' in step.argv[-1]:
            wheels.mkdir()
            chroots.wheels(wheels, host.python_version())
        (host.root / step.folder.lstrip('/')).mkdir(parents=True, exist_ok=True)
        argv = (*step.argv[:-1], f'cd {shlex.quote(step.folder)} && {step.argv[-1]}')
        offline = {'PIP_NO_INDEX': '1', 'PIP_FIND_LINKS': '/wheels'}
        done = host.run(*argv, user=step.user, **(step.environment | offline))
        self.assertEqual(0, done.returncode, done.stdout[-2000:] + done.stderr[-4000:])

    def contained(self) -> chroots.Namespaces:
        """Return what compose makes of the image."""
        for name in ('tmp', 'dev/shm', STATE, 'etc/climate'):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        shutil.copy2(DEPLOY / 'compose' / 'climate.conf', self.root / 'etc' / 'climate')
        source, target, _ = self.services['proxy']['volumes'][0].split(':')
        shutil.copy2(DEPLOY / 'compose' / source, self.root / target.lstrip('/'))
        (self.root / 'etc' / 'nginx' / 'nginx.conf').write_text(NGINX)
        # A new volume has what the image has there, with its owner.
        state = self.folder / 'state'
        subprocess.run(['cp', '--archive', str(self.root / STATE), str(state)], check=True)
        script = MOUNTS.format(root=shlex.quote(str(self.root)), state=shlex.quote(str(state)))
        return self.useFixture(chroots.Namespaces(script))

    def as_user(self, *argv: str) -> tuple[str, ...]:
        """Return a command as the user of the image, without any capability."""
        user, _, group = self.final.user.partition(':')
        ids = (f'--reuid={user}', f'--regid={group}', '--clear-groups')
        none = ('--bounding-set=-all', '--inh-caps=-all', '--no-new-privs')
        inside = f'cd {shlex.quote(self.final.folder)} && exec {shlex.join(argv)}'
        return ('setpriv', *ids, *none, 'sh', '-c', inside)

    def start(self, where: chroots.Namespaces, argv: list[str] | tuple[str, ...]) -> pathlib.Path:
        """Start a process of the image; return its log."""
        log = self.folder / f'{argv[0]}.log'
        with log.open('wb') as output:
            process = subprocess.Popen(
                where.argv(*self.as_user(*argv), **self.final.environment, **SERVERS),
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return log

    def ask(self, where: chroots.Namespaces, *argv: str) -> chroots.Done:
        """Run a command of the image."""
        return where.run(*self.as_user(*argv), environment=self.final.environment | SERVERS)

    def test_it_runs_read_only_and_not_as_root(self) -> None:
        where = self.contained()
        for name in ('tables', 'samples'):
            done = self.ask(where, *self.services[name]['command'])
            self.assertEqual(0, done.returncode, done.stderr)
        logs = [
            self.start(where, self.final.command),
            self.start(where, self.services['manager']['command']),
        ]
        kind, *health = self.services['api']['healthcheck']['test']
        self.assertEqual('CMD', kind)
        try:
            processes.until('healthy', lambda: self.ask(where, *health).returncode == 0, 300)
            check = (*self.services['manager']['command'], '--check')
            processes.until('works', lambda: self.ask(where, *check).returncode == 0, 300)
            self.check_contents(where)
        except AssertionError:
            said = ''.join(log.read_text(errors='replace')[-3000:] for log in logs)
            self.addDetail('logs', content.text_content(said))
            raise
        self.check_rights(where)

    def check_contents(self, where: chroots.Namespaces) -> None:
        """Check what there is at the first start, through the proxy as a browser sees it."""
        done = where.run('nginx', '-e', '/run/nginx-errors.log')
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual([], json.loads(self.get(where, f'{HERE}/v1/leases'))['leases'])
        self.assertIn('openapi', json.loads(self.get(where, f'{HERE}/v1/openapi.json')))
        hosts = json.loads(self.get(where, f'{HERE}/v1/os-hosts'))['hosts']
        self.assertEqual(4, len(hosts), hosts)
        page = self.get(where, f'{HERE}/ui/')
        for script in re.findall(r'src="([^"]+)"', page):
            self.assertTrue(self.get(where, f'{HERE}/ui/{script}'))
        self.assertIn('<script', page)
        booked = self.ask(where, 'python', '-c', BOOK, HERE)
        self.assertEqual('201', booked.stdout.strip(), booked.stderr)

        def active() -> bool:
            metrics = self.get(where, 'http://127.0.0.1:9792/metrics')
            return 'climate_leases{status="ACTIVE"} 1.0' in metrics

        # The results of its queries are kept for 15 s.
        processes.until('the lease is active', active, 300)
        requests = self.get(where, 'http://127.0.0.1:9791/metrics')
        self.assertIn('climate_api_request_seconds_count', requests)

    def get(self, where: chroots.Namespaces, url: str) -> str:
        """Return the body of an answer."""
        code = 'import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).read().decode())'
        done = self.ask(where, 'python', '-c', code, url)
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    def check_rights(self, where: chroots.Namespaces) -> None:
        """Check what its processes may do, and that they can write state only."""
        done = where.run('python3', '-c', RIGHTS)
        user, group = self.final.user.split(':')
        rights = {tuple(line.split()) for line in done.stdout.splitlines()}
        self.assertEqual({(user, group, '0' * 16, '0' * 16, '1')}, rights, done.stderr)
        for path in ('/opt/climate/x', '/etc/climate/x', '/x'):
            self.assertIn('Read-only file system', where.run('touch', path).stderr, path)
        open_to_others = where.run(
            'find', f'/{STATE}', '-perm', '/007', '!', '-name', '.*', '-printf', '%m %p\\n'
        )
        self.assertEqual('', open_to_others.stdout + open_to_others.stderr)
        written = self.ask(where, 'touch', f'/{STATE}/x')
        self.assertEqual(0, written.returncode, written.stderr)
        self.assertIsNone(
            re.search('Traceback', self.ask(where, 'climate-manage', '--help').stderr)
        )
