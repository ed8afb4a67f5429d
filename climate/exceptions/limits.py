# SPDX-License-Identifier: Apache-2.0

"""Errors of requests that exceed a limit; :mod:`climate.exceptions` exports all names."""

from __future__ import annotations

from typing import Final

from climate.exceptions.base import ClimateError
from climate.exceptions.invalid import InvalidInput

_COUNTED: Final = frozenset({'leases', 'offers', 'webhooks', 'feeds'})
"""The limits on what a project has at one time, named after it."""


class LimitExceeded(InvalidInput):
    """A limit or a filter of the operator refuses a change; the lease is unchanged."""

    template = 'The lease is not within the limits of this cloud'


class ProjectLimit(LimitExceeded):
    """The project would exceed its limit."""

    template = 'Limit %(limit)s of the project is %(most)s, and this would be %(wanted)s'

    @property
    def sentence(self) -> str:
        """The message for people, if the limit is a number of objects of which one is too many."""
        limit, most, wanted = (self.facts[key] for key in ('limit', 'most', 'wanted'))
        if limit not in _COUNTED or wanted != most + 1:
            return self.message
        what = f'Your project has {most} {limit}, the most it can have'
        return f'{what}. Delete one, or ask your operator'


class LeaseTooLong(LimitExceeded):
    """The lease would exceed the maximum duration."""

    error_name = 'MAX_LEASE_DURATION'
    template = (
        'Lease duration of %(lasts)s seconds is longer than the longest allowed, '
        '%(longest)s seconds'
    )


class OutsideExtensionWindow(LimitExceeded):
    """It is too early to prolong the lease."""

    template = 'A lease can be prolonged only in the last %(window)s seconds before its end'


class ExternalServiceRefused(LimitExceeded):
    """The external enforcement service refuses the lease."""

    template = 'The usage enforcement service of this cloud refuses the lease'


class ExternalServiceUnavailable(LimitExceeded):
    """The external enforcement service did not answer, so the lease is refused."""

    template = 'The usage enforcement service of this cloud gave no answer, please try again'


class TooManyRequests(ClimateError):
    """Too many requests come from one project or address."""

    code = 429
    template = 'Too many requests of one %(kind)s: the limit is %(limit)s'


class TooManyAtOnce(TooManyRequests):
    """A caller has as many requests in progress as one may have."""

    template = (
        'Too many requests of one %(kind)s at once: a process of the service carries out '
        '%(most)s of them at a time'
    )
