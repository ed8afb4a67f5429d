# SPDX-License-Identifier: Apache-2.0

"""Hosts as resources: reserved names of properties, and errors."""

from __future__ import annotations

from typing import Final

from climate.domain.resources import Resource
from climate.plugins import instructions
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
        words = ('openstack', 'reservable', 'resource', 'set', '--rename')
        return errors.HostRenamed(
            host=resource.name,
            service=service,
            known=known.name,
            command=instructions.command(*words, resource.name, known.name),
        )

    def in_use(self, resource: Resource) -> errors.HostInUse:
        """Return the error for deleting a host that has reservations."""
        return errors.HostInUse(host=resource.name)

    def required(self, resource: Resource, name: str) -> errors.CapabilityInUse:
        """Return the error for changing a capability that a reservation requires."""
        return errors.CapabilityInUse(name=name, host=resource.name)
