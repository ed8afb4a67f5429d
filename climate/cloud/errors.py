# SPDX-License-Identifier: Apache-2.0

"""Translates the errors of client libraries and services.

No other module maps them:

==================================================  =====================
no connection, no response in time, a partial one   Transient
HTTP 408, 429, 5xx, or a response that is not JSON  Transient
HTTP 401, and errors of Keystone about tokens       Transient
HTTP 401, 403, 404 to a token of a trust            TrustLost
HTTP 404 of the service                             CloudNotFound
HTTP 404 of a proxy in front of it                  Transient
HTTP 403, 409 or 413 that mentions a quota          CloudQuota
any other HTTP 409                                  CloudConflict
any other 4xx                                       Permanent
no endpoint, no way to authenticate: configuration  Permanent
==================================================  =====================

The exceptions of the libraries are not chained as causes, because their texts and
requests may contain tokens. The messages of this module contain none.
"""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections.abc import Callable
from collections.abc import Iterator

from keystoneauth1 import exceptions as ksa
from novaclient import exceptions as nova

from climate import exceptions
from climate.cloud import base
from climate.exceptions import texts
from climate.metrics import catalogue
from climate.metrics import recording

LONGEST_REASON = 300
_BAD_REQUEST = 400
_UNAUTHORIZED = 401
_NOT_FOUND = 404
_TOKENS = '/auth/tokens'
_OF_STATUS = {_NOT_FOUND: base.CloudNotFound, 409: base.CloudConflict}
# If a quota is exceeded, Nova returns 403, Neutron 409 and Cinder 413. A 413 of a proxy
# in front of Cinder, about the size of a request, does not mention a quota.
_QUOTA_STATUS = frozenset({403, 409, 413})
_QUOTA = re.compile(r'\bquotas?\b|reached the maximum|maximum number of', re.IGNORECASE)
_TRANSIENT = frozenset({_UNAUTHORIZED, 408, 429})
_REFUSED = frozenset({_UNAUTHORIZED, 403, _NOT_FOUND})
_LIBRARY = (nova.ClientException, ksa.ClientException)
_SDK = 'openstack.exceptions'
# Raised when a response cannot be parsed, such as an HTML page of a proxy, or when it
# lacks a key.
_MALFORMED = (AttributeError, LookupError, TypeError, ValueError)
_MISCONFIGURED = (ksa.CatalogException, ksa.AuthPluginException)
# Fernet and JWS tokens, and any other long word that may be a secret.
_OPAQUE = re.compile(r'gAAAA[\w=-]+|eyJ[\w-]+\.[\w.-]+|[\w=+-]{48,}')


# Finds out why Keystone has refused to issue a token.
Refusal = Callable[[], exceptions.EffectError]


class Errors:
    """Translates the errors of one service.

    :param service: the name of the service in messages, such as ``Nova``
    :param auth: the keystoneauth plugin, whose secrets must not appear in messages
    :param refusal: finds out why Keystone issues no token; without it, such an error is
        transient
    """

    def __init__(self, service: str, auth: object, refusal: Refusal | None = None) -> None:
        self._service = service
        self._auth = auth
        self._refusal = refusal

    @contextlib.contextmanager
    def translated(
        self, verb: str, *, bad_request: type[exceptions.EffectError] = exceptions.Permanent
    ) -> Iterator[None]:
        """Run the body, which calls the service and parses its response.

        :param verb: the operation, for the message
        :param bad_request: the meaning of a 400, which some services also return if
            the state of an object does not allow the operation
        """
        begun, outcome = time.monotonic(), 'ok'
        try:
            yield
        except _library() as error:
            raised = self._of_library(verb, error, bad_request)
            outcome = 'unavailable' if isinstance(raised, exceptions.Transient) else 'refused'
            raise raised from None
        except _MALFORMED as error:
            outcome = 'unavailable'
            reason = f'{self._service} returned a malformed response to {verb}'
            raise exceptions.Transient(f'{reason} ({type(error).__name__})') from None
        finally:
            took = time.monotonic() - begun
            recording.observe(catalogue.CLOUD_CALLS, took, self._service.lower(), outcome)

    def _of_library(
        self, verb: str, error: Exception, bad_request: type[exceptions.EffectError]
    ) -> exceptions.EffectError:
        # Each library has its own name for it.
        names = ('code', 'http_status', 'status_code')
        status = next((value for name in names if (value := getattr(error, name, None))), None)
        if isinstance(status, int):
            return self._of_status(verb, status, error, bad_request)
        kind = type(error).__name__
        if isinstance(error, _misconfigured()):
            text = f'{self._service} cannot be called for {verb}; check the configuration'
            return exceptions.Permanent(f'{text} ({kind})')
        return exceptions.Transient(f'{self._service} did not respond to {verb} ({kind})')

    def _of_status(
        self, verb: str, status: int, error: Exception, bad_request: type[exceptions.EffectError]
    ) -> exceptions.EffectError:
        message = getattr(error, 'details', None) or getattr(error, 'message', None) or ''
        # Placement's messages have several lines.
        reason = self._without_secrets(' '.join(str(message).split()))
        request_id = getattr(error, 'request_id', None)
        where = f'HTTP {status}' + (f', {request_id}' if request_id else '')
        text = f'{self._service} answered {verb} with {where}: {reason}'
        if str(getattr(error, 'url', '')).endswith(_TOKENS):
            if self._refusal is not None and status in _REFUSED:
                return self._refusal()
            # The error is about the credentials, not about the object.
            return exceptions.Transient(f'Keystone issued no token for {self._service} ({where})')
        if status == _UNAUTHORIZED:
            # The reason is left out: it may quote the token and tells nothing else.
            return exceptions.Transient(f'{self._service} rejected our token ({where})')
        if status in _TRANSIENT or status >= 500:
            return exceptions.Transient(text)
        # All responses of a service have a request id. A 404 without one comes from a
        # load balancer without a backend, and does not mean that the object is missing.
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
        return texts.clean(text, LONGEST_REASON + 1)


def _library() -> tuple[type[Exception], ...]:
    """Return the exceptions of the client libraries.

    openstacksdk is loaded on first use, see :mod:`climate.cloud.sdk`; before that, it
    cannot have raised anything.
    """
    sdk = sys.modules.get(_SDK)
    return (*_LIBRARY, sdk.SDKException) if sdk else _LIBRARY


def _misconfigured() -> tuple[type[Exception], ...]:
    sdk = sys.modules.get(_SDK)
    return (*_MISCONFIGURED, sdk.ConfigException) if sdk else _MISCONFIGURED
