# SPDX-License-Identifier: Apache-2.0

"""Errors that callers see, each with its HTTP status.

``code`` is the HTTP status, ``error_name`` the name that programs compare: that of the class.
The names are append-only: once published they are never renamed (a test
holds the list). Messages are those that existing clients and their tests match.

Errors of one resource type are in the folder of the type, in ``errors.py``.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any
from typing import TYPE_CHECKING

from climate.exceptions.base import ClimateError as ClimateError
from climate.exceptions.effects import EffectError as EffectError
from climate.exceptions.effects import FilterUnavailable as FilterUnavailable
from climate.exceptions.effects import Permanent as Permanent
from climate.exceptions.effects import ResourceUnusable as ResourceUnusable
from climate.exceptions.effects import Transient as Transient
from climate.exceptions.invalid import ExtraCapabilityTooLong as ExtraCapabilityTooLong
from climate.exceptions.invalid import InvalidDate as InvalidDate
from climate.exceptions.invalid import InvalidInput as InvalidInput
from climate.exceptions.invalid import InvalidPeriod as InvalidPeriod
from climate.exceptions.invalid import InvalidRange as InvalidRange
from climate.exceptions.invalid import MalformedParameter as MalformedParameter
from climate.exceptions.invalid import MalformedRequirements as MalformedRequirements
from climate.exceptions.invalid import MissingParameter as MissingParameter
from climate.exceptions.invalid import UnsupportedResourceType as UnsupportedResourceType
from climate.exceptions.limits import ExternalServiceRefused as ExternalServiceRefused
from climate.exceptions.limits import ExternalServiceUnavailable as ExternalServiceUnavailable
from climate.exceptions.limits import LeaseTooLong as LeaseTooLong
from climate.exceptions.limits import LimitExceeded as LimitExceeded
from climate.exceptions.limits import OutsideExtensionWindow as OutsideExtensionWindow
from climate.exceptions.limits import ProjectLimit as ProjectLimit
from climate.exceptions.limits import TooManyAtOnce as TooManyAtOnce
from climate.exceptions.limits import TooManyRequests as TooManyRequests
from climate.exceptions.outages import Cause as Cause
from climate.exceptions.outages import CloudUnavailable as CloudUnavailable
from climate.exceptions.outages import DatabaseRefused as DatabaseRefused
from climate.exceptions.outages import DatabaseUnavailable as DatabaseUnavailable
from climate.exceptions.outages import ManagerUnavailable as ManagerUnavailable
from climate.exceptions.outages import ServiceUnavailable as ServiceUnavailable


class NotAuthenticated(ClimateError):
    """The request has no valid identity."""

    code = 401
    template = 'The request you have made requires authentication.'


class NotAuthorized(ClimateError):
    """The caller is not allowed to do this."""

    code = 403
    template = 'Not authorized'


class PolicyNotAuthorized(NotAuthorized):
    """A policy rule refuses the caller."""

    template = "Policy doesn't allow %(action)s to be performed"


class OutsideLease(NotAuthorized):
    """An event of a lease is outside the period of the lease."""

    template = 'Datetime is out of lease limits'


class LeaseRefused(NotAuthorized):
    """A limit or a filter of the operator refuses a new lease; nothing was booked."""

    template = 'The lease is not within the limits of this cloud'

    @property
    def sentence(self) -> str:
        """The message for people: that of the limit."""
        return str(getattr(self.__cause__, 'sentence', self.message))


class NotFound(ClimateError):
    """The object does not exist, or the caller cannot see it."""

    code = 404
    template = 'Object with %(object)s not found'

    @property
    def sentence(self) -> str:
        """The message for people: ``There is no lease x``."""
        named = self.facts.get('object')
        if type(self) is not NotFound or not named:
            return self.message
        return 'There is no ' + ', '.join(
            f'{key.removesuffix("_id").removesuffix("_name").replace("_", " ")} {value}'
            for key, value in named.items()
        )


class OfferGone(NotFound):
    """The offer has expired, or others have booked its resources.

    :ivar alternatives: offers that resemble it
    """

    template = 'Offer %(offer_id)s %(why)s'

    def __init__(self, message: str | None = None, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.alternatives: tuple[Any, ...] = ()


class Conflict(ClimateError):
    """The request conflicts with the current state."""

    code = 409
    template = 'Conflict'


class CantUpdateParameter(Conflict):
    """The field cannot be changed, or no longer."""

    template = '%(param)s cannot be updated'


class InvalidState(Conflict):
    """The state of the object does not allow the operation."""

    template = 'Invalid State %(state)s for %(id)s'


class ResourceExists(Conflict):
    """The resource is already registered."""

    template = "The %(resource_type)s '%(name)s' is registered already"


class ResourceInUse(Conflict):
    """The resource has reservations."""

    template = "The %(resource_type)s '%(name)s' cannot be deleted: it has reservations"


class PropertyInUse(Conflict):
    """A reservation's requirements mention the property."""

    template = "Property '%(name)s' of %(resource)s cannot be changed: a reservation requires it"


class NotRefreshed(Conflict):
    """The cloud does not have the resource as it is registered."""

    template = '%(name)s cannot be refreshed: %(reason)s'


class InventoryInUse(Conflict):
    """More of the resource is booked than the new inventory has."""

    template = (
        'Inventories of %(name)s cannot be changed: %(booked)s units of %(resource_class)s '
        'are booked at one time'
    )


