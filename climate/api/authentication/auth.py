# SPDX-License-Identifier: Apache-2.0

"""Authenticates callers: with Keystone tokens, or not at all."""

from __future__ import annotations

import base64
import binascii
import contextlib
import importlib.util
import re
import threading
from collections.abc import Iterable
from typing import Any

from keystonemiddleware import auth_token
from keystonemiddleware import exceptions as ksm_exceptions
from oslo_config import cfg
from oslo_context import context as oslo_context

from climate import exceptions
from climate.api import errors
from climate.api.http import environ_keys
from climate.api.http.wsgi import Environ
from climate.api.http.wsgi import StartResponse
from climate.api.http.wsgi import Wrapper
from climate.api.http.wsgi import WSGIApp
from climate.cloud.outages import UNANSWERED

ADMIN = 'admin:demo:admin'
_TOKEN = re.compile(r'(?P<user>[^:\s]{1,255}):(?P<project>[^:\s]{1,255})(?::(?P<roles>[^:]*))?')

# Roles, and the roles that they imply, as in Keystone.
_IMPLIED = {'admin': ('admin', 'manager', 'member', 'reader'), 'member': ('member', 'reader')}

# Headers that identify the caller; only an authenticating middleware may set them.
_IDENTITY = re.compile(
    r'HTTP_X_(USER|PROJECT|TENANT|DOMAIN|ROLE|IDENTITY|IS_ADMIN|SERVICE|TRUST|SYSTEM)'
    r'|HTTP_OPENSTACK_SYSTEM'
)

# Raised if Keystone cannot be reached, and by the middleware if Keystone itself fails.
_UNAVAILABLE = (*UNANSWERED, ksm_exceptions.KeystoneMiddlewareException)


class Identity:
    """Refuses requests without an identity before any work is done."""

    def __init__(self, app: WSGIApp) -> None:
        self._app = app

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on with a context.

        :raises climate.exceptions.NotAuthenticated: if it has no identity
        :raises climate.exceptions.NotAuthorized: if its token has no project
        """
        if environ.get('HTTP_X_IDENTITY_STATUS') != 'Confirmed' or _is_probe(environ):
            raise exceptions.NotAuthenticated
        # Created here so that every log line of the request carries its ids.
        context = oslo_context.RequestContext.from_environ(environ)
        context.auth_token = environ.get(environ_keys.TOKEN, context.auth_token)
        if not context.user_id or not context.project_id:
            raise exceptions.NotAuthorized('A token of a project is required')
        environ[environ_keys.CONTEXT] = context
        return self._app(environ, start_response)


def _is_probe(environ: Environ) -> bool:
    """Whether a load balancer is checking that the API requires a token."""
    return (
        environ['REQUEST_METHOD'] == 'OPTIONS'
        and environ.get('PATH_INFO', '') in {'', '/'}
        and 'HTTP_X_AUTH_TOKEN' not in environ
        and 'HTTP_AUTHORIZATION' not in environ
    )


class NoAuth:
    """Trusts the identity that callers claim: for trials and tests, never for production.

    The token is ``user:project`` or ``user:project:role,role``; without roles the
    caller is a member of the project. A missing or empty token, and the word
    ``notused`` that ``--os-auth-type none`` sends, mean an admin of the
    project ``demo``. With HTTP basic authentication, user name and password
    together form the token: ``--os-username alice --os-password demo:member``.
    """

    def __init__(self, app: WSGIApp) -> None:
        self._app = app

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on with the headers that Keystone's middleware would set."""
        for key in [key for key in environ if _IDENTITY.match(key)]:
            del environ[key]
        known = token(environ)
        match = _TOKEN.fullmatch(known)
        if match is None:
            environ['HTTP_X_IDENTITY_STATUS'] = 'Invalid'
        else:
            environ['HTTP_X_IDENTITY_STATUS'] = 'Confirmed'
            environ['HTTP_X_USER_ID'] = environ['HTTP_X_USER_NAME'] = match['user']
            environ['HTTP_X_PROJECT_ID'] = environ['HTTP_X_PROJECT_NAME'] = match['project']
            environ['HTTP_X_ROLES'] = ','.join(roles(match['roles']))
            # The cloud sees the same identity, even if the request has no token.
            environ[environ_keys.TOKEN] = known
        return self._app(environ, start_response)


