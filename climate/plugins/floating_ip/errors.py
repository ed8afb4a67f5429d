# SPDX-License-Identifier: Apache-2.0

"""Errors about floating IPs."""

from __future__ import annotations

from climate import exceptions


class FloatingIPSubnetNotFound(exceptions.NotFound):
    """No subnet of the network has the address."""

    template = 'No subnet has the floating IP %(floatingip)s'


class InvalidIPFormat(exceptions.InvalidInput):
    """The text is not an IP address."""

    template = 'IP address %(ip)s is invalid'


class TooLongFloatingIPs(exceptions.InvalidInput):
    """The request names more addresses than the floating IPs that it asks for."""

    error_name = 'TOO_LONG_FLOATING_IPS'
    template = 'More required_floatingips than the amount of floating IPs'


class FloatingIPNetworkNotFound(exceptions.InvalidInput):
    """Neutron has no such network, or it is not external."""

    template = "Floating IP network '%(network)s' was not found"


class NeutronUsesFloatingIP(exceptions.InvalidInput):
    """Neutron uses the address, or may allocate it."""

    template = 'Floating IP %(floatingip)s is used by Neutron'
