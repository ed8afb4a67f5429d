# SPDX-License-Identifier: Apache-2.0

"""WSGI middleware, for every request or only for some."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import microversion_parse
import webob
from oslo_context import context as oslo_context
from oslo_log import log as logging
from oslo_middleware import request_id

from climate import exceptions
from climate.api import errors
from climate.api.http import bodies
from climate.api.http import microversions
from climate.api.http import queries
from climate.api.http import versions
from climate.api.http.microversions import Microversion
from climate.api.http.wsgi import Environ
from climate.api.http.wsgi import StartResponse
from climate.api.http.wsgi import WSGIApp

# Configurations of logging may contain this name.
LOG = logging.getLogger('climate.api.access_log')

_LONGEST_PATH = 500
_LONGEST_METHOD = 20
# The link of a calendar is a secret.
_LINK = re.compile(r'(/feeds/+)[^/]+')
_HIDDEN = r'\1***'
_MICROVERSION = re.compile(r'([1-9]\d{0,9})\.([1-9]\d{0,9}|0)', re.ASCII)


class HeaderSwitch:
    """Passes requests with any of some headers to one application, others to another.

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


class PathSwitch:
    """Passes requests for one path to one application, all others to another."""

    def __init__(self, path: str, there: WSGIApp, others: WSGIApp) -> None:
        self._path = path
        self._there = there
        self._others = others

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on; a trailing slash in the path is ignored."""
        path = environ.get('PATH_INFO', '').rstrip('/')
        return (self._there if path == self._path else self._others)(environ, start_response)


class PatternSwitch:
    """Passes requests whose whole path has a form to one application, all others to another."""

    def __init__(self, pattern: re.Pattern[str], there: WSGIApp, others: WSGIApp) -> None:
        self._pattern = pattern
        self._there = there
        self._others = others

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on."""
        matches = self._pattern.fullmatch(environ.get('PATH_INFO', ''))
        return (self._there if matches else self._others)(environ, start_response)


class AccessLog:
    """Logs the client address, method, path, status and duration of each request.

    The reason of a refusal follows, as the ``error_name`` of the response.

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

        # Until the caller is known, log lines of this thread must have the id of this
        # request, not that of the previous one.
        oslo_context.RequestContext(
            request_id=environ.get(request_id.ENV_REQUEST_ID),
            global_request_id=environ.get(request_id.GLOBAL_REQ_ID),
        )
        answer = self._app(environ, started)
        LOG.info(
            '%s %s %s %s %.3f s%s',
            environ.get('REMOTE_ADDR') or '-',
            str(environ.get('REQUEST_METHOD'))[:_LONGEST_METHOD],
            _path(environ),
            status[-1] if status else '-',
            time.monotonic() - begun,
            f' {environ[errors.NAME]}' if errors.NAME in environ else '',
        )
        return answer


def _path(environ: Environ) -> str:
    """Return the path as text; WSGI passes its bytes as characters."""
    raw = str(environ.get('PATH_INFO') or '').encode('latin-1', 'replace')
    path = _LINK.sub(_HIDDEN, raw.decode('utf-8', 'backslashreplace'))
    return path if len(path) <= _LONGEST_PATH else path[: _LONGEST_PATH - 3] + '...'


class JsonErrors:
    """Turns errors of the inner middleware into JSON responses.

    The hook :class:`climate.api.routing.routing.Json` does so for errors of controllers,
    inside pecan.
    """

    def __init__(self, app: WSGIApp) -> None:
        self._app = app

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request; never raises."""
        answer = self._respond(environ)
        version = environ.get('climate.microversion')
        if version is not None:
            answer.headers[microversions.HEADER] = f'{microversions.SERVICE_TYPE} {version}'
            # What a caller sees belongs to the token. Caches ask again, by its ETag.
            answer.headers.add('Vary', f'{microversions.HEADER}, X-Auth-Token')
            answer.headers.setdefault('Cache-Control', 'private, no-cache')
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
        close = getattr(answer.app_iter, 'close', None)
        if close is not None:
            close()
        reason = answer.status.partition(' ')[2]
        rewritten = errors.response(errors.from_status(answer.status_int, reason), environ)
        for header in ('WWW-Authenticate', 'Retry-After'):
            if header in answer.headers:
                rewritten.headers[header] = answer.headers[header]
        return rewritten


