# SPDX-License-Identifier: Apache-2.0

"""Single sign-on to the web page through the WebSSO of Keystone.

The page asks where to go, and gets a cookie that says that this browser has begun a sign-in.
Keystone knows its user, by any identity provider, and has the browser post a token to the address
below. It passes on nothing that could tell one sign-in from another. So a post counts only if
the page of Keystone caused it, and only in a browser that has begun a sign-in: otherwise other
sites could sign its user in as another one.
"""

from __future__ import annotations

import html
import re
import secrets
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs
from urllib.parse import quote
from urllib.parse import urlencode

import webob
from oslo_config import cfg

from climate import exceptions
from climate.api import errors
from climate.api.authentication import origins
from climate.api.http import bodies
from climate.api.http.wsgi import Environ

START: Final = '/ui/session/start'
LANDING: Final = '/ui/session/websso'
_SECONDS: Final = 600
_COOKIE: Final = 'climate_sso'
_LARGEST_BODY: Final = 16384
_MOST_FIELDS: Final = 10
_WAY: Final = re.compile(r'\w[\w.-]{0,63}(/\w[\w.-]{0,63})?', re.ASCII)
_FORM: Final = 'application/x-www-form-urlencoded'
_PAGE: Final = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Climate</title>'
    '<h1>You are not signed in</h1><p>{why}</p><p><a href="{back}">Back to the calendar</a></p>'
)


class ForeignSignIn(exceptions.NotAuthorized):
    """Another site causes the end of a sign-in; the browser may still be in one."""

    error_name = exceptions.NotAuthorized.error_name
    template = 'Only Keystone may sign users in here'


class SingleSignOn:
    """The ways to sign in through Keystone.

    :param url: the public address of Keystone, with or without its version
    :param ways: ``PROTOCOL`` or ``PROVIDER/PROTOCOL`` by the name that users see
    :raises climate.exceptions.ConfigurationError: if a way is written otherwise, or the URL has
        no port that exists
    """

    def __init__(self, url: str, ways: Mapping[str, str]) -> None:
        for name, way in ways.items():
            if _WAY.fullmatch(way) is None:
                raise exceptions.ConfigurationError(
                    f'[ui] websso: {name} must be PROTOCOL or PROVIDER/PROTOCOL, got {way}'
                )
        base = url.rstrip('/')
        self._url = base if base.endswith('/v3') else f'{base}/v3'
        try:
            self._origin = origins.of(self._url)
        except ValueError as error:
            raise exceptions.ConfigurationError(f'[ui] websso_url: {url}: {error}') from None
        self._ways = dict(ways)

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> SingleSignOn | None:
        """Return one; None if no way is configured.

        :param conf: with the groups ``ui`` and ``keystone_authtoken``
        :raises climate.exceptions.ConfigurationError: if an option is missing or wrong
        """
        if not conf.ui.websso:
            return None
        url = conf.ui.websso_url or conf.keystone_authtoken.www_authenticate_uri
        if not url:
            raise exceptions.ConfigurationError(
                '[ui] websso needs [ui] websso_url or [keystone_authtoken] www_authenticate_uri'
            )
        return cls(url, conf.ui.websso)

    @property
    def names(self) -> list[str]:
        """The names of the ways, as configured."""
        return list(self._ways)

    def started(self, environ: Environ, name: str) -> webob.Response:
        """Return the address at which a user continues, and note that this browser begins.

        :raises climate.exceptions.InvalidInput: if there is no such way
        """
        if name not in self._ways:
            raise exceptions.InvalidInput.of('sso', f'one of {", ".join(self._ways)} is required')
        provider, _, protocol = self._ways[name].rpartition('/')
        path = (
            f'identity_providers/{provider}/protocols/{protocol}/websso'
            if provider
            else f'websso/{protocol}'
        )
        origin = webob.Request(environ).host_url + _path(environ, LANDING)
        query = urlencode({'origin': origin})
        answer = webob.Response(
            json_body={'location': f'{self._url}/auth/OS-FEDERATION/{path}?{query}'},
            content_type='application/json',
            charset=None,
        )
        _set_cookie(answer, environ, secrets.token_urlsafe(16), _SECONDS)
        return answer

    def token(self, environ: Environ) -> str:
        """Return the token that Keystone has the browser post.

        :raises climate.exceptions.NotAuthorized: if another site causes the request, or this
            browser has not begun a sign-in
        :raises climate.exceptions.ClimateError: if the body is wrong
        """
        if environ.get('HTTP_ORIGIN', '').lower() != self._origin:
            raise ForeignSignIn
        # In a frame, its user might not notice.
        if environ.get('HTTP_SEC_FETCH_DEST', 'document') != 'document':
            raise exceptions.NotAuthorized('A sign-in needs a page of its own')
        if not webob.Request(environ).cookies.get(_name(environ)):
            raise exceptions.NotAuthorized(
                'This browser has not begun a sign-in in the last ten minutes'
            )
        if environ.get('CONTENT_TYPE', '').partition(';')[0].strip() != _FORM:
            raise exceptions.UnsupportedMediaType(content_type=environ.get('CONTENT_TYPE', ''))
        text = bodies.raw(environ, _LARGEST_BODY).decode('latin-1')
        try:
            fields = parse_qs(text, max_num_fields=_MOST_FIELDS)
        except ValueError:
            raise exceptions.InvalidInput(
                f'Malformed body: at most {_MOST_FIELDS} fields are allowed'
            ) from None
        token, *others = fields.get('token', [''])
        if not token or others:
            raise exceptions.InvalidInput.of('token', 'one is required')
        return token

    def landed(self, environ: Environ) -> webob.Response:
        """Return the answer that leads back to the page; the sign-in is over."""
        answer = webob.Response(status=HTTPStatus.SEE_OTHER, content_type=None)
        answer.location = _path(environ, '/ui/')
        _set_cookie(answer, environ, '', 0)
        _hide(answer)
        return answer

    def refused(self, environ: Environ, error: exceptions.ClimateError) -> webob.Response:
        """Return a page for a person that says why no one was signed in."""
        answer = errors.response(error, environ)
        answer.content_type, answer.charset = 'text/html', 'utf-8'
        answer.text = _PAGE.format(
            why=html.escape(error.message), back=html.escape(_path(environ, '/ui/'))
        )
        answer.headers['Content-Security-Policy'] = "default-src 'none'; frame-ancestors 'none'"
        answer.headers['X-Content-Type-Options'] = 'nosniff'
        # Otherwise any site could end the sign-ins of its visitors.
        if not isinstance(error, ForeignSignIn):
            _set_cookie(answer, environ, '', 0)
        _hide(answer)
        return answer


def _hide(answer: webob.Response) -> None:
    """Have a browser neither keep an answer, nor tell other sites of its address."""
    answer.cache_control = 'no-store'
    answer.headers['Referrer-Policy'] = 'no-referrer'


def _path(environ: Environ, path: str) -> str:
    return quote(environ.get('SCRIPT_NAME') or '') + path


def _name(environ: Environ) -> str:
    """Return the name of the cookie; with TLS, one that no other host can set."""
    return f'__Host-{_COOKIE}' if environ['wsgi.url_scheme'] == 'https' else _COOKIE


def _set_cookie(answer: webob.Response, environ: Environ, value: str, seconds: int) -> None:
    # Keystone is another site, so the cookie has to come along from there.
    answer.set_cookie(
        _name(environ),
        value,
        max_age=seconds,
        path='/',
        secure=True,
        httponly=True,
        samesite='none',
    )
