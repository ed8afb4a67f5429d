# SPDX-License-Identifier: Apache-2.0
"""Installs and deploys Blazar for the benchmark on the test cloud, as its documentation says."""

from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile
import urllib.parse
from collections.abc import Iterator
from typing import Any
from typing import Final

from benchmarks import cloud_parts
from benchmarks.cloud_parts import LOGIN
from tests.functional import processes as commands
from tools.cloud import install
from tools.cloud import programs
from tools.cloud.state import Cloud

VERSION: Final = '18.0.0'
NAME = 'blazar_bench'
# setuptools: a library that Blazar requires imports it without saying so.
_PACKAGES = (f'blazar=={VERSION}', 'pymysql', 'pymemcache', 'python-memcached', 'setuptools')
_BLAZAR = """
[DEFAULT]
host = 127.0.0.1
port = {port}
transport_url = {cloud.transport_url}
os_auth_host = {keystone.hostname}
os_auth_port = {keystone.port}
os_auth_protocol = http
os_auth_version = v3
os_admin_username = climate
os_admin_password = {cloud.password}
os_admin_project_name = service
identity_service = identity
os_region_name = {name}
[manager]
plugins = physical.host.plugin
[database]
connection = {database}
[keystone_authtoken]
www_authenticate_uri = {cloud.auth_url}
memcached_servers = {cloud.memcached}
{login}
[nova]
aggregate_freepool_name = {name}
[oslo_messaging_notifications]
driver = messagingv2
[oslo_messaging_rabbit]
rabbit_quorum_queue = false
"""

_MODULE: Final = 'blazar_bench_api'
# The application reads /etc/blazar/blazar.conf only, which is not for a benchmark to write.
_SCRIPT = """
from oslo_config import cfg
_call = cfg.ConfigOpts.__call__
def _with_file(self, *arguments, **options):
    return _call(self, *arguments, **options | {{'default_config_files': [{conf!r}]}})
cfg.ConfigOpts.__call__ = _with_file
from blazar.wsgi.api import application
"""


@contextlib.contextmanager
def deployment(cloud: Cloud) -> Iterator[cloud_parts.Service]:
    """Run one API process and one manager on the cloud.

    :raises CloudError: if Blazar cannot be installed, or there are not enough unused hosts
    """
    place = cloud.directory / 'blazar'
    log = cloud.logs / 'blazar-install.log'
    if not (place / 'bin' / 'blazar-manager').exists():
        install.environment(place, log)
        lock = ('--constraint', install.LOCK)
        install.install(place, log, *lock, *_PACKAGES)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        watch = stack.enter_context(cloud_parts.watched(cloud, NAME))
        stack.enter_context(_region(cloud, watch.nova.url))
        port = commands.free_port()
        conf = folder / 'blazar.conf'
        conf.write_text(_configuration(cloud, watch.database.url, port), encoding='utf-8')
        words = ('--config-file', conf)
        programs.run(
            log, [place / 'bin' / 'blazar-db-manage', *words, 'upgrade', 'head'], os.environ
        )
        openstack = cloud_parts.openstack(cloud)
        hosts = stack.enter_context(cloud_parts.pool(cloud, openstack.compute, NAME))
        # A run that was killed leaves them, and Blazar then refuses the host.
        for host in hosts:
            found = openstack.placement.find_provider(f'blazar_{host}')
            if found is not None:
                openstack.placement.delete_provider(found.uuid)
        stack.enter_context(cloud_parts.process(folder, *_api(cloud, place, conf, port)))
        stack.enter_context(cloud_parts.process(folder, place / 'bin' / 'blazar-manager', *words))
        url = f'http://127.0.0.1:{port}'
        commands.until(
            'the API of Blazar answers', lambda: cloud_parts.answers(f'{url}/', 401), 600
        )
        service = cloud_parts.Service(cloud, f'{url}/v1', watch, hosts)
        stack.enter_context(cloud_parts.registered(service))
        yield service


def _api(
    cloud: Cloud, place: pathlib.Path, conf: pathlib.Path, port: int
) -> tuple[str | pathlib.Path, ...]:
    """Return the command of the API: uWSGI, as its release notes say."""
    script = _SCRIPT.format(conf=str(conf))
    conf.with_name(f'{_MODULE}.py').write_text(script, encoding='utf-8')
    return (
        cloud.bin / 'uwsgi',
        f'--http-socket=127.0.0.1:{port}',
        f'--module={_MODULE}:application',
        f'--venv={place}',
        f'--chdir={conf.parent}',
        *('--processes=1', '--threads=8', '--enable-threads', '--lazy-apps', '--need-app'),
        *('--die-on-term', '--disable-logging', '--buffer-size=65535'),
        '--add-header=Connection: close',
    )


def _configuration(cloud: Cloud, database: str, port: int) -> str:
    return _BLAZAR.format(
        cloud=cloud,
        database=database,
        keystone=urllib.parse.urlsplit(cloud.auth_url),
        login=LOGIN.format(cloud=cloud),
        name=NAME,
        port=port,
    )


@contextlib.contextmanager
def _region(cloud: Cloud, nova: str) -> Iterator[None]:
    """Copy the catalog into a region where Nova has another address.

    Blazar has no option for the address of Nova, only for its region.
    """
    admin = cloud_parts.session(cloud, 'admin', 'admin')

    def ask(method: str, path: str, **more: Any) -> Any:
        return admin.request(f'{cloud.auth_url}{path}', method, **more)

    def remove() -> None:
        for each in ask('GET', f'/endpoints?region_id={NAME}').json()['endpoints']:
            ask('DELETE', f'/endpoints/{each["id"]}')
        ask('DELETE', f'/regions/{NAME}', raise_exc=False)

    remove()
    ask('POST', '/regions', json={'region': {'id': NAME}})
    try:
        services = ask('GET', '/services?type=compute').json()['services']
        compute = {each['id'] for each in services}
        for each in ask('GET', f'/endpoints?region_id={cloud.region}').json()['endpoints']:
            url = nova if each['service_id'] in compute else each['url']
            kept = {name: each[name] for name in ('service_id', 'interface')}
            ask('POST', '/endpoints', json={'endpoint': {**kept, 'region_id': NAME, 'url': url}})
        yield
    finally:
        remove()
