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

"""Resource providers of Placement, and what they have."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Protocol

from climate.domain.resources import Inventory


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Provider:
    """A resource provider of Placement.

    :ivar generation: goes up when its inventories, its traits or what is
        allocated from it change
    :ivar parent_uuid: provider that it is nested in; None if it is a root
    """

    uuid: str
    name: str
    generation: int
    parent_uuid: str | None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ProviderAllocation:
    """An amount of a provider that a consumer holds.

    :ivar consumer_id: who: the id of a server, mostly
    :ivar amounts: by resource class
    """

    consumer_id: str
    amounts: Mapping[str, int]


class Providers(Protocol):
    """Verbs about resource providers.

    Nova's computes write to the same providers: a verb that changes one reads
    it and tries again if another client was quicker, a few times, before
    it gives up with a CloudConflict.

    nova-compute remembers the providers that are nested in its own for some
    minutes (``[compute] resource_provider_association_refresh`` of Nova), and
    while it remembers one that is gone it boots nothing: change a nested provider
    if possible, rather than delete and create it.
    """

    def find_provider(self, name: str) -> Provider | None:
        """Return the provider of exactly this name; None if there is none."""
        ...

    def list_providers(
        self, *, prefix: str = '', parent_uuid: str | None = None
    ) -> tuple[Provider, ...]:
        """Return the providers whose name begins so, by name.

        :param parent_uuid: those that are nested directly in this one, none
            if there is no such provider; all if None
        """
        ...

    def create_provider(self, name: str, parent_uuid: str | None) -> Provider:
        """Make a provider without inventories, nested in another or a root.

        :param name: 1 to 200 characters, of those that every database stores
        :raises CloudConflict: if there is one of this name (perhaps made by a
            call before, whose answer was lost: see :meth:`find_provider`), or
            of a name that differs by case only
        :raises climate.exceptions.Permanent: if there is no such parent
        """
        ...

    def delete_provider(self, uuid: str) -> None:
        """Remove a provider; fine if it is gone already.

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
        """Give a provider this inventory of a class, instead of what it had.

        It may be less than the allocated amount: nothing more can be allocated
        then, but existing allocations remain.

        :raises CloudNotFound: if there is no such provider
        :raises climate.exceptions.Permanent: if there is no such class, or a
            number is not allowed, such as a total below 1
        """
        ...

    def remove_inventory(self, uuid: str, resource_class: str) -> None:
        """Take all of a class from a provider; fine if it, or both, are gone.

        :raises CloudConflict: if something of it is allocated
        """
        ...

    def usages(self, uuid: str) -> Mapping[str, int]:
        """Return how much of each class of a provider is allocated.

        :raises CloudNotFound: if there is no such provider
        """
        ...

    def allocations(self, uuid: str) -> tuple[ProviderAllocation, ...]:
        """Return who holds what of a provider, by consumer.

        :raises CloudNotFound: if there is no such provider
        """
        ...

    def provider_aggregates(self, uuid: str) -> frozenset[str]:
        """Return the UUIDs of the aggregates that a provider is in.

        Nova puts the provider of a host into one when the host is put into an
        aggregate of Nova.

        :raises CloudNotFound: if there is no such provider
        """
        ...


class Traits(Protocol):
    """Verbs about traits: what providers are, or can do."""

    def list_traits(self, prefix: str = '') -> frozenset[str]:
        """Return the names of all traits that begin so."""
        ...

    def create_trait(self, name: str) -> None:
        """Make a trait of our own; fine if it is there already.

        :raises climate.exceptions.Permanent: if its name is not ``CUSTOM_``
            and capital letters, digits and underscores, 255 at most
        """
        ...

    def delete_trait(self, name: str) -> None:
        """Remove a trait of our own; fine if it is gone already.

        :raises CloudConflict: if a provider has it
        :raises climate.exceptions.Permanent: if it is not our own
        """
        ...

    def traits(self, uuid: str) -> frozenset[str]:
        """Return the traits of a provider.

        :raises CloudNotFound: if there is no such provider
        """
        ...

    def set_traits(self, uuid: str, names: frozenset[str]) -> None:
        """Give a provider these traits, instead of those it had.

        :raises CloudNotFound: if there is no such provider
        :raises climate.exceptions.Permanent: if there is no such trait
        """
        ...

    def add_trait(self, uuid: str, name: str) -> None:
        """Give a provider one more trait; fine if it has it.

        :raises CloudNotFound: if there is no such provider
        :raises climate.exceptions.Permanent: if there is no such trait
        """
        ...

    def remove_trait(self, uuid: str, name: str) -> None:
        """Take a trait from a provider; fine if it has it not.

        :raises CloudNotFound: if there is no such provider
        """
        ...


class ResourceClasses(Protocol):
    """Verbs about resource classes: what inventories are of."""

    def list_resource_classes(self, prefix: str = '') -> frozenset[str]:
        """Return the names of all resource classes that begin so."""
        ...

    def create_resource_class(self, name: str) -> None:
        """Make a class of our own; fine if it is there already.

        :raises climate.exceptions.Permanent: if its name is not ``CUSTOM_``
            and capital letters, digits and underscores, 255 at most
        """
        ...

    def delete_resource_class(self, name: str) -> None:
        """Remove a class of our own; fine if it is gone already.

        :raises CloudConflict: if a provider has an inventory of it
        :raises climate.exceptions.Permanent: if it is not our own
        """
        ...
