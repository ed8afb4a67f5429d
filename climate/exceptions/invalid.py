# SPDX-License-Identifier: Apache-2.0

"""Errors of invalid requests; :mod:`climate.exceptions` exports all names."""

from __future__ import annotations

from typing import Self

from climate.exceptions.base import ClimateError


class InvalidInput(ClimateError):
    """A field of the request is invalid; nothing was changed."""

    code = 400
    template = 'Invalid input'

    @classmethod
    def of(cls, field: str, reason: str) -> Self:
        """Return the error of a field.

        :param reason: why it is invalid, or what is required
        """
        return cls(f'Malformed parameter {field}: {reason}')


class MissingParameter(InvalidInput):
    """A required field is missing."""

    template = 'Missing parameter %(param)s'


class MalformedParameter(InvalidInput):
    """A field has the wrong type or shape."""

    template = 'Malformed parameter %(param)s'

    @property
    def sentence(self) -> str:
        """The message for people, if a text, the fact ``field``, exceeds ``most`` characters."""
        most = self.facts.get('most')
        if most is None:
            return self.message
        field = str(self.facts['field'])
        name = f'The {field.replace("_", " ")}' if field.isidentifier() else field
        return f'{name} can have at most {most} characters'


class MalformedRequirements(InvalidInput):
    """A requirement expression cannot be parsed."""

    template = 'Malformed requirements %(rqrms)s'


class InvalidDate(InvalidInput):
    """A date cannot be parsed."""

    template = '%(date)s is an invalid date. Required format: %(date_format)s'


class InvalidRange(InvalidInput):
    """min is larger than max."""

    template = 'Invalid values for min/max of %(what)s. Max must be equal to or larger than min.'


class InvalidPeriod(InvalidInput):
    """The end of a period is not after its start."""

    template = 'End date must be later than start date.'


class ExtraCapabilityTooLong(InvalidInput):
    """The name of an extra capability is too long."""

    template = 'Extra capability key too long'


class UnsupportedResourceType(InvalidInput):
    """No plugin reserves resources of this type."""

    template = 'The %(resource_type)s resource type is not supported'
