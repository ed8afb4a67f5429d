# SPDX-License-Identifier: Apache-2.0
"""Lets Nova schedule a shelved server to the host in the pool with room for it.

The scheduler sends only servers with the flavor of a reservation to the hosts
of the pool, and an existing server has another flavor. So Climate takes the
host out of the pool until Nova's scheduler has chosen it for the server. The
host stays in the aggregate of the room, which names the project. Climate
records the host before it takes it out, so that a later effect puts it back
even if this manager dies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from climate import exceptions
from climate.domain.resources import Resource
from climate.plugins import contract
from climate.plugins.host import nodes
from climate.plugins.host.pools import HostPools
from climate.plugins.instance import demand
from climate.plugins.instance import extra_specs
from climate.plugins.instance.by_flavor import FlavorInstance
from climate.plugins.server.steps import Case


class HostRelease:
    """Takes the host of a server's room out of the pool, and puts it back."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._pools = HostPools(case.settings.hosts)
        self._released = case.facts.released_host

    @property
    def hosts(self) -> frozenset[str]:
        """The service hosts with room for the server."""
        return frozenset(nodes.service_host(resource) for resource in self._resources())

    def _resources(self) -> Iterator[Resource]:
        for part in self._case.work.parts:
            yield from part.resources

    def open(self) -> tuple[str, contract.Again | None]:
        """Take the host of the room out of the pool.

        :returns: its name, and the outcome to return first, or None
        :raises climate.exceptions.Transient: if there is no host
        """
        if not self.hosts:
            raise exceptions.Transient(f'there is no host with room for {self._case.name}')
        host = min(self.hosts)
        if self._released not in (None, host):
            self.close()
        compute = self._case.cloud.compute
        pool = compute.find_aggregate(self._case.settings.hosts.freepool)
        if pool is None or host not in pool.hosts:
            # Another effect has taken it out, and will put it back.
            return host, None
        if self._released != host:
            facts = dataclasses.replace(self._case.facts, released_host=host)
            return host, self._case.remember('its host leaves the pool for a while', facts)
        for resource in self._resources():
            if nodes.service_host(resource) == host:
                nodes.refuse_shared(self._case.cloud, resource)
        compute.remove_host(pool.id, host)
        return host, None

    def close(self) -> bool:
        """Put the host back into the pool; return whether one was taken out."""
        if self._released is None:
            return False
        self._pools.give_back(self._case.cloud, None, [self._released])
        return True

    def fits(self) -> None:
        """Check that the server still fits into its room.

        :raises climate.exceptions.Permanent: if its owner has resized it beyond the room
        """
        case = self._case
        seen, server = case.request.seen, case.server
        if seen is None or server is None or server.flavor_id == seen.flavor_id:
            return
        flavor = case.cloud.compute.find_flavor(server.flavor_id)
        declared = case.settings.declared
        rooms = FlavorInstance(case.settings.hosts, declared)
        wanted: dict[str, Any] = {} if flavor is None else demand.demand(flavor, declared)
        known = flavor is not None and not any(extra_specs.refused(flavor, declared))
        for part in case.work.parts:
            room = rooms.search(rooms.load(part.reservation.request)).demand
            if not known or any(room.get(name, 0) < wanted[name] for name in wanted):
                raise exceptions.Permanent(
                    f'{case.name} was resized to flavor {server.flavor_id} and no longer fits '
                    f'into the room that was booked for flavor {seen.flavor_id}'
                )
