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

"""Availability in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


class Availability(bases.ReservationResource):
    """How much of a resource type is free over time."""

    resource_key = 'availability'
    base_path = '/availability'
    requires_id = False

    allow_fetch = True

    resource_type = resource.Body('resource_type')
    start = resource.Body('start')
    end = resource.Body('end')
    #: Seconds of each bucket.
    step = resource.Body('step', type=int)
    #: The number of buckets.
    buckets = resource.Body('buckets', type=int)
    #: The demand by resource class.
    resources = resource.Body('resources', type=dict)
    #: The property by whose values the figures are grouped.
    group_by = resource.Body('group_by')
    #: The figures, for each value of the property.
    groups = resource.Body('groups', type=list)