def token(environ: Environ) -> str:
    """Return the token of a request; that of an admin if the request has none."""
    given: str = environ.get('HTTP_X_AUTH_TOKEN', '')
    kind, _, credentials = environ.get('HTTP_AUTHORIZATION', '').partition(' ')
    if not given and kind.lower() == 'basic':
        try:
            given = base64.b64decode(credentials, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return 'unreadable'
    return ADMIN if given in {'', 'notused'} else given


def roles(text: str | None) -> list[str]:
    """Return the roles in a token, by default member, and the roles that they imply."""
    named = [role.strip() for role in (text or '').split(',') if role.strip()] or ['member']
    return sorted({implied for role in named for implied in _IMPLIED.get(role, (role,))})


class _UncachedSessions:
    """The cache of validated tokens, which never has the tokens of sessions of the web page.

    When a user signs out, the token is revoked: a cache, of which each process may have one of
    its own, would go on accepting it.
    """

    def __init__(self, cache: Any) -> None:
        self._cache = cache
        self._here = threading.local()

    def pass_by(self, environ: Environ) -> None:
        """Use no cache in this thread if a request has the token of a session."""
        self._here.uncached = environ_keys.SESSION in environ

    def initialize(self, environ: Environ) -> None:
        """Prepare the cache for a request."""
        self._cache.initialize(environ)

    def get(self, token: str) -> Any:
        """Return the data of a token; None if it has to be validated."""
        return None if getattr(self._here, 'uncached', False) else self._cache.get(token)

    def set(self, token: str, data: Any) -> None:
        """Keep the data of a token."""
        if not getattr(self._here, 'uncached', False):
            self._cache.set(token, data)


class _Validation(auth_token.AuthProtocol):
    """Validates tokens; raises if Keystone is unavailable.

    With ``delay_auth_decision`` the parent class treats a token as invalid if Keystone
    does not answer. The caller would discard a good token and request a new one.
    """

    _token_cache: Any
    _identity_server: Any

    def __init__(self, app: WSGIApp, conf: Any) -> None:
        super().__init__(app, conf)
        self._token_cache = _UncachedSessions(self._token_cache)
        self._here = threading.local()
        self._ask = self._identity_server.verify_token
        self._identity_server.verify_token = self._verify

    def process_request(self, request: Any) -> Any:
        """Validate the tokens of a request.

        :raises climate.exceptions.TooManyAtOnce: if Keystone would have to check too many
        """
        self._token_cache.pass_by(request.environ)
        self._here.checking = request.environ.get(environ_keys.CHECKING, contextlib.nullcontext)
        return super().process_request(request)

    def _verify(self, token: str, **options: Any) -> Any:
        """Have Keystone check a token that is not in the cache."""
        with self._here.checking():
            return self._ask(token, **options)

    def fetch_token(self, token: str, allow_expired: bool = False) -> Any:
        """Return the data of a token.

        :raises climate.exceptions.CloudUnavailable: if Keystone is unavailable
        """
        try:
            return super().fetch_token(token, allow_expired=allow_expired)
        except ksm_exceptions.KeystoneMiddlewareException as error:
            if isinstance(error.__context__, _UNAVAILABLE):
                raise exceptions.CloudUnavailable(
                    service='Keystone', reason='the token cannot be validated'
                ) from error
            raise


def wrapper(conf: cfg.ConfigOpts) -> Wrapper:
    """Return the wrapper that ``[DEFAULT] auth_strategy`` names."""
    if conf.auth_strategy == 'noauth':
        return NoAuth
    return keystone(conf)


def keystone(conf: cfg.ConfigOpts) -> Wrapper:
    """Return a wrapper that validates tokens with Keystone.

    :param conf: with the group ``keystone_authtoken``
    :raises climate.exceptions.ConfigurationError: when the wrapper is called, if
        tokens are cached in memcached and its client is not installed
    """

    def wrap(app: WSGIApp) -> WSGIApp:
        # The middleware only validates; Identity refuses, so that the error is a
        # JSON object like any other. If the middleware refused, it would also look up
        # Keystone's address each time.
        options = {'oslo_config_config': conf, 'delay_auth_decision': True}
        validating: WSGIApp = _Validation(app, options)
        _check_memcached_client(conf)
        uri = conf.keystone_authtoken.www_authenticate_uri

        def challenge(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
            if uri:
                environ[errors.CHALLENGE] = f'Keystone uri="{uri}"'
            return validating(environ, start_response)

        return challenge

    return wrap


def _check_memcached_client(conf: cfg.ConfigOpts) -> None:
    # The middleware imports the client at the first request: without this check the
    # process would start, and answer every request with 500.
    wanted = conf.keystone_authtoken.memcached_servers
    if wanted and importlib.util.find_spec('memcache') is None:
        raise exceptions.ConfigurationError(
            '[keystone_authtoken] memcached_servers needs the package python-memcached'
        )
