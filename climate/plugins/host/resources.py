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

"""Hosts as resources: reserved names of properties, and errors."""

from __future__ import annotations

from typing import Final

from climate.domain.resources import Resource
from climate.plugins import refusals
from climate.plugins.host import errors
from climate.plugins.host.nodes import service_host

# The API shows the properties of a host next to these keys.
RESERVED_PROPERTIES: Final = frozenset(
    {
        'id',
        'name',
        'availability_zone',
        'cpu_info',
        'created_at',
        'disabled',
        'extra_capability',
        'hypervisor_hostname',
        'hypervisor_type',
        'hypervisor_version',
        'local_gb',
        'memory_mb',
        'reservable',
        'service_name',
        'status',
        'trust_id',
        'updated_at',
        'vcpus',
    }
)


class HostRefusals(refusals.Refusals):
    """The errors that clients of ``/os-hosts`` know."""

    def exists(self, resource_type: str, name: str) -> errors.HostExists:
        """Return the error for a name that is registered already."""
        return errors.HostExists(host=name)

    def renamed(self, resource: Resource, known: Resource) -> errors.HostRenamed:
        """Return the error for a host whose nova-compute is registered under another name."""
        service = service_host(resource)
        return errors.HostRenamed(host=resource.name, service=service, known=known.name)

    def in_use(self, resource: Resource) -> errors.HostInUse:
        """Return the error for deleting a host that has reservations."""
        return errors.HostInUse(host=resource.name)

    def required(self, resource: Resource, name: str) -> errors.CapabilityInUse:
        """Return the error for changing a capability that a reservation requires."""
        return errors.CapabilityInUse(name=name, host=resource.name)
