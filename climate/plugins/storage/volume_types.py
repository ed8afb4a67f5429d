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
from climate.clients.base import BlockStorage
from climate.clients.base import Cloud
from climate.clients.base import CloudConflict
from climate.clients.base import CloudNotFound
from climate.clients.base import Volume
from climate.clients.base import VolumeType
from climate.domain.resources import Resource
from climate.plugins import contract
from climate.plugins.storage.facts import StorageFacts
from climate.plugins.volume import pools
from climate.plugins.volume.end import StorageSettings
from climate.plugins.volume.end import VolumeEnds

PREFIX = 'reservation:'


class StorageTypes:
    """Creates, repairs and deletes them; every step can be repeated."""

    def __init__(self, work: contract.Work, cloud: Cloud, settings: StorageSettings) -> None:
        self._work = work
        self._cloud = cloud
        self._cinder: BlockStorage = cloud.volume
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
            found = present.get(key)
            if found is None:
                found = self._made(resource, taken)
                repaired.append(f'volume type {found.name} was missing')
            taken.add(found.name)
            types[resource.name] = found.name
            self._open(found, repaired)
        return contract.Done(
            facts=self._facts(types).changes(self._work.reservation),
            repaired=tuple(repaired),
            steps=tuple(f'volume type {types[pool]} is bound to {pool}' for pool in sorted(types)),
        )

    def end(self, steps: tuple[str, ...]) -> contract.Outcome:
        """Close the types, take the steps with their volumes, and delete the types.

        :raises climate.exceptions.Permanent: if volumes are left
        """
        found = self._found()
        for item in found:
            self._close(item)
        ends = VolumeEnds(self._work, self._cloud, steps, self._settings)
        results = ends.run(volume for item in found for volume in self._volumes(item))
        if not results.waits:
            self._remove(found)
        return ends.outcome(results, self._facts({}))

    def undo(self) -> contract.Outcome:
        """Delete the types, but no volume.

        :raises climate.exceptions.Permanent: if there is a volume anyway
        """
        found = self._found()
        for item in found:
            self._close(item)
        self._remove(found)
        return contract.Done(facts=self._facts({}).changes(self._work.reservation))

    def _facts(self, types: Mapping[str, str]) -> StorageFacts:
        return dataclasses.replace(StorageFacts.of(self._work.reservation), volume_types=types)

    def _found(self) -> tuple[VolumeType, ...]:
        mine = self._work.reservation.id
        return tuple(
            item for item in self._cinder.list_volume_types() if reservation(item.name) == mine
        )

    def _volumes(self, found: VolumeType) -> tuple[Volume, ...]:
        return self._cinder.list_volumes(volume_type=found.name)

    def _made(self, resource: Resource, taken: set[str]) -> VolumeType:
        first = PREFIX + self._work.reservation.id
        names = itertools.chain([first], (f'{first}:{number}' for number in itertools.count(2)))
        name = next(name for name in names if name not in taken)
        try:
            return self._cinder.create_volume_type(name, pools.specs_of(resource))
        except CloudConflict as error:
            raise exceptions.Transient(error.message) from error

    def _open(self, found: VolumeType, repaired: list[str]) -> None:
        project_id = self._work.lease.project_id
        try:
            projects = self._cinder.list_volume_type_projects(found.id)
            for other in projects:
                if other != project_id:
                    self._cinder.forbid_volume_type(found.id, other)
                    repaired.append(f'volume type {found.name} was open to another project')
            if project_id not in projects:
                self._cinder.allow_volume_type(found.id, project_id)
                repaired.append(f'volume type {found.name} was closed to its project')
        except CloudNotFound as error:
            # It has just been deleted, or an operator has made it public.
            raise exceptions.Transient(error.message) from error

    def _close(self, found: VolumeType) -> None:
        with contextlib.suppress(CloudNotFound):
            for project_id in self._cinder.list_volume_type_projects(found.id):
                self._cinder.forbid_volume_type(found.id, project_id)

    def _remove(self, types: Iterable[VolumeType]) -> None:
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
            try:
                self._cinder.delete_volume_type(item.id)
            except CloudConflict as error:
                raise exceptions.Transient(error.message) from error


def reservation(name: str) -> str | None:
    """Return the id of the reservation of a volume type; None if it has none."""
    if not name.startswith(PREFIX):
        return None
    return name.removeprefix(PREFIX).partition(':')[0]


def _key(specs: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(specs.items()))
