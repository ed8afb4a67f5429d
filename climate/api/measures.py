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

"""Measures requests, for metrics."""

from __future__ import annotations

import time
from collections.abc import Collection
from collections.abc import Iterable
from typing import Any
from typing import Final

from climate.api import errors
from climate.api.wsgi import Environ
from climate.api.wsgi import StartResponse
from climate.api.wsgi import WSGIApp
from climate.metrics import catalogue
from climate.metrics import recording

_METHODS: Final = frozenset({'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'})
_PARAMETER: Final = '{id}'
_OTHER: Final = 'other'


def template(path: str) -> str:
    """Return the path of a route with the same name for all of its parameters."""
    return '/'.join(_PARAMETER if word.startswith('{') else word for word in path.split('/'))


class Routes:
    """The templates of paths, such as ``/v1/leases/{id}``.

    Paths that no route has are one template together, because clients can invent any number
    of them; so are unknown methods.

    :param paths: the paths of all routes, with parameters in braces
    """

    def __init__(self, paths: Collection[str]) -> None:
        self._templates = {template(path) for path in paths}
        self._words = {word for path in self._templates for word in path.split('/')}

    def route(self, environ: Environ) -> str:
        """Return the template of the path of a request."""
        path = str(environ.get('PATH_INFO') or '')
        words = (path.rstrip('/') or '/').split('/')
        found = '/'.join(word if word in self._words else _PARAMETER for word in words)
        return found if found in self._templates else _OTHER

    def method(self, environ: Environ) -> str:
        """Return the method of a request."""
        method = environ.get('REQUEST_METHOD')
        return method if method in _METHODS else _OTHER


class MeasuredRequests:
    """Records the duration and status of each request, and why requests are refused.

    The label is the template of the path, such as ``/v1/leases/{id}``. Paths that no route
    has are one label together, because clients can invent any number of them.

    :param paths: the paths of all routes, with parameters in braces
    """

    def __init__(self, app: WSGIApp, paths: Collection[str]) -> None:
        self._app = app
        self._routes = Routes(paths)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on, and record the outcome."""
        begun = time.monotonic()
        status = ['500']

        def started(line: str, *rest: Any) -> Any:
            status[0] = line[:3]
            return start_response(line, *rest)

        route = self._routes.route(environ)
        try:
            return self._app(environ, started)
        finally:
            took = time.monotonic() - begun
            method = self._routes.method(environ)
            recording.observe(catalogue.REQUESTS, took, method, route, status[0])
            reason = environ.get(errors.NAME)
            if reason is not None:
                recording.count(catalogue.REFUSALS, reason)
