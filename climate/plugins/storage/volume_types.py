# SPDX-License-Identifier: Apache-2.0
"""The private volume types of one reservation of pools.

Each pool has a separate type, bound to the pool and open to the project of the
lease: ``reservation:<id>``, then ``reservation:<id>:2`` and so on. The extra specs
of a type name its pool.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Iterable
from collections.abc import Mapping

from climate import exceptions
from climate.cloud import base
from climate.domain.resources import Resource
from climate.plugins import contract
from climate.plugins.storage.facts import StorageFacts
from climate.plugins.volume import pools
from climate.plugins.volume.end import StorageSettings
from climate.plugins.volume.end import VolumeEnds

PREFIX = 'reservation:'


class StorageTypes:
    """Creates, repairs and deletes them; every step can be repeated."""

    def __init__(self, work: contract.Work, cloud: base.Cloud, settings: StorageSettings) -> None:
        self._work = work
        self._cloud = cloud
        self._cinder: base.BlockStorage = cloud.volume
        self._settings = settings

    def settle(self, resources: Iterable[Resource]) -> contract.Done:
        """Make sure that exactly these pools have a type, each open to the project.

        :raises climate.exceptions.Permanent: if a surplus type has volumes
        """
        wanted = {_key(pools.specs_of(item)): item for item in resources}
        present = {_key(item.extra_specs): item for item in self._found()}
        self._remove([item for key, item in present.items() if key not in wanted])
        taken = {item.name for item in present.values()}
        repaired: list[str] = []
        types: dict[str, str] = {}
        for key, resource in sorted(wanted.items(), key=lambda pair: pair[1].name):
            volume_type = present.get(key)
            if volume_type is None:
                volume_type = self._made(resource, taken)
                repaired.append(f'volume type {volume_type.name} was missing')
            taken.add(volume_type.name)
            types[resource.name] = volume_type.name
            self._open(volume_type, repaired)
        return contract.Done(
            facts=self._facts(types).changes(self._work.reservation),
            repaired=tuple(repaired),
            steps=tuple(f'volume type {types[pool]} is bound to {pool}' for pool in sorted(types)),
        )

    def end(self, steps: tuple[str, ...]) -> contract.Outcome:
        """Close the types, take the steps with their volumes, and delete the types.

        :raises climate.exceptions.Permanent: if volumes are left
        """
        types = self._found()
        for item in types:
            self._close(item)
        ends = VolumeEnds(self._work, self._cloud, steps, self._settings)
        results = ends.run(volume for item in types for volume in self._volumes(item))
        if not results.waits:
            self._remove(types)
        return ends.outcome(results, self._facts({}))

    def undo(self) -> contract.Outcome:
        """Delete the types, but no volume.

        :raises climate.exceptions.Permanent: if there is a volume anyway
        """
        types = self._found()
        for item in types:
            self._close(item)
        self._remove(types)
        return contract.Done(facts=self._facts({}).changes(self._work.reservation))

    def _facts(self, types: Mapping[str, str]) -> StorageFacts:
        return dataclasses.replace(StorageFacts.of(self._work.reservation), volume_types=types)

    def _found(self) -> tuple[base.VolumeType, ...]:
        mine = self._work.reservation.id
        return tuple(
            item for item in self._cinder.list_volume_types() if reservation(item.name) == mine
        )

    def _volumes(self, volume_type: base.VolumeType) -> tuple[base.Volume, ...]:
        return self._cinder.list_volumes(volume_type=volume_type.name)

    def _made(self, resource: Resource, taken: set[str]) -> base.VolumeType:
        first = PREFIX + self._work.reservation.id
        names = itertools.chain([first], (f'{first}:{number}' for number in itertools.count(2)))
        name = next(name for name in names if name not in taken)
        with base.as_transient(base.CloudConflict):
            return self._cinder.create_volume_type(name, pools.specs_of(resource))

    def _open(self, volume_type: base.VolumeType, repaired: list[str]) -> None:
        project_id = self._work.lease.project_id
        # It may just have been deleted, or an operator has made it public.
        with base.as_transient(base.CloudNotFound):
            projects = self._cinder.list_volume_type_projects(volume_type.id)
            for other in projects:
                if other != project_id:
                    self._cinder.forbid_volume_type(volume_type.id, other)
                    repaired.append(f'volume type {volume_type.name} was open to another project')
            if project_id not in projects:
                self._cinder.allow_volume_type(volume_type.id, project_id)
                repaired.append(f'volume type {volume_type.name} was closed to its project')

    def _close(self, volume_type: base.VolumeType) -> None:
        with contextlib.suppress(base.CloudNotFound):
            for project_id in self._cinder.list_volume_type_projects(volume_type.id):
                self._cinder.forbid_volume_type(volume_type.id, project_id)

    def _remove(self, types: Iterable[base.VolumeType]) -> None:
        """Delete types that have no volumes.

        :raises climate.exceptions.Permanent: if one of them has volumes
        """
        going = list(types)
        for item in going:
            left = self._volumes(item)
            if left:
                raise exceptions.Permanent(
                    f'volume type {item.name} still has volumes: '
                    + ', '.join(volume.id for volume in left)
                )
        for item in going:
            self._close(item)
            with base.as_transient(base.CloudConflict):
                self._cinder.delete_volume_type(item.id)


def reservation(name: str) -> str | None:
    """Return the id of the reservation of a volume type; None if it has none."""
    if not name.startswith(PREFIX):
        return None
    return name.removeprefix(PREFIX).partition(':')[0]


def _key(specs: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(specs.items()))
