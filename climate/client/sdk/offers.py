# SPDX-License-Identifier: Apache-2.0

"""Offers in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


class LeaseOffer(bases.ReservationResource):
    """A period in which a lease could be booked."""

    resource_key = 'offer'
    resources_key = 'offers'
    base_path = '/offers'

    allow_fetch = True
    allow_delete = True

    start_date = resource.Body('start_date')
    end_date = resource.Body('end_date')
    #: Why it was chosen, such as ``soonest``.
    reason = resource.Body('reason')
    #: For each reservation, how much of it there is.
    reservations = resource.Body('reservations', type=list)
    #: What is missing before the start.
    blocked_before = resource.Body('blocked_before', type=list)
    #: Values of properties that taking the offer requires.
    requirements = resource.Body('requirements', type=list)
    #: The price, if cheap offers were requested.
    cost = resource.Body('cost')
    #: The number of resources, if few were requested.
    resources = resource.Body('resources')
    #: How many flexible leases would move for it (1.8).
    displaced = resource.Body('displaced')
    #: Until when it can be taken.
    expires_at = resource.Body('expires_at')
    #: Until when other requests cannot book its resources.
    held_until = resource.Body('held_until')
    #: The lease that took it.
    lease_id = resource.Body('lease_id')
