# SPDX-License-Identifier: Apache-2.0

"""Maintenances in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


class ResourceMaintenance(bases.ManagedResource):
    """A period in which a resource accepts no new reservations."""

    resource_key = 'maintenance'
    resources_key = 'maintenances'
    base_path = '/maintenances'

    allow_commit = False

    _query_mapping = resource.QueryParameters(include_pagination_defaults=False)

    resource_id = resource.Body('resource_id')
    resource_type = resource.Body('resource_type')
    resource_name = resource.Body('resource_name')
    start_date = resource.Body('start_date')
    end_date = resource.Body('end_date')
    reason = resource.Body('reason')
    #: Who announced it.
    user_id = resource.Body('user_id')
    created_at = resource.Body('created_at')
