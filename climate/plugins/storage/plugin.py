# SPDX-License-Identifier: Apache-2.0
"""Whole storage pools: ``physical:storage``.

An operator registers pools of Cinder. During a lease, the project has access to a
private volume type that is bound to the pool. The operator makes sure that no other
project has a type whose volumes can lie there. ``virtual:volume`` books room on the
same pools.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Annotated
from typing import Any
from typing import ClassVar

from climate import exceptions
from climate.allocation import requirements
from climate.allocation.requirements import Comparison
from climate.allocation.requirements import Operator
from climate.cloud.base import as_transient
from climate.cloud.base import Cloud
from climate.cloud.base import CloudConflict
from climate.domain.holdings import HeldResource
from climate.domain.leases import Reservation
from climate.domain.nouns import Nouns
from climate.domain.resources import Inventory
from climate.domain.resources import Resource
from climate.domain.resources import ResourceDraft
from climate.plugins import contract
from climate.plugins import fields
from climate.plugins import instructions
from climate.plugins import models
from climate.plugins.storage import volume_types
from climate.plugins.storage.facts import StorageFacts
from climate.plugins.storage.volume_types import StorageTypes
from climate.plugins.volume import end
from climate.plugins.volume import pools
from climate.plugins.volume.steps import VolumeSteps

RESOURCE_TYPE = pools.POOL_TYPE
# No snapshots: they would lie in the pool that the lease returns.
STEPS = (end.BACKUP, end.DETACH, end.DELETE)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StorageRequest(models.Request):
    """Between ``minimum`` and ``maximum`` whole pools."""

    minimum: Annotated[int, fields.Count('The smallest number of pools.', key='min')]
    maximum: Annotated[int, fields.Count('The largest number of pools.', key='max')]
    resource_properties: Annotated[str, fields.Requirement('A requirement on the pools.')] = ''
    on_end: Annotated[
        tuple[str, ...],
        VolumeSteps('What becomes of the volumes that are left, step by step.', words=STEPS),
    ] = (end.DELETE,)

    unstated: ClassVar[tuple[str, ...]] = ('min must not be larger than max.',)

    def check(self) -> None:
        """Refuse a minimum that is larger than the maximum."""
        if self.minimum > self.maximum:
            raise exceptions.InvalidRange(what='storage pools')


class PhysicalStorage(contract.Configured[StorageRequest, end.StorageSettings]):
    """Leases whole storage pools by private volume types."""

    resource_type: ClassVar[str] = RESOURCE_TYPE
    nouns: ClassVar[Nouns] = Nouns('storage pool', 'storage pools')
    shrinks: ClassVar[bool] = True
    compared: ClassVar[tuple[str, ...]] = pools.COMPARED
    request_model: ClassVar[type[models.Request]] = StorageRequest
    settings: ClassVar[type[end.StorageSettings]] = end.StorageSettings

    # -- pure half

    def search(self, request: StorageRequest) -> contract.Search:
        """Describe the pools that the request can use."""
        return contract.Search(
            resource_type=RESOURCE_TYPE,
            minimum=request.minimum,
            maximum=request.maximum,
            requirement=requirements.all_of(
                Comparison(key=pools.ALONE, op=Operator.EQ, value='true'),
                requirements.parse(request.resource_properties),
            ),
            noun='storage pools',
        )

    def roles(self, request: StorageRequest) -> frozenset[str]:
        """Return the roles of the user needed to copy volumes."""
        return self._settings.roles if end.COPIES & set(request.on_end) else frozenset()

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return the keys of a reservation of pools in the API's response."""
        facts = StorageFacts.of(reservation)
        types = facts.volume_types
        return {
            **super().describe(reservation),
            'volume_types': [types[pool] for pool in sorted(types)],
            'copies': list(facts.copies),
        }

    def instructions(
        self, reservation: Reservation, resources: Sequence[HeldResource]
    ) -> Sequence[contract.Instruction]:
        """Return how to create volumes in the pools."""
        types = StorageFacts.of(reservation).volume_types
        return [
            contract.Instruction(
                name='create_volume',
                title=f'Create a volume in {pool}',
                command=instructions.command(
                    *('openstack', 'volume', 'create', '--type', types[pool]),
                    *('--size', 'GIB', 'NAME'),
                ),
            )
            for pool in sorted(types)[: instructions.MOST]
        ]

    # -- effect half

    def start(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Create a type for each allocated pool, and delete those for other pools.

        :raises climate.exceptions.Permanent: if there are volumes in a pool
            that the reservation loses
        """
        ids = {item.resource_id for item in work.allocations}
        return self._types(work, cloud).settle(item for item in work.resources if item.id in ids)

    def check(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Repair changes that others made to the types.

        :raises climate.exceptions.Permanent: if Cinder no longer has a pool
        """
        known = {pool.name for pool in cloud.volume.list_pools()}
        gone = [item.name for item in work.resources if item.name not in known]
        outcome = self._types(work, cloud).settle(work.resources)
        if gone:
            raise exceptions.Permanent(f'Cinder no longer has storage pool {", ".join(gone)}')
        return outcome

    def end(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Close the types, take the steps with the remaining volumes, delete the types.

        :raises climate.exceptions.Permanent: if volumes are left
        """
        return self._types(work, cloud).end(self.load(work.reservation.request).on_end)

    def undo(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Delete the types, but no volume.

        :raises climate.exceptions.Permanent: if they have volumes
        """
        return self._types(work, cloud).undo()

    def occupied(self, reservation: Reservation, resource: Resource, cloud: Cloud) -> str:
        """Return the ids of the volumes of a reservation in a pool."""
        types = set(StorageFacts.of(reservation).volume_types.values())
        volumes = cloud.volume.list_volumes(pool=resource.name)
        return ', '.join(volume.id for volume in volumes if volume.volume_type in types)

    def sweep(
        self, records: contract.Records, cloud: Cloud, *, dry_run: bool
    ) -> Iterable[contract.SweepFinding]:
        """Delete the types that ended leases have left behind; never a volume."""
        for volume_type in cloud.volume.list_volume_types():
            reservation_id = volume_types.reservation(volume_type.name)
            if reservation_id not in records.ended or reservation_id in records.alive:
                continue
            what = f'volume type {volume_type.name} of a lease that is over'
            if cloud.volume.list_volumes(volume_type=volume_type.name):
                yield contract.SweepFinding(what=f'{what}, with volumes')
                continue
            if not dry_run:
                with as_transient(CloudConflict):
                    cloud.volume.delete_volume_type(volume_type.id)
            yield contract.SweepFinding(what=what, done='' if dry_run else 'removed')

    def _types(self, work: contract.Work, cloud: Cloud) -> StorageTypes:
        return StorageTypes(work, cloud, self._settings)

    # -- resources

    resource_schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'additionalProperties': False,
        'properties': {},
    }

    def discover(self, draft: ResourceDraft, cloud: Cloud) -> Resource:
        """Look a pool up by its full name, ``host@backend#pool``."""
        return pools.looked_up(cloud, draft.name, draft.inventories)

    def report(self, resources: Sequence[Resource], cloud: Cloud) -> Iterator[contract.Reported]:
        """Report pools that Cinder does not have, or has with another size or back end.

        The size matters only if it was not declared by operators.
        """
        return pools.reported(cloud, resources)

    def stock(self, declared: Sequence[Inventory]) -> tuple[Inventory, ...]:
        """Return the capacity of a pool that an operator declares, in GiB.

        :raises climate.exceptions.InvalidInput: if it is of another resource class
        """
        return pools.stocked(declared)
