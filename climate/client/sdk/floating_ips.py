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


"""Floating IPs in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


class ReservableAddress(bases.ReservationResource):
    """A floating IP that can be reserved."""

    resource_key = 'floatingip'
    resources_key = 'floatingips'
    base_path = '/floatingips'

    allow_create = True
    allow_fetch = True
    allow_delete = True
    allow_list = True

    _query_mapping = resource.QueryParameters(include_pagination_defaults=False)

    #: The external network.
    floating_network_id = resource.Body('floating_network_id')
    floating_ip_address = resource.Body('floating_ip_address')
    subnet_id = resource.Body('subnet_id')
    #: Whether new leases can book it.
    is_reservable = resource.Body('reservable', type=bool)
    created_at = resource.Body('created_at')
    updated_at = resource.Body('updated_at')
