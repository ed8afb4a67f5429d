# SPDX-License-Identifier: Apache-2.0

"""The API of one source tree in a process: ``python -P against_child.py URL``.

``PYTHONPATH`` names the tree. This file imports no part of the tree but the package
``climate``, and only what each of its commits has had, because the same file runs old trees.
It reads commands from its standard input, one JSON array for each line.
"""

from __future__ import annotations

import contextlib
import datetime
import importlib
import importlib.util
import inspect
import json
import os
import random
import sys
import time
import types
from typing import Any

import webob
from oslo_config import cfg

import climate
from climate.clock import SystemClock
from climate.cmd import composition
from climate.cmd import config

_MINUTES = 20 * 24 * 60


class Api:
    """The API on one database, and the commands that it gets.

    :param seed: of the times of leases
    """

    def __init__(self, url: str, seed: int) -> None:
        self._core: Any = composition.core(_configuration(url), SystemClock())
        nothing: Any = None
        self._app = composition.api(self._core, registry=nothing, wake=lambda *_: None, health={})
        if importlib.util.find_spec('climate.cmd.memory') is not None:
            importlib.import_module('climate.cmd.memory').tune()
        self._rng = random.Random(seed)
        self._ids: list[str] = []

    def sync(self) -> str:
        """Create the tables; return the path of the package that did."""
        _migration().sync(self._core.store.engine)
        return climate.__file__

    def send(
        self, method: str, path: str, body: Any, version: str, token: str = 'notused'
    ) -> tuple[int, dict[str, str], str]:
        """Send a request; return the status, headers and body of the answer."""
        answer = self._answer(method, path, body, version, token)
        return answer.status_int, dict(answer.headers), answer.text

    def create(self, times: int, body: dict[str, Any]) -> list[float]:
        """Create leases at random times; return the processor time of each, in milliseconds."""
        found = []
        for _ in range(times):
            start = SystemClock().now() + datetime.timedelta(
                minutes=self._rng.randrange(5, _MINUTES)
            )
            dates = {
                'start_date': f'{start:%Y-%m-%d %H:%M}',
                'end_date': f'{start + datetime.timedelta(hours=1):%Y-%m-%d %H:%M}',
            }
            answer = self._timed(found, 'POST', '/v1/leases', {**body, **dates}, 201)
            self._ids.append(answer.json['lease']['id'])
        return found

    def show(self, times: int) -> list[float]:
        """Show leases that were created; return as :meth:`create` does."""
        found: list[float] = []
        for _ in range(times):
            self._timed(found, 'GET', f'/v1/leases/{self._rng.choice(self._ids)}', None, 200)
        return found

    def list(self, times: int, path: str, count: int) -> list[float]:
        """List *count* leases; return as :meth:`create` does."""
        found: list[float] = []
        for _ in range(times):
            answer = self._timed(found, 'GET', path, None, 200, '1.1')
            assert len(answer.json['leases']) == count, len(answer.json['leases'])
        return found

    def rate(self, seconds: float, body: dict[str, Any]) -> int:
        """Create leases for some seconds; return their number."""
        number, until = 0, time.perf_counter() + seconds
        while time.perf_counter() < until:
            self.create(1, body)
            number += 1
        return number

    def _timed(
        self,
        found: list[float],
        method: str,
        path: str,
        body: Any,
        status: int,
        version: str = '1.0',
    ) -> Any:
        request = _request(method, path, body, version, 'notused')
        began = time.process_time()
        answer = request.get_response(self._app)
        text = answer.body
        found.append((time.process_time() - began) * 1000)
        if answer.status_int != status:
            raise RuntimeError(text)
        return answer

    def _answer(self, method: str, path: str, body: Any, version: str, token: str) -> Any:
        return _request(method, path, body, version, token).get_response(self._app)


def _migration() -> types.ModuleType:
    # Older trees have it in another package.
    for name in ('climate.db.migrations.migration', 'climate.db.migration'):
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(name)
    raise RuntimeError('this tree cannot create tables')


def _request(method: str, path: str, body: Any, version: str, token: str) -> Any:
    request = webob.Request.blank(path, method=method)
    request.headers['X-Auth-Token'] = token
    request.headers['OpenStack-API-Version'] = f'reservation {version}'
    if body is not None:
        request.json = body
    return request


def _configuration(url: str) -> cfg.ConfigOpts:
    conf = config.new_conf()
    conf([], project='climate', default_config_files=[])
    conf.set_override('connection', url, group='database')
    conf.set_override('auth_strategy', 'noauth')
    conf.set_override('transport_url', 'fake://')
    with contextlib.suppress(cfg.NoSuchGroupError):
        # Older trees limit nothing.
        conf.set_override('leases', 0, group='limits')
    with contextlib.suppress(cfg.NoSuchOptError, cfg.NoSuchGroupError):
        conf.set_override('per_project', '', group='rate_limit')
        conf.set_override('per_address', '', group='rate_limit')
        conf.set_override('project_share', 1.0, group='api')
    conf.set_override('resource_types', ['physical:host', 'virtual:instance'])
    # Log lines are written as in production, but not to the output of the benchmark.
    conf.set_override('log_file', os.devnull)
    # Older trees have no name of the service there.
    names = ['benchmark'] * (len(inspect.signature(config.set_up_logging).parameters) - 1)
    config.set_up_logging(conf, *names)
    sys.excepthook = sys.__excepthook__
    return conf


def main() -> None:
    """Obey commands until the input ends."""
    api = Api(sys.argv[1], int(sys.argv[2]))
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        sys.stdout.write(json.dumps(getattr(api, name)(*arguments)) + '\n')
        sys.stdout.flush()


if __name__ == '__main__':
    main()
