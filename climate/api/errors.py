# SPDX-License-Identifier: Apache-2.0

"""Error responses: the only module that turns exceptions into responses."""

from __future__ import annotations

import datetime
import json
from http import HTTPStatus
from typing import Any
from typing import Final

import webob
from oslo_log import log as logging
from webob import exc as webob_exc

from climate import exceptions
from climate.api.http import dates
from climate.api.http import microversions
from climate.api.http.wsgi import Environ
from climate.api.views.stored_offers import alternative

LOG = logging.getLogger(__name__)

ANSWERED: Final = 'climate.error_answered'
TRY_AGAIN: Final = 'climate.try_again'
"""Set in the environment if the error asks the client to try again."""
REPLAYED: Final = 'climate.replayed'
"""Set in the environment if the response is that to an earlier request."""
CHALLENGE: Final = 'climate.challenge'
NAME: Final = 'climate.error_name'
"""Set in the environment to the name of the error."""

_BY_STATUS: dict[int, type[exceptions.ClimateError]] = {
    cls.code: cls
    for cls in (
        exceptions.InvalidInput,
        exceptions.NotAuthenticated,
        exceptions.NotAuthorized,
        exceptions.MethodNotAllowed,
        exceptions.Conflict,
        exceptions.RequestTooLarge,
        exceptions.UnsupportedMediaType,
        exceptions.ServiceUnavailable,
    )
}


class RouteNotFound(exceptions.NotFound):
    """No route has this path."""

    error_name = exceptions.NotFound.error_name
    template = 'The requested URL was not found'


class Answered(Exception):
    """Ends a request whose response is known already.

    :ivar response: the response
    """

    def __init__(self, response: webob.Response) -> None:
        super().__init__(response.status)
        self.response = response


class Unhealthy(exceptions.ServiceUnavailable):
    """A health check failed."""

    error_name = 'UNHEALTHY'
    template = 'Failing checks: %(names)s'


def body(error: exceptions.ClimateError, version: microversions.Microversion) -> dict[str, Any]:
    """Return *error* as a JSON object."""
    shown: dict[str, Any] = {
        'error_code': error.code,
        'error_message': error.message if version < microversions.V1_1 else error.sentence,
        'error_name': error.error_name,
    }
    if isinstance(error, exceptions.NotEnoughResources) and version >= microversions.V1_1:
        reasons = _reasons(error, version)
        if reasons:
            shown['reasons'] = reasons
        if version >= microversions.V1_4:
            shown['alternatives'] = [alternative(one, version) for one in error.alternatives]
    if isinstance(error, exceptions.OfferGone):
        shown['alternatives'] = [alternative(one, version) for one in error.alternatives]
    if isinstance(error, Unhealthy):
        shown['checks'] = error.facts['checks']
    return shown


def _reasons(
    error: exceptions.NotEnoughResources, version: microversions.Microversion
) -> list[dict[str, Any]]:
    facts: dict[str, Any] = {
        'resource_type': error.resource_type,
        'reservation': error.place,
        'matched': error.matched,
        'free': error.free,
        'first_blocker_ends': error.first_blocker_ends,
        'detail': error.detail or None,
    }
    known = {key: value for key, value in facts.items() if value is not None}
    ends = known.get('first_blocker_ends')
    if isinstance(ends, datetime.datetime):
        known['first_blocker_ends'] = dates.write(ends, version)
    return [known] if known else []


def response(error: Exception, environ: Environ) -> webob.Response:
    """Return the response to a request that failed with *error*."""
    if isinstance(error, Answered):
        environ[ANSWERED] = environ[REPLAYED] = True
        return error.response
    known = _known(error)
    environ[TRY_AGAIN] = _passes(known)
    environ[NAME] = known.error_name
    version = environ.get('climate.microversion', microversions.MIN)
    answer = webob.Response(
        status=known.code,
        body=json.dumps(body(known, version)).encode(),
        content_type='application/json',
        charset=None,
    )
    environ[ANSWERED] = True
    if isinstance(known, exceptions.NotAuthenticated) and CHALLENGE in environ:
        answer.www_authenticate = environ[CHALLENGE]
    if 'retry_after' in known.facts:
        answer.retry_after = known.facts['retry_after']
    allowed = known.facts.get('allowed')
    if isinstance(known, exceptions.MethodNotAllowed) and allowed:
        answer.allow = sorted(allowed)
    return answer


def _passes(error: exceptions.ClimateError) -> bool:
    """Whether a refusal asks the client to try again."""
    passing = (
        exceptions.BookedMeanwhile,
        exceptions.ExternalServiceUnavailable,
        exceptions.IdempotencyKeyInUse,
        exceptions.TooManyRequests,
    )
    return isinstance(error, passing) or isinstance(error.__cause__, passing)


def _known(error: Exception) -> exceptions.ClimateError:
    """Return the error to show for *error*; log unexpected errors and server errors."""
    if isinstance(error, exceptions.DatabaseUnavailable) and error.reason:
        # The store logs why, once a minute.
        LOG.debug('The database failed', exc_info=error)
        return error
    if isinstance(error, exceptions.ClimateError):
        if error.code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            LOG.warning('%s: %s', type(error).__name__, error.message)
        return error
    if isinstance(error, webob_exc.HTTPException):
        return from_status(error.status_int, error.detail or error.title)
    if isinstance(error, UnicodeError):
        return exceptions.InvalidInput('The request is not valid UTF-8')
    LOG.exception('A request failed unexpectedly')
    return exceptions.ClimateError('Internal Server Error')


def from_status(status: int, reason: str) -> exceptions.ClimateError:
    """Return the error for an HTTP *status* that comes from another library."""
    if status == HTTPStatus.NOT_FOUND:
        return RouteNotFound()
    cls = _BY_STATUS.get(status)
    if cls is None:
        fallback = (
            exceptions.InvalidInput
            if status < HTTPStatus.INTERNAL_SERVER_ERROR
            else exceptions.ServiceUnavailable
        )
        return fallback(reason)
    return cls(reason)
