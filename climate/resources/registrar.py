# SPDX-License-Identifier: Apache-2.0

"""The manager's part in registering and unregistering resources."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.cloud.base import Cloud
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.resource_types import Origin
from climate.domain.resources import Resource
from climate.domain.resources import ResourceDraft
from climate.leases import on_behalf
from climate.leases.notices import Plugins
from climate.plugins.contract import Plugin
from climate.plugins.custom.plugin import Custom
from climate.plugins.refusals import Refusals
from climate.resources import catalog
from climate.resources import changes

LOG = logging.getLogger(__name__)

_LONGEST_KEY = 64


class Registrar:
    """Registers and unregisters resources, in Climate and in the cloud."""

    def __init__(self, store: Store, plugins: Plugins, cloud: Cloud) -> None:
        self._store = store
        self._plugins = plugins
        self._cloud = cloud

    def register_resource(self, draft: ResourceDraft) -> int:
        """Register a resource; return its id.

        :raises climate.exceptions.ClimateError: if that fails; the cloud is then
            as before
        """
        check_keys(draft.capabilities)
        plugin = owner(self._plugins, draft.resource_type)
        described = on_behalf.answered(lambda: plugin.discover(draft, self._cloud))
        resource = dataclasses.replace(
            described, capabilities=dict(draft.capabilities), reservable=False
        )

        def insert(tx: Transaction) -> int:
            _refuse_changed(tx, plugin)
            refuse_known(tx, plugin, resource.name)
            for known in _twins(tx, plugin, resource):
                raise plugin.refusals.renamed(resource, known)
            return tx.resources.insert(resource)

        # Recorded before the cloud is changed, and opened to bookings afterwards, so
        # that a resource is never reservable without being set aside, and one that
        # another manager registers at the same moment is left alone.
        resource_id = self._store.run(insert)
        resource = dataclasses.replace(resource, id=resource_id)
        try:
            on_behalf.answered(lambda: plugin.admit(resource, self._cloud))
        except Exception:
            self._withdraw(plugin, resource)
            self._store.run(lambda tx: tx.resources.delete(resource_id))
            raise
        self._store.run(lambda tx: tx.resources.set_reservable(resource_id, True))
        return resource_id

    def _withdraw(self, plugin: Plugin[Any], resource: Resource) -> None:
        """Undo an admission that failed: it may have happened anyway.

        If this fails too, the resource stays set aside, and registering it again
        continues from there.
        """
        try:
            self._release(plugin, resource)
        except exceptions.ClimateError as error:
            LOG.warning(
                '%s %s may still be set aside: %s',
                resource.resource_type,
                resource.name,
                error.message,
            )

    def _release(self, plugin: Plugin[Any], resource: Resource) -> None:
        with self._store.reading() as tx:
            shared = any(twin.reservable for twin in _twins(tx, plugin, resource))
        plugin.release(resource, self._cloud, shared=shared)

    def refresh_resource(self, resource_id: int) -> None:
        """Replace what is registered of a resource by what the cloud reports now.

        :raises climate.exceptions.ClimateError: if the cloud does not have it
        """
        resource, plugin = self._registered(resource_id)
        reported = on_behalf.answered(lambda: list(plugin.report([resource], self._cloud)))
        if not reported:
            raise exceptions.NotRefreshed(name=resource.name, reason='the cloud does not have it')
        (report,) = reported
        if report.now is None:
            raise exceptions.NotRefreshed(name=resource.name, reason=report.trouble)
        self._store.run(lambda tx: changes.take_over(tx, plugin, report))
        now = dataclasses.replace(report.now, id=resource_id)
        if plugin.identity and now.attributes[plugin.identity] != resource.attributes.get(
            plugin.identity
        ):
            on_behalf.answered(lambda: plugin.admit(now, self._cloud))

    def rename_resource(self, resource_id: int, name: str) -> None:
        """Give a resource the name that the cloud now uses for it; keep its reservations.

        :raises climate.exceptions.ClimateError: if it is not the same thing in the cloud
        """
        resource, plugin = self._registered(resource_id)
        if resource.name == name:
            return
        with self._store.reading() as tx:
            refuse_known(tx, plugin, name)
        renamed = on_behalf.answered(lambda: plugin.rename(resource, name, self._cloud))

        def write(tx: Transaction) -> None:
            tx.resources.get(resource.resource_type, resource_id, lock=True)
            refuse_known(tx, plugin, name)
            tx.resources.rename(resource_id, renamed)

        self._store.run(write)

    def _registered(self, resource_id: int) -> tuple[Resource, Plugin[Any]]:
        """Return a resource of the cloud, and its plugin."""
        with self._store.reading() as tx:
            resource_type = tx.catalogue.type_of(resource_id)
            resource = tx.resources.get(resource_type, resource_id)
        if resource.project_id is not None:
            raise exceptions.InvalidInput(
                f'The {resource_type} {resource.name} is a thing of a project'
            )
        return resource, owner(self._plugins, resource_type)

    def delete_resource(self, resource_id: int) -> None:
        """Unregister a resource.

        :raises climate.exceptions.ResourceInUse: if it is reserved now or later
        """

        def close(tx: Transaction) -> Resource:
            resource_type = tx.catalogue.type_of(resource_id)
            resource = tx.resources.get(resource_type, resource_id, lock=True)
            if resource.project_id is None:
                owner(self._plugins, resource_type)
            if tx.allocations.in_use(resource_id):
                raise refusals(self._plugins, resource).in_use(resource)
            # New bookings cannot choose it; a booking under way loses the race.
            tx.resources.set_reservable(resource_id, False)
            return resource

        resource = self._store.run(close)
        try:
            if resource.project_id is None:
                # A project's own thing was never set aside.
                plugin = owner(self._plugins, resource.resource_type)
                on_behalf.answered(lambda: self._release(plugin, resource))
        except exceptions.ClimateError:
            was = resource.reservable
            self._store.run(lambda tx: tx.resources.set_reservable(resource_id, was))
            raise
        self._store.run(lambda tx: tx.resources.delete(resource_id))


def owner(plugins: Mapping[str, Plugin[Any]], resource_type: str) -> Plugin[Any]:
    """Return the plugin that owns the resources of a type.

    :raises climate.exceptions.UnsupportedResourceType: if there is none, or it
        reserves resources of another type
    """
    plugin = catalog.current(plugins, resource_type)
    if plugin is None:
        raise exceptions.UnsupportedResourceType(resource_type=resource_type)
    if plugin.resource_schema is None:
        raise exceptions.UnsupportedResourceType(
            f'The {resource_type} resource type has no resources of its own'
        )
    return plugin


def check_keys(capabilities: Mapping[str, Any]) -> None:
    """Check the names of extra capabilities.

    :raises climate.exceptions.InvalidInput: if one is empty or too long
    """
    for name in capabilities:
        if len(name) > _LONGEST_KEY:
            raise exceptions.ExtraCapabilityTooLong
        if not name:
            raise exceptions.InvalidInput('The name of an extra capability is empty')


def refuse_known(tx: Transaction, plugin: Plugin[Any], name: str) -> None:
    """Check that no resource has this name yet.

    :raises climate.exceptions.ResourceExists: if one has
    """
    if tx.resources.named(plugin.resource_type, name) is not None:
        raise plugin.refusals.exists(plugin.resource_type, name)


def _twins(tx: Transaction, plugin: Plugin[Any], resource: Resource) -> list[Resource]:
    """Return the other resources that are the same thing in the cloud."""
    value = None if plugin.identity is None else resource.attributes.get(plugin.identity)
    if plugin.identity is None or value is None:
        return []
    alike = tx.resources.with_attribute(resource.resource_type, plugin.identity, str(value))
    return [one for one in alike if one.id != resource.id]


def _refuse_changed(tx: Transaction, plugin: Plugin[Any]) -> None:
    """Check that a type has not changed since its resource was inspected.

    From here on it cannot change: a transaction that wants to change it waits for
    this one, and then finds the type in use.
    """
    if not isinstance(plugin, Custom) or plugin.declaration.origin is not Origin.API:
        return
    if tx.resource_types.find(plugin.resource_type, lock=True) != plugin.declaration:
        raise exceptions.Conflict(
            f'The {plugin.resource_type} resource type was changed meanwhile; please try again'
        )


def refusals(plugins: Mapping[str, Plugin[Any]], resource: Resource) -> Refusals:
    """Return the errors about *resource*, in the words of its type if there is a plugin."""
    plugin = catalog.current(plugins, resource.resource_type)
    return Refusals() if plugin is None else plugin.refusals
