# SPDX-License-Identifier: Apache-2.0

"""Sessions of the web page: a token in a cookie that scripts cannot read.

Nothing is stored here. The cookie counts only for requests with a header that no form
and no link can send, and which have no token of their own.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import re
import threading
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any
from typing import Final
from typing import Protocol

import webob

from climate import exceptions
from climate.api.authentication import origins
from climate.api.authentication import single_sign_on
from climate.api.authentication.single_sign_on import SingleSignOn
from climate.api.errors import RouteNotFound
from climate.api.http import bodies
from climate.api.http import environ_keys
from climate.api.http import texts
from climate.api.http.wsgi import Environ
from climate.api.http.wsgi import StartResponse
from climate.api.http.wsgi import WSGIApp
from climate.api.limits.rates import Rates
from climate.api.schemas import sign_in as schemas
from climate.clock import Clock
from climate.cloud.sign_in import IssuedToken
from climate.cloud.sign_in import UserProject

LOG = logging.getLogger(__name__)

PATH: Final = '/ui/session'
PROJECTS: Final = '/ui/session/projects'
PATHS: Final = frozenset({PATH, PROJECTS, single_sign_on.START, single_sign_on.LANDING})
COOKIE: Final = 'climate_session'
SIGNED_IN: Final = 'climate.signed_in'
"""Who has signed in, in the headers that authentication sets."""
_HEADER: Final = 'HTTP_X_CLIMATE_UI'
_LARGEST_BODY: Final = 16384
_MOST_PROJECTS: Final = 1000
# Browsers keep 4096 bytes of a cookie, with its name.
_TOKEN: Final = re.compile(r'[A-Za-z0-9_.~=+/-]{1,3800}')
_METHODS: Final = frozenset({'GET', 'HEAD', 'POST', 'DELETE'})


class SignInService(Protocol):
    """Signs users in; :class:`climate.cloud.sign_in.KeystoneSignIn` does."""

    def with_password(
        self, username: str, password: str, user_domain: str, project: str, project_domain: str
    ) -> IssuedToken:
        """Return a token for a user."""

    def with_application_credential(self, credential_id: str, secret: str) -> IssuedToken:
        """Return a token for an application credential."""

    def with_token(
        self, token: str, project: str, project_domain: str, project_id: str = ''
    ) -> IssuedToken:
        """Return a token that a user has, or one for another project."""

    def projects(self, token: str) -> list[UserProject]:
        """Return the projects for which a user can have a token."""

    def revoke(self, token: str) -> None:
        """Make a token invalid."""


class BrowserSessions:
    """Answers ``/ui/session``, and turns the cookie into the token of other requests.

    :param service: None if callers are not authenticated: then there are no sessions
    :param rates: limits sign-ins by address; None for no limit
    :param most: how many sign-ins are handled at once
    :param single: single sign-on; None if it is not set up
    """

    def __init__(
        self,
        app: WSGIApp,
        service: SignInService | None,
        clock: Clock,
        *,
        rates: Rates | None = None,
        most: int = 2,
        single: SingleSignOn | None = None,
    ) -> None:
        self._app = app
        self._service = service
        self._clock = clock
        self._rates = rates
        self._single = single
        self._places = threading.BoundedSemaphore(most)
        # Apart from those who sign in: any text in a cookie takes a place here.
        self._exits = threading.BoundedSemaphore(most)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer the request, or pass it on with the token of its session.

        :raises climate.exceptions.ClimateError: if it is refused
        """
        path = environ.get('PATH_INFO', '')
        if path in PATHS:
            app = self._answer(environ) if path == PATH else self._other(environ, path)
            answer: Iterable[bytes] = app(environ, start_response)
            return answer
        if self._service is not None:
            _add_token(environ)
        return self._app(environ, start_response)

    def _answer(self, environ: Environ) -> webob.Response:
        method = environ['REQUEST_METHOD']
        if method not in _METHODS:
            raise exceptions.MethodNotAllowed(allowed=set(_METHODS) - {'HEAD'})
        if method in {'GET', 'HEAD'}:
            return self._shown(environ)
        _check_page(environ)
        return self._sign_in(environ) if method == 'POST' else self._sign_out(environ)

    def _shown(self, environ: Environ) -> webob.Response:
        noauth = self._service is None
        return _json(
            HTTPStatus.OK,
            {
                'auth_strategy': 'noauth' if noauth else 'keystone',
                'signed_in': noauth or _token(environ) is not None,
                'sso': [] if noauth or self._single is None else self._single.names,
            },
        )

    def _other(self, environ: Environ, path: str) -> webob.Response:
        method = environ['REQUEST_METHOD']
        allowed = {'GET', 'HEAD'} if path == PROJECTS else {'POST'}
        if method not in allowed:
            raise exceptions.MethodNotAllowed(allowed=allowed - {'HEAD'})
        if self._service is None:
            raise RouteNotFound
        if path == PROJECTS:
            return self._projects(environ, self._service)
        if self._single is None:
            raise RouteNotFound
        if path == single_sign_on.LANDING:
            return self._land(environ, self._service, self._single)
        _check_page(environ)
        _check_private(environ)
        return self._single.started(environ, schemas.way(_body(environ)))

    def _projects(self, environ: Environ, service: SignInService) -> webob.Response:
        _check_page(environ)
        token = _token(environ)
        if token is None:
            raise exceptions.NotAuthenticated
        if self._rates is not None:
            self._rates.projects_of(environ.get('REMOTE_ADDR') or '')
        with _place(self._exits, 'Others ask for their projects'):
            projects = service.projects(token)
        shown = [dataclasses.asdict(one) for one in projects[:_MOST_PROJECTS]]
        return _json(HTTPStatus.OK, {'projects': shown})

    def _land(
        self, environ: Environ, service: SignInService, single: SingleSignOn
    ) -> webob.Response:
        """Sign in the user whose token Keystone has the browser post; a person sees the answer."""
        try:
            _check_private(environ)
            token = single.token(environ)
            issued = self._counted(environ, service, lambda: service.with_token(token, '', ''))
            answer = single.landed(environ)
            self._begin(answer, environ, issued)
        except exceptions.ClimateError as error:
            return single.refused(environ, error)
        return answer

    def _counted(
        self, environ: Environ, service: SignInService, ask: Callable[[], IssuedToken]
    ) -> IssuedToken:
        """Return the token of a sign-in, for a project, within the limits of sign-ins."""
        if self._rates is not None:
            self._rates.sign_in(environ.get('REMOTE_ADDR') or '')
        with _place(self._places, 'Others are signing in'):
            return _in_project(service, ask())

    def _sign_in(self, environ: Environ) -> webob.Response:
        service = self._service
        if service is None:
            raise RouteNotFound
        _check_private(environ)
        wanted = schemas.read(_body(environ))
        old = _token(environ)
        if wanted.project_id and old is None:
            raise exceptions.NotAuthenticated
        issued = self._counted(environ, service, lambda: _issued(service, wanted, old or ''))
        expires = issued.expires_at.strftime('%Y-%m-%dT%H:%M:%SZ')
        answer = _json(HTTPStatus.CREATED, {'expires_at': expires})
        self._begin(answer, environ, issued)
        return answer

    def _begin(self, answer: webob.Response, environ: Environ, issued: IssuedToken) -> None:
        """Add the cookie of a session to an answer."""
        if issued.project_id is None:
            raise exceptions.InvalidInput.of('project', 'a project is required')
        if _TOKEN.fullmatch(issued.token) is None:
            raise exceptions.ServiceUnavailable('The token does not fit into a cookie')
        environ[SIGNED_IN] = {
            'HTTP_X_USER_ID': issued.user_id,
            'HTTP_X_PROJECT_ID': issued.project_id,
        }
        seconds = int((issued.expires_at - self._clock.now()).total_seconds())
        _set_cookie(answer, environ, issued.token, max(seconds, 0))

    def _sign_out(self, environ: Environ) -> webob.Response:
        token = _token(environ)
        if self._service is not None and token is not None:
            self._revoke(self._service, token, environ)
        answer = webob.Response(status=HTTPStatus.NO_CONTENT, content_type=None)
        answer.cache_control = 'no-store'
        _set_cookie(answer, environ, '', 0)
        return answer

    def _revoke(self, service: SignInService, token: str, environ: Environ) -> None:
        if self._rates is not None:
            self._rates.sign_out(environ.get('REMOTE_ADDR') or '')
        with _place(self._exits, 'Others are signing out'):
            try:
                service.revoke(token)
            except exceptions.ClimateError as error:
                # The cookie goes in any case.
                LOG.warning('A token was not revoked when its user signed out: %s', error.message)


