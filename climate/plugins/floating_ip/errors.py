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

"""Errors about floating IPs."""

from __future__ import annotations

from climate import exceptions


class FloatingIPSubnetNotFound(exceptions.NotFound):
    """No subnet of the network has the address."""

    error_name = 'FLOATING_IP_SUBNET_NOT_FOUND'
    template = 'No subnet has the floating IP %(floatingip)s'


class InvalidIPFormat(exceptions.InvalidInput):
    """The text is not an IP address."""

    error_name = 'INVALID_IP_FORMAT'
    template = 'IP address %(ip)s is invalid'


class TooLongFloatingIPs(exceptions.InvalidInput):
    """The request names more addresses than the floating IPs that it asks for."""

    error_name = 'TOO_LONG_FLOATING_IPS'
    template = 'More required_floatingips than the amount of floating IPs'


class FloatingIPNetworkNotFound(exceptions.InvalidInput):
    """Neutron has no such network, or it is not external."""

    error_name = 'FLOATING_IP_NETWORK_NOT_FOUND'
    template = "Floating IP network '%(network)s' was not found"


class NeutronUsesFloatingIP(exceptions.InvalidInput):
    """Neutron uses the address, or may allocate it."""

    error_name = 'NEUTRON_USES_FLOATING_IP'
    template = 'Floating IP %(floatingip)s is used by Neutron'
