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

"""Ways to find out who calls, as wrappers of an application."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from typing import Any

from keystonemiddleware import auth_token
from keystonemiddleware import exceptions as ksm_exceptions
from oslo_config import cfg

from climate import exceptions
from climate.api import errors
from climate.api.middleware import Environ
from climate.api.middleware import StartResponse
from climate.api.middleware import Wrapper
from climate.api.middleware import WSGIApp
from climate.api.middleware.noauth import NoAuth
from climate.clients.outages import UNANSWERED

# Why the middleware could not ask Keystone, or the middleware's own word for an
# answer that is Keystone's own failure.
_AWAY = (*UNANSWERED, ksm_exceptions.KeystoneMiddlewareException)


class _Validation(auth_token.AuthProtocol):
    """Says whether a token is good, or that nobody can say at the moment.

    The middleware by itself, when somebody else is to refuse, calls a token
    bad that it could not ask Keystone about. The caller would throw it away
    and try to get another one.
    """

    def fetch_token(self, token: str, allow_expired: bool = False) -> Any:
        """Return what is known of a token.

        :raises climate.exceptions.CloudUnavailable: if Keystone is away
        """
        try:
            return super().fetch_token(token, allow_expired=allow_expired)
        except ksm_exceptions.KeystoneMiddlewareException as error:
            if isinstance(error.__context__, _AWAY):
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
    """Return a wrapper that has Keystone validate tokens.

    :param conf: with the group ``keystone_authtoken``
    :raises climate.exceptions.ConfigurationError: by the wrapper, if tokens
        are to be remembered in memcached and its client is not installed
    """

    def wrap(app: WSGIApp) -> WSGIApp:
        # It only says whether the token is good; climate.api.middleware.identity
        # refuses, so that a refusal is a JSON object like any other. Left to
        # itself it would also look up Keystone's address for each refusal.
        options = {'oslo_config_config': conf, 'delay_auth_decision': True}
        validating: WSGIApp = _Validation(app, options)
        _need_memcached_client(conf)
        uri = conf.keystone_authtoken.www_authenticate_uri

        def challenge(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
            if uri:
                environ[errors.CHALLENGE] = f'Keystone uri="{uri}"'
            return validating(environ, start_response)

        return challenge

    return wrap


def _need_memcached_client(conf: cfg.ConfigOpts) -> None:
    # The middleware imports it at the first request only: every request would
    # be a 500, and nothing would have been said when the process was started.
    wanted = conf.keystone_authtoken.memcached_servers
    if wanted and importlib.util.find_spec('memcache') is None:
        raise exceptions.ConfigurationError(
            '[keystone_authtoken] memcached_servers needs the package python-memcached'
        )
