# SPDX-License-Identifier: Apache-2.0

"""Cinder, over openstacksdk.

:mod:`climate.cloud.errors` maps all errors. Cinder returns 400 both for an invalid
request and for a state that does not allow the operation; where only the latter is
possible, it becomes a conflict. If Cinder refuses a deletion, the client checks
whether the object is being deleted already.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import TypeVar

from climate.cloud.base import Backup
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import Pool
from climate.cloud.base import Source
from climate.cloud.base import Volume
from climate.cloud.base import VolumeSnapshot
from climate.cloud.base import VolumeType
from climate.cloud.sdk import SdkService
from climate.domain import copies
from climate.domain import names

# Attachments have their present form since 3.27. Requests for snapshots of volumes in
# use need "force" up to 3.65, and must not contain it from 3.66 on.
MICROVERSION = '3.60'
_SOURCES = {'snapshot': 'snapshot_id', 'image': 'image_id', 'volume': 'source_volume_id'}
_DELETING = 'deleting'

Copy = TypeVar('Copy', VolumeSnapshot, Backup)
T = TypeVar('T')


class CinderBlockStorage:
    """Implements :class:`climate.cloud.base.BlockStorage`.

    :param service: of the type ``block-storage``; the project of its session owns the
        objects that are created
    """

    def __init__(self, service: SdkService) -> None:
        self._service = service

    # -- volumes

    def find_volume(self, volume_id: str) -> Volume | None:
        """Return a volume; None if it does not exist."""
        return self._find('volume', volume_id, _volume)

    def list_volumes(
        self,
        *,
        volume_type: str | None = None,
        pool: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> tuple[Volume, ...]:
        """Return the volumes of all projects, by id."""
        query: dict[str, object] = {'all_projects': True}
        if metadata:
            query['properties'] = json.dumps(dict(metadata))
        volumes = self._service.every(
            'list_volumes', lambda cinder: map(_volume, cinder.volumes(details=True, **query))
        )
        # Cinder cannot filter by type, and ignores unknown filters.
        wanted = (metadata or {}).items()
        return tuple(
            volume
            for volume in volumes
            if volume_type in (None, volume.volume_type)
            and pool in (None, volume.pool)
            and wanted <= volume.metadata.items()
        )

    def create_volume(
        self,
        name: str,
        size_gb: int | None,
        *,
        volume_type: str | None = None,
        availability_zone: str | None = None,
        source: Source | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> str:
        """Start to create a volume and return its id."""
        wanted: dict[str, object] = {
            'size': size_gb,
            'volume_type': volume_type,
            'availability_zone': availability_zone,
            'metadata': dict(metadata) if metadata else None,
        }
        if source is not None:
            wanted[_SOURCES[source.kind]] = source.id
        attributes = {key: value for key, value in wanted.items() if value is not None}
        with self._service.calling('create_volume') as cinder:
            return str(cinder.create_volume(name=name, **attributes).id)

    def delete_volume(self, volume_id: str) -> None:
        """Start to delete a volume; a no-op if it is gone or being deleted."""
        self._delete('volume', volume_id)

    def _find(self, kind: str, item_id: str, read: Callable[[Any], T]) -> T | None:
        """Return an object that Cinder knows by a UUID; None if it does not exist."""
        if names.is_uuid(item_id):
            with contextlib.suppress(CloudNotFound):
                with self._service.calling(f'find_{kind}') as cinder:
                    return read(getattr(cinder, f'get_{kind}')(item_id))
        return None

    def _list(self, kinds: str, volume_id: str, read: Callable[[Any], Copy]) -> tuple[Copy, ...]:
        """Return the copies of a volume, by id, even if Cinder ignores the filter."""
        query = {'details': True, 'all_projects': True, 'volume_id': volume_id}
        found = self._service.every(
            f'list_{kinds}', lambda cinder: map(read, getattr(cinder, kinds)(**query))
        )
        return tuple(item for item in found if item.volume_id == volume_id)

    def _delete(self, kind: str, item_id: str) -> None:
        try:
            with self._service.calling(f'delete_{kind}', bad_request=CloudConflict) as cinder:
                getattr(cinder, f'delete_{kind}')(item_id, ignore_missing=False)
        except (CloudConflict, CloudNotFound) as refusal:
            item = getattr(self, f'find_{kind}')(item_id)
            if item is not None and item.status != _DELETING:
                # A 404 for an existing object means that a service is missing.
                raise CloudConflict(refusal.message) from None

    # -- snapshots

    def find_snapshot(self, snapshot_id: str) -> VolumeSnapshot | None:
        """Return a snapshot; None if it does not exist."""
        return self._find('snapshot', snapshot_id, _snapshot)

    def list_snapshots(self, volume_id: str) -> tuple[VolumeSnapshot, ...]:
        """Return the snapshots of a volume, by id."""
        return self._list('snapshots', volume_id, _snapshot)

    def create_snapshot(self, volume_id: str, name: str) -> str:
        """Start to create a snapshot of a volume and return its id."""
        with self._service.calling('create_snapshot', bad_request=CloudConflict) as cinder:
            return str(cinder.create_snapshot(volume_id=volume_id, name=name, is_forced=True).id)

    def delete_snapshot(self, snapshot_id: str) -> None:
        """Start to delete a snapshot; a no-op if it is gone or being deleted."""
        self._delete('snapshot', snapshot_id)

    # -- backups

    def find_backup(self, backup_id: str) -> Backup | None:
        """Return a backup; None if it does not exist."""
        return self._find('backup', backup_id, _backup)

    def list_backups(self, volume_id: str) -> tuple[Backup, ...]:
        """Return the backups of a volume, by id, even if it was deleted."""
        return self._list('backups', volume_id, _backup)

    def create_backup(self, volume_id: str, name: str) -> str:
        """Start to create a backup of a volume and return its id."""
        with self._service.calling('create_backup', bad_request=CloudConflict) as cinder:
            return str(cinder.create_backup(volume_id=volume_id, name=name, force=True).id)

    def delete_backup(self, backup_id: str) -> None:
        """Start to delete a backup; a no-op if it is gone or being deleted."""
        self._delete('backup', backup_id)

    # -- types and pools

    def find_volume_type(self, name: str) -> VolumeType | None:
        """Return the public or private type of exactly this name; None without one."""
        with self._service.calling('find_volume_type') as cinder:
            return next((item for item in _types(cinder) if item.name == name), None)

    def list_volume_types(self) -> tuple[VolumeType, ...]:
        """Return all types, public or not, by name."""
        with self._service.calling('list_volume_types') as cinder:
            return tuple(sorted(_types(cinder), key=lambda item: item.name))

    def create_volume_type(self, name: str, extra_specs: Mapping[str, str]) -> VolumeType:
        """Create a type that no project may use until access is granted."""
        with self._service.calling('create_volume_type') as cinder:
            specs = dict(extra_specs)
            return _volume_type(cinder.create_type(name=name, is_public=False, extra_specs=specs))

    def delete_volume_type(self, type_id: str) -> None:
        """Delete a type; a no-op if it does not exist."""
        with contextlib.suppress(CloudNotFound):
            with self._service.calling('delete_volume_type', bad_request=CloudConflict) as cinder:
                cinder.delete_type(type_id, ignore_missing=False)

    def list_volume_type_projects(self, type_id: str) -> tuple[str, ...]:
        """Return the ids of the projects that may use a private type, sorted."""
        with self._service.calling('list_volume_type_projects') as cinder:
            return tuple(sorted(item['project_id'] for item in cinder.get_type_access(type_id)))

    def allow_volume_type(self, type_id: str, project_id: str) -> None:
        """Grant a project access to a private type; a no-op if it already has access."""
        with contextlib.suppress(CloudConflict):
            with self._service.calling('allow_volume_type') as cinder:
                cinder.add_type_access(type_id, project_id)

    def forbid_volume_type(self, type_id: str, project_id: str) -> None:
        """Revoke a project's access to a type; a no-op if it has none."""
        with contextlib.suppress(CloudNotFound):
            with self._service.calling('forbid_volume_type') as cinder:
                cinder.remove_type_access(type_id, project_id)

    def list_pools(self) -> tuple[Pool, ...]:
        """Return every pool of Cinder's scheduler, by name."""
        with self._service.calling('list_pools') as cinder:
            pools = [_pool(item) for item in cinder.backend_pools()]
        return tuple(sorted(pools, key=lambda pool: pool.name))


