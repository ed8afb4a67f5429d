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
