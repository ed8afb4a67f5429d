# SPDX-License-Identifier: Apache-2.0
"""The installation of the install page, with a simulated cloud, for a benchmark."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator
from typing import Final

import webob

from benchmarks import neighbours_requests as requests
from benchmarks import parts
from climate.db.migrations import migration
from tests import proxies
from tests.functional import bulk_parts

HOST: Final = '127.0.0.1'
_FORMAT: Final = """[DEFAULT]
auth_strategy = noauth
cloud = simulated
transport_url = fake://
log_file = {folder}/climate.log
resource_types = physical:host, virtual:instance

[database]
connection = {url}

# The member has more leases than one project may have by default.
[limits]
leases = 0

[simulator]
state_dir = {folder}/cloud
"""


def prepare(folder: pathlib.Path, url: str, hosts: int) -> None:
    """Write the configuration, the rows of hosts in racks, and the leases of the member."""
    (folder / 'climate.conf').write_text(_FORMAT.format(folder=folder, url=url.replace('%', '%%')))
    core = parts.core(url)
    migration.sync(core.store.engine)
    now = core.clock.now()
    try:
        bulk_parts.Parts(hosts=hosts, allocations=0, now=now).fill(core.store.engine)
        application = parts.api(core)
        for body in requests.leases(now):
            request = webob.Request.blank('/v1/leases', method='POST', json=body)
            request.headers['X-Auth-Token'] = requests.tokens(1)[0]
            response = request.get_response(application)
            if response.status_int != 201:
                raise RuntimeError(response.text)
    finally:
        core.store.close()


@contextlib.contextmanager
def installation(folder: pathlib.Path, *, proxied: bool) -> Iterator[int]:
    """Serve the API as the install page says; yield the port.

    :param proxied: whether behind nginx, or gunicorn alone
    """
    with proxies.Gunicorn(folder) as server:
        if not proxied:
            yield server.port
            return
        with proxies.Nginx(folder, server.port) as proxy:
            yield proxy.port
