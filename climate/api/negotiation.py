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

"""Version documents, and the microversion of a request."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import Final

import microversion_parse
import webob

from climate import exceptions
from climate.api import microversions
from climate.api import queries
from climate.api.microversions import Microversion
from climate.api.wsgi import Environ
from climate.api.wsgi import StartResponse
from climate.api.wsgi import WSGIApp

DOCUMENTS: Final = {'/': 300, '/versions': 300, '/v1': 200}
"""Paths of version documents, and the HTTP status of each."""

_FORM = re.compile(r'([1-9]\d{0,9})\.([1-9]\d{0,9}|0)', re.ASCII)


class Negotiation:
    """Answers requests for version documents; finds the microversion of all others."""

    def __init__(self, app: WSGIApp) -> None:
        self._app = app

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer the request or pass it on.

        :raises climate.exceptions.InvalidInput: if path, query or microversion
            cannot be read
        :raises climate.exceptions.NotAcceptable: if the microversion is not supported
        """
        path = _path(environ)
        # A client asks for the versions before it knows one to ask in, so the
        # header of a microversion does not count here.
        if path in DOCUMENTS and environ['REQUEST_METHOD'] in {'GET', 'HEAD'}:
            answer: Iterable[bytes] = _answer(environ, path)(environ, start_response)
            return answer
        query = environ.get('QUERY_STRING')
        environ['climate.parameters'] = queries.parse(query) if query else {}
        environ['climate.microversion'] = requested(environ)
        return self._app(environ, start_response)


def requested(environ: Mapping[str, Any]) -> Microversion:
    """Return the microversion of a request; the oldest if it names none.

    :raises climate.exceptions.InvalidInput: if it cannot be parsed
    :raises climate.exceptions.NotAcceptable: if it is not supported
    """
    text = microversion_parse.get_version(
        {microversions.HEADER.lower(): environ.get('HTTP_OPENSTACK_API_VERSION', '')},
        microversions.SERVICE_TYPE,
    )
    if not text:
        return microversions.MIN
    if text.lower() == 'latest':
        return microversions.MAX
    match = _FORM.fullmatch(text)
    if match is None:
        raise exceptions.InvalidInput(
            f'API Version String {text} is of invalid format. Must be of format MajorNum.MinorNum.'
        )
    version = Microversion(int(match[1]), int(match[2]))
    if not microversions.MIN <= version <= microversions.MAX:
        raise exceptions.NotAcceptable(
            version=version, minimum=microversions.MIN, maximum=microversions.MAX
        )
    return version


def _answer(environ: Environ, path: str) -> webob.Response:
    # application_url includes SCRIPT_NAME, and so the prefix that a proxy adds.
    base_url = webob.Request(environ).application_url.rstrip('/')
    return webob.Response(
        status=DOCUMENTS[path],
        body=json.dumps(_document(base_url)).encode(),
        content_type='application/json',
        charset=None,
    )


def _document(base_url: str) -> dict[str, Any]:
    """Return the versions document.

    :param base_url: public URL of the root of the service, without a trailing slash
    """
    newest = str(microversions.MAX)
    return {
        'versions': [
            {
                'id': 'v1.0',
                'status': 'CURRENT',
                'links': [{'rel': 'self', 'href': f'{base_url}/v1'}],
                'min_version': str(microversions.MIN),
                'max_version': newest,
                # keystoneauth and "openstack versions show" read this name.
                'version': newest,
            }
        ]
    }


def _path(environ: Environ) -> str:
    try:
        path = environ.get('PATH_INFO', '').encode('latin-1').decode('utf-8')
    except UnicodeError:
        raise exceptions.InvalidInput('The path is not valid UTF-8') from None
    # Of what a database cannot store, UTF-8 leaves only this.
    if '\0' in path:
        raise exceptions.InvalidInput('The path is wrong: the character NUL is not allowed')
    return path.rstrip('/') or '/'
