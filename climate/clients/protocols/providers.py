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

"""Resource providers of Placement, their inventories, traits and allocations."""

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
    :ivar amounts: by resource class
    """

    consumer_id: str
    amounts: Mapping[str, int]


class Providers(Protocol):
    """Verbs about resource providers.

    nova-compute writes to the same providers. After a conflict, a method that changes one
    reads it again and retries a few times before it raises CloudConflict.

    nova-compute caches the nested providers of its own one for some minutes
    (``[compute] resource_provider_association_refresh`` of Nova), and cannot boot
    servers while the cache has one that no longer exists. Therefore change a nested
    provider, if possible, rather than delete and create it.
    """

    def find_provider(self, name: str) -> Provider | None:
        """Return the provider of exactly this name; None if it does not exist."""
        ...

    def list_providers(
        self, *, prefix: str = '', parent_uuid: str | None = None
    ) -> tuple[Provider, ...]:
        """Return the providers whose names have a prefix, by name.

        :param parent_uuid: only direct children of this one; empty if it does not
            exist; all if None
        """
        ...

    def create_provider(self, name: str, parent_uuid: str | None) -> Provider:
        """Create a provider without inventories, nested in another or a root.

        :param name: 1 to 200 characters that every database can store
        :raises CloudConflict: if there is one of this name (possibly created by an earlier
            call whose response was lost: see :meth:`find_provider`), or
            of a name that differs by case only
        :raises climate.exceptions.Permanent: if there is no such parent
        """
        ...

    def delete_provider(self, uuid: str) -> None:
        """Delete a provider; a no-op if it does not exist.

        :raises CloudConflict: if others are nested in it or something is
            allocated from it
        """
        ...

    def inventories(self, uuid: str) -> tuple[Inventory, ...]:
        """Return the inventories of a provider, by resource class.

        :raises CloudNotFound: if there is no such provider
        """
        ...

    def set_inventory(self, uuid: str, inventory: Inventory) -> None:
        """Set the inventory of a class of a provider.

        It may be less than the allocated amount: existing allocations then remain, but no
        more can be made.

        :raises CloudNotFound: if there is no such provider
        :raises climate.exceptions.Permanent: if there is no such class, or a
            number is not allowed, such as a total below 1
        """
        ...

    def remove_inventory(self, uuid: str, resource_class: str) -> None:
        """Delete the inventory of a class; a no-op if it or the provider does not exist.

        :raises CloudConflict: if something of it is allocated
        """
        ...

    def usages(self, uuid: str) -> Mapping[str, int]:
        """Return how much of each class of a provider is allocated.

        :raises CloudNotFound: if there is no such provider
        """
        ...

    def allocations(self, uuid: str) -> tuple[ProviderAllocation, ...]:
        """Return the allocations from a provider, by consumer.

        :raises CloudNotFound: if there is no such provider
        """
        ...

    def provider_aggregates(self, uuid: str) -> frozenset[str]:
        """Return the UUIDs of the aggregates that a provider is in.

        Nova adds the provider of a host to one when the host is added to an aggregate of
        Nova.

        :raises CloudNotFound: if there is no such provider
        """
        ...


class Traits(Protocol):
    """Verbs about traits, the qualities of providers."""

    def list_traits(self, prefix: str = '') -> frozenset[str]:
        """Return the names of all traits with this prefix."""
        ...

    def create_trait(self, name: str) -> None:
        """Create a custom trait; a no-op if it exists.

        :raises climate.exceptions.Permanent: if its name is not ``CUSTOM_``
            and capital letters, digits and underscores, 255 at most
        """
        ...

    def delete_trait(self, name: str) -> None:
        """Delete a custom trait; a no-op if it does not exist.

        :raises CloudConflict: if a provider has it
        :raises climate.exceptions.Permanent: if it is not a custom one
        """
        ...

    def traits(self, uuid: str) -> frozenset[str]:
        """Return the traits of a provider.

        :raises CloudNotFound: if there is no such provider
        """
        ...

    def set_traits(self, uuid: str, names: frozenset[str]) -> None:
        """Replace the traits of a provider.

        :raises CloudNotFound: if there is no such provider
        :raises climate.exceptions.Permanent: if there is no such trait
        """
        ...

    def add_trait(self, uuid: str, name: str) -> None:
        """Add a trait to a provider; a no-op if the provider has it.

        :raises CloudNotFound: if there is no such provider
        :raises climate.exceptions.Permanent: if there is no such trait
        """
        ...

    def remove_trait(self, uuid: str, name: str) -> None:
        """Remove a trait from a provider; a no-op if the provider does not have it.

        :raises CloudNotFound: if there is no such provider
        """
        ...


class ResourceClasses(Protocol):
    """Verbs about resource classes, the kinds of inventories."""

    def list_resource_classes(self, prefix: str = '') -> frozenset[str]:
        """Return the names of all resource classes with this prefix."""
        ...

    def create_resource_class(self, name: str) -> None:
        """Create a custom resource class; a no-op if it exists.

        :raises climate.exceptions.Permanent: if its name is not ``CUSTOM_``
            and capital letters, digits and underscores, 255 at most
        """
        ...

    def delete_resource_class(self, name: str) -> None:
        """Delete a custom resource class; a no-op if it does not exist.

        :raises CloudConflict: if a provider has an inventory of it
        :raises climate.exceptions.Permanent: if it is not a custom one
        """
        ...
