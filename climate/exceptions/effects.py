# SPDX-License-Identifier: Apache-2.0

"""Errors of effects in the cloud; :mod:`climate.exceptions` exports all names."""

from __future__ import annotations

from typing import Any

from climate.exceptions import texts
from climate.exceptions.base import ClimateError


class EffectError(ClimateError):
    """Base of the errors that effects of plugins raise.

    Most messages quote another service, so every one is cleaned.

    :ivar awaited: whether it is about an object that was just made, and that the service
        may not know everywhere yet
    """

    awaited: bool = False

    template = 'The cloud could not be brought to the wanted state'

    def __init__(self, message: str | None = None, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.args = (texts.clean(self.message),)


class Transient(EffectError):
    """A temporary failure; the effect is retried with growing delays."""

    error_name = 'TRANSIENT'


class FilterUnavailable(Transient):
    """The external enforcement service is unavailable; calls to it pause for a while."""

    error_name = 'JUDGE_AWAY'


class Permanent(EffectError):
    """A permanent failure; the effect is undone and an error is reported."""

    error_name = 'PERMANENT'


class ResourceUnusable(Transient):
    """The cloud has changed a resource, so that leases cannot use it.

    The facts have ``resource_id``, and the ``reason``: how it has changed, as
    :class:`climate.plugins.outcomes.Reported` says it.
    """

    error_name = 'RESOURCE_UNUSABLE'
