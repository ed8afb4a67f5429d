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

"""Reads the body, up to a limit."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

from climate import exceptions
from climate.api import bodies
from climate.api.middleware import Environ
from climate.api.middleware import StartResponse
from climate.api.middleware import WSGIApp

_CHUNK = 65536


class SizeLimit:
    """Reads a body once, never more than *limit* bytes of it, whatever its header says.

    What was read is put aside for :mod:`climate.api.bodies`; everything
    further in sees an empty body, so nothing parses it in some other way.
    """

    def __init__(self, app: WSGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Hand the request on.

        :raises climate.exceptions.RequestTooLarge: if the body is
        :raises climate.exceptions.InvalidInput: if its length is no number
        """
        environ[bodies.ENVIRON_KEY] = self._read(environ)
        environ['wsgi.input'] = io.BytesIO()
        environ['CONTENT_LENGTH'] = '0'
        return self._app(environ, start_response)

    def _read(self, environ: Environ) -> bytes:
        length = environ.get('CONTENT_LENGTH') or ''
        chunked = bool(environ.get('wsgi.input_terminated')) or (
            'chunked' in environ.get('HTTP_TRANSFER_ENCODING', '').lower()
        )
        if not length:
            return self._read_at_most(environ['wsgi.input'], None) if chunked else b''
        if not length.isascii() or not length.isdigit():
            raise exceptions.InvalidInput('Content-Length is not a number')
        # A comparison of lengths first: int() of a million digits takes long.
        if len(length) > 18 or int(length) > self._limit:
            raise self._too_large()
        return self._read_at_most(environ['wsgi.input'], int(length))

    def _read_at_most(self, stream: Any, length: int | None) -> bytes:
        """Read *length* bytes, or up to the end of the stream if it is None."""
        wanted = self._limit + 1 if length is None else length
        parts = []
        while wanted > 0:
            part = stream.read(min(wanted, _CHUNK))
            if not part:
                break
            parts.append(part)
            wanted -= len(part)
        body = b''.join(parts)
        if len(body) > self._limit:
            raise self._too_large()
        return body

    def _too_large(self) -> exceptions.RequestTooLarge:
        return exceptions.RequestTooLarge(
            f'Request is too large. Bodies of at most {self._limit} bytes are read.'
        )
