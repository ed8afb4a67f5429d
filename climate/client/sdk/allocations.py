# SPDX-License-Identifier: Apache-2.0

"""Allocations in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


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
