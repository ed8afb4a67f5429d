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

"""The errors Climate tells its callers of, each with its HTTP status.

``code`` is the HTTP status, ``error_name`` the word a program may compare.
The names are append-only: once published they are never renamed (a test
holds the list). Message texts follow those that existing clients and their
tests match on.
"""

from __future__ import annotations

import datetime
from typing import Any
from typing import ClassVar


class ClimateError(Exception):
    """Base of every error that may reach a caller."""

    code: ClassVar[int] = 500
    error_name: ClassVar[str] = 'INTERNAL_SERVER_ERROR'
    template: ClassVar[str] = 'An unknown exception occurred'

    def __init__(self, message: str | None = None, **facts: Any) -> None:
        self.facts = facts
        super().__init__(message if message is not None else self.template % facts)

    @property
    def message(self) -> str:
        """The text for the caller."""
        return str(self.args[0])


class InvalidInput(ClimateError):
    """A field of the request is wrong; nothing was changed."""

    code = 400
    error_name = 'INVALID_INPUT'
    template = 'Invalid input'


class MissingParameter(InvalidInput):
    """A required field is missing."""

    error_name = 'MISSING_PARAMETER'
    template = 'Missing parameter %(param)s'


class MalformedParameter(InvalidInput):
    """A field has the wrong type or shape."""

    error_name = 'MALFORMED_PARAMETER'
    template = 'Malformed parameter %(param)s'


class MalformedRequirements(InvalidInput):
    """A requirement expression cannot be read."""

    error_name = 'MALFORMED_REQUIREMENTS'
    template = 'Malformed requirements %(rqrms)s'


class InvalidDate(InvalidInput):
    """A date cannot be read."""

    error_name = 'INVALID_DATE'
    template = '%(date)s is an invalid date. Required format: %(date_format)s'


class InvalidRange(InvalidInput):
    """min is larger than max."""

    error_name = 'INVALID_RANGE'
    template = 'Invalid values for min/max of hosts. Max must be equal to or larger than min.'


class InvalidPeriod(InvalidInput):
    """The end of a period is not after its start."""

    error_name = 'INVALID_PERIOD'
    template = 'End date must be later than start date.'


class ExtraCapabilityTooLong(InvalidInput):
    """The name of an extra capability is longer than the store keeps."""

    error_name = 'EXTRA_CAPABILITY_TOO_LONG'
    template = 'Extra capability key too long'


class UnsupportedResourceType(InvalidInput):
    """No plugin reserves resources of this type."""

    error_name = 'UNSUPPORTED_RESOURCE_TYPE'
    template = 'The %(resource_type)s resource type is not supported'


class NotAuthenticated(ClimateError):
    """The request carries no valid identity."""

    code = 401
    error_name = 'NOT_AUTHENTICATED'
    template = 'The request you have made requires authentication.'


class NotAuthorized(ClimateError):
    """The caller may not do this."""

    code = 403
    error_name = 'NOT_AUTHORIZED'
    template = 'Not authorized'


class PolicyNotAuthorized(NotAuthorized):
    """A policy rule refuses the caller."""

    error_name = 'POLICY_NOT_AUTHORIZED'
    template = "Policy doesn't allow %(action)s to be performed"


class OutsideLease(NotAuthorized):
    """An event of a lease lies outside the lease's period."""

    error_name = 'OUTSIDE_LEASE'
    template = 'Datetime is out of lease limits'


class NotFound(ClimateError):
    """The object does not exist, or not for this caller."""

    code = 404
    error_name = 'NOT_FOUND'
    template = 'Object with %(object)s not found'


class HostNotFound(NotFound):
    """Nova knows no such hypervisor."""

    error_name = 'HOST_NOT_FOUND'
    template = "Host '%(host)s' not found"


class FreePoolNotFound(NotFound):
    """The aggregate that holds the reservable hosts does not exist."""

    error_name = 'FREE_POOL_NOT_FOUND'
    template = "The aggregate '%(name)s' of reservable hosts was not found"


class Conflict(ClimateError):
    """The request contradicts the present state."""

    code = 409
    error_name = 'CONFLICT'
    template = 'Conflict'


class CantUpdateParameter(Conflict):
    """This field cannot be changed (any more)."""

    error_name = 'CANT_UPDATE_PARAMETER'
    template = '%(param)s cannot be updated'


