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

"""Sessions of the web page: a token in a cookie that scripts cannot read.

Nothing is stored here. The cookie counts only for requests with a header that no form
and no link can send, and which have no token of their own.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any
from typing import Final
from typing import Protocol

import webob

from climate import exceptions
from climate.api import auth
from climate.api import bodies
from climate.api import origins
from climate.api import texts
from climate.api.errors import RouteNotFound
from climate.api.rates import Rates
from climate.api.schemas import sign_in as schemas
from climate.api.wsgi import Environ
from climate.api.wsgi import StartResponse
from climate.api.wsgi import WSGIApp
from climate.clients.sign_in import IssuedToken
from climate.clock import Clock

LOG = logging.getLogger(__name__)

PATH: Final = '/ui/session'
COOKIE: Final = 'climate_session'
SIGNED_IN: Final = 'climate.signed_in'
"""Who has signed in, in the headers that authentication sets."""
_HEADER: Final = 'HTTP_X_CLIMATE_UI'
_LARGEST_BODY: Final = 16384
# Browsers keep 4096 bytes of a cookie, with its name.
_TOKEN: Final = re.compile(r'[A-Za-z0-9_.~=+/-]{1,3800}')
_METHODS: Final = frozenset({'GET', 'HEAD', 'POST', 'DELETE'})


class SignInService(Protocol):
    """Signs users in; :class:`climate.clients.sign_in.KeystoneSignIn` does."""

    def with_password(
        self, username: str, password: str, user_domain: str, project: str, project_domain: str
    ) -> IssuedToken:
        """Return a token for a user."""
        ...

    def with_application_credential(self, credential_id: str, secret: str) -> IssuedToken:
        """Return a token for an application credential."""
        ...

    def with_token(self, token: str, project: str, project_domain: str) -> IssuedToken:
        """Return a token that a user has, or one for another project."""
        ...

    def revoke(self, token: str) -> None:
        """Make a token invalid."""
        ...


class BrowserSessions:
    """Answers ``/ui/session``, and turns the cookie into the token of other requests.

    :param service: None if callers are not authenticated: then there are no sessions
    :param rates: limits sign-ins by address; None for no limit
    :param most: how many sign-ins are handled at once
    """

    def __init__(
        self,
        app: WSGIApp,
        service: SignInService | None,
        clock: Clock,
        *,
        rates: Rates | None = None,
        most: int = 2,
    ) -> None:
        self._app = app
        self._service = service
        self._clock = clock
        self._rates = rates
        self._places = threading.BoundedSemaphore(most)
        # Apart from those who sign in: any text in a cookie takes a place here.
        self._exits = threading.BoundedSemaphore(most)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer the request, or pass it on with the token of its session.

        :raises climate.exceptions.ClimateError: if it is refused
        """
        if environ.get('PATH_INFO', '') == PATH:
            answer: Iterable[bytes] = self._answer(environ)(environ, start_response)
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
        if environ.get(_HEADER) != '1' or origins.is_foreign(environ):
            raise exceptions.NotAuthorized('Only the web page of this service may ask for this')
        return self._sign_in(environ) if method == 'POST' else self._sign_out(environ)

    def _shown(self, environ: Environ) -> webob.Response:
        noauth = self._service is None
        return _json(
            HTTPStatus.OK,
            {
                'auth_strategy': 'noauth' if noauth else 'keystone',
                'signed_in': noauth or _token(environ) is not None,
            },
        )

    def _sign_in(self, environ: Environ) -> webob.Response:
        if self._service is None:
            raise RouteNotFound
        if not origins.is_private(environ):
            raise exceptions.InvalidInput(
                'Signing in needs https. If a proxy ends TLS, it must send X-Forwarded-Proto, and '
                '[api] trusted_proxies must name it.'
            )
        if environ.get('CONTENT_TYPE', '').partition(';')[0].strip() != 'application/json':
            raise exceptions.UnsupportedMediaType(content_type=environ.get('CONTENT_TYPE', ''))
        bodies.raw(environ, _LARGEST_BODY)
        wanted = schemas.read(bodies.read(environ, texts.SIGN_IN))
        if self._rates is not None:
            self._rates.sign_in(environ.get('REMOTE_ADDR') or '')
        if not self._places.acquire(blocking=False):
            raise exceptions.ServiceUnavailable('Others are signing in', retry_after=1)
        try:
            issued = _issued(self._service, wanted)
        finally:
            self._places.release()
        return self._signed_in(environ, issued)

    def _signed_in(self, environ: Environ, issued: IssuedToken) -> webob.Response:
        if issued.project_id is None:
            raise exceptions.InvalidInput('Malformed parameter project: a project is required')
        if _TOKEN.fullmatch(issued.token) is None:
            raise exceptions.ServiceUnavailable('The token does not fit into a cookie')
        environ[SIGNED_IN] = {
            'HTTP_X_USER_ID': issued.user_id,
            'HTTP_X_PROJECT_ID': issued.project_id,
        }
        seconds = int((issued.expires_at - self._clock.now()).total_seconds())
        expires = issued.expires_at.strftime('%Y-%m-%dT%H:%M:%SZ')
        answer = _json(HTTPStatus.CREATED, {'expires_at': expires})
        _set_cookie(answer, environ, issued.token, max(seconds, 0))
        return answer

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
        if not self._exits.acquire(blocking=False):
            raise exceptions.ServiceUnavailable('Others are signing out', retry_after=1)
        try:
            service.revoke(token)
        except exceptions.ClimateError as error:
            # The cookie goes in any case.
            LOG.warning('A token was not revoked when its user signed out: %s', error.message)
        finally:
            self._exits.release()


def _issued(service: SignInService, wanted: schemas.SignIn) -> IssuedToken:
    if wanted.token:
        return service.with_token(wanted.token, wanted.project, wanted.project_domain)
    if wanted.application_credential_id:
        return service.with_application_credential(
            wanted.application_credential_id, wanted.application_credential_secret
        )
    return service.with_password(
        wanted.username,
        wanted.password,
        wanted.user_domain,
        wanted.project,
        wanted.project_domain,
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
    environ[auth.SESSION] = True


def _token(environ: Environ) -> str | None:
    """Return the token in the cookie; None if there is none."""
    found = webob.Request(environ).cookies.get(COOKIE)
    return found if found and _TOKEN.fullmatch(found) else None


def _set_cookie(answer: webob.Response, environ: Environ, token: str, seconds: int) -> None:
    answer.set_cookie(
        COOKIE,
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
