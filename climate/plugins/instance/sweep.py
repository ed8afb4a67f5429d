# SPDX-License-Identifier: Apache-2.0

"""Objects that ended reservations of instances left in the cloud.

They are left when another process has changed them, when Climate stopped trying
to end a lease after too many failures, or when Placement had a consumer of a slot
that Nova did not know.
"""

from __future__ import annotations

from collections.abc import Iterator

from climate import exceptions
from climate.cloud import base
from climate.domain.resources import Inventory
from climate.plugins import contract
from climate.plugins.contract import SweepFinding
from climate.plugins.host import isolation
from climate.plugins.host import providers
from climate.plugins.instance import flavors as instance_flavors
from climate.plugins.instance import names as instance_names
from climate.plugins.instance import slots


class Leftovers:
    """Finds and removes them, in an order in which none becomes impossible to find.

    The flavor is deleted last, since Nova finds its servers by it, and the resource
    class of a reservation after its inventories. Objects that servers still use are
    left for the next run.

    :param dry_run: report what would be done, without doing it
    """

    def __init__(self, records: contract.Records, cloud: base.Cloud, *, dry_run: bool) -> None:
        self._over = records.ended - records.alive
        self._cloud = cloud
        self._dry_run = dry_run
        self._busy: set[str] = set()

    def sweep(self) -> Iterator[SweepFinding]:
        """Find and remove; see :meth:`climate.plugins.contract.Plugin.sweep`."""
        flavors = [
            flavor
            for flavor in self._cloud.compute.list_flavors()
            if flavor.id in self._over and flavor.name == instance_names.name(flavor.id)
        ]
        for flavor in flavors:
            yield from self._servers(flavor)
        yield from self._classes()
        yield from self._groups()
        yield from self._aggregates()
        for flavor in flavors:
            if flavor.id not in self._busy:
                if not self._dry_run:
                    self._cloud.compute.delete_flavor(flavor.id)
                yield self._removed(f'flavor {flavor.id}')

    def _removed(self, what: str) -> SweepFinding:
        return SweepFinding(
            what=f'{what} of a lease that is over', done='' if self._dry_run else 'removed'
        )

    def _servers(self, flavor: base.Flavor) -> Iterator[SweepFinding]:
        for server in self._cloud.compute.list_servers_of_flavor(flavor.id):
            yield self._delete(server, flavor.id)
        if not self._dry_run:
            instance_flavors.close_flavor(self._cloud, flavor.id)

    def _delete(self, server: base.Server, reservation_id: str) -> SweepFinding:
        self._busy.add(reservation_id)
        if not self._dry_run and server.task_state != 'deleting':
            self._cloud.compute.delete_server(server.id)
        return SweepFinding(
            what=f'server {server.id} of a lease that is over',
            done='' if self._dry_run else 'deletion begun',
        )

    def _classes(self) -> Iterator[SweepFinding]:
        names = {instance_names.resource_class(each): each for each in self._over}
        present = self._cloud.placement.list_resource_classes(instance_names.CLASS_PREFIX)
        known = {name: names[name] for name in sorted(present & names.keys())}
        # There are many providers, and none has to be read if there is no class.
        prefix = providers.PREFIX
        for provider in self._cloud.placement.list_providers(prefix=prefix) if known else ():
            for inventory in self._inventories(provider):
                if inventory.resource_class in known:
                    reservation_id = known[inventory.resource_class]
                    yield from self._inventory(provider, inventory, reservation_id)
        for name, reservation_id in known.items():
            if reservation_id not in self._busy:
                if not self._dry_run:
                    self._cloud.placement.delete_resource_class(name)
                yield self._removed(f'resource class {name}')

    def _inventories(self, provider: base.Provider) -> tuple[Inventory, ...]:
        try:
            return self._cloud.placement.inventories(provider.uuid)
        except base.CloudNotFound:
            return ()

    def _inventory(
        self, provider: base.Provider, inventory: Inventory, reservation_id: str
    ) -> Iterator[SweepFinding]:
        name = inventory.resource_class
        holders = [
            each.consumer_id
            for each in self._cloud.placement.allocations(provider.uuid)
            if name in each.amounts
        ]
        if not holders:
            yield self._without(provider, name, reservation_id)
        for consumer in holders:
            server = self._cloud.compute.find_server(consumer)
            self._busy.add(reservation_id)
            if server is not None:
                yield self._delete(server, reservation_id)
            else:
                what = f'{name} of provider {provider.name} is held by {consumer}'
                yield SweepFinding(what=f'{what}, which Nova does not know')

    def _without(self, provider: base.Provider, name: str, reservation_id: str) -> SweepFinding:
        try:
            if not self._dry_run:
                self._cloud.placement.remove_inventory(provider.uuid, name)
        except base.CloudConflict as error:
            self._busy.add(reservation_id)
            return SweepFinding(what=error.message)
        return self._removed(f'inventory of {name} of provider {provider.name}')

    def _groups(self) -> Iterator[SweepFinding]:
        names = {instance_names.name(each) for each in self._over}
        for group in self._cloud.compute.list_server_groups():
            if group.name in names:
                if not self._dry_run:
                    self._cloud.compute.delete_server_group(group.id)
                yield self._removed(f'server group {group.name}')

    def _aggregates(self) -> Iterator[SweepFinding]:
        for aggregate in self._cloud.compute.list_aggregates():
            ours = aggregate.name in self._over and isolation.is_of_slots(aggregate)
            if not ours or aggregate.name in self._busy:
                continue
            try:
                if not self._dry_run:
                    slots.remove_aggregate(self._cloud, aggregate)
            except exceptions.Transient as error:
                yield SweepFinding(what=error.message)
                continue
            yield self._removed(f'aggregate {aggregate.name}')
