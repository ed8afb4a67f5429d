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
"""How a shelved server gets into its room on a host of the pool.

The scheduler sends only servers with the flavor of a reservation to the hosts
of the pool, and an existing server has a flavor of its own. So Climate takes
its host out of the pool until Nova's scheduler has sent the server there; the
host stays in the aggregate of the room, which names the project. Climate
remembers the host before it takes it out, so that a later effect puts it back
even if this manager dies.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from climate import exceptions
from climate.plugins import contract
from climate.plugins.host import servers
from climate.plugins.host.pools import HostPools
from climate.plugins.instance import demand
from climate.plugins.instance.by_flavor import FlavorInstance
from climate.plugins.server.steps import Case

_ROOMS = FlavorInstance()


class HostRelease:
    """The way into the room of one server."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._pools = HostPools(case.settings.hosts)
        self._let_out = case.facts.released_host

    @property
    def hosts(self) -> frozenset[str]:
        """The service hosts that have room for the server."""
        return frozenset(
            servers.service_host(resource)
            for part in self._case.work.parts
            for resource in part.resources
        )

    def open(self) -> tuple[str, contract.Again | None]:
        """Let the host of the room out of the pool.

        :returns: its name, and what to answer first, if anything
        :raises climate.exceptions.Transient: if there is no host
        """
        if not self.hosts:
            raise exceptions.Transient(f'there is no host with room for {self._case.name}')
        host = min(self.hosts)
        if self._let_out not in (None, host):
            self.close()
        compute = self._case.cloud.compute
        pool = compute.find_aggregate(self._case.settings.hosts.freepool)
        if pool is None or host not in pool.hosts:
            # Another effect has taken it out, and puts it back.
            return host, None
        if self._let_out != host:
            facts = dataclasses.replace(self._case.facts, released_host=host)
            return host, self._case.remember('its host is let out of the pool', facts)
        compute.remove_host(pool.id, host)
        return host, None

    def close(self) -> bool:
        """Put the host back into the pool; return whether one was let out."""
        if self._let_out is None:
            return False
        self._pools.give_back(self._case.cloud, None, [self._let_out])
        return True

    def fits(self) -> None:
        """Check that the server still fits into its room.

        :raises climate.exceptions.Permanent: if it has grown while it waited
        """
        case = self._case
        seen, server = case.request.seen, case.server
        if seen is None or server is None or server.flavor_id == seen.flavor_id:
            return
        flavor = case.cloud.compute.find_flavor(server.flavor_id)
        wanted: dict[str, Any] = {} if flavor is None else demand.demand(flavor)
        for part in case.work.parts:
            room = _ROOMS.search(_ROOMS.load(part.reservation.request)).demand
            if flavor is None or any(room.get(name, 0) < wanted[name] for name in wanted):
                raise exceptions.Permanent(
                    f'{case.name} was resized to flavor {server.flavor_id} and does not fit any '
                    f'more into the room that was booked for flavor {seen.flavor_id}'
                )
