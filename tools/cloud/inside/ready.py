# SPDX-License-Identifier: Apache-2.0

"""Waits until all services work, and then creates the objects that tests use.

Run it with the libraries of the cloud: ``python -m tools.cloud.inside.ready DIR SINCE``.
A heartbeat before SINCE, in seconds since the epoch, does not count, because dead
services look alive for a minute.
"""

from __future__ import annotations

import datetime
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from tools.cloud import state
from tools.cloud.inside.identity import connect
from tools.cloud.state import Cloud

PATIENCE = 240.0
_POLL = 0.5


def _fresh(service: Any, since: float) -> bool:
    if service.state != 'up' or not service.updated_at:
        return False
    seen = datetime.datetime.fromisoformat(service.updated_at)
    return seen.replace(tzinfo=datetime.UTC).timestamp() >= since


def wait(what: str, condition: Callable[[], bool]) -> None:
    """Wait until *condition* holds, and print the duration.

    If it does not hold in time, the process exits with a message.
    """
    began = time.monotonic()
    error: Exception | None = None
    while time.monotonic() < began + PATIENCE:
        try:
            if condition():
                print(f'{what}: {time.monotonic() - began:.1f} s', flush=True)
                return
            error = None
        except Exception as failure:  # any failure may be temporary
            error = failure
        time.sleep(_POLL)
    sys.exit(f'{what}: not after {PATIENCE:.0f} s {error or ""}')


def computes(cloud: Cloud, conn: Any, since: float) -> None:
    """Wait for the compute hosts, and map them to the cell."""

    def beating() -> bool:
        services = conn.compute.services(binary='nova-compute')
        return {each.host for each in services if _fresh(each, since)} >= set(cloud.hosts)

    def mapped() -> bool:
        return {each.name for each in conn.compute.hypervisors()} >= set(cloud.hosts)

    wait('compute services', beating)
    if not mapped():
        manage = [cloud.bin / 'nova-manage', f'--config-file={cloud.etc / "nova" / "nova.conf"}']
        subprocess.run([*manage, 'cell_v2', 'discover_hosts'], check=True)
    wait('hypervisors', mapped)
    wait(
        'resource providers',
        lambda: {each.name for each in conn.placement.resource_providers()} >= set(cloud.hosts),
    )


def others(conn: Any, since: float) -> None:
    """Wait for the daemons of Nova, Cinder and Heat."""

    def beating(services: Any, wanted: set[str]) -> bool:
        return {each.binary for each in services if _fresh(each, since)} >= wanted

    nova = {'nova-scheduler', 'nova-conductor'}
    cinder = {'cinder-volume', 'cinder-scheduler', 'cinder-backup'}
    wait('scheduler and conductor', lambda: beating(conn.compute.services(), nova))
    wait('volume services', lambda: beating(conn.block_storage.services(), cinder))
    wait(
        'heat engine',
        lambda: any(
            each['status'] == 'up'
            for each in conn.orchestration.get('/services').json()['services']
        ),
    )


def objects(cloud: Cloud, conn: Any) -> None:
    """Create the objects that tests use, unless they exist."""
    if not conn.block_storage.find_type(cloud.volume_type):
        specs = {'volume_backend_name': cloud.volume_type}
        conn.block_storage.create_type(name=cloud.volume_type, extra_specs=specs)
    for name, number, ram, vcpus, disk in (
        (cloud.flavor, '1', 512, 1, 1),
        ('m1.small', '2', 2048, 2, 10),
    ):
        if not conn.compute.find_flavor(name):
            conn.compute.create_flavor(name=name, id=number, ram=ram, vcpus=vcpus, disk=disk)
    if not conn.image.find_image(cloud.image):
        conn.image.create_image(
            name=cloud.image,
            disk_format='raw',
            container_format='bare',
            visibility='public',
            data=b'\0' * 1024,
            allow_duplicates=True,
            wait=True,
        )
    if not conn.network.find_network(cloud.network):
        network = conn.network.create_network(name=cloud.network, is_shared=True)
        conn.network.create_subnet(
            name=cloud.network, network_id=network.id, ip_version=4, cidr='10.10.0.0/16'
        )
    if not conn.network.find_network('public'):
        network = conn.network.create_network(
            name='public',
            is_router_external=True,
            provider_network_type='flat',
            provider_physical_network='public',
        )
        conn.network.create_subnet(
            name='public',
            network_id=network.id,
            ip_version=4,
            cidr='203.0.113.0/24',
            is_dhcp_enabled=False,
        )
    if not conn.compute.find_aggregate(cloud.freepool):
        conn.compute.create_aggregate(name=cloud.freepool)


def main() -> None:
    """Wait for the services of the cloud in the given directory, and create the objects."""
    cloud = state.load(sys.argv[1])
    since = float(sys.argv[2])
    conn = connect(cloud)
    computes(cloud, conn, since)
    others(conn, since)
    began = time.monotonic()
    objects(cloud, conn)
    print(f'base objects: {time.monotonic() - began:.1f} s')


if __name__ == '__main__':
    main()
