# SPDX-License-Identifier: Apache-2.0

"""Errors of services that Climate depends on."""

from __future__ import annotations

import enum
from typing import Any
from typing import Final

from climate.exceptions.base import ClimateError

# Over RPC, processes of the previous release find the classes in this module.
_HOME: Final = 'climate.exceptions'


class Cause(enum.Enum):
    """Why the database has not done what it was asked."""

    GONE = 'does not answer'
    READ_ONLY = 'is read-only'
    OVERLOADED = 'has no room or no connection left'
    LOCKED = 'is locked by others'
    REFUSED = 'refuses the service'
    OUTDATED = 'has no tables, or old ones'


class ServiceUnavailable(ClimateError):
    """A service that Climate depends on is unavailable."""

    __module__ = _HOME
    code = 503
    template = 'The service is temporarily unavailable'


class DatabaseUnavailable(ServiceUnavailable):
    """The database does not answer, or cannot do now what it was asked.

    :ivar cause: why
    :ivar reason: what its driver says, without the password; for operators only
    """

    __module__ = _HOME
    template = 'The database is temporarily unavailable, please try again'

    def __init__(
        self,
        message: str | None = None,
        *,
        cause: Cause = Cause.GONE,
        reason: str = '',
        **facts: Any,
    ) -> None:
        super().__init__(message, **facts)
        self.cause = cause
        self.reason = reason

    @property
    def explanation(self) -> str:
        """What operators need to know, in one line."""
        if not self.reason or self.cause is Cause.OUTDATED:
            return self.message
        return f'The database {self.cause.value}: {self.reason}'


class DatabaseRefused(DatabaseUnavailable):
    """The database refuses what will not pass: a password, a right, a character set."""

    __module__ = _HOME
    code = 500
    template = 'The database refuses the service; the log of the service has the reason'


class ManagerUnavailable(ServiceUnavailable):
    """No manager answered in time."""

    __module__ = _HOME
    template = 'No manager answered in time, please try again'


class CloudUnavailable(ServiceUnavailable):
    """A service of the cloud does not answer."""

    __module__ = _HOME
    template = '%(service)s does not answer: %(reason)s'
