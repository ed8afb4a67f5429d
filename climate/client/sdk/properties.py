# SPDX-License-Identifier: Apache-2.0

"""Properties of resources in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


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
