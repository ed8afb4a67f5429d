# SPDX-License-Identifier: Apache-2.0

"""``/healthcheck``: the health of this process and, on request, of its dependencies."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

import webob
from oslo_config import cfg
from oslo_log import log as logging
from oslo_middleware import healthcheck

from climate import exceptions
from climate.api import errors
from climate.api.http import queries
from climate.api.http.wsgi import Environ
from climate.api.http.wsgi import StartResponse

LOG = logging.getLogger(__name__)

SECONDS = 1.0
PATIENCE = 10.0

Checks = Mapping[str, Callable[[], Mapping[str, int] | None]]


class Probes:
    """Runs checks for any number of callers, each check at most once a second.

    A result is valid for a second. While the next check runs, callers get the
    previous result. A check that takes longer than ten seconds has failed.

    :param checks: by name; each raises if the part that it checks does not work, and may
        return counters
    :param ticks: returns the seconds since a fixed instant
    """

    def __init__(self, checks: Checks, ticks: Callable[[], float] = time.monotonic) -> None:
        self._checks = checks
        self._ticks = ticks
        # A check that hangs does not block the others.
        self._locks = {name: threading.Lock() for name in checks}
        self._begun: dict[str, float] = {}
        self._found: dict[str, tuple[bool, float]] = {}
        self._counters: dict[str, Mapping[str, int]] = {}

    def counters(self, name: str) -> Mapping[str, int]:
        """Return the counters that a check returned when it last passed."""
        return self._counters.get(name, {})

    def passes(self, name: str) -> bool:
        """Whether a check passed when it last ran.

        :raises KeyError: if there is no such check
        """
        lock, before = self._locks[name], self._found.get(name)
        if before is not None and self._ticks() - before[1] < SECONDS:
            return before[0]
        # Wait for a running check only if there is no result yet.
        if not lock.acquire(timeout=PATIENCE if before is None else 0):
            # A check that hangs has failed, even though it has not returned.
            since = self._begun.get(name, self._ticks())
            return before is not None and before[0] and self._ticks() - since < PATIENCE
        try:
            self._begun[name] = self._ticks()
            checked = self._found.get(name)
            if checked is None or self._ticks() - checked[1] >= SECONDS:
                checked = self._passes(name), self._ticks()
                self._found[name] = checked
            return checked[0]
        finally:
            lock.release()

    def _passes(self, name: str) -> bool:
        try:
            self._counters[name] = self._checks[name]() or {}
        except Exception as error:
            LOG.warning('Health check %s failed: %s', name, _reason(error))
            return False
        return True


def _reason(error: Exception) -> str:
    if isinstance(error, exceptions.DatabaseUnavailable):
        return error.explanation
    # Messages of drivers contain addresses and sometimes passwords; ours never do.
    return str(error) if isinstance(error, exceptions.ClimateError) else type(error).__name__


PATH = '/healthcheck'


class Health:
    """Answers ``/healthcheck`` without a token.

    By default the backends of oslo.middleware answer. With
    ``?checks=database,broker`` or ``?checks=all`` the named checks run: the status is
    200 if all pass, otherwise 503, with a JSON object that names the failed ones. The
    reasons are logged.

    :param checks: by name; each raises if the part that it checks does not work
    """

    def __init__(self, conf: cfg.ConfigOpts, checks: Checks) -> None:
        self._checks = checks
        self._probes = Probes(checks)
        self._plain = healthcheck.Healthcheck(None, conf)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer the request."""
        answer: Iterable[bytes] = self._respond(environ)(environ, start_response)
        return answer

    def _respond(self, environ: Environ) -> webob.Response:
        try:
            if environ['REQUEST_METHOD'] not in {'GET', 'HEAD'}:
                raise exceptions.MethodNotAllowed(allowed=['GET', 'HEAD'])
            wanted = queries.one(queries.parse(environ.get('QUERY_STRING', '')), 'checks')
            if wanted is None:
                return webob.Request(environ).get_response(self._plain)
            return self._run(self._names(wanted))
        except exceptions.ClimateError as error:
            return errors.response(error, environ)

    def _names(self, wanted: str) -> list[str]:
        if wanted == 'all':
            return sorted(self._checks)
        names = [name.strip() for name in wanted.split(',') if name.strip()]
        for name in names:
            if name not in self._checks:
                raise exceptions.MalformedParameter.of(
                    'checks', f'all, or some of {", ".join(sorted(self._checks))} are required'
                )
        return names

    def _run(self, names: list[str]) -> webob.Response:
        results = {name: self._result(name) for name in names}
        failing = [name for name, result in results.items() if result['status'] != 'ok']
        if failing:
            raise errors.Unhealthy(names=', '.join(failing), checks=results)
        body = json.dumps({'status': 'ok', 'checks': results}).encode()
        return webob.Response(body=body, content_type='application/json', charset=None)

    def _result(self, name: str) -> dict[str, Any]:
        if self._probes.passes(name):
            counters = self._probes.counters(name)
            return {'status': 'ok', **({'counters': counters} if counters else {})}
        # The reason is not disclosed to callers without a token.
        return {'status': 'failed', 'reason': 'see the log of the API'}
