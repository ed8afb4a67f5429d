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

"""Version documents, and the microversion a request speaks."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

import webob

from climate import exceptions
from climate.api import bodies
from climate.api import microversions
from climate.api import queries
from climate.api.middleware import Environ
from climate.api.middleware import StartResponse
from climate.api.middleware import WSGIApp
from climate.api.views import versions as view

# Path and status: the root offers a choice, /v1 is what was chosen.
DOCUMENTS: Final = {'/': 300, '/versions': 300, '/v1': 200}


class Negotiation:
    """Answers for version documents itself; finds the microversion of the rest."""

    def __init__(self, app: WSGIApp) -> None:
        self._app = app

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer or hand on.

        :raises climate.exceptions.InvalidInput: if path, query or microversion
            cannot be read
        :raises climate.exceptions.NotAcceptable: if the microversion is not served
        """
        path = _path(environ)
        # A client that wants to know which versions there are cannot be told
        # that it asks in the wrong one.
        if path in DOCUMENTS and environ['REQUEST_METHOD'] in {'GET', 'HEAD'}:
            answer: Iterable[bytes] = self._document(environ, path)(environ, start_response)
            return answer
        environ['climate.parameters'] = queries.parse(environ.get('QUERY_STRING', ''))
        environ['climate.microversion'] = microversions.requested(environ)
        return self._app(environ, start_response)

    def _document(self, environ: Environ, path: str) -> webob.Response:
        # Includes SCRIPT_NAME, and so whatever prefix a proxy has put before it.
        base_url = webob.Request(environ).application_url.rstrip('/')
        return webob.Response(
            status=DOCUMENTS[path],
            body=json.dumps(view.document(base_url)).encode(),
            content_type='application/json',
            charset=None,
        )


def _path(environ: Environ) -> str:
    try:
        path = environ.get('PATH_INFO', '').encode('latin-1').decode('utf-8')
    except UnicodeError:
        raise exceptions.InvalidInput('The path is not valid UTF-8') from None
    reason = bodies.unfit_text(path)
    if reason:
        raise exceptions.InvalidInput(f'The path is wrong: {reason}')
    return path.rstrip('/') or '/'
