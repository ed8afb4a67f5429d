# SPDX-License-Identifier: Apache-2.0

"""Cloud calls on behalf of a caller who waits for the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from climate import exceptions

T = TypeVar('T')


def answered(work: Callable[[], T]) -> T:
    """Run cloud calls without retries: the caller can try again.

    :raises climate.exceptions.CloudUnavailable: if the cloud does not respond
    :raises climate.exceptions.Conflict: if it refuses
    :raises climate.exceptions.ClimateError: whatever else *work* raises
    """
    try:
        return work()
    except exceptions.Transient as error:
        raise exceptions.CloudUnavailable(service='The cloud', reason=error.message) from error
    except exceptions.Permanent as error:
        raise exceptions.Conflict(error.message) from error
