# SPDX-License-Identifier: Apache-2.0

"""Resource providers of Placement, with inventories, traits and allocations."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Protocol

from climate.domain.resources import Inventory


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Provider:
    """A resource provider of Placement.

    :ivar generation: increases with each change of its inventories, traits or
        allocations
    :ivar parent_uuid: the provider in which it is nested; None for a root
    """

    uuid: str
    name: str
    generation: int
    parent_uuid: str | None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ProviderAllocation:
    """The allocation of a consumer from a provider.

    :ivar consumer_id: usually the id of a server
    :ivar amounts: the allocated amounts by resource class
    """

    consumer_id: str
    amounts: Mapping[str, int]


class Providers(Protocol):
    """Operations on resource providers.

    nova-compute writes to the same providers. After a conflict, a method that changes a
    provider reads it again and retries a few times before it raises CloudConflict.

    nova-compute caches the providers that are nested in its own for some minutes
    (``[compute] resource_provider_association_refresh`` of Nova), and cannot boot
    servers while the cache contains one that no longer exists. If possible, change a
    nested provider rather than delete it and create another.
    """

    def find_provider(self, name: str) -> Provider | None:
        """Return the provider of exactly this name; None if it does not exist."""

    def list_providers(
        self, *, prefix: str = '', parent_uuid: str | None = None
    ) -> tuple[Provider, ...]:
        """Return the providers whose names have a prefix, by name.

        :param parent_uuid: returns only direct children of this provider, none if it
            does not exist; None for all providers
        """

    def create_provider(self, name: str, parent_uuid: str | None) -> Provider:
        """Create a provider without inventories, nested in another or a root.

        :param name: 1 to 200 characters that every database can store
        :raises CloudConflict: if a provider with this name exists (possibly created by
            an earlier call whose response was lost: see :meth:`find_provider`), or one
            whose name differs only in case
        :raises climate.exceptions.Permanent: if there is no such parent
        """

    def delete_provider(self, uuid: str) -> None:
        """Delete a provider; a no-op if it does not exist.

        :raises CloudConflict: if other providers are nested in it, or a consumer has an
            allocation from it
        """

    def inventories(self, uuid: str) -> tuple[Inventory, ...]:
        """Return the inventories of a provider, by resource class.

        :raises CloudNotFound: if there is no such provider
        """

    def set_inventory(self, uuid: str, inventory: Inventory) -> None:
        """Set the inventory of a class of a provider.

        It may be less than the allocated amount: existing allocations then remain, but no
        more are possible.

        :raises CloudNotFound: if there is no such provider
        :raises climate.exceptions.Permanent: if there is no such class, or a number is
            not allowed, such as a total below 1
        """

    def remove_inventory(self, uuid: str, resource_class: str) -> None:
        """Delete the inventory of a class; a no-op if it or the provider does not exist.

        :raises CloudConflict: if a part of it is allocated
        """

    def usages(self, uuid: str) -> Mapping[str, int]:
        """Return the allocated amount of each resource class of a provider.

        :raises CloudNotFound: if there is no such provider
        """

    def allocations(self, uuid: str) -> tuple[ProviderAllocation, ...]:
        """Return the allocations from a provider, by consumer.

        :raises CloudNotFound: if there is no such provider
        """


class Traits(Protocol):
    """Operations on traits, the qualities of providers."""

    def create_trait(self, name: str) -> None:
        """Create a custom trait; a no-op if it exists.

        :raises climate.exceptions.Permanent: if the name is not ``CUSTOM_`` followed by
            capital letters, digits and underscores, 255 characters at most
        """

    def delete_trait(self, name: str) -> None:
        """Delete a custom trait; a no-op if it does not exist.

        :raises CloudConflict: if a provider has it
        :raises climate.exceptions.Permanent: if it is not a custom trait
        """

    def traits(self, uuid: str) -> frozenset[str]:
        """Return the traits of a provider.

        :raises CloudNotFound: if there is no such provider
        """

    def set_traits(self, uuid: str, names: frozenset[str]) -> None:
        """Replace the traits of a provider.

        :raises CloudNotFound: if there is no such provider
        :raises climate.exceptions.Permanent: if there is no such trait
        """

    def add_trait(self, uuid: str, name: str) -> None:
        """Add a trait to a provider; a no-op if the provider has it.

        :raises CloudNotFound: if there is no such provider
        :raises climate.exceptions.Permanent: if there is no such trait
        """


class ResourceClasses(Protocol):
    """Operations on resource classes, the kinds of inventories."""

    def list_resource_classes(self, prefix: str = '') -> frozenset[str]:
        """Return the names of all resource classes with this prefix."""

    def create_resource_class(self, name: str) -> None:
        """Create a custom resource class; a no-op if it exists.

        :raises climate.exceptions.Permanent: if the name is not ``CUSTOM_`` followed by
            capital letters, digits and underscores, 255 characters at most
        """

    def delete_resource_class(self, name: str) -> None:
        """Delete a custom resource class; a no-op if it does not exist.

        :raises CloudConflict: if a provider has an inventory of it
        :raises climate.exceptions.Permanent: if it is not a custom class
        """