@contextlib.contextmanager
def _place(places: threading.BoundedSemaphore, why: str) -> Iterator[None]:
    """Take one of the places for requests to Keystone.

    :raises climate.exceptions.ServiceUnavailable: if all are taken
    """
    if not places.acquire(blocking=False):
        raise exceptions.ServiceUnavailable(why, retry_after=1)
    try:
        yield
    finally:
        places.release()


def _check_page(environ: Environ) -> None:
    if environ.get(_HEADER) != '1' or origins.is_foreign(environ):
        raise exceptions.NotAuthorized('Only the web page of this service may ask for this')


def _check_private(environ: Environ) -> None:
    if not origins.is_private(environ):
        raise exceptions.InvalidInput(
            'Signing in needs https. If a proxy ends TLS, it must send X-Forwarded-Proto, and '
            '[api] trusted_proxies must name it.'
        )


def _body(environ: Environ) -> dict[str, Any]:
    if environ.get('CONTENT_TYPE', '').partition(';')[0].strip() != 'application/json':
        raise exceptions.UnsupportedMediaType(content_type=environ.get('CONTENT_TYPE', ''))
    bodies.raw(environ, _LARGEST_BODY)
    return bodies.read(environ, texts.SIGN_IN)


def _in_project(service: SignInService, issued: IssuedToken) -> IssuedToken:
    """Return a token, or one for the first project of its user if it is for none.

    :raises climate.exceptions.NotAuthenticated: if the user has no project
    """
    if issued.project_id is not None:
        return issued
    projects = service.projects(issued.token)
    if not projects:
        raise exceptions.NotAuthenticated('You have no role in any project')
    return service.with_token(issued.token, '', '', projects[0].id)


