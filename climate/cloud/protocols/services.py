# SPDX-License-Identifier: Apache-2.0

"""nova-compute services: whether they are alive and enabled."""

from __future__ import annotations

import dataclasses
from typing import Literal
from typing import Protocol


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
