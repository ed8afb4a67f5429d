# SPDX-License-Identifier: Apache-2.0

"""Measures requests, for metrics."""

from __future__ import annotations

import time
from collections.abc import Collection
from collections.abc import Iterable
from typing import Any
from typing import Final

from climate.api import errors
from climate.api.http.wsgi import Environ
from climate.api.http.wsgi import StartResponse
from climate.api.http.wsgi import WSGIApp
from climate.api.routing.routes import PathTree
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
        self._tree: PathTree[str] = PathTree()
        for path in paths:
            self._tree.setdefault(path.rstrip('/'), template(path))

    def route(self, environ: Environ) -> str:
        """Return the template of the path of a request."""
        return self._tree.find(environ.get('PATH_INFO') or '')[0] or _OTHER

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
