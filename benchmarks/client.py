# SPDX-License-Identifier: Apache-2.0
"""A process that creates leases when it is asked to: ``python -m benchmarks.client URL``.

It reads numbers of seconds from its standard input, and runs the complete API, like a
worker process behind a web server, but with requests of its own instead of a socket.
"""

from __future__ import annotations

import datetime
import os
import random
import sys
import time

import webob

from benchmarks import parts
from climate.clock import SystemClock


def main() -> None:
    """Create leases for as many seconds as each line of input says."""
    core = parts.core(sys.argv[1])
    application = parts.api(core)
    rng = random.Random(os.getpid())
    _create(application, rng, 'warm up')
    parts.say('ready')
    while word := parts.read_line().strip():
        seconds = float(word)
        times: list[float] = []
        refused = 0
        until = time.perf_counter() + seconds
        while (began := time.perf_counter()) < until:
            if _create(application, rng, f'lease-{len(times)}') == 201:
                times.append(time.perf_counter() - began)
            else:
                refused += 1
        parts.say({'times': times, 'refused': refused, 'megabytes': parts.resident_megabytes()})
    core.store.close()


def _create(application: object, rng: random.Random, name: str) -> int:
    start = SystemClock().now() + datetime.timedelta(minutes=rng.randrange(5, 20 * 24 * 60))
    request = webob.Request.blank('/v1/leases', method='POST')
    request.headers['X-Auth-Token'] = 'notused'
    request.json = parts.lease_body(name, start)
    status: int = request.get_response(application).status_int
    return status


if __name__ == '__main__':
    main()
