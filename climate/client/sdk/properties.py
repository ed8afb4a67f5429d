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
