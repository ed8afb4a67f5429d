# SPDX-License-Identifier: Apache-2.0

"""The options of leases by booting."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any
from typing import Final

from climate import exceptions
from climate.cloud.base import Server
from climate.conf.settings import option
from climate.conf.settings import Settings
from climate.conf.settings import values
from climate.domain import periods
from climate.plugins.server.plugin import VirtualServer

RESOURCE_TYPE: Final = VirtualServer.resource_type
ALL: Final = '*'


def _length(text: str) -> datetime.timedelta | None:
    """Return the duration in an option; None if it is empty.

    :raises climate.exceptions.ConfigurationError: if it is not a duration
    """
    if not text:
        return None
    length = periods.duration(text)
    if length is None or length < periods.SECOND:
        raise exceptions.ConfigurationError(
            f'[{RESOURCE_TYPE}] default_lease: {text!r} is not a duration such as 30d, 12h or PT90M'
        )
    return length


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ServerLeaseSettings(Settings):
    """The options of leases by booting.

    :ivar enabled: whether servers get leases by being booted
    :ivar default_lease: the duration of the lease that servers get without a request;
        None if they get none
    :ivar projects: ids of the projects whose servers get it; :data:`ALL` for all
    :ivar exempt: ids of the projects whose servers do not
    :ivar on_end: what happens to these servers at the end
    :ivar poll_interval: seconds between two polls of Nova
    """

    enabled: bool = option(RESOURCE_TYPE, 'leases_by_booting')
    default_lease: datetime.timedelta | None = option(RESOURCE_TYPE, 'default_lease', _length)
    projects: frozenset[str] = option(RESOURCE_TYPE, 'default_lease_projects', frozenset)
    exempt: frozenset[str] = option(RESOURCE_TYPE, 'default_lease_exempt_projects', frozenset)
    on_end: tuple[str, ...] = option(RESOURCE_TYPE, 'default_lease_on_end', tuple)
    poll_interval: float = option(RESOURCE_TYPE, 'poll_interval')

    @classmethod
    def from_conf(cls, conf: Any) -> ServerLeaseSettings:
        """Return the settings in *conf* (an oslo.config ConfigOpts).

        :raises climate.exceptions.ConfigurationError: if they are invalid or
            contradict each other
        """
        settings = cls(**values(cls, conf))
        if settings.default_lease is not None and not settings.enabled:
            raise exceptions.ConfigurationError(
                f'[{RESOURCE_TYPE}] default_lease needs leases_by_booting'
            )
        if settings.enabled and RESOURCE_TYPE not in conf.resource_types:
            raise exceptions.ConfigurationError(
                f'[{RESOURCE_TYPE}] leases_by_booting needs {RESOURCE_TYPE} in resource_types'
            )
        return settings

    def covers(self, server: Server) -> bool:
        """Whether the servers of a server's project get a lease by default."""
        if self.default_lease is None or server.project_id in self.exempt:
            return False
        return ALL in self.projects or server.project_id in self.projects
