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


"""Maintenances in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


class ResourceMaintenance(bases.ReservationResource):
    """A period in which a resource accepts no new reservations."""

    resource_key = 'maintenance'
    resources_key = 'maintenances'
    base_path = '/maintenances'

    allow_create = True
    allow_fetch = True
    allow_delete = True
    allow_list = True

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