def _volume(item: Any) -> Volume:
    return copies.converted(
        Volume,
        item,
        name=item.name or '',
        size_gb=item.size,
        volume_type=item.volume_type or '',
        availability_zone=item.availability_zone or '',
        pool=item.host or '',
        server_ids=tuple(sorted(attachment['server_id'] for attachment in item.attachments)),
        metadata=dict(item.metadata),
    )


def _snapshot(item: Any) -> VolumeSnapshot:
    return copies.converted(VolumeSnapshot, item, name=item.name or '', size_gb=item.size)


def _backup(item: Any) -> Backup:
    return copies.converted(
        Backup, item, name=item.name or '', size_gb=item.size, reason=item.fail_reason or ''
    )


def _types(cinder: Any) -> list[VolumeType]:
    # With None, Cinder returns private types as well.
    return [_volume_type(item) for item in cinder.types(is_public='None')]


def _volume_type(item: Any) -> VolumeType:
    specs = dict(item.extra_specs or {})
    return copies.converted(VolumeType, item, public=bool(item.is_public), extra_specs=specs)


def _pool(item: Any) -> Pool:
    known = item.capabilities
    return Pool(
        name=item.name,
        backend_name=known.get('volume_backend_name') or '',
        total_gb=_size(known.get('total_capacity_gb')),
        free_gb=_size(known.get('free_capacity_gb')),
        # Drivers without thin provisioning omit it.
        allocated_gb=_size(known.get('allocated_capacity_gb')) or 0.0,
        provisioned_gb=_size(known.get('provisioned_capacity_gb')) or 0.0,
    )


def _size(value: object) -> float | None:
    """Return a size in GiB; None for Cinder's ``infinite`` and ``unknown``."""
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    return None
