# SPDX-License-Identifier: Apache-2.0

"""Simulated Placement."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping
from typing import TypeVar

from climate.cloud.base import Provider
from climate.cloud.base import ProviderAllocation
from climate.domain.resources import Inventory
from climate.simulator import providers
from climate.simulator import server_rows
from climate.simulator.runner import VerbRunner
from climate.simulator.store import Db

SCHEMA = providers.SCHEMA
T = TypeVar('T')


class SimulatedPlacement:
    """Implements :class:`climate.cloud.base.Placement`."""

    def __init__(self, runner: VerbRunner) -> None:
        self._runner = runner

    def _run_settled(self, verb: str, arguments: tuple[object, ...], work: Callable[[Db], T]) -> T:
        """Run a verb after completing the server operations that are due."""

        def settled(db: Db) -> T:
            server_rows.settle(db)
            return work(db)

        return self._runner.run(verb, arguments, settled)

    def find_provider(self, name: str) -> Provider | None:
        """Return the provider with this name; None if it does not exist."""
        return self._runner.run(
            'placement.find_provider', (name,), lambda db: providers.find_provider(db, name)
        )

    def list_providers(
        self, *, prefix: str = '', parent_uuid: str | None = None
    ) -> tuple[Provider, ...]:
        """Return the providers whose names have a prefix, by name."""
        return self._runner.run(
            'placement.list_providers',
            (prefix, parent_uuid),
            lambda db: providers.list_providers(db, prefix, parent_uuid),
        )

    def create_provider(self, name: str, parent_uuid: str | None) -> Provider:
        """Create a provider without inventories, nested in another or a root."""
        return self._runner.run(
            'placement.create_provider',
            (name, parent_uuid),
            lambda db: providers.create_provider(db, name, parent_uuid),
        )

    def delete_provider(self, uuid: str) -> None:
        """Delete a provider; a no-op if it does not exist."""
        self._run_settled(
            'placement.delete_provider', (uuid,), lambda db: providers.delete_provider(db, uuid)
        )

    def inventories(self, uuid: str) -> tuple[Inventory, ...]:
        """Return the inventories of a provider, by resource class."""
        return self._runner.run(
            'placement.inventories', (uuid,), lambda db: providers.inventories(db, uuid)
        )

    def set_inventory(self, uuid: str, inventory: Inventory) -> None:
        """Set the inventory of a class of a provider."""
        self._runner.run(
            'placement.set_inventory',
            (uuid, inventory.resource_class, inventory.total),
            lambda db: providers.set_inventory(db, uuid, inventory),
        )

    def remove_inventory(self, uuid: str, resource_class: str) -> None:
        """Delete the inventory of a class; a no-op if it does not exist."""
        self._run_settled(
            'placement.remove_inventory',
            (uuid, resource_class),
            lambda db: providers.remove_inventory(db, uuid, resource_class),
        )

    def usages(self, uuid: str) -> Mapping[str, int]:
        """Return the allocated amount of each resource class of a provider."""
        return self._run_settled('placement.usages', (uuid,), lambda db: providers.usages(db, uuid))

    def allocations(self, uuid: str) -> tuple[ProviderAllocation, ...]:
        """Return the allocations from a provider, by consumer."""
        return self._run_settled(
            'placement.allocations', (uuid,), lambda db: providers.allocations(db, uuid)
        )

    def create_trait(self, name: str) -> None:
        """Create a custom trait; a no-op if it exists."""
        self._runner.run(
            'placement.create_trait', (name,), lambda db: providers.create_trait(db, name)
        )

    def delete_trait(self, name: str) -> None:
        """Delete a custom trait; a no-op if it does not exist."""
        self._runner.run(
            'placement.delete_trait', (name,), lambda db: providers.delete_trait(db, name)
        )

    def traits(self, uuid: str) -> frozenset[str]:
        """Return the traits of a provider."""
        return self._runner.run('placement.traits', (uuid,), lambda db: providers.traits(db, uuid))

    def set_traits(self, uuid: str, names: frozenset[str]) -> None:
        """Replace the traits of a provider."""
        self._runner.run(
            'placement.set_traits',
            (uuid, sorted(names)),
            lambda db: providers.set_traits(db, uuid, names),
        )

    def add_trait(self, uuid: str, name: str) -> None:
        """Add a trait to a provider; a no-op if the provider has it."""
        self._runner.run(
            'placement.add_trait',
            (uuid, name),
            lambda db: providers.set_traits(db, uuid, providers.traits(db, uuid) | {name}),
        )

    def list_resource_classes(self, prefix: str = '') -> frozenset[str]:
        """Return the names of all resource classes with this prefix."""
        return self._runner.run(
            'placement.list_resource_classes',
            (prefix,),
            lambda db: _with_prefix(prefix, providers.resource_classes(db)),
        )

    def create_resource_class(self, name: str) -> None:
        """Create a custom resource class; a no-op if it exists."""
        self._runner.run(
            'placement.create_resource_class',
            (name,),
            lambda db: providers.create_resource_class(db, name),
        )

    def delete_resource_class(self, name: str) -> None:
        """Delete a custom resource class; a no-op if it does not exist."""
        self._runner.run(
            'placement.delete_resource_class',
            (name,),
            lambda db: providers.delete_resource_class(db, name),
        )


def _with_prefix(prefix: str, names: frozenset[str]) -> frozenset[str]:
    return frozenset(name for name in names if name.startswith(prefix))
