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
