# SPDX-License-Identifier: Apache-2.0

"""A process of the API that says what it needs.

Run as ``python -m benchmarks.sizes_process URL``.
"""

from __future__ import annotations

import datetime
import json
import os
import pathlib
import resource
import sys
import time
from typing import Any

_BEFORE = len(sys.modules)
_HOSTS = 'physical:host'


def main() -> None:
    """Start, answer a few requests, and print what that took."""
    from climate.wsgi import api as imported  # noqa: F401, PLC0415  it is measured what this takes

    found: dict[str, float] = {
        'modules': len(sys.modules) - _BEFORE,
        'memory, imported': _megabytes(),
        'processor time, imported': time.process_time(),
    }
    from climate.allocation import memory  # noqa: PLC0415  as above
    from climate.cmd import composition  # noqa: PLC0415  as above
    from climate.db.timelines.timelines import Timelines  # noqa: PLC0415  as above

    loads: list[tuple[float, float]] = []
    kept: list[Timelines] = []
    once = Timelines._loaded

    def loaded(self: Timelines, *arguments: Any) -> Any:
        began, used = time.monotonic(), time.process_time()
        try:
            return once(self, *arguments)
        finally:
            loads.append((time.monotonic() - began, time.process_time() - used))
            kept.append(self)

    Timelines._loaded = loaded  # type: ignore[method-assign]  it measures each call
    app = composition.wsgi_application(_configuration(sys.argv[1]))
    found['processor time, ready'] = time.process_time()
    found['memory, ready'] = _megabytes()
    found['load'] = sum(wall for wall, _ in loads)
    found['processor time of the load'] = sum(used for _, used in loads)
    _ask(app)
    found['memory, has searched'] = _megabytes()
    found['memory, at most'] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found['arrays'] = sum(map(memory.size, kept[0].latest(_HOSTS))) / 1e6 if kept else 0.0
    sys.stdout.write(json.dumps(found) + '\n')
    sys.stdout.flush()
    sys.stdin.readline()


def _configuration(url: str) -> Any:
    """Return the configuration of an API process, without limits."""
    from climate.cmd import config  # noqa: PLC0415  as above

    conf = config.new_conf()
    conf([], project='climate', default_config_files=[])
    for group, name, value in (
        ('database', 'connection', url),
        (None, 'auth_strategy', 'noauth'),
        (None, 'transport_url', 'fake://'),
        (None, 'log_file', os.devnull),
        ('api', 'project_share', 1.0),
        ('limits', 'leases', 0),
    ):
        conf.set_override(name, value, group=group)
    config.set_up_logging(conf, 'climate-api')
    sys.excepthook = sys.__excepthook__
    return conf


def _megabytes() -> float:
    for line in pathlib.Path('/proc/self/status').read_text().splitlines():
        if line.startswith('VmRSS:'):
            return int(line.split()[1]) / 1024
    return 0.0


def _ask(app: Any) -> None:
    """Search for resources a few times."""
    import webob  # noqa: PLC0415  as above

    start = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1)
    times = {
        'start_date': f'{start:%Y-%m-%d %H:%M}',
        'end_date': f'{start + datetime.timedelta(hours=1):%Y-%m-%d %H:%M}',
    }
    whole: dict[str, Any] = {'resource_type': _HOSTS, 'min': 1, 'max': 1}
    whole |= {'hypervisor_properties': '', 'resource_properties': ''}
    lease = {'name': 'one', 'events': [], 'reservations': [whole], **times}
    for method, path, body in (
        ('GET', f'/v1/availability?resource_type={_HOSTS}', None),
        ('POST', '/v1/offers', {'limit': 1, 'reservations': [whole], 'duration': '1h'}),
        ('POST', '/v1/leases', lease),
        ('GET', '/v1/leases', None),
    ):
        headers = {'OpenStack-API-Version': 'reservation 1.5'}
        request = webob.Request.blank(path, method=method, headers=headers)
        if body is not None:
            request.json = body
        response = request.get_response(app)
        if response.status_int >= 300:
            sys.stderr.write(f'{method} {path}: {response.status} {response.text[:300]}\n')


if __name__ == '__main__':
    main()