class InvalidState(Conflict):
    """The object's state does not allow this now."""

    error_name = 'INVALID_STATE'
    template = 'Invalid State %(state)s for %(id)s'


class HostHavingServers(Conflict):
    """A host with running servers can be neither taken in nor let go."""

    error_name = 'HOST_HAVING_SERVERS'
    template = 'Servers [%(servers)s] found for host %(host)s'


class HostExists(Conflict):
    """The host is registered already."""

    error_name = 'HOST_EXISTS'
    template = "Host '%(host)s' is registered already"


class HostInUse(Conflict):
    """The host has reservations."""

    error_name = 'HOST_IN_USE'
    template = 'Host %(host)s cannot be deleted: it has reservations'


class CapabilityInUse(Conflict):
    """A reservation's requirements mention the capability."""

    error_name = 'CAPABILITY_IN_USE'
    template = "Capability '%(name)s' of host %(host)s cannot be changed: a reservation requires it"


class BookedMeanwhile(Conflict):
    """Others kept booking the same resources; trying again may help."""

    error_name = 'BOOKED_MEANWHILE'
    template = 'The resources were booked by others meanwhile; please try again'


class NotEnoughResources(Conflict):
    """The period is taken, or nothing matches.

    :param what: the noun of the refusal, such as ``hosts``
    :param matched: resources that fulfil the requirements at all
    :param free: those of them that are free for the whole period
    :param first_blocker_ends: when the first allocation in the way ends
        (aware UTC), None if nothing but a lack of resources is in the way
    """

    error_name = 'NOT_ENOUGH_RESOURCES'
    template = 'Not enough %(what)s available'

    def __init__(
        self,
        what: str = 'resources',
        *,
        matched: int | None = None,
        free: int | None = None,
        first_blocker_ends: datetime.datetime | None = None,
    ) -> None:
        super().__init__(what=what)
        self.matched = matched
        self.free = free
        self.first_blocker_ends = first_blocker_ends


class RequestTooLarge(ClimateError):
    """The body is larger than the service reads."""

    code = 413
    error_name = 'REQUEST_TOO_LARGE'
    template = 'Request is too large'


class UnsupportedMediaType(ClimateError):
    """The body is not JSON."""

    code = 415
    error_name = 'UNSUPPORTED_MEDIA_TYPE'
    template = 'Unsupported content type %(content_type)s, application/json required'


class MethodNotAllowed(ClimateError):
    """The resource exists, the method does not."""

    code = 405
    error_name = 'METHOD_NOT_ALLOWED'
    template = 'The method is not allowed for the requested URL.'


class NotAcceptable(ClimateError):
    """The microversion is not served."""

    code = 406
    error_name = 'NOT_ACCEPTABLE'
    template = (
        'Version %(version)s is not supported by the API. '
        'Minimum is %(minimum)s and maximum is %(maximum)s.'
    )


class ServiceUnavailable(ClimateError):
    """Something Climate needs is away for the moment."""

    code = 503
    error_name = 'SERVICE_UNAVAILABLE'
    template = 'The service is temporarily unavailable'


class DatabaseUnavailable(ServiceUnavailable):
    """The database does not answer."""

    error_name = 'DATABASE_UNAVAILABLE'
    template = 'The database is temporarily unavailable, please try again'


class ManagerUnavailable(ServiceUnavailable):
    """No manager answered in time."""

    error_name = 'MANAGER_UNAVAILABLE'
    template = 'No manager answered in time, please try again'


class CloudUnavailable(ServiceUnavailable):
    """A service of the cloud does not answer."""

    error_name = 'CLOUD_UNAVAILABLE'
    template = '%(service)s does not answer: %(reason)s'


class ConfigurationError(ClimateError):
    """The service cannot start as it is configured."""

    error_name = 'CONFIGURATION_ERROR'
    template = 'Configuration error'


class EffectError(ClimateError):
    """Base of what a plugin's effect may raise."""

    error_name = 'EFFECT_ERROR'
    template = 'The cloud could not be brought to the wanted state'


class Transient(EffectError):
    """It failed, but may work later: tried again with growing pauses."""

    error_name = 'TRANSIENT'


class Permanent(EffectError):
    """It failed and will go on failing: undone and told."""

    error_name = 'PERMANENT'
