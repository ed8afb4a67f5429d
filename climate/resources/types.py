# SPDX-License-Identifier: Apache-2.0

"""Resource types: the existing ones, and the declarations of operators."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain import copies
from climate.domain.resource_types import Declaration
from climate.domain.resource_types import ResourceType
from climate.plugins.contract import Plugin
from climate.plugins.custom.plugin import Custom
from climate.resources import catalog


class ResourceTypes:
    """The operations of callers on resource types."""

    def __init__(self, store: Store, plugins: Mapping[str, Plugin[Any]]) -> None:
        self._store = store
        self._plugins = plugins

    def list(self) -> list[ResourceType]:
        """Return the types that are served, ordered by name."""
        plugins = (catalog.current(self._plugins, name) for name in sorted(self._plugins))
        return [_shown(plugin) for plugin in plugins if plugin is not None]

    def get(self, name: str) -> ResourceType:
        """Return a type.

        :raises climate.exceptions.NotFound: if it is not served
        """
        plugin = catalog.current(self._plugins, name)
        if plugin is None:
            raise _not_found(name)
        return _shown(plugin)

    def create(self, declaration: Declaration) -> ResourceType:
        """Declare a type.

        :raises climate.exceptions.ResourceTypeExists: if there is one with this name
        """

        def work(tx: Transaction) -> None:
            if tx.resource_types.find(declaration.name, lock=True) is not None:
                raise exceptions.ResourceTypeExists(name=declaration.name)
            tx.resource_types.insert(declaration)

        if declaration.name in catalog.fixed(self._plugins):
            raise exceptions.ResourceTypeExists(name=declaration.name)
        self._store.run(work)
        return self.get(declaration.name)

    def update(self, name: str, change: Callable[[Declaration], Declaration]) -> ResourceType:
        """Change the declaration of a type.

        While it has resources or reservations, only its description and ``noun_one`` can
        change.

        :param change: returns the new declaration for the current one
        :raises climate.exceptions.ResourceTypeInUse: if it is used
        """

        def work(tx: Transaction) -> None:
            old = self._own(tx, name)
            new = change(old)
            same = dataclasses.replace(new, description=old.description, noun_one=old.noun_one)
            if same != old:
                _refuse_used(tx, name)
            tx.resource_types.update(new)

        self._store.run(work)
        return self.get(name)

    def delete(self, name: str) -> None:
        """Delete the declaration of a type.

        :raises climate.exceptions.ResourceTypeInUse: if it has resources or
            reservations
        """

        def work(tx: Transaction) -> None:
            self._own(tx, name)
            _refuse_used(tx, name)
            tx.resource_types.delete(name)

        self._store.run(work)

    def _own(self, tx: Transaction, name: str) -> Declaration:
        """Return a declaration that callers can change, locked."""
        if name in catalog.fixed(self._plugins):
            raise exceptions.ResourceTypeFixed(name=name)
        declaration = tx.resource_types.find(name, lock=True)
        if declaration is None:
            raise _not_found(name)
        return declaration


def _refuse_used(tx: Transaction, name: str) -> None:
    users = tx.resource_types.users(name)
    if users:
        raise exceptions.ResourceTypeInUse(name=name, users=users)


def _not_found(name: str) -> exceptions.NotFound:
    return exceptions.NotFound(object={'resource_type': name})


def _shown(plugin: Plugin[Any]) -> ResourceType:
    return copies.converted(
        ResourceType,
        plugin,
        name=plugin.resource_type,
        classes=tuple(plugin.classes),
        declaration=plugin.declaration if isinstance(plugin, Custom) else None,
    )
