# SPDX-License-Identifier: Apache-2.0

"""Hypervisors: the machines on which Nova runs servers."""

from __future__ import annotations

import dataclasses
from typing import Literal
from typing import Protocol


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Hypervisor:
    """A machine that runs servers.

    :ivar id: the id in Nova, a UUID as text
    :ivar hostname: the hypervisor hostname
    :ivar service_host: the service host of its nova-compute
    :ivar memory_mb: memory, MiB
    :ivar local_gb: local disk, GiB
    :ivar cpu_info: Nova's description of the processor, as the text of a JSON object;
        ``{}`` if it has none
    :ivar state: ``up`` if its nova-compute reports regularly, else ``down``
    :ivar status: whether an administrator has ``enabled`` or ``disabled`` it
    :ivar availability_zone: '' if zones are not looked up (``[nova] az_aware``)
    """

    id: str
    hostname: str
    service_host: str
    hypervisor_type: str
    hypervisor_version: int
    vcpus: int
    memory_mb: int
    local_gb: int
    cpu_info: str
    state: Literal['up', 'down']
    status: Literal['enabled', 'disabled']
    availability_zone: str


class Hypervisors(Protocol):
    """Operations on hypervisors."""

    def list_hypervisors(self) -> tuple[Hypervisor, ...]:
        """Return every hypervisor, by hostname."""

    def find_hypervisor(self, name_or_id: str) -> Hypervisor | None:
        """Return the hypervisor with exactly this hostname, or else with this id.

        None if neither exists.
        """
