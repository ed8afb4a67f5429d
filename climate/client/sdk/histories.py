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


"""What was done for a lease, in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


class LeaseHistory(bases.ReservationResource):
    """What the service did for a lease in the cloud, and what is still to come."""

    resource_key = 'history'
    base_path = '/leases/%(lease_id)s/history'
    requires_id = False

    allow_fetch = True

    lease_id = resource.URI('lease_id')
    #: An entry for each effect on each reservation, in the order in which they began, with
    #: ``effect``, ``state``, ``attempts``, ``first_at``, ``last_at``, ``waiting_for``,
    #: ``error`` and ``lines``.
    steps = resource.Body('steps', type=list)
    #: The events still to come, with ``event_type``, ``time``, ``due`` and ``why``.
    awaited = resource.Body('awaited', type=list)
