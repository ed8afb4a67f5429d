# SPDX-License-Identifier: Apache-2.0

"""The files of the web page, under ``/ui``.

They are read once, so a request cannot reach any other file. All of them together have some
hundred kilobytes.
"""

from __future__ import annotations

import dataclasses
import hashlib
import mimetypes
import pathlib
import re
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import Final
from urllib.parse import quote
from urllib.parse import urlsplit

import webob

from climate import exceptions
from climate import web
from climate.api.authentication.browser_sessions import PATHS as SESSIONS
from climate.api.errors import RouteNotFound
from climate.api.http import encodings
from climate.api.http.wsgi import Environ
from climate.api.http.wsgi import StartResponse
from climate.api.http.wsgi import WSGIApp

PREFIX: Final = '/ui'
STATIC: Final = pathlib.Path(web.__file__).parent / 'static'
POLICY: Final = '; '.join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "manifest-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
"""The Content-Security-Policy of the page."""

_HEADERS: Final = {
    'Content-Security-Policy': POLICY,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
}
_INDEX: Final = 'index.html'
# A name with a hash of the content, as bundlers write it.
_HASHED: Final = re.compile(r'[.-][0-9A-Za-z_]{8,}\.[a-z0-9]+$')
_YEAR: Final = 'public, max-age=31536000, immutable'
_TYPES: Final = {
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.css': 'text/css; charset=utf-8',
    '.json': 'application/json',
    '.svg': 'image/svg+xml',
    '.webmanifest': 'application/manifest+json',
    '.woff2': 'font/woff2',
}
_BEST: Final = 9


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PageFile:
    """A file of the page.

    :ivar packed: its content in the format of gzip; None if that is not shorter
    :ivar tag: of its content, without quotes
    """

    content: bytes
    packed: bytes | None
    content_type: str
    tag: str
    immutable: bool


def load(folder: pathlib.Path = STATIC) -> dict[str, PageFile]:
    """Return the files in *folder*, by path below it."""
    files = sorted(path for path in folder.rglob('*') if path.is_file())
    return {str(path.relative_to(folder).as_posix()): _file(path) for path in files}


def _file(path: pathlib.Path) -> PageFile:
    content = path.read_bytes()
    packed = encodings.compressed(content, _BEST)
    guessed = mimetypes.guess_type(path.name)[0] or 'application/octet-stream'
    return PageFile(
        content=content,
        packed=packed if len(packed) < len(content) else None,
        content_type=_TYPES.get(path.suffix, guessed),
        tag=hashlib.blake2b(content, digest_size=16).hexdigest(),
        immutable=_HASHED.search(path.name) is not None,
    )


class WebPage:
    """Serves the page under ``/ui``, and passes all other requests on.

    :param files: by path below ``/ui``, see :func:`load`
    """

    def __init__(self, app: WSGIApp, files: Mapping[str, PageFile]) -> None:
        self._app = app
        self._files = files

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer the request or pass it on.

        :raises climate.exceptions.ClimateError: if the page has no such file
        """
        path = environ.get('PATH_INFO', '')
        mine = path == PREFIX or path.startswith(f'{PREFIX}/')
        if not mine or path in SESSIONS:
            return self._app(environ, start_response)
        answer: Iterable[bytes] = self._answer(environ, path)(environ, start_response)
        return answer

    def _answer(self, environ: Environ, path: str) -> webob.Response:
        name = path.removeprefix(PREFIX).removeprefix('/') or _INDEX
        file = self._files.get(name)
        if file is None:
            raise RouteNotFound
        if environ['REQUEST_METHOD'] not in {'GET', 'HEAD'}:
            raise exceptions.MethodNotAllowed(allowed={'GET'})
        if path == PREFIX:
            # Relative addresses in the page need the slash, whatever the prefix is.
            answer = webob.Response(status=308, content_type=None)
            answer.location = quote(environ.get('SCRIPT_NAME') or '') + f'{PREFIX}/'
            # Otherwise caches may keep such a redirect indefinitely.
            answer.headers['Cache-Control'] = 'no-store'
        else:
            answer = _shown(environ, file)
        answer.headers.update(_HEADERS)
        return answer


class HostlessRedirects:
    """Removes the host from ``Location``: WebOb completes it with one that a client names."""

    def __init__(self, app: WSGIApp) -> None:
        self._app = app

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on."""

        def started(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            shown = [
                (name, _path_of(value) if name.lower() == 'location' else value)
                for name, value in headers
            ]
            return start_response(status, shown, *rest)

        return self._app(environ, started)


def _path_of(address: str) -> str:
    return urlsplit(address)._replace(scheme='', netloc='').geturl()


def _shown(environ: Environ, file: PageFile) -> webob.Response:
    packed = file.packed is not None and encodings.accepts_gzip(environ)
    tag = f'"{file.tag}-gzip"' if packed else f'"{file.tag}"'
    answer = webob.Response(content_type=None)
    answer.headers['Cache-Control'] = _YEAR if file.immutable else 'no-cache'
    answer.headers['ETag'] = tag
    answer.headers['Vary'] = 'Accept-Encoding'
    if file.tag in environ.get('HTTP_IF_NONE_MATCH', ''):
        answer.status = 304
        return answer
    answer.body = file.packed if packed and file.packed is not None else file.content
    answer.headers['Content-Type'] = file.content_type
    if packed:
        answer.headers['Content-Encoding'] = 'gzip'
    return answer