class ResourceTypeExists(Conflict):
    """A resource type of this name already exists."""

    template = "The resource type '%(name)s' exists already"


class ResourceTypeInUse(Conflict):
    """Resources or reservations use the type."""

    template = "The resource type '%(name)s' has %(users)s and cannot be changed or deleted"


class ResourceTypeFixed(Conflict):
    """The type was not declared through the API."""

    template = "The resource type '%(name)s' comes from a plugin or a file"


class BookedMeanwhile(Conflict):
    """Other requests kept booking the same resources; a retry may succeed."""

    template = 'The resources were booked by others meanwhile; please try again'


class IdempotencyKeyReused(Conflict):
    """The idempotency key names another request of the project."""

    template = (
        'The Idempotency-Key was used for another request within the last 24 hours: by another '
        'user, or with another method, path, query, microversion or body'
    )


class IdempotencyKeyInUse(Conflict):
    """The first request with the idempotency key is still in progress."""

    template = 'A request with this Idempotency-Key is still in progress'


class RequirementsTooSlow(InvalidInput):
    """A request takes too long to search for what it wants."""

    template = (
        'The search takes too long: request fewer different reservations, compare fewer '
        'properties, or choose a shorter period'
    )


class IdempotentAnswerLost(Conflict):
    """The answer to the request with the idempotency key cannot be repeated."""

    template = (
        'The request with this Idempotency-Key was answered with status %(status)s; the answer '
        'itself is not kept%(hint)s'
    )


class PreconditionFailed(ClimateError):
    """The object is not the version that the client named; nothing was changed."""

    code = 412
    template = 'The object is not as %(header)s requires: its ETag is %(etag)s'


class ResourceInMaintenance(Conflict):
    """The lease would use a resource during its maintenance."""

    template = '%(name)s, which the lease uses, is in maintenance from %(start)s to %(end)s'


class ResourcesInUse(Conflict):
    """The change would take resources away from a running lease."""

    template = 'Resources of a running lease cannot be released or exchanged'


class NotEnoughResources(Conflict):
    """Too few resources match, or too few of these are free for the whole period.

    :param what: the noun of the message, such as ``hosts``
    :param matched: the number of resources that match the requirements; for
        resources that are counted, their total amount
    :param free: the part of *matched* that is free for the whole period
    :param first_blocker_ends: when the first conflicting allocation ends
        (aware UTC), None if waiting does not help
    :param too_large: whether resources match, but none of them could ever
        hold a single unit of the request
    :param unplaced: whether enough is free, but not where the placement requires
    :ivar resource_type: of the reservation that failed
    :ivar demanded: what this reservation needs at least, in units multiplied by seconds, by
        resource class; None stands for whole resources
    :ivar missing: how many slots are missing, at least 0
    :ivar detail: why nothing matches, for clients of microversion 1.1; '' if that is unknown
    :ivar place: index of that reservation in the lease, None if it is the only one
    :ivar alternatives: offers that resemble the request
    """

    template = 'Not enough %(what)s available'

    def __init__(
        self,
        what: str = 'resources',
        *,
        matched: int | None = None,
        free: int | None = None,
        first_blocker_ends: datetime.datetime | None = None,
        too_large: bool = False,
        unplaced: bool = False,
    ) -> None:
        super().__init__(what=what)
        self.unplaced = unplaced
        self.matched = matched
        self.free = free
        self.first_blocker_ends = first_blocker_ends
        self.too_large = too_large
        self.resource_type: str | None = None
        self.demanded: Mapping[str | None, int] = {}
        self.missing = 0
        self.detail = ''
        self.place: int | None = None
        self.alternatives: tuple[Any, ...] = ()

    @property
    def message(self) -> str:
        """The message for the caller."""
        text = super().message
        if self.place is not None:
            text += f' for reservations[{self.place}] ({self.resource_type})'
        # Clients compare the beginning of the text.
        if self.unplaced:
            return f'{text}: the free ones do not fulfill the placement'
        return f'{text}: none that matches is large enough' if self.too_large else text

    @property
    def sentence(self) -> str:
        """The message for people, with :attr:`detail`."""
        if not self.detail:
            return self.message
        # Clients compare the beginning of the text.
        return f'{self.message}: {self.detail[:1].lower()}{self.detail[1:]}'


class RequestTooLarge(ClimateError):
    """The body exceeds the size limit."""

    code = 413
    template = 'Request is too large'


class UnsupportedMediaType(ClimateError):
    """The body is not JSON."""

    code = 415
    template = 'Unsupported content type %(content_type)s, application/json required'


class MethodNotAllowed(ClimateError):
    """The path exists, but does not support the method."""

    code = 405
    template = 'The method is not allowed for the requested URL.'


class NotAcceptable(ClimateError):
    """The microversion is not supported."""

    code = 406
    template = (
        'Version %(version)s is not supported by the API. '
        'Minimum is %(minimum)s and maximum is %(maximum)s.'
    )


class ConfigurationError(ClimateError):
    """The service cannot start with its configuration."""

    template = 'Configuration error'


if not TYPE_CHECKING:
    # Hidden from mypy, which would otherwise accept every name.

    def __getattr__(name: str) -> type[ClimateError]:
        """Return an error that a plugin defines: RPC looks up all errors in this module."""
        classes = [ClimateError]
        for each in classes:
            if each.__name__ == name:
                return each
            classes += each.__subclasses__()
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
