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

"""Makes every error a JSON object, whoever raised it."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus

import webob

from climate.api import errors
from climate.api import microversions
from climate.api.middleware import Environ
from climate.api.middleware import StartResponse
from climate.api.middleware import WSGIApp


class JsonErrors:
    """Turns exceptions, and plain-text errors of libraries, into JSON objects."""

    def __init__(self, app: WSGIApp) -> None:
        self._app = app

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request; nothing is ever raised."""
        response = self._respond(environ)
        self._add_version(environ, response)
        answer: Iterable[bytes] = response(environ, start_response)
        return answer

    def _respond(self, environ: Environ) -> webob.Response:
        request = webob.Request(environ)
        try:
            response = request.get_response(self._app)
        except Exception as error:
            return errors.response(errors.known(error), environ)
        if response.status_int >= HTTPStatus.BAD_REQUEST and errors.TOLD not in environ:
            # keystonemiddleware and pecan have words of their own.
            told = errors.from_status(response.status_int, response.status.partition(' ')[2])
            rewritten = errors.response(told, environ)
            for header in ('WWW-Authenticate', 'Retry-After'):
                if header in response.headers:
                    rewritten.headers[header] = response.headers[header]
            return rewritten
        return response

    def _add_version(self, environ: Environ, response: webob.Response) -> None:
        version = environ.get('climate.microversion')
        if version is not None:
            response.headers[microversions.HEADER] = f'{microversions.SERVICE_TYPE} {version}'
            response.headers.add('Vary', microversions.HEADER)
