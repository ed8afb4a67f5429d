# SPDX-License-Identifier: Apache-2.0

"""Resources of every type in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


class ReservableResource(bases.ReservationResource):
    """A resource of any type that can be reserved."""

    resource_key = 'resource'
    resources_key = 'resources'
    base_path = '/resources'

    allow_create = True
    allow_fetch = True
    allow_commit = True
    allow_delete = True
    allow_list = True

    _query_mapping = resource.QueryParameters('type', 'name', 'sort_key', 'sort_dir')

    resource_type = resource.Body('resource_type')
    #: Whether new leases can book it.
    is_reservable = resource.Body('reservable', type=bool)
    #: Whether the operator has disabled it.
    is_disabled = resource.Body('disabled', type=bool)
    failed_at = resource.Body('failed_at')
    #: How the cloud has changed it since it was registered (1.6).
    degraded = resource.Body('degraded')
    #: What the cloud says about it.
    attributes = resource.Body('attributes', type=dict)
    #: What the operator says about it.
    properties = resource.Body('properties', type=dict)
    #: Amounts by resource class, as in Placement.
    inventories = resource.Body('inventories', type=dict)
    traits = resource.Body('traits', type=list)
    created_at = resource.Body('created_at')
    updated_at = resource.Body('updated_at')
