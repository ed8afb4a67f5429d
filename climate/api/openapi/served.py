# SPDX-License-Identifier: Apache-2.0

"""``/v1/openapi.json``: answers with the document of the microversion of the request."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable
from typing import Final

import webob

from climate import exceptions
from climate.api import errors
from climate.api.http import microversions
from climate.api.http.microversions import Microversion
from climate.api.http.wsgi import Environ
from climate.api.http.wsgi import StartResponse
from climate.api.middleware.middleware import requested
from climate.api.openapi.document import DocumentWriter

PATH: Final = '/v1/openapi.json'

_SECONDS: Final = 300
_READS: Final = ('GET', 'HEAD')


class OpenApi:
    """Serves the document without a token; each is made once, and kept.

    It depends on the release and the configured resource types only.
    """

    def __init__(self, writer: DocumentWriter) -> None:
        self._writer = writer
        self._made: dict[Microversion, tuple[bytes, bytes, str]] = {}

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer the request."""
        answer: Iterable[bytes] = self._respond(environ)(environ, start_response)
        return answer

    def _respond(self, environ: Environ) -> webob.Response:
        request = webob.Request(environ)
        if request.method not in _READS:
            error = exceptions.MethodNotAllowed(allowed=list(_READS))
            return errors.response(error, environ)
        # Who opens it in a browser names no microversion, and expects all that there is.
        version = environ['climate.microversion'] = requested(environ, microversions.MAX)
        plain, packed, tag = self._of(version)
        answer = webob.Response(content_type='application/json', charset=None)
        # The bytes differ, and so do the tags.
        if 'HTTP_ACCEPT_ENCODING' in environ and 'gzip' in request.accept_encoding:
            answer.body, answer.content_encoding, answer.etag = packed, 'gzip', f'{tag}-gzip'
        else:
            answer.body, answer.etag = plain, tag
        answer.cache_control.public = True
        answer.cache_control.max_age = _SECONDS
        answer.vary = ('Accept-Encoding',)
        answer.conditional_response = True
        return answer

    def _of(self, version: Microversion) -> tuple[bytes, bytes, str]:
        if version not in self._made:
            document = self._writer.document(version, complete=False)
            plain = json.dumps(document, separators=(',', ':')).encode()
            tag = hashlib.blake2b(plain, digest_size=16).hexdigest()
            self._made[version] = plain, gzip.compress(plain, mtime=0), tag
        return self._made[version]