def _issued(service: SignInService, wanted: schemas.SignIn, old: str) -> IssuedToken:
    """Return the token of a sign-in; *old* is that of the session, for another project."""
    if wanted.project_id:
        return service.with_token(old, '', '', wanted.project_id)
    if wanted.token:
        return service.with_token(wanted.token, wanted.project, wanted.project_domain)
    if wanted.application_credential_id:
        return service.with_application_credential(
            wanted.application_credential_id, wanted.application_credential_secret
        )
    return service.with_password(
        wanted.username, wanted.password, wanted.user_domain, wanted.project, wanted.project_domain
    )


def _add_token(environ: Environ) -> None:
    """Add the token of a session to a request of the page.

    :raises climate.exceptions.NotAuthorized: if another site causes the request
    """
    if environ.get(_HEADER) != '1' or 'HTTP_COOKIE' not in environ:
        return
    if 'HTTP_X_AUTH_TOKEN' in environ or 'HTTP_AUTHORIZATION' in environ:
        return
    token = _token(environ)
    if token is None:
        return
    if origins.is_foreign(environ):
        raise exceptions.NotAuthorized('A session counts for the web page of this service only')
    environ['HTTP_X_AUTH_TOKEN'] = token
    environ[environ_keys.SESSION] = True


def _token(environ: Environ) -> str | None:
    """Return the token in the cookie; None if there is none."""
    cookie = webob.Request(environ).cookies.get(_name(environ))
    return cookie if cookie and _TOKEN.fullmatch(cookie) else None


def _name(environ: Environ) -> str:
    """Return the name of the cookie; with TLS and no prefix, one that no other host can set.

    Otherwise a host of the same domain could have the page work with another one's token.
    """
    alone = environ['wsgi.url_scheme'] == 'https' and not environ.get('SCRIPT_NAME')
    return f'__Host-{COOKIE}' if alone else COOKIE


def _set_cookie(answer: webob.Response, environ: Environ, token: str, seconds: int) -> None:
    answer.set_cookie(
        _name(environ),
        token,
        max_age=seconds,
        path=(environ.get('SCRIPT_NAME') or '') + '/',
        secure=environ['wsgi.url_scheme'] == 'https',
        httponly=True,
        samesite='strict',
    )


def _json(status: HTTPStatus, shown: dict[str, Any]) -> webob.Response:
    answer = webob.Response(
        status=status,
        body=json.dumps(shown).encode(),
        content_type='application/json',
        charset=None,
    )
    answer.cache_control = 'no-store'
    return answer
