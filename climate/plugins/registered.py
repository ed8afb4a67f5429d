# SPDX-License-Identifier: Apache-2.0

"""What a type says about the resources that operators register for it."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import ClassVar

from climate import exceptions
from climate.cloud.base import Cloud
from climate.domain.resources import Inventory
from climate.domain.resources import Resource
from climate.domain.resources import ResourceDraft
from climate.plugins.collection import ResourceCollection
from climate.plugins.outcomes import Reported
from climate.plugins.refusals import Refusals


class Registered:
    """The part of a plugin that handles resources; some types use those of another type."""

    resource_type: ClassVar[str]

    resource_schema: ClassVar[Mapping[str, Any] | None] = None
    """JSON schema of the attributes with which operators register a resource of
    this type; None if the type has no resources of its own."""

    compute_hosts: ClassVar[bool] = False
    """Whether its resources are hosts of Nova, which reports whether they work."""

    identity: ClassVar[str | None] = None
    """An attribute that identifies in the cloud which thing a resource is, whatever its name:
    no two resources of the type are registered with the same value."""

    collection: ClassVar[ResourceCollection | None] = None
    """A form of its resources that the API serves in addition to the one for all types."""

    reserved_properties: ClassVar[frozenset[str]] = frozenset()
    """Names that operators cannot give to properties of its resources."""

    refusals: ClassVar[Refusals] = Refusals()
    """Errors about its resources."""

    def discover(self, draft: ResourceDraft, cloud: Cloud) -> Resource:
        """Return the resource that an operator registers; read-only in the cloud.

        By default the resource is as the operator declares it. A type whose resources
        exist in the cloud looks them up.

        :raises climate.exceptions.ClimateError: if it does not exist or is in use
        """
        return Resource(
            resource_type=self.resource_type,
            name=draft.name,
            attributes=draft.attributes,
            inventories=self.stock(draft.inventories),
        )

    compared: ClassVar[tuple[str, ...]] = ()
    """The attributes whose change operators have to know; :meth:`report` reads them."""

    def report(self, resources: Sequence[Resource], cloud: Cloud) -> Iterable[Reported]:
        """Return how the cloud has registered resources now; read-only.

        A type whose resources do not exist in the cloud reports nothing.

        :raises climate.exceptions.EffectError: if the cloud does not respond
        """
        return ()

    def stock(self, declared: Sequence[Inventory]) -> tuple[Inventory, ...]:
        """Return the inventories of a resource from those that an operator declares.

        Types that look up their resources in the cloud accept none.

        :raises climate.exceptions.InvalidInput: naming the invalid one
        """
        if declared:
            raise exceptions.InvalidInput.of(
                'inventories', f'those of {self.resource_type} are looked up'
            )
        return ()

    def rename(self, resource: Resource, name: str, cloud: Cloud) -> Resource:
        """Return a resource with the name that the cloud now uses for it.

        What Climate has set aside in the cloud under the old name follows.

        :raises climate.exceptions.ClimateError: if the cloud has no such thing, or
            it is something else
        """
        raise exceptions.InvalidInput.of(
            'name', f'resources of type {self.resource_type} keep their names'
        )

    def admit(self, resource: Resource, cloud: Cloud) -> None:
        """Set a resource aside in the cloud, so that only leases can use it."""

    def release(self, resource: Resource, cloud: Cloud, *, shared: bool = False) -> None:
        """Unregister a resource in the cloud; the reverse of :meth:`admit`.

        :param shared: whether another resource has the same :attr:`identity`; what both
            have in common in the cloud then stays set aside
        """
