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

"""What operators configure of leases by booting."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any
from typing import Final

from climate import exceptions
from climate.clients.base import Server
from climate.domain import instants

RESOURCE_TYPE: Final = 'virtual:server'
ALL: Final = '*'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ServerLeaseSettings:
    """What operators configure of leases by booting.

    :ivar enabled: whether there are any
    :ivar default_lease: how long the lease lasts that servers get without
        asking; None if they get none
    :ivar projects: ids of those whose servers do; :data:`ALL` for all
    :ivar exempt: ids of those whose servers do not
    :ivar on_end: what is done with those servers in the end
    :ivar poll_interval: seconds between two looks at Nova
    """

    enabled: bool = False
    default_lease: datetime.timedelta | None = None
    projects: frozenset[str] = frozenset()
    exempt: frozenset[str] = frozenset()
    on_end: tuple[str, ...] = ('snapshot', 'delete')
    poll_interval: float = 300.0

    @classmethod
    def from_conf(cls, conf: Any) -> ServerLeaseSettings:
        """Return the settings that *conf* (an oslo.config ConfigOpts) holds.

        :raises climate.exceptions.ConfigurationError: if they contradict one another
        """
        group = conf[RESOURCE_TYPE]
        length = instants.duration(group.default_lease) if group.default_lease else None
        if group.default_lease and (length is None or length < instants.SECOND):
            raise exceptions.ConfigurationError(
                f'[{RESOURCE_TYPE}] default_lease: {group.default_lease!r} is no length of time '
                'such as 30d, 12h or PT90M'
            )
        if length is not None and not group.leases_by_booting:
            raise exceptions.ConfigurationError(
                f'[{RESOURCE_TYPE}] default_lease needs leases_by_booting'
            )
        if group.leases_by_booting and RESOURCE_TYPE not in conf.resource_types:
            raise exceptions.ConfigurationError(
                f'[{RESOURCE_TYPE}] leases_by_booting needs {RESOURCE_TYPE} in resource_types'
            )
        return cls(
            enabled=group.leases_by_booting,
            default_lease=length,
            projects=frozenset(group.default_lease_projects),
            exempt=frozenset(group.default_lease_exempt_projects),
            on_end=tuple(group.default_lease_on_end),
            poll_interval=group.poll_interval,
        )

    def covers(self, server: Server) -> bool:
        """Whether a server is of a project whose servers get a lease by default."""
        if self.default_lease is None or server.project_id in self.exempt:
            return False
        return ALL in self.projects or server.project_id in self.projects
