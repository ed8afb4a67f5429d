# SPDX-License-Identifier: Apache-2.0
"""Volumes: ``virtual:volume``.

A lease either takes an existing volume, so that no other lease can have it at the
same time, or creates volumes in its project when it starts. Room for those is booked
on pools that operators have registered as ``physical:storage``. ``on_end`` lists the
steps at the end.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import ClassVar

from climate import exceptions
from climate.allocation import requirements
from climate.allocation.requirements import Comparison
from climate.allocation.requirements import Operator
from climate.cloud.base import Cloud
from climate.cloud.base import Volume
from climate.domain.holdings import HeldResource
from climate.domain.leases import Reservation
from climate.domain.nouns import Nouns
from climate.plugins import contract
from climate.plugins import instructions
from climate.plugins import models
from climate.plugins.volume import request as volume_request
from climate.plugins.volume.effects import CreatedVolumes
from climate.plugins.volume.effects import ExistingVolume
from climate.plugins.volume.end import COPIES
from climate.plugins.volume.end import StorageSettings
from climate.plugins.volume.facts import VolumeFacts
from climate.plugins.volume.pools import BACKEND_KEYS
from climate.plugins.volume.pools import CAPACITY
from climate.plugins.volume.pools import POOL_TYPE
from climate.plugins.volume.request import SOURCES
from climate.plugins.volume.request import VolumeRequest

USABLE = frozenset({'available', 'in-use'})


class VirtualVolume(contract.Configured[VolumeRequest, StorageSettings]):
    """Makes volumes for the period of a lease, or takes one that exists."""

    resource_type: ClassVar[str] = volume_request.RESOURCE_TYPE
    nouns: ClassVar[Nouns] = Nouns('volume', 'volumes')
    exclusive = False
    classes = (CAPACITY,)
    request_model: ClassVar[type[models.Request]] = VolumeRequest
    settings: ClassVar[type[StorageSettings]] = StorageSettings
    inspects: ClassVar[bool] = True
    # A volume must not be detached from a server whose image is being created.
    used_by: ClassVar[frozenset[str]] = frozenset({'virtual:server', 'virtual:stack'})

    # -- pure half

    def parse(self, body: Mapping[str, Any], *, strict: bool = False) -> VolumeRequest:
        """Parse the body of a new reservation.

        The number of sources is checked first, so that two invalid sources are refused
        because there are two.
        """
        named = [key for key in SOURCES if str(body.get(key) or '').strip()]
        volume_request.check_sources(named)
        return super().parse(body, strict=strict)

    def change(
        self,
        request: VolumeRequest,
        body: Mapping[str, Any],
        *,
        strict: bool = False,
        running: bool = False,
    ) -> VolumeRequest:
        """Return *request* with a client's changes applied."""
        changed = super().change(request, body, strict=strict, running=running)
        seen = request.seen and changed.is_inspected_with(request)
        return dataclasses.replace(changed, seen=seen)

    def dump(self, request: VolumeRequest) -> dict[str, Any]:
        """Return *request* as JSON values, with the source of the volumes."""
        source = request.source
        made_of = None if source is None else {'kind': source.kind, 'id': source.id}
        return {**super().dump(request), 'source': made_of}

    def load(self, stored: Mapping[str, Any]) -> VolumeRequest:
        """Return the request that :meth:`dump` wrote."""
        source = stored['source'] or {}
        keys = [key for key, kind in SOURCES.items() if kind == source.get('kind')]
        return dataclasses.replace(super().load(stored), **dict.fromkeys(keys, source.get('id')))

    def search(self, request: VolumeRequest) -> contract.Search:
        """Describe the volume, or the room on pools, that the request needs."""
        if request.volume_id:
            return contract.Search.named(self.resource_type, self.things(request), 'volumes')
        amount = request.amount if request.guarantee else 0
        conditions = [
            Comparison(key=key, op=Operator.EQ, value=value)
            for key, value in sorted(request.backend.items())
        ]
        return contract.Search(
            resource_type=POOL_TYPE,
            minimum=amount,
            maximum=amount,
            requirement=requirements.all_of(*conditions) if amount else None,
            noun='GiB of storage pools',
            demand={CAPACITY: request.size} if amount else {},
        )

    def yield_units(self, request: VolumeRequest) -> int:
        """Return how many GiB there are: snapshots and backups take time."""
        return max(request.amount * request.size, 1)

    def things(self, request: VolumeRequest) -> Sequence[str]:
        """Return the id of an existing volume."""
        return (request.volume_id,) if request.volume_id else ()

    def roles(self, request: VolumeRequest) -> frozenset[str]:
        """Return the roles of the user needed to create volumes, or copies of them."""
        needed = not request.volume_id or bool(COPIES & set(request.on_end))
        return self._settings.roles if needed and not request.room_only else frozenset()

    def follows(self, before: VolumeRequest, request: VolumeRequest) -> bool:
        """Whether the number of volumes changes."""
        return before.amount != request.amount

    def inspect(
        self, request: VolumeRequest, cloud: Callable[[], Cloud], project_id: str
    ) -> VolumeRequest:
        """Look up the volume, or the type and the source of new volumes.

        :raises climate.exceptions.InvalidInput: if the caller cannot see one of
            them, or it cannot be used
        """
        if request.seen:
            return request
        if request.volume_id:
            volume = _volume(cloud(), request.volume_id, project_id)
            _check_usable(volume)
            request = dataclasses.replace(request, volume_id=volume.id)
        else:
            request = _with_backend(_with_source(request, cloud, project_id), cloud)
        return dataclasses.replace(request, seen=True)

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return the keys of a reservation of volumes in the API's response."""
        facts = VolumeFacts.of(reservation)
        volumes = facts.volumes
        return {
            **volume_request.describe(self.load(reservation.request)),
            'volumes': [volumes[number] for number in sorted(volumes, key=int)],
            'copies': list(facts.copies),
        }

    def instructions(
        self, reservation: Reservation, resources: Sequence[HeldResource]
    ) -> Sequence[contract.Instruction]:
        """Return how to attach the volumes."""
        volumes = VolumeFacts.of(reservation).volumes
        return [
            contract.Instruction(
                name='attach_volume',
                title=f'Attach volume {volumes[number]} to a server',
                command=instructions.command(
                    'openstack', 'server', 'add', 'volume', 'SERVER', volumes[number]
                ),
            )
            for number in sorted(volumes, key=int)[: instructions.MOST]
        ]

    # -- effect half

    def start(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Create the volumes, and wait until they can be used.

        :raises climate.exceptions.Permanent: if one goes to ``error``
        """
        return self._effects(work, cloud).start()

    def check(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Check that the volumes exist and can be used; missing ones are not replaced.

        :raises climate.exceptions.Permanent: if one is gone or broken
        """
        return self._effects(work, cloud).check()

    def end(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Take the steps of ``on_end`` with the volumes.

        :raises climate.exceptions.Permanent: if one is still in use, or could
            not be copied
        """
        return self._effects(work, cloud).end()

    def undo(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Delete the volumes created for a lease that has not started.

        :raises climate.exceptions.Permanent: if one is in use anyway
        """
        return self._effects(work, cloud).undo()

    def _effects(
        self, work: contract.Work, cloud: Cloud
    ) -> ExistingVolume | CreatedVolumes | RoomOnly:
        request = self.load(work.reservation.request)
        if request.room_only:
            return RoomOnly()
        kind = ExistingVolume if request.volume_id else CreatedVolumes
        return kind(work, cloud, request, self._settings)


class RoomOnly:
    """Room without effects, for volumes that Heat, for example, creates."""

    def _nothing(self) -> contract.Outcome:
        return contract.Done()

    start = check = end = undo = _nothing


def _volume(cloud: Cloud, volume_id: str, project_id: str) -> Volume:
    volume = cloud.volume.find_volume(volume_id)
    if volume is None or volume.project_id != project_id:
        raise exceptions.InvalidInput(f"Volume '{volume_id}' not found")
    return volume


def _check_usable(volume: Volume) -> None:
    if volume.status not in USABLE:
        raise exceptions.InvalidInput(
            f"Volume '{volume.id}' cannot be reserved: it is {volume.status}"
        )


def _with_source(
    request: VolumeRequest, cloud: Callable[[], Cloud], project_id: str
) -> VolumeRequest:
    """Return *request* with the size and the type of its source as defaults.

    :raises climate.exceptions.InvalidInput: if the source is missing, or larger than
        the requested size
    """
    source = request.source
    if source is None:
        return request
    if source.kind == 'image':
        if cloud().image.find_image(source.id) is None:
            raise exceptions.InvalidInput(f"Image '{source.id}' not found")
        return request
    if source.kind == 'volume':
        origin = _volume(cloud(), source.id, project_id)
        least, volume_type = origin.size_gb, origin.volume_type
    else:
        snapshot = cloud().volume.find_snapshot(source.id)
        if snapshot is None or snapshot.project_id != project_id:
            raise exceptions.InvalidInput(f"Snapshot '{source.id}' not found")
        parent = cloud().volume.find_volume(snapshot.volume_id)
        least, volume_type = snapshot.size_gb, parent.volume_type if parent else ''
    if request.size and request.size < least:
        raise exceptions.InvalidInput.of('size', f'{source.kind} {source.id} has {least} GiB')
    return dataclasses.replace(
        request, size=request.size or least, volume_type=request.volume_type or volume_type
    )


def _with_backend(request: VolumeRequest, cloud: Callable[[], Cloud]) -> VolumeRequest:
    """Return *request* with the backend of its volume type.

    Callers can see in Cinder whether they have access to a type; only
    administrators can see where its volumes lie.

    :raises climate.exceptions.InvalidInput: if no room can be booked for the type
    """
    if not request.volume_type:
        if request.guarantee:
            raise exceptions.InvalidInput(
                'Missing parameter volume_type: without it no room can be booked; '
                'set guarantee to false to do without'
            )
        return dataclasses.replace(request, backend={})
    name = request.volume_type
    if cloud().volume.find_volume_type(name) is None:
        raise exceptions.InvalidInput(f"Volume type '{name}' not found")
    if not request.guarantee:
        return dataclasses.replace(request, backend={})
    volume_type = cloud().as_service().volume.find_volume_type(name)
    specs = {} if volume_type is None else volume_type.extra_specs
    backend = {key: specs[key] for key in BACKEND_KEYS if specs.get(key)}
    if 'volume_backend_name' not in backend:
        raise exceptions.InvalidInput(
            f"Room for volumes of type '{name}' cannot be booked, since they may lie anywhere; "
            'set guarantee to false to do without'
        )
    return dataclasses.replace(request, backend=backend)
