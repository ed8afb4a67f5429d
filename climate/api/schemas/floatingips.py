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

"""Bodies of floating IPs."""

from __future__ import annotations

from typing import Any

from climate.api import microversions
from climate.api.validation import Validator

_CREATE_1_0: dict[str, Any] = {
    'type': 'object',
    'required': ['floating_network_id', 'floating_ip_address'],
    'properties': {
        'floating_network_id': {'type': 'string', 'minLength': 1, 'maxLength': 255},
        'floating_ip_address': {'type': 'string', 'minLength': 1, 'maxLength': 64},
    },
}
_CREATE = {
    microversions.V1_0: Validator(_CREATE_1_0),
    microversions.V1_1: Validator({**_CREATE_1_0, 'additionalProperties': False}),
}


def read_new(version: microversions.Microversion, body: dict[str, Any]) -> dict[str, str]:
    """Return the network and the address of a new floating IP.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    _CREATE[max(known for known in _CREATE if known <= version)].check(body)
    return {key: body[key] for key in _CREATE_1_0['required']}
