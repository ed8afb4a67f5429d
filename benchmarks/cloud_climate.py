# SPDX-License-Identifier: Apache-2.0
"""Deploys Climate for the benchmark on the test cloud."""

from __future__ import annotations

import contextlib
import pathlib
import tempfile
from collections.abc import Iterator

from benchmarks import cloud_parts
from benchmarks.cloud_parts import LOGIN
from climate.clock import SystemClock
from climate.cmd import config
from climate.db.migrations import migration
from climate.db.transactions.store import Store
from tests.functional import processes as commands
from tools.cloud.state import Cloud

NAME = 'climate_bench'
_CLIMATE = """
[DEFAULT]
transport_url = {cloud.transport_url}
[database]
connection = {database}
[manager]
rpc_topic = {name}
[keystone_authtoken]
www_authenticate_uri = {cloud.auth_url}
memcached_servers = {cloud.memcached}
service_token_roles = service
service_token_roles_required = true
{login}
[nova]
region_name = {cloud.region}
endpoint_override = {nova}
aggregate_freepool_name = {name}
{login}
[placement]
region_name = {cloud.region}
[oslo_messaging_notifications]
driver = messagingv2
[oslo_messaging_rabbit]
rabbit_quorum_queue = false
[limits]
leases = 0
[rate_limit]
per_project =
per_address =
"""


@contextlib.contextmanager
def deployment(cloud: Cloud) -> Iterator[cloud_parts.Service]:
    """Run one API process and one manager on the cloud.

    :raises CloudError: if there are not enough unused hosts
    """
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        watch = stack.enter_context(cloud_parts.watched(cloud, NAME))
        conf = folder / 'climate.conf'
        text = _CLIMATE.format(
            cloud=cloud,
            database=watch.database.url,
            name=NAME,
            nova=watch.nova.url,
            login=LOGIN.format(cloud=cloud),
        )
        conf.write_text(text, encoding='utf-8')
        _create_tables(conf)
        hosts = stack.enter_context(
            cloud_parts.pool(cloud, cloud_parts.openstack(cloud).compute, NAME)
        )
        port = commands.free_port()
        api = ('--workers=1', '--threads=8', '--no-control-socket', 'climate.wsgi.api:application')
        stack.enter_context(
            cloud_parts.process(
                folder,
                *(commands.BIN / 'gunicorn', f'--bind=127.0.0.1:{port}', *api),
                environment={'OS_CLIMATE_CONFIG_DIR': str(folder)},
            )
        )
        manager = (commands.BIN / 'climate-manager', '--config-file', conf)
        stack.enter_context(cloud_parts.process(folder, *manager))
        url = f'http://127.0.0.1:{port}'
        commands.until(
            'the API answers', lambda: cloud_parts.answers(f'{url}/healthcheck', 200), 600
        )
        service = cloud_parts.Service(cloud, f'{url}/v1', watch, hosts)
        stack.enter_context(cloud_parts.registered(service))
        yield service


def _create_tables(path: pathlib.Path) -> None:
    conf = config.new_conf()
    conf([], project='climate', default_config_files=[str(path)])
    store = Store(conf, SystemClock())
    migration.sync(store.engine)
    store.close()
