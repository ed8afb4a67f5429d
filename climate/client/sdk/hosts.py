# SPDX-License-Identifier: Apache-2.0

"""Hosts in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


class ReservableHost(bases.ManagedResource):
    """A host that can be reserved; properties of the operator are further attributes."""

    resource_key = 'host'
    resources_key = 'hosts'
    base_path = '/os-hosts'

    _allow_unknown_attrs_in_body = True

    #: The name in Nova; ``name`` in requests.
    hypervisor_hostname = resource.Body('hypervisor_hostname')
    hypervisor_type = resource.Body('hypervisor_type')
    hypervisor_version = resource.Body('hypervisor_version', type=int)
    service_name = resource.Body('service_name')
    vcpus = resource.Body('vcpus', type=int)
    memory_mb = resource.Body('memory_mb', type=int)
    local_gb = resource.Body('local_gb', type=int)
    cpu_info = resource.Body('cpu_info')
    status = resource.Body('status')
    #: Whether new leases can book it.
    is_reservable = resource.Body('reservable', type=bool)
    created_at = resource.Body('created_at')
    updated_at = resource.Body('updated_at')
