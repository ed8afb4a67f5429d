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

"""The outermost middleware: what each request passes, and what only some requests pass."""

from __future__ import annotations

import time
from collections.abc import Collection
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

import webob
from oslo_context import context as oslo_context
from oslo_log import log as logging
from oslo_middleware import request_id

from climate.api import errors
from climate.api import microversions
from climate.api.wsgi import Environ
from climate.api.wsgi import StartResponse
from climate.api.wsgi import WSGIApp

# Configurations of logging may name it.
LOG = logging.getLogger('climate.api.access_log')

_LONGEST_PATH = 500


class ForHeaders:
    """Sends requests with one of some headers one way, and all others another way.

    :param headers: keys of the WSGI environment
    """

    def __init__(self, headers: Collection[str], having: WSGIApp, others: WSGIApp) -> None:
        self._headers = frozenset(headers)
        self._having = having
        self._others = others

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on."""
        app = self._others if self._headers.isdisjoint(environ) else self._having
        return app(environ, start_response)


class ForPath:
    """Sends requests for one path one way, and all others another way."""

    def __init__(self, path: str, there: WSGIApp, others: WSGIApp) -> None:
        self._path = path
        self._there = there
        self._others = others

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on; a slash at the end of the path does not count."""
        path = environ.get('PATH_INFO', '').rstrip('/')
        return (self._there if path == self._path else self._others)(environ, start_response)


class AccessLog:
    """Logs client address, method, path, status and duration.

    Never logs headers, queries or bodies. :mod:`climate.cmd.logs` escapes control
    characters, as in every line.
    """

    def __init__(self, app: WSGIApp) -> None:
        self._app = app

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on, and log the outcome."""
        begun = time.monotonic()
        status: list[str] = []

        def started(line: str, *rest: Any) -> Any:
            status.append(line.partition(' ')[0])
            return start_response(line, *rest)

        # Until the caller is known, lines of this thread belong to this request,
        # not to the previous one.
        oslo_context.RequestContext(request_id=environ.get(request_id.ENV_REQUEST_ID))
        answer = self._app(environ, started)
        LOG.info(
            '%s %s %s %s %.3f s',
            environ.get('REMOTE_ADDR') or '-',
            environ.get('REQUEST_METHOD'),
            _path(environ),
            status[-1] if status else '-',
            time.monotonic() - begun,
        )
        return answer


def _path(environ: Environ) -> str:
    """Return the path as text; WSGI passes its bytes as characters."""
    raw = str(environ.get('PATH_INFO') or '').encode('latin-1', 'replace')
    path = raw.decode('utf-8', 'backslashreplace')
    return path if len(path) <= _LONGEST_PATH else path[: _LONGEST_PATH - 3] + '...'


class JsonErrors:
    """Answers errors of the middleware further in as JSON objects.

    Errors of controllers are answered inside pecan, by the hook
    :class:`climate.api.routing.Json`.
    """

    def __init__(self, app: WSGIApp) -> None:
        self._app = app

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request; never raises."""
        answer = self._respond(environ)
        version = environ.get('climate.microversion')
        if version is not None:
            answer.headers[microversions.HEADER] = f'{microversions.SERVICE_TYPE} {version}'
            answer.headers.add('Vary', microversions.HEADER)
        sent: Iterable[bytes] = answer(environ, start_response)
        return sent

    def _respond(self, environ: Environ) -> webob.Response:
        try:
            answer = webob.Request(environ).get_response(self._app)
        except Exception as error:
            return errors.response(error, environ)
        if answer.status_int < HTTPStatus.BAD_REQUEST or errors.ANSWERED in environ:
            return answer
        # keystonemiddleware answers some errors itself, in plain text.
        reason = answer.status.partition(' ')[2]
        rewritten = errors.response(errors.from_status(answer.status_int, reason), environ)
        for header in ('WWW-Authenticate', 'Retry-After'):
            if header in answer.headers:
                rewritten.headers[header] = answer.headers[header]
        return rewritten
