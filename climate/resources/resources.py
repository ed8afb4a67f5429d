# SPDX-License-Identifier: Apache-2.0

"""Resources of every type: what they are, their capabilities, and their calendars."""

from __future__ import annotations

import builtins
import dataclasses
import itertools
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import Protocol

from climate.db.transactions import expired_holds
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.choices import Choices
from climate.domain.requests import BusyPeriod
from climate.domain.requests import CalendarQuery
from climate.domain.requests import Caller
from climate.domain.requests import ReservedShare
from climate.domain.requests import ResourceCalendar
from climate.domain.requests import ResourceChange
from climate.domain.requests import ResourcePage
from climate.domain.requests import ResourceQuery
from climate.domain.resources import Inventory
from climate.domain.resources import PropertyKey
from climate.domain.resources import Resource
from climate.domain.resources import ResourceDraft
from climate.leases.notices import Plugins
from climate.resources import registrar
from climate.resources.aliases import Aliases
from climate.resources.kept_choices import KeptChoices


class Registry(Protocol):
    """Registers and unregisters resources: a manager, over RPC."""

    def register_resource(self, draft: ResourceDraft) -> int:
        """Register a resource; return its id."""

    def delete_resource(self, resource_id: int) -> None:
        """Unregister a resource."""

    def refresh_resource(self, resource_id: int) -> None:
        """Read a resource again from the cloud."""

    def rename_resource(self, resource_id: int, name: str) -> None:
        """Give a resource the name that the cloud now uses for it."""


# The most resources whose bookings are in memory at once, in a list without a limit.
_BATCH = 500


