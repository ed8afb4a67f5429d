# SPDX-License-Identifier: Apache-2.0

"""The calendar in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


class CalendarColumns(bases.ReservationResource):
    """When some resources are reserved; the n-th values of its lists belong together."""

    resource_key = 'calendar'
    base_path = '/calendar'
    requires_id = False
    _allow_unknown_attrs_in_body = True

    resource_type = resource.Body('resource_type')
    #: Seconds since 1970, as all its times.
    start = resource.Body('start', type=int)
    end = resource.Body('end', type=int)
    #: The number of resources of all pages.
    total = resource.Body('total', type=int)
    #: Values of the property that it is grouped by, and how many resources have each of them.
    groups = resource.Body('groups', type=dict)
    resources = resource.Body('resources', type=dict)
    allocations = resource.Body('allocations', type=dict)
    #: The leases that the caller may see.
    leases = resource.Body('leases', type=dict)
    maintenances = resource.Body('maintenances', type=dict)
    #: Where the next page begins; None for the last.
    next_marker = resource.Body('next_marker')
