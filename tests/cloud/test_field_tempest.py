# SPDX-License-Identifier: Apache-2.0

"""blazar-tempest-plugin, unmodified, against the real cloud.

It was written for DevStack: one compute host, and every API under a path of
``http://127.0.0.1/``. The other hosts of the cloud are disabled for it, and
port 80 leads to the cloud's proxy.
"""

from __future__ import annotations

import configparser
import contextlib
import pathlib
import re
import subprocess
import tempfile
from collections.abc import Iterator
from http import HTTPStatus
from urllib import request

from testtools import content

from tests.cloud.base import CloudTest
from tests.cloud.waiting import until

PLUGIN = 'blazar_tempest_plugin'
# How many it has of each kind.
TESTS = {'api': 22, 'scenario': 8}
# How long all of its tests may take on a busy machine, in seconds.
_PATIENCE = 1500
_PORT = 80

_NGINX = """
daemon off;
worker_processes 1;
pid {place}/nginx.id;
error_log stderr;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_max_body_size 0;
    client_body_temp_path {place};
    proxy_temp_path {place};
    fastcgi_temp_path {place};
    uwsgi_temp_path {place};
    scgi_temp_path {place};
    proxy_read_timeout 120s;
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://127.0.0.1:{proxy};
            proxy_set_header Host $http_host;
        }}
    }}
}}
"""


class TempestTest(CloudTest):
    """The tests that Blazar has for a cloud."""

    # The plugin registers the host itself.
    hosts = 0
    alone = True

    def setUp(self) -> None:
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.place = pathlib.Path(folder)
        self.enterContext(self.port_80())
        self.addCleanup(self.forget_leases)
        self.addCleanup(self.forget_people)

        self.assertEqual(0, self.tempest('init', 'workspace').returncode)
        self.configure(self.place / 'workspace' / 'etc' / 'tempest.conf')

    # The tests of the API take the first hypervisor, and the scenarios the host of the first
    # service. Nova lists each in the order in which they registered, which may differ when
    # nova-computes start side by side.

    def test_api(self) -> None:
        hypervisor = next(self.admin.sdk.compute.hypervisors(details=True))
        self.assertEqual(TESTS['api'], self.passed('api', hypervisor.service_details['host']))

    def test_scenarios(self) -> None:
        service = next(self.admin.sdk.compute.services(binary='nova-compute'))
        self.assertEqual(TESTS['scenario'], self.passed('scenario', service.host))

    def passed(self, kind: str, host: str) -> int:
        """Run the tests of one kind, and return how many passed; fail if one did not.

        :param host: the host that these tests take
        """
        with self.only(host):
            regex = f'{PLUGIN}.tests.{kind}'
            run = self.tempest('run', '--workspace', 'workspace', '--regex', regex, '--serial')
        self.addDetail(kind, content.text_content(run.stdout + run.stderr))
        self.assertEqual(0, run.returncode)
        found = re.search(r'^ - Passed: (\d+)$', run.stdout, re.MULTILINE)
        self.assertIsNotNone(found)
        return int(found[1]) if found else 0

    def tempest(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of tempest."""
        line = [self.cloud.bin / 'tempest', *words]
        env = {'PATH': f'{self.cloud.bin}:/usr/bin:/bin', 'HOME': str(self.place)}
        facts = {'cwd': self.place, 'env': env, 'text': True, 'timeout': _PATIENCE}
        return subprocess.run(line, capture_output=True, check=False, **facts)

    def configure(self, path: pathlib.Path) -> None:
        """Write tempest's configuration."""
        region = self.cloud.proxied_region
        sdk = self.admin.sdk
        image = sdk.image.find_image(self.cloud.image).id
        flavors = [each.id for each in sdk.compute.flavors()]
        config = configparser.ConfigParser()
        admin = {'username': 'admin', 'password': self.cloud.password}
        admin |= {'project_name': 'admin', 'domain_name': 'Default'}
        prepared = {'use_dynamic_credentials': 'true', 'create_isolated_networks': 'false'}
        here, keystone = {'region': region}, f'http://127.0.0.1:{_PORT}/identity/v3'
        config.read_dict(
            {
                'DEFAULT': {'log_dir': str(self.place)},
                'oslo_concurrency': {'lock_path': str(self.place)},
                'auth': {f'admin_{name}': text for name, text in admin.items()} | prepared,
                'identity': {**here, 'uri_v3': keystone, 'auth_version': 'v3'},
                'compute': {
                    **here,
                    'image_ref': image,
                    'image_ref_alt': image,
                    'flavor_ref': flavors[0],
                    'flavor_ref_alt': flavors[1],
                    'fixed_network_name': self.cloud.network,
                    'build_interval': '1',
                },
                'network': {**here, 'public_network_id': sdk.network.find_network('public').id},
                'image': here,
                'volume': here,
                'validation': {'run_validation': 'false'},
                'service_available': {'swift': 'false', 'horizon': 'false'},
                'resource_reservation': {'lease_interval': '1'},
            }
        )
        with path.open('w', encoding='utf-8') as file:
            config.write(file)

    def forget_people(self) -> None:
        """Delete the users and projects that tempest leaves."""
        identity = self.admin.sdk.identity
        for delete, found in (
            (identity.delete_user, identity.users()),
            (identity.delete_project, identity.projects()),
        ):
            for each in list(found):
                if each.name.startswith('tempest-'):
                    delete(each)

    def forget_leases(self) -> None:
        """Delete the leases of deleted projects: the plugin expects to see only its own."""
        projects = {each.id for each in self.admin.sdk.identity.projects()}
        for lease in self.admin.leases():
            if lease['project_id'] not in projects:
                self.admin.delete_lease(lease['id'])

    @contextlib.contextmanager
    def only(self, host: str) -> Iterator[None]:
        """Disable all other hosts of the cloud."""
        compute = self.admin.sdk.compute
        others = [each for each in compute.services(binary='nova-compute') if each.host != host]
        for each in others:
            compute.disable_service(each.id)
        try:
            yield
        finally:
            for each in others:
                compute.enable_service(each.id)

    @contextlib.contextmanager
    def port_80(self) -> Iterator[None]:
        """Have port 80 lead to the proxy of the cloud."""
        conf = self.place / 'nginx.conf'
        proxy = self.cloud.ports['proxy']
        conf.write_text(_NGINX.format(place=self.place, port=_PORT, proxy=proxy), encoding='utf-8')
        with subprocess.Popen(['/usr/sbin/nginx', '-c', conf, '-e', 'stderr']) as nginx:
            try:
                until(self.listens, 30, 'port 80 leads to the proxy')
                yield
            finally:
                nginx.terminate()

    def listens(self) -> bool:
        """Return whether Keystone answers there."""
        with contextlib.suppress(OSError):
            with request.urlopen(f'http://127.0.0.1:{_PORT}/identity/v3', timeout=5) as answer:
                return bool(answer.status == HTTPStatus.OK)
        return False
