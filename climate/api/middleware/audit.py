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

"""Tells who changed what: an event for each request that is to change something.

Two parts, for the identity is known inside, and the answer outside: the inner one
looks at the object before the change, the outer one tells what came of it.
"""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import webob

from climate import exceptions
from climate.api import audit
from climate.api import routes
from climate.api.errors import RouteNotFound
from climate.api.middleware import Environ
from climate.api.middleware import StartResponse
from climate.api.middleware import WSGIApp
from climate.api.middleware.identity import CONTEXT
from climate.api.routes import Route
from climate.clock import Clock

LOG = logging.getLogger(__name__)

_SEEN = 'climate.audit'
PARAMETERS = 'climate.parameters'


class Witness:
    """Looks at the object of a request before and after it is changed.

    Asked as the caller, so that nothing is seen that the caller may not see.

    :param served: the resource types that are served
    """

    def __init__(self, app: WSGIApp, served: Collection[str]) -> None:
        self._app = app
        self._served = served

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Hand the request on."""
        route = self._route(environ)
        if route is None:
            return self._app(environ, start_response)
        before = self._look(environ, route)
        seen: dict[str, Any] = {'route': route, 'before': before, 'after': None}
        environ[_SEEN] = seen
        response = webob.Request(environ).get_response(self._app)
        if response.status_int < HTTPStatus.BAD_REQUEST and route.method != 'DELETE':
            answered = _json(response)
            seen['after'] = self._look(environ, route) if answered is None else answered
        answer: Iterable[bytes] = response(environ, start_response)
        return answer

    def _route(self, environ: Environ) -> Route | None:
        method = environ['REQUEST_METHOD']
        if method not in audit.CHANGES:
            return None
        try:
            return routes.match(method, environ.get('PATH_INFO', ''), served=self._served)[0]
        except (RouteNotFound, exceptions.MethodNotAllowed):
            return None

    def _look(self, environ: Environ, route: Route) -> Mapping[str, Any] | None:
        """Return the object as its caller is shown it; None if there is none to be seen."""
        path = audit.object_path(route, environ.get('PATH_INFO', ''))
        if not path:
            return None
        try:
            if route.controller == 'properties':
                return self._property(environ, path)
            return self._get(environ, path, {})
        except Exception as error:
            # The request itself says what is wrong, if anything is.
            LOG.info('%s cannot be looked at: %s', path, type(error).__name__)
            return None

    def _property(self, environ: Environ, path: str) -> Mapping[str, Any] | None:
        """Return a property; they are shown in lists only."""
        folder, _, name = path.partition('/properties/')
        given = environ[PARAMETERS]
        asked = {'detail': ('true',), 'all': ('true',)}
        if 'type' in given:
            asked['type'] = given['type']
        found = self._get(environ, f'{folder}/properties', asked) or {}
        for item in found.get('resource_properties', ()):
            if item['property'] == name:
                return {'resource_property': {key: item[key] for key in ('property', 'private')}}
        return None

    def _get(
        self, environ: Environ, path: str, parameters: Mapping[str, tuple[str, ...]]
    ) -> Mapping[str, Any] | None:
        asked = {
            **environ,
            'REQUEST_METHOD': 'GET',
            'PATH_INFO': path,
            'CONTENT_LENGTH': '0',
            'wsgi.input': io.BytesIO(),
            PARAMETERS: parameters,
        }
        response = webob.Request(asked).get_response(self._app)
        return _json(response) if response.status_int == HTTPStatus.OK else None


class Audit:
    """Tells of each request that was to change something, whatever came of it.

    Requests without an identity change nothing, and are not told of.

    :param tell: takes an event; must return at once
    """

    def __init__(self, app: WSGIApp, tell: Callable[[dict[str, Any]], None], clock: Clock) -> None:
        self._app = app
        self._tell = tell
        self._clock = clock

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Hand the request on, and tell of it."""
        status: list[int] = []

        def started(line: str, *rest: Any) -> Any:
            status.append(int(line.partition(' ')[0]))
            return start_response(line, *rest)

        answer = self._app(environ, started)
        seen = environ.get(_SEEN)
        if seen is not None and CONTEXT in environ:
            try:
                code = status[-1] if status else HTTPStatus.INTERNAL_SERVER_ERROR
                self._tell(audit.event(environ, status=code, now=self._clock.now(), **seen))
            except Exception:
                # The change is made; what is wrong here must not hide that.
                LOG.exception('A change could not be told to the audit trail')
        return answer


def _json(response: webob.Response) -> Mapping[str, Any] | None:
    """Return the object that a body holds; None if it holds none."""
    try:
        found = json.loads(response.body or b'null')
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
