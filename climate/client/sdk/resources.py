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

"""Resources of every type in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


class ReservableResource(bases.ReservationResource):
    """A resource of any type that can be reserved."""

    resource_key = 'resource'
    resources_key = 'resources'
    base_path = '/resources'

    allow_create = True
    allow_fetch = True
    allow_commit = True
    allow_delete = True
    allow_list = True

    _query_mapping = resource.QueryParameters('type', 'name', 'sort_key', 'sort_dir')

    resource_type = resource.Body('resource_type')
    #: Whether new leases can book it.
    is_reservable = resource.Body('reservable', type=bool)
    #: Whether the operator has disabled it.
    is_disabled = resource.Body('disabled', type=bool)
    failed_at = resource.Body('failed_at')
    #: How the cloud has changed it since it was registered (1.6).
    degraded = resource.Body('degraded')
    #: What the cloud says about it.
    attributes = resource.Body('attributes', type=dict)
    #: What the operator says about it.
    properties = resource.Body('properties', type=dict)
    #: Amounts by resource class, as in Placement.
    inventories = resource.Body('inventories', type=dict)
    traits = resource.Body('traits', type=list)
    created_at = resource.Body('created_at')
    updated_at = resource.Body('updated_at')
