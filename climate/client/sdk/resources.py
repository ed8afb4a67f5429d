# SPDX-License-Identifier: Apache-2.0

"""Resources of every type, their properties and allocations in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


class ReservableResource(bases.ManagedResource):
    """A resource of any type that can be reserved."""

    resource_key = 'resource'
    resources_key = 'resources'
    base_path = '/resources'

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


class ResourceAllocations(bases.ReservationResource):
    """When a resource is reserved."""

    resources_key = 'allocations'
    base_path = '/resources/allocations'

    allow_list = True

    _query_mapping = resource.QueryParameters(
        'type', 'lease_id', 'reservation_id', include_pagination_defaults=False
    )

    resource_id = resource.Body('resource_id', alternate_id=True)
    resource_name = resource.Body('resource_name')
    #: Its periods and amounts.
    reservations = resource.Body('reservations', type=list)


class ResourceProperty(bases.ReservationResource):
    """A property that resources of a type have."""

    resources_key = 'resource_properties'
    base_path = '/resources/properties'

    allow_list = True

    _query_mapping = resource.QueryParameters(
        'type', 'detail', 'all', include_pagination_defaults=False
    )

    #: Its name.
    property = resource.Body('property', alternate_id=True)
    #: Whether only administrators see it; with ``detail``.
    is_private = resource.Body('private', type=bool)
    #: The values that resources have; with ``detail``.
    values = resource.Body('values', type=list)
