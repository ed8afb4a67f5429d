# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

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
    #: Until when it can be taken.
    expires_at = resource.Body('expires_at')
    #: Until when other requests cannot book its resources.
    held_until = resource.Body('held_until')
    #: The lease that took it.
    lease_id = resource.Body('lease_id')
