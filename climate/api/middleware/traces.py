# SPDX-License-Identifier: Apache-2.0

"""Records a span for each request."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterable
from typing import Any

from oslo_middleware import request_id

from climate.api import errors
from climate.api.http.wsgi import Environ
from climate.api.http.wsgi import StartResponse
from climate.api.http.wsgi import WSGIApp
from climate.api.middleware.measures import Routes
from climate.tracing import spans
from climate.tracing.spans import SpanKind

_SERVER_ERROR = 500


class TracedRequests:
    """Records a span for each request, as part of the trace of the client if it has one.

    :param paths: the paths of all routes, with parameters in braces
    """

    def __init__(self, app: WSGIApp, paths: Collection[str]) -> None:
        self._app = app
        self._routes = Routes(paths)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on within a span."""
        status = [_SERVER_ERROR]

        def started(line: str, *rest: Any) -> Any:
            status[0] = int(line[:3])
            return start_response(line, *rest)

        method = self._routes.method(environ)
        route = self._routes.route(environ)
        with spans.span(
            f'{method} {route}',
            SpanKind.SERVER,
            environ.get('HTTP_TRACEPARENT'),
            {
                'http.request.method': method,
                'http.route': route,
                'openstack.request_id': environ.get(request_id.ENV_REQUEST_ID),
                'openstack.global_request_id': environ.get(request_id.GLOBAL_REQ_ID),
            },
        ) as span:
            environ[spans.TRACEPARENT] = spans.traceparent()
            answer = self._app(environ, started)
            span.note(
                {'http.response.status_code': status[0], 'error.type': environ.get(errors.NAME)}
            )
            if status[0] >= _SERVER_ERROR:
                span.fail(f'HTTP {status[0]}')
            return answer
