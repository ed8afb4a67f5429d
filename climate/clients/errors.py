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

"""Translates errors of a cloud into those of this layer.

The one place that maps errors of the client libraries:

==================================================  =====================
no connection, no answer in time, an answer cut     Transient
HTTP 408, 429, 5xx, or an answer that is no JSON    Transient
HTTP 401, and all that Keystone says about tokens   Transient
HTTP 401, 403, 404 to a token of a trust            TrustLost
HTTP 404 of the service                             CloudNotFound
HTTP 404 of a proxy in front of it                  Transient
HTTP 403, 409 or 413 that mentions a quota          CloudQuota
any other HTTP 409                                  CloudConflict
any other 4xx                                       Permanent
no endpoint, no way to authenticate: configuration  Permanent
==================================================  =====================

The library's own exceptions are not kept as causes, for their texts, and the
requests that hang on them, may hold tokens; the texts made here hold none.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable
from collections.abc import Iterator

from keystoneauth1 import exceptions as ksa
from novaclient import exceptions as nova

from climate import exceptions
from climate.clients import base

LONGEST_REASON = 300
_BAD_REQUEST = 400
_UNAUTHORIZED = 401
_NOT_FOUND = 404
_TOKENS = '/auth/tokens'
_OF_STATUS = {_NOT_FOUND: base.CloudNotFound, 409: base.CloudConflict}
# Nova says 403 when a quota is used up, Neutron 409 and Cinder 413; a 413 of
# a proxy in front of Cinder, about the size of a request, does not mention one.
_QUOTA_STATUS = frozenset({403, 409, 413})
_QUOTA = re.compile(r'\bquotas?\b|reached the maximum|maximum number of', re.IGNORECASE)
_TRANSIENT = frozenset({_UNAUTHORIZED, 408, 429})
_REFUSED = frozenset({_UNAUTHORIZED, 403, _NOT_FOUND})
_LIBRARY = (nova.ClientException, ksa.ClientException)
_SDK = 'openstack.exceptions'
# What our reading of an answer raises when the answer is not what it should
# be: a proxy's page instead of JSON, or a key that is missing.
_MALFORMED = (AttributeError, LookupError, TypeError, ValueError)
_MISCONFIGURED = (ksa.CatalogException, ksa.AuthPluginException)
# Fernet and JWS tokens, and whatever else is that long without a break.
_OPAQUE = re.compile(r'gAAAA[\w=-]+|eyJ[\w-]+\.[\w.-]+|[\w=+-]{48,}')


# Asks, once Keystone has refused a token, what that means.
Refusal = Callable[[], exceptions.EffectError]


class Errors:
    """Translates the errors of one service.

    :param service: its name for people, such as ``Nova``
    :param auth: the keystoneauth plugin whose secrets must not be shown
    :param refusal: says what it means if Keystone gives us no token; without
        one it is taken for a trouble that passes
    """

    def __init__(self, service: str, auth: object, refusal: Refusal | None = None) -> None:
        self._service = service
        self._auth = auth
        self._refusal = refusal

    @contextlib.contextmanager
    def translated(
        self, verb: str, *, bad_request: type[exceptions.EffectError] = exceptions.Permanent
    ) -> Iterator[None]:
        """Run the body, which calls the service and reads its answer.

        :param verb: what is being done, for the text
        :param bad_request: what a 400 means: some services say so, too, when
            the state of something does not allow what is asked for
        """
        try:
            yield
        except _library() as error:
            raise self._of_library(verb, error, bad_request) from None
        except _MALFORMED as error:
            reason = f'{self._service} gave {verb} an answer that makes no sense'
            raise exceptions.Transient(f'{reason} ({type(error).__name__})') from None

    def _of_library(
        self, verb: str, error: Exception, bad_request: type[exceptions.EffectError]
    ) -> exceptions.EffectError:
        # Each library has a name of its own for it.
        names = ('code', 'http_status', 'status_code')
        status = next((found for name in names if (found := getattr(error, name, None))), None)
        if isinstance(status, int):
            return self._of_status(verb, status, error, bad_request)
        kind = type(error).__name__
        if isinstance(error, _misconfigured()):
            text = f'{self._service} cannot be called for {verb}, look at the configuration'
            return exceptions.Permanent(f'{text} ({kind})')
        return exceptions.Transient(f'{self._service} did not answer {verb} ({kind})')

    def _of_status(
        self,
        verb: str,
        status: int,
        error: Exception,
        bad_request: type[exceptions.EffectError],
    ) -> exceptions.EffectError:
        told = getattr(error, 'details', None) or getattr(error, 'message', None) or ''
        # Placement answers in paragraphs.
        reason = self._without_secrets(' '.join(str(told).split()))
        request_id = getattr(error, 'request_id', None)
        where = f'HTTP {status}' + (f', {request_id}' if request_id else '')
        text = f'{self._service} answered {verb} with {where}: {reason}'
        if str(getattr(error, 'url', '')).endswith(_TOKENS):
            if self._refusal is not None and status in _REFUSED:
                return self._refusal()
            # Whatever Keystone says is about us and not about what was asked for.
            return exceptions.Transient(f'Keystone gave us no token for {self._service} ({where})')
        if status == _UNAUTHORIZED:
            # The token may be quoted in the answer; there is nothing else to tell.
            return exceptions.Transient(f'{self._service} did not accept our token ({where})')
        if status in _TRANSIENT or status >= 500:
            return exceptions.Transient(text)
        # Services give every answer a request id. Servers are not gone because
        # a balancer that has lost its service says 404 to everything.
        if status == _NOT_FOUND and not request_id:
            return exceptions.Transient(f'{text} (not from {self._service} itself)')
        if status in _QUOTA_STATUS and _QUOTA.search(reason):
            return base.CloudQuota(text)
        if status == _BAD_REQUEST:
            return bad_request(text)
        return _OF_STATUS.get(status, exceptions.Permanent)(text)

    def _without_secrets(self, text: str) -> str:
        access = getattr(self._auth, 'auth_ref', None)
        known = (
            getattr(access, 'auth_token', None),
            getattr(self._auth, 'token', None),
            getattr(self._auth, '_password', None),
        )
        for secret in known:
            if isinstance(secret, str) and secret:
                text = text.replace(secret, '***')
        text = _OPAQUE.sub('***', text)
        return text if len(text) <= LONGEST_REASON else f'{text[:LONGEST_REASON]}…'


def _library() -> tuple[type[Exception], ...]:
    """Return the errors of the client libraries.

    openstacksdk is loaded late, see :mod:`climate.clients.sdk`: what is not
    loaded cannot have raised anything.
    """
    sdk = sys.modules.get(_SDK)
    return (*_LIBRARY, sdk.SDKException) if sdk else _LIBRARY


def _misconfigured() -> tuple[type[Exception], ...]:
    sdk = sys.modules.get(_SDK)
    return (*_MISCONFIGURED, sdk.ConfigException) if sdk else _MISCONFIGURED
