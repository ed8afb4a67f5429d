# SPDX-License-Identifier: Apache-2.0

"""Finds aggregates that ended leases left behind, and hosts that are in no aggregate."""

from __future__ import annotations

from collections.abc import Iterator

from climate import exceptions
from climate.cloud.base import Aggregate
from climate.cloud.base import Cloud
from climate.cloud.base import CloudNotFound
from climate.plugins.contract import Records
from climate.plugins.contract import SweepFinding
from climate.plugins.host.nodes import service_host
from climate.plugins.host.pools import HostPools
from climate.plugins.host.pools import HostSettings


class HostSweep:
    """One sweep.

    Hosts of active leases that are also in the pool are left to the check of the
    lease: while a host is moved, it is in both for a moment.

    :param dry_run: report what would be done, without doing it
    """

    def __init__(
        self, settings: HostSettings, pools: HostPools, records: Records, dry_run: bool
    ) -> None:
        self._settings = settings
        self._pools = pools
        self._records = records
        self._dry_run = dry_run
        # A host that is being registered or unregistered is not reservable.
        self._ours = {service_host(item) for item in records.resources if item.reservable}

    def run(self, cloud: Cloud) -> Iterator[SweepFinding]:
        """Check the aggregates of leases, then look for hosts that are in none."""
        for aggregate in cloud.compute.list_aggregates():
            if self._of_lease(aggregate) and aggregate.name not in self._records.alive:
                yield self._orphan(aggregate, cloud)
        yield from self._lost(cloud)

    def _of_lease(self, aggregate: Aggregate) -> bool:
        """Whether its name and zone match, as only those of reservations do."""
        return aggregate.availability_zone == self._settings.zone_prefix + aggregate.name

    def _orphan(self, aggregate: Aggregate, cloud: Cloud) -> SweepFinding:
        what = f'aggregate {aggregate.name}'
        if aggregate.name not in self._records.ended:
            return SweepFinding(what=f'{what} is of a reservation that is not known here')
        hosts = f' with {", ".join(aggregate.hosts)}' if aggregate.hosts else ''
        what = f'{what} of a lease that is over{hosts}'
        busy = [host for host in aggregate.hosts if cloud.compute.list_servers(host)]
        if busy:
            # Operators have to find out whose they are: it should have been
            # impossible to start them.
            return SweepFinding(what=f'{what}, and servers on {", ".join(busy)}')
        if self._dry_run:
            return SweepFinding(what=what)
        try:
            self._pools.close_to_owner(cloud, aggregate)
            self._empty(aggregate, cloud)
            cloud.compute.delete_aggregate(aggregate.id)
        except exceptions.EffectError as error:
            return SweepFinding(what=f'{what}; it cannot be deleted: {error.message}')
        return SweepFinding(what=what, done='deleted')

    def _empty(self, aggregate: Aggregate, cloud: Cloud) -> None:
        registered = {service_host(item) for item in self._records.resources}
        ours = [item for item in aggregate.hosts if item in registered or not registered]
        self._pools.give_back(cloud, aggregate, ours)
        for host in set(aggregate.hosts) - set(ours):
            # Unregistered meanwhile: leases can no longer use it.
            cloud.compute.remove_host(aggregate.id, host)

    def _lost(self, cloud: Cloud) -> Iterator[SweepFinding]:
        for host in sorted(self._idle(cloud)):
            what = f'host {host} is in no lease and not in {self._settings.freepool}'
            if self._dry_run:
                yield SweepFinding(what=what)
                continue
            try:
                self._pools.put_into_pool(cloud, host)
                self._yield_to_lease(cloud, host)
            except CloudNotFound:
                yield SweepFinding(what=f'host {host} is registered, and Nova does not know it')
            except exceptions.ClimateError as error:
                yield SweepFinding(what=f'{what}; it cannot be put there: {error.message}')
            else:
                yield SweepFinding(what=what, done='put there')

    def _idle(self, cloud: Cloud) -> set[str]:
        """Return the registered hosts that are neither leased nor in the pool."""
        there = {
            host
            for aggregate in cloud.compute.list_aggregates()
            if self._of_lease(aggregate) or aggregate.name == self._settings.freepool
            for host in aggregate.hosts
        }
        return self._ours - there

    def _yield_to_lease(self, cloud: Cloud, host: str) -> None:
        """Remove a host from the pool if a lease has taken it at the same moment."""
        for aggregate in cloud.compute.list_aggregates():
            # Unknown aggregates may belong to leases that started after this sweep began.
            over = aggregate.name in self._records.ended
            if host in aggregate.hosts and self._of_lease(aggregate) and not over:
                self._pools.take_out_of_pool(cloud, host)
