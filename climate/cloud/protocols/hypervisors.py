# SPDX-License-Identifier: Apache-2.0

"""Hypervisors, on which Nova runs servers, and their nova-compute services."""

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


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ComputeService:
    """A nova-compute service.

    :ivar id: the id in Nova, a UUID as text
    :ivar host: the service host
    :ivar state: ``up`` if it reports regularly, else ``down``; Nova notices only after
        a minute that a service has died
    :ivar status: whether an administrator has ``enabled`` or ``disabled`` it
    :ivar disabled_reason: the reason that the administrator gave; '' if none
    """

    id: str
    host: str
    state: Literal['up', 'down']
    status: Literal['enabled', 'disabled']
    disabled_reason: str


class ComputeServices(Protocol):
    """Operations on nova-compute services."""

    def list_services(self) -> tuple[ComputeService, ...]:
        """Return every nova-compute service, by host."""

    def enable_service(self, host: str) -> None:
        """Enable scheduling to a service host; a no-op if it is enabled already.

        :raises CloudNotFound: if there is no such host
        """

    def disable_service(self, host: str, reason: str) -> None:
        """Disable scheduling to a service host; its servers stay.

        Disabling it again replaces the reason.

        :param reason: a text for administrators, 1 to 255 characters
        :raises CloudNotFound: if there is no such host
        """
