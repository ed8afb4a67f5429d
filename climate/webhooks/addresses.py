# SPDX-License-Identifier: Apache-2.0

"""Which addresses webhooks may reach.

Users choose the URLs, and managers are inside the cloud: without a check, a webhook could
reach metadata services, databases and the endpoints of other services.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable
from collections.abc import Sequence
from typing import Any
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Resolve = Callable[[str, int], list[str]]

# Routers translate these to the address of IPv4 in their last bits, which may be private.
_NAT64: Final = ipaddress.IPv6Network('64:ff9b::/96')
# What the library counts as public: protocols and relays, documentation, and the services of a
# cloud provider to its machines. Its list of them grows with its versions.
_SPECIAL: Final = tuple(
    ipaddress.ip_network(text)
    for text in ('192.0.0.0/24', '192.88.99.0/24', '168.63.129.16/32', '3fff::/20', '5f00::/16')
)
# Of an address whose last bits are one of IPv4, by ISATAP.
_ISATAP: Final = (0x00005EFE, 0x02005EFE)
_IPV4_BITS: Final = 0xFFFFFFFF


class AddressRefused(Exception):
    """The address of a webhook cannot be used; the text is fit for users."""


class AddressRules:
    """Decides which addresses can be reached.

    :param allowed: networks that can be reached although they are not public
    :param refused: networks that cannot be reached in any case
    :param resolve: returns the addresses of a host name
    """

    def __init__(
        self,
        allowed: Sequence[Network] = (),
        refused: Sequence[Network] = (),
        resolve: Resolve | None = None,
    ) -> None:
        self._allowed = tuple(allowed)
        self._refused = tuple(refused)
        self._resolve = resolve or lookup

    def allows(self, address: Address) -> bool:
        """Whether webhooks can reach an address, and all those that are inside of it."""
        known = (address, *_inner(address))
        if any(_within(one, self._refused) for one in known):
            return False
        return all(_within(one, self._allowed) or _is_public(one) for one in known)

    def check_literal(self, host: str) -> None:
        """Check a host that is written as an address; names pass.

        :raises AddressRefused: if webhooks cannot reach it
        """
        address = _parsed(host)
        if address is not None and not self.allows(address):
            raise AddressRefused(f'the address {address} is not allowed')

    def resolve(self, host: str, port: int) -> str:
        """Return the address to connect to: the first one that is allowed.

        The caller connects to this address and does not look up the name again, because
        its owner could answer differently the second time.

        :raises AddressRefused: if there is none
        """
        literal = _parsed(host)
        addresses = [str(literal)] if literal is not None else self._lookup(host, port)
        for text in addresses:
            address = _parsed(text)
            if address is not None and self.allows(address):
                return str(address)
        raise AddressRefused('the host has no address that is allowed')

    def _lookup(self, host: str, port: int) -> list[str]:
        try:
            return self._resolve(host, port)
        except (OSError, UnicodeError):
            raise AddressRefused('the name of the host cannot be resolved') from None


def lookup(host: str, port: int) -> list[str]:
    """Return the addresses of a host.

    :raises OSError: if it has none
    """
    infos: list[Any] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    # A scope, as in fe80::1%eth0, belongs to addresses that are never public.
    return [str(info[4][0]) for info in infos]


def _parsed(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text.strip('[]'))
    except ValueError:
        return None


def _within(address: Address, networks: Sequence[Network]) -> bool:
    return any(address.version == one.version and address in one for one in networks)


def _inner(address: Address) -> list[Address]:
    """Return the addresses of IPv4 that an address of IPv6 contains."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    inner: list[Address | None] = [address.ipv4_mapped, address.sixtofour]
    if address.teredo is not None:
        inner += address.teredo
    if address in _NAT64 or (int(address) >> 32) & _IPV4_BITS in _ISATAP:
        inner.append(ipaddress.IPv4Address(int(address) & _IPV4_BITS))
    return [one for one in inner if one is not None]


def _is_public(address: Address) -> bool:
    if _within(address, _SPECIAL):
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None or address in _NAT64:
            # Decided by the address that it contains.
            return True
        if address.is_site_local or address.scope_id is not None:
            return False
    return address.is_global and not (
        address.is_multicast
        or address.is_reserved
        or address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_unspecified
    )
