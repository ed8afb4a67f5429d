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

"""Hosts as JSON."""

from __future__ import annotations

from typing import Any

from climate.api import dates
from climate.api.microversions import Microversion
from climate.domain.resources import Resource


def host(value: Resource, version: Microversion) -> dict[str, Any]:
    """Return a host; each extra capability is a key of its own."""
    attributes = value.attributes
    return {
        **value.capabilities,
        # Clients accept the id of a host only as a string of digits.
        'id': str(value.id),
        'hypervisor_hostname': attributes.get('hypervisor_hostname') or value.name,
        'hypervisor_type': attributes.get('hypervisor_type'),
        'hypervisor_version': attributes.get('hypervisor_version'),
        'vcpus': attributes.get('vcpus'),
        'cpu_info': attributes.get('cpu_info') or '',
        'memory_mb': attributes.get('memory_mb'),
        'local_gb': attributes.get('local_gb'),
        'service_name': attributes.get('service_name'),
        'status': None,
        'availability_zone': attributes.get('availability_zone') or '',
        'trust_id': None,
        'reservable': value.reservable and not value.disabled and value.failed_at is None,
        'created_at': dates.write_record(value.created_at, version),
        'updated_at': dates.write_record(value.updated_at, version),
    }