class Resources:
    """The operations of callers on resources.

    Where a type is given, resources of other types do not exist. Things of a
    project, such as its servers, exist for that project only.

    :param secret: the key for opaque ids; '' for the one in the database
    """

    def __init__(
        self, store: Store, plugins: Plugins, registry: Registry, secret: str = ''
    ) -> None:
        self._store = store
        self._plugins = plugins
        self._registry = registry
        self._aliases = Aliases(store, secret)
        self._choices = KeptChoices()

    def list(self, resource_type: str, include_private: bool) -> list[Resource]:
        """Return all resources of a type, in id order.

        :param include_private: whether to show private properties
        """
        with self._store.reading() as tx:
            resources = tx.resources.of_type(resource_type)
            return _shown_of(tx, resources, include_private)

    def page(self, query: ResourceQuery, include_private: bool) -> ResourcePage:
        """Return the resources that *query* asks for.

        :raises climate.exceptions.InvalidInput: if its marker does not exist
        """
        with self._store.reading() as tx:
            ids, more = tx.catalogue.page(query)
            by_id = {one.id: one for one in tx.resources.with_ids(ids)} if ids else {}
            shown = _shown_of(tx, [by_id[one] for one in ids], include_private)
        return ResourcePage(resources=tuple(shown), more=more)

    def get(
        self,
        resource_id: int,
        include_private: bool,
        resource_type: str | None = None,
        *,
        project_id: str | None = None,
    ) -> Resource:
        """Return a resource.

        :param project_id: the project for which it must exist; None for every project
        :raises climate.exceptions.NotFound: if there is none with this id
        """
        with self._store.reading() as tx:
            resource = _get(tx, resource_id, resource_type, project_id=project_id)
            return _shown_of(tx, [resource], include_private)[0]

    def create(self, draft: ResourceDraft) -> Resource:
        """Register a resource.

        :raises climate.exceptions.ClimateError: if it does not exist or is in use,
            or if no manager responds
        """
        registrar.check_keys(draft.capabilities)
        plugin = registrar.owner(self._plugins, draft.resource_type)
        plugin.stock(draft.inventories)
        if draft.name:
            with self._store.reading() as tx:
                registrar.refuse_known(tx, plugin, draft.name)
        return self.get(self._registry.register_resource(draft), True)

    def update(
        self, resource_id: int, change: ResourceChange, resource_type: str | None = None
    ) -> Resource:
        """Change what operators set on a resource.

        :raises climate.exceptions.PropertyInUse: if a reservation of the
            resource requires a property that would change
        :raises climate.exceptions.InventoryInUse: if more is booked than the
            resource would have
        """
        registrar.check_keys(change.capabilities)
        if change.name is not None:
            self._rename(resource_id, change.name, resource_type)

        def work(tx: Transaction) -> Resource:
            resource = _get(tx, resource_id, resource_type, lock=True)
            differs = self._change_properties(tx, resource, change.capabilities)
            if change.disabled not in (None, resource.disabled):
                tx.catalogue.set_disabled(resource_id, bool(change.disabled))
                differs = True
            if change.inventories is not None:
                self._change_inventories(tx, resource, change.inventories)
                differs = True
            if differs:
                tx.resources.touch(resource_id)
            return tx.resources.get(resource.resource_type, resource_id)

        return self._store.run(work)

    def _rename(self, resource_id: int, name: str, resource_type: str | None) -> None:
        with self._store.reading() as tx:
            resource = _get(tx, resource_id, resource_type)
        if resource.name != name:
            self._registry.rename_resource(resource_id, name)

    def refresh(self, resource_id: int) -> Resource:
        """Replace what is registered of a resource by what the cloud reports now.

        :raises climate.exceptions.NotRefreshed: if the cloud does not have it
        """
        with self._store.reading() as tx:
            _get(tx, resource_id, None)
        self._registry.refresh_resource(resource_id)
        return self.get(resource_id, True)

    def _change_properties(
        self, tx: Transaction, resource: Resource, wanted: Mapping[str, str | None]
    ) -> bool:
        assert resource.id is not None
        changes = {
            name: value
            for name, value in wanted.items()
            if resource.capabilities.get(name) != value
        }
        self._refuse_required(tx, resource, changes)
        for name, value in changes.items():
            tx.properties.set_capability(resource.id, name, value)
        tx.properties.register(resource.resource_type, changes)
        return bool(changes)

    def _refuse_required(
        self, tx: Transaction, resource: Resource, changes: Mapping[str, Any]
    ) -> None:
        present = [name for name in changes if name in resource.capabilities]
        if not present or resource.id is None:
            return
        required = tx.reservations.required_of_resource(resource.id)
        for name in present:
            if any(f'"${name}"' in text for text in required):
                raise registrar.refusals(self._plugins, resource).required(resource, name)

    def _change_inventories(
        self, tx: Transaction, resource: Resource, wanted: tuple[Inventory, ...]
    ) -> None:
        assert resource.id is not None
        plugin = registrar.owner(self._plugins, resource.resource_type)
        tx.book([resource.id]).restock(resource.id, plugin.stock(wanted))

    def delete(self, resource_id: int, resource_type: str | None = None) -> None:
        """Unregister a resource.

        :raises climate.exceptions.ResourceInUse: if it is reserved now or later
        """
        with self._store.reading() as tx:
            _get(tx, resource_id, resource_type)
        self._registry.delete_resource(resource_id)

    def calendar(
        self, caller: Caller, resource_id: int, filters: CalendarQuery
    ) -> ResourceCalendar:
        """Return when a resource is reserved.

        :raises climate.exceptions.NotFound: if there is none
        """
        project_id = None if caller.all_projects else caller.project_id
        expired_holds.release(self._store)
        with self._store.reading() as tx:
            resource = _get(tx, resource_id, filters.resource_type, project_id=project_id)
            taken = tx.allocations.calendar(
                filters.resource_type, within=(resource_id, resource_id), project_id=project_id
            )
        return self._calendars(caller, {resource_id: resource.name}, taken, filters)[0]

    def calendars(
        self, caller: Caller, filters: CalendarQuery
    ) -> Iterator[builtins.list[ResourceCalendar]]:
        """Yield batches of the calendars of all resources, in id order, even empty ones.

        Each batch shows the state at the time at which it is read.
        """
        project_id = None if caller.all_projects else caller.project_id
        expired_holds.release(self._store)
        with self._store.reading() as tx:
            names = tx.catalogue.names(filters.resource_type, project_id)
        ahead = iter(names.items())
        while batch := dict(itertools.islice(ahead, _BATCH)):
            with self._store.reading() as tx:
                taken = tx.allocations.calendar(
                    filters.resource_type, within=(min(batch), max(batch)), project_id=project_id
                )
            yield self._calendars(caller, batch, taken, filters)

    def _calendars(
        self,
        caller: Caller,
        names: Mapping[int, str],
        taken: Iterable[ReservedShare],
        filters: CalendarQuery,
    ) -> builtins.list[ResourceCalendar]:
        busy: dict[int, builtins.list[BusyPeriod]] = {one: [] for one in names}
        for one in taken:
            shown = self._shown(caller, one)
            # Filtered by what the caller may know: asking for the
            # real id must not reveal what an opaque id stands for.
            if filters.lease_id not in (None, shown.lease_id):
                continue
            if filters.reservation_id not in (None, shown.reservation_id):
                continue
            # A resource that came between the two queries is not in the list.
            if one.resource_id in busy:
                busy[one.resource_id].append(shown)
        return [
            ResourceCalendar(resource_id=one, resource_name=name, busy=tuple(busy[one]))
            for one, name in names.items()
        ]

    def property_keys(
        self, resource_type: str, include_private: bool
    ) -> builtins.list[PropertyKey]:
        """Return the names of capabilities, with the values in use."""
        with self._store.reading() as tx:
            keys = tx.properties.keys(resource_type)
        return [key for key in keys if include_private or not key.private]

    def choices(self, resource_type: str, caller: Caller, include_private: bool) -> Choices:
        """Return the properties and traits that requirements can choose from."""
        project_id = None if caller.all_projects else caller.project_id

        def read() -> Choices:
            with self._store.reading(budget=caller.budget) as tx:
                return tx.property_values.choices(
                    resource_type, project_id, private=include_private
                )

        with self._store.reading(budget=caller.budget) as tx:
            now, state = tx.now, tx.property_values.state(resource_type, project_id)
        return self._choices.get((resource_type, include_private, state), now, read)

    def set_private(self, resource_type: str, name: str, private: bool) -> PropertyKey:
        """Show a property to all callers, or to privileged ones only.

        :raises climate.exceptions.NotFound: if there is none with this name
        """
        return self._store.run(lambda tx: tx.properties.set_private(resource_type, name, private))

    def _shown(self, caller: Caller, taken: ReservedShare) -> BusyPeriod:
        reservation_id, lease_id = taken.reservation_id, taken.lease_id
        if not caller.all_projects and taken.project_id != caller.project_id:
            reservation_id, lease_id = self._aliases.of(caller.project_id, taken)
        return BusyPeriod(
            reservation_id=reservation_id,
            lease_id=lease_id,
            start=taken.period.start,
            end=taken.period.end,
            amounts=taken.amounts,
            held_until=taken.held_until,
        )


def _get(
    tx: Transaction,
    resource_id: int,
    resource_type: str | None,
    *,
    lock: bool = False,
    project_id: str | None = None,
) -> Resource:
    # Where a type is given, it is one that operators register.
    if resource_type is None:
        resource_type = tx.catalogue.type_of(resource_id, project_id)
    return tx.resources.get(resource_type, resource_id, lock=lock)


def _shown_of(tx: Transaction, resources: list[Resource], include_private: bool) -> list[Resource]:
    """Return the resources without what the caller may not see.

    The reason why one is degraded names other hosts and zones of the cloud.
    """
    if include_private:
        return resources
    hidden = {
        name: tx.properties.private_names(name)
        for name in {resource.resource_type for resource in resources}
    }
    return [_without(resource, hidden[resource.resource_type]) for resource in resources]


def _without(resource: Resource, hidden: set[str]) -> Resource:
    if not hidden & set(resource.capabilities) and not resource.degraded:
        return resource
    visible = {name: value for name, value in resource.capabilities.items() if name not in hidden}
    return dataclasses.replace(resource, capabilities=visible, degraded='')
