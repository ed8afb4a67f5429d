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

"""Floating IPs, as Neutron knows them."""

from __future__ import annotations

import dataclasses
from collections.abc import Set as AbstractSet
from typing import Protocol


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class FloatingIP:
    """An address of an external network that a project may use.

    :ivar network_id: of the external network
    :ivar port_id: the port that it leads to; None if it leads nowhere
    """

    id: str
    network_id: str
    address: str
    project_id: str
    port_id: str | None
    tags: frozenset[str]
    description: str = ''


class FloatingIPs(Protocol):
    """Verbs about floating IPs, of all projects."""

    def find_floating_ip(self, network_id: str, address: str) -> FloatingIP | None:
        """Return the floating IP of exactly this address; None if it is free."""
        ...

    def list_floating_ips(
        self, tag: str | None = None, *, description: str | None = None
    ) -> tuple[FloatingIP, ...]:
        """Return every floating IP, or those that have this tag, or this description, by id."""
        ...

    def create_floating_ip(
        self,
        network_id: str,
        project_id: str,
        *,
        subnet_id: str | None = None,
        address: str | None = None,
        description: str = '',
    ) -> FloatingIP:
        """Give a project an address of an external network, without tags.

        Without an *address* Neutron chooses one, and repeating the verb makes
        another.

        :param subnet_id: the address has to be of this one; any if None
        :param address: this one, in the allocation pools or outside of them
        :raises CloudNotFound: if there is no such network or subnet
        :raises CloudConflict: if the address is in use (perhaps by a call
            before, whose answer was lost: see :meth:`find_floating_ip`), or
            no address is left
        :raises CloudQuota: if the project may have no more of them
        :raises climate.exceptions.Permanent: if the network is not external,
            or the address not one of its subnets'
        """
        ...

    def set_floating_ip_tags(self, floating_ip_id: str, tags: AbstractSet[str]) -> None:
        """Give a floating IP these tags in place of those it has.

        :raises CloudNotFound: if there is no such floating IP
        """
        ...

    def detach_floating_ip(self, floating_ip_id: str) -> None:
        """Let it lead nowhere; fine if it does not, or is gone already."""
        ...

    def delete_floating_ip(self, floating_ip_id: str) -> None:
        """Give it back, wherever it leads to; fine if it is gone already."""
        ...