class SizeLimit:
    """Refuses bodies of more than *limit* bytes, and keeps others from being read too early.

    Reads nothing: clients may send their body slowly, and have no token yet. Inner
    applications get it from :func:`climate.api.http.bodies.raw`. Libraries see an empty body,
    so that none of them can parse it in another way.
    """

    def __init__(self, app: WSGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on.

        :raises climate.exceptions.RequestTooLarge: if the body is too large
        :raises climate.exceptions.InvalidInput: if its length is not a number
        """
        environ[bodies.ENVIRON_KEY] = self._unread(environ)
        environ['wsgi.input'] = io.BytesIO()
        environ['CONTENT_LENGTH'] = '0'
        return self._app(environ, start_response)

    def _unread(self, environ: Environ) -> bytes | bodies.UnreadBody:
        length = environ.get('CONTENT_LENGTH') or ''
        chunked = bool(environ.get('wsgi.input_terminated')) or (
            'chunked' in environ.get('HTTP_TRANSFER_ENCODING', '').lower()
        )
        if not length:
            if chunked:
                return bodies.UnreadBody(environ['wsgi.input'], None, self._limit)
            return b''
        if not length.isascii() or not length.isdigit():
            raise exceptions.InvalidInput('Content-Length is not a number')
        # Check the number of digits first: int() of a million digits is slow.
        if len(length) > 18 or int(length) > self._limit:
            raise bodies.too_large(self._limit)
        return bodies.UnreadBody(environ['wsgi.input'], int(length), self._limit)


class ReadBody:
    """Reads the body of a request that may be carried out.

    Also of one that needs none, so that the connection can be used again.
    """

    def __init__(self, app: WSGIApp) -> None:
        self._app = app

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on.

        :raises climate.exceptions.RequestTooLarge: if the body is too large
        :raises climate.exceptions.InvalidInput: if it does not arrive as announced
        """
        bodies.raw(environ)
        return self._app(environ, start_response)


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
        path = _checked_path(environ)
        # Clients ask for the versions before they know one to use, so the header with
        # the microversion is ignored here.
        if path in versions.DOCUMENTS and environ['REQUEST_METHOD'] in {'GET', 'HEAD'}:
            answer: Iterable[bytes] = versions.answer(environ, path)(environ, start_response)
            return answer
        query = environ.get('QUERY_STRING')
        environ['climate.parameters'] = queries.parse(query) if query else {}
        environ['climate.microversion'] = requested(environ)
        return self._app(environ, start_response)


def requested(
    environ: Mapping[str, Any], default: Microversion = microversions.MIN
) -> Microversion:
    """Return the microversion of a request.

    :param default: if it names none
    :raises climate.exceptions.InvalidInput: if it cannot be parsed
    :raises climate.exceptions.NotAcceptable: if it is not supported
    """
    text = microversion_parse.get_version(
        {microversions.HEADER.lower(): environ.get('HTTP_OPENSTACK_API_VERSION', '')},
        microversions.SERVICE_TYPE,
    )
    if not text:
        return default
    if text.lower() == 'latest':
        return microversions.MAX
    match = _MICROVERSION.fullmatch(text)
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


def _checked_path(environ: Environ) -> str:
    try:
        path = environ.get('PATH_INFO', '').encode('latin-1').decode('utf-8')
    except UnicodeError:
        raise exceptions.InvalidInput('The path is not valid UTF-8') from None
    # The only valid UTF-8 that a database cannot store.
    if '\0' in path:
        raise exceptions.InvalidInput('The path is wrong: the character NUL is not allowed')
    return path.rstrip('/') or '/'
