# SPDX-License-Identifier: Apache-2.0

"""Compresses the responses that handlers declare as large."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from typing import Final

from pecan import hooks

from climate.api.http import encodings
from climate.api.http.microversions import V1_5
from climate.api.routing.routes import Route

# Compressing less saves no packet.
_LEAST: Final = 1400


class Compression(hooks.PecanHook):
    """Compresses large responses, from microversion 1.5 on, if the client accepts gzip.

    Its entity tag becomes weak: the same tag stands for the compressed and the plain bytes.
    """

    # Hooks run in the reverse order after a handler: this is the last one.
    priority = 5

    def after(self, state: Any) -> None:
        """Compress the response."""
        route: Route | None = state.controller
        environ, response = state.request.environ, state.response
        if route is None or not route.large or environ['climate.microversion'] < V1_5:
            return
        response.headers.add('Vary', 'Accept-Encoding')
        if not encodings.accepts_gzip(environ):
            return
        tag = response.headers.get('ETag')
        if tag is not None and not tag.startswith('W/'):
            response.headers['ETag'] = f'W/{tag}'
        if response.status_int != HTTPStatus.OK or state.request.method == 'HEAD':
            return
        length = response.content_length
        if length is None:
            response.app_iter = encodings.compressed_parts(response.app_iter)
        elif length >= _LEAST:
            response.body = encodings.compressed(response.body)
        else:
            return
        response.headers['Content-Encoding'] = 'gzip'
