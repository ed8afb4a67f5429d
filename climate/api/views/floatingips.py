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

"""Floating IPs as JSON."""

from __future__ import annotations

from typing import Any

from climate.api import dates
from climate.api.microversions import Microversion
from climate.domain.resources import Resource


def floatingip(value: Resource, version: Microversion) -> dict[str, Any]:
    """Return a floating IP."""
    return {
        'id': str(value.id),
        'floating_network_id': value.attributes.get('floating_network_id'),
        'subnet_id': value.attributes.get('subnet_id'),
        'floating_ip_address': value.attributes.get('floating_ip_address'),
        'reservable': value.reservable and not value.disabled and value.failed_at is None,
        'created_at': dates.write_record(value.created_at, version),
        'updated_at': dates.write_record(value.updated_at, version),
    }


def created(value: Resource, version: Microversion) -> dict[str, Any]:
    """Return a floating IP for the response to its registration.

    Clients parse created_at in the long form here, and only here.
    """
    return {
        **floatingip(value, version),
        'created_at': dates.write(value.created_at, version),
        'updated_at': dates.write(value.updated_at, version),
    }
