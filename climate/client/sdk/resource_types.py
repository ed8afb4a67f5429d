# SPDX-License-Identifier: Apache-2.0

"""Resource types in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


class ReservableType(bases.ManagedResource):
    """A type of resources that can be reserved."""

    resource_key = 'resource_type'
    resources_key = 'resource_types'
    base_path = '/resource-types'

    _query_mapping = resource.QueryParameters(include_pagination_defaults=False)

    #: Such as ``physical:host``; it is also the id.
    name = resource.Body('name', alternate_id=True)
    description = resource.Body('description')
    #: ``code``, or ``api`` if an administrator declared it.
    origin = resource.Body('origin')
    #: Whether a reservation has whole resources rather than amounts of classes.
    is_exclusive = resource.Body('exclusive', type=bool)
    #: What its resources are called, in the plural.
    noun = resource.Body('noun')
    #: What one of them is called.
    noun_one = resource.Body('noun_one')
    #: The resource classes; in requests, their usual amounts.
    classes = resource.Body('classes')
    #: The usual inventory of each class.
    inventories = resource.Body('inventories', type=dict)
    #: The properties that notifications contain.
    announce = resource.Body('announce', type=list)
    #: JSON schema of a reservation.
    reservation_schema = resource.Body('reservation_schema', type=dict)
    #: JSON schema of a resource.
    resource_schema = resource.Body('resource_schema', type=dict)
    created_at = resource.Body('created_at')
    updated_at = resource.Body('updated_at')
