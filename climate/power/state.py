# SPDX-License-Identifier: Apache-2.0

"""Gathers the state of all hosts, from Climate and from Nova."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import logging
from collections.abc import Mapping
from typing import Protocol

from climate import exceptions
from climate.cloud.base import Cloud
from climate.cloud.base import ComputeService
from climate.cloud.reservation import Busy
from climate.cloud.reservation import Host

LOG = logging.getLogger(__name__)


class ReservationsApi(Protocol):
    """The part of Climate's API that this module needs."""

    def list_hosts(self) -> tuple[Host, ...]:
        """Return every host that is registered in Climate."""

    def list_allocations(self) -> Mapping[str, tuple[Busy, ...]]:
        """Return when hosts are reserved, by host id."""

    def find_allocations(self, host_id: str) -> tuple[Busy, ...]:
        """Return when a host is reserved."""

    def set_properties(self, host_id: str, properties: Mapping[str, str]) -> None:
        """Set capabilities of a host."""

    def say_readiness(
        self,
        lease_id: str,
        *,
        ready: tuple[str, ...],
        waiting: tuple[str, ...],
        by: str,
        detail: str = '',
    ) -> None:
        """Report which resources of a lease are ready."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CloudState:
    """The state of all hosts at one instant.

    :ivar hosts: registered in Climate, by name; those of its last response while
        it is unavailable
    :ivar busy: when hosts are reserved, by host id; likewise
    :ivar fresh: whether Climate responded this time
    :ivar services: by service host; None if Nova is unavailable
    :ivar pool: the service hosts of the freepool; None if Nova is unavailable
    :ivar shared: the service hosts that have several nodes, registered or not
    """

    hosts: Mapping[str, Host]
    busy: Mapping[str, tuple[Busy, ...]]
    fresh: bool
    services: Mapping[str, ComputeService] | None = None
    pool: frozenset[str] | None = None
    shared: frozenset[str] = frozenset()

    def service(self, host: Host) -> ComputeService | None:
        """Return the nova-compute of a host; None if Nova has none or is unavailable."""
        return None if self.services is None else self.services.get(host.service_host)

    def spare(self, host: Host) -> bool:
        """Whether a host may sleep, regardless of its servers."""
        alone = collections.Counter(one.service_host for one in self.hosts.values())
        return (
            self.fresh
            and host.reservable
            and self.pool is not None
            and host.service_host in self.pool
            # Disabling a nova-compute with several hosts would disable all of them.
            and alone[host.service_host] == 1
            and host.service_host not in self.shared
        )


class StateReader:
    """Queries Climate and Nova; keeps the last response of Climate.

    :param freepool: name of the aggregate of hosts that are not leased
    """

    def __init__(self, reservations: ReservationsApi, cloud: Cloud, freepool: str) -> None:
        self._reservations = reservations
        self._cloud = cloud
        self._freepool = freepool
        self._last = CloudState(hosts={}, busy={}, fresh=False)
        self._unavailable: set[str] = set()

    def read(self) -> CloudState:
        """Return the current state, as far as Climate and Nova respond."""
        try:
            hosts = {host.name: host for host in self._reservations.list_hosts()}
            busy = self._reservations.list_allocations()
            self._last = CloudState(hosts=hosts, busy=busy, fresh=True)
            self._responded('Climate')
        except exceptions.EffectError as error:
            self._last = dataclasses.replace(self._last, fresh=False)
            self._failed('Climate', error)
        try:
            services = {one.host: one for one in self._cloud.compute.list_services()}
            pool = self._cloud.compute.find_aggregate(self._freepool)
            nodes = collections.Counter(
                one.service_host for one in self._cloud.compute.list_hypervisors()
            )
        except exceptions.EffectError as error:
            self._failed('Nova', error)
            return self._last
        self._responded('Nova')
        members = frozenset() if pool is None else frozenset(pool.hosts)
        shared = frozenset(host for host, number in nodes.items() if number > 1)
        return dataclasses.replace(self._last, services=services, pool=members, shared=shared)

    def _failed(self, service: str, error: exceptions.EffectError) -> None:
        if service not in self._unavailable:
            LOG.warning('%s does not answer; no host is put to sleep: %s', service, error.message)
        self._unavailable.add(service)

    def _responded(self, service: str) -> None:
        if service in self._unavailable:
            LOG.info('%s answers again', service)
        self._unavailable.discard(service)


def next_need(busy: tuple[Busy, ...], now: datetime.datetime) -> datetime.datetime | None:
    """Return the start of the current or next reservation; None if there is none."""
    return min((one.start for one in busy if one.end > now), default=None)
