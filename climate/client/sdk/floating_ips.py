# SPDX-License-Identifier: Apache-2.0

"""Floating IPs in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


class ReservableAddress(bases.ManagedResource):
    """A floating IP that can be reserved."""

    resource_key = 'floatingip'
    resources_key = 'floatingips'
    base_path = '/floatingips'

    allow_commit = False

    _query_mapping = resource.QueryParameters(include_pagination_defaults=False)

    #: The external network.
    floating_network_id = resource.Body('floating_network_id')
    floating_ip_address = resource.Body('floating_ip_address')
    subnet_id = resource.Body('subnet_id')
    #: Whether new leases can book it.
    is_reservable = resource.Body('reservable', type=bool)
    created_at = resource.Body('created_at')
    updated_at = resource.Body('updated_at')
