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


"""Usage reports in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


class UsageReport(bases.ReservationResource):
    """How much leases booked and used in a period."""

    resource_key = 'usage'
    base_path = '/usage'
    requires_id = False

    start = resource.Body('start')
    end = resource.Body('end')
    #: ``project``, ``type`` or ``class``.
    by = resource.Body('by')
    #: Dictionaries with ``booked``, ``used``, ``unused`` and ``ahead``, in units of the
    #: resource class multiplied by seconds.
    rows = resource.Body('rows', type=list)
