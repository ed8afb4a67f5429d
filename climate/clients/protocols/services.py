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
        ...

    def enable_service(self, host: str) -> None:
        """Enable scheduling to a service host; a no-op if it is enabled already.

        :raises CloudNotFound: if there is no such host
        """
        ...

    def disable_service(self, host: str, reason: str) -> None:
        """Disable scheduling to a service host; its servers stay.

        Disabling it again replaces the reason.

        :param reason: a text for administrators, 1 to 255 characters
        :raises CloudNotFound: if there is no such host
        """
        ...
