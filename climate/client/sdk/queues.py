# SPDX-License-Identifier: Apache-2.0

"""The queue of flexible leases in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


class LeaseInQueue(bases.ReservationResource):
    """A flexible lease that may still move, or waits for room."""

    resources_key = 'queue'
    base_path = '/queue'

    allow_list = True
    _query_mapping = resource.QueryParameters('resource_type', 'lease_id')

    #: The id of the lease.
    lease_id = resource.Body('lease_id')
    id = resource.Body('lease_id')
    name = resource.Body('name')
    project_id = resource.Body('project_id')
    #: ``PENDING``, or ``WAITING`` without a booking.
    status = resource.Body('status')
    #: Its priority; a higher one comes first.
    priority = resource.Body('priority', type=int)
    #: Its place among the leases that compete; the first is 1.
    place = resource.Body('place', type=int)
    #: The leases that compete and come before it: how many, and their amounts by type.
    ahead = resource.Body('ahead', type=dict)
    #: When it begins as it looks now; None if there is no room in its window.
    forecast = resource.Body('forecast')
    #: The soonest start with room, even after its window; None if there is none.
    room_at = resource.Body('room_at')
    #: What is missing for an earlier start.
    waits_for = resource.Body('waits_for', type=list)
