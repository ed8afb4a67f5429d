# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""``/healthcheck``: is this process alive, and on request, what it needs too."""

from __future__ import annotations

import json
from collections.abc import Iterable

import webob
from oslo_config import cfg
from oslo_middleware import healthcheck

from climate import exceptions
from climate.api import errors
from climate.api import queries
from climate.api.middleware import Environ
from climate.api.middleware import StartResponse
from climate.api.middleware import WSGIApp
from climate.api.middleware.probes import Checks
from climate.api.middleware.probes import Probes

PATH = '/healthcheck'


class Health:
    """Answers ``/healthcheck`` without a token.

    By itself the answer is oslo.middleware's, with its backends. With
    ``?checks=database,broker``, or ``?checks=all``, the named checks are made:
    200 if all pass, else 503 with a JSON object that says which did not. Why is
    in the log.

    :param checks: by name; each raises if what it looks at does not work
    """

    def __init__(self, app: WSGIApp, conf: cfg.ConfigOpts, checks: Checks) -> None:
        self._app = app
        self._checks = checks
        self._probes = Probes(checks)
        self._plain = healthcheck.Healthcheck(None, conf)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer, or hand the request on if it is about something else."""
        if environ.get('PATH_INFO', '').rstrip('/') != PATH:
            return self._app(environ, start_response)
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
                raise exceptions.MalformedParameter(
                    'Malformed parameter checks: all, or some of '
                    f'{", ".join(sorted(self._checks))} are required'
                )
        return names

    def _run(self, names: list[str]) -> webob.Response:
        results = {name: self._result(name) for name in names}
        failing = [name for name, result in results.items() if result['status'] != 'ok']
        if failing:
            raise errors.Unhealthy(names=', '.join(failing), checks=results)
        body = json.dumps({'status': 'ok', 'checks': results}).encode()
        return webob.Response(body=body, content_type='application/json', charset=None)

    def _result(self, name: str) -> dict[str, str]:
        if self._probes.well(name):
            return {'status': 'ok'}
        # Why is nothing for those who need no token.
        return {'status': 'failed', 'reason': 'see the log of the API'}
