# SPDX-License-Identifier: Apache-2.0

"""Floating IPs of Neutron."""

from __future__ import annotations

import dataclasses
from collections.abc import Set as AbstractSet
from typing import Protocol


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class FloatingIP:
    """An address of an external network that a project may use.

    :ivar network_id: the external network
    :ivar port_id: the port to which it is attached; None if it is not attached
    """

    id: str
    network_id: str
    address: str
    project_id: str
    port_id: str | None
    tags: frozenset[str]
    description: str = ''


class FloatingIPs(Protocol):
    """Operations on floating IPs, in all projects."""

    def find_floating_ip(self, network_id: str, address: str) -> FloatingIP | None:
        """Return the floating IP of exactly this address; None if it is free."""

    def list_floating_ips(
        self, tag: str | None = None, *, description: str | None = None
    ) -> tuple[FloatingIP, ...]:
        """Return every floating IP, or those with this tag and description, by id."""

    def create_floating_ip(
        self,
        network_id: str,
        project_id: str,
        *,
        subnet_id: str | None = None,
        address: str | None = None,
        description: str = '',
    ) -> FloatingIP:
        """Allocate a floating IP of an external network to a project, without tags.

        Without an *address* Neutron chooses one, and the method is not idempotent.

        :param subnet_id: the subnet of the address; any if None
        :param address: may be inside or outside the allocation pools
        :raises CloudNotFound: if there is no such network or subnet
        :raises CloudConflict: if the address is in use (possibly by an earlier call
            whose response was lost: see :meth:`find_floating_ip`), or no address is
            left
        :raises CloudQuota: if the project has reached its limit
        :raises climate.exceptions.Permanent: if the network is not external, or the
            address is not in one of its subnets
        """

    def set_floating_ip_tags(self, floating_ip_id: str, tags: AbstractSet[str]) -> None:
        """Replace the tags of a floating IP.

        :raises CloudNotFound: if there is no such floating IP
        """

    def delete_floating_ip(self, floating_ip_id: str) -> None:
        """Release a floating IP, attached or not; a no-op if it does not exist."""
