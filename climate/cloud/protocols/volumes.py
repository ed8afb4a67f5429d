# SPDX-License-Identifier: Apache-2.0

"""Volumes of Cinder, their types and pools, snapshots and backups."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal
from typing import Protocol


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """The object from which Cinder copies the content of a new volume."""

    kind: Literal['snapshot', 'image', 'volume']
    id: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Volume:
    """A block device.

    :ivar size_gb: GiB
    :ivar status: the status in Cinder, such as ``creating``, ``available``,
        ``in-use``, ``deleting`` or ``error``
    :ivar volume_type: the name of its type; '' if it has none
    :ivar pool: the name of its pool; '' until Cinder has chosen one
    :ivar server_ids: the servers to which it is attached
    """

    id: str
    name: str
    project_id: str
    size_gb: int
    status: str
    volume_type: str
    availability_zone: str
    pool: str
    server_ids: tuple[str, ...]
    metadata: Mapping[str, str]


class Volumes(Protocol):
    """Operations on volumes.

    Cinder cannot create objects in another project: volumes, snapshots and backups
    belong to the project of the client. Finding, listing and deleting work on all
    projects.

    No method detaches a volume, because only Nova can do that; see
    :mod:`climate.cloud.protocols.servers`.
    """

    def find_volume(self, volume_id: str) -> Volume | None:
        """Return a volume; None if it does not exist."""

    def list_volumes(
        self,
        *,
        volume_type: str | None = None,
        pool: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> tuple[Volume, ...]:
        """Return the volumes of all projects, by id.

        :param volume_type: only those of the type with this name
        :param pool: only those in this pool
        :param metadata: only those with all of these items
        """

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
        """Start to create a volume and return its id.

        :attr:`Volume.status` shows the progress. Not idempotent: names are not unique.
        After a lost response, find the volume by its metadata with
        :meth:`list_volumes`.

        :param size_gb: GiB; None for the size of the source
        :param volume_type: the name of the type; the cloud's default if None
        :param availability_zone: the cloud's default if None
        :raises CloudNotFound: if there is no such type, snapshot or volume
        :raises CloudQuota: if the project has reached its limit of volumes or of GiB
        :raises climate.exceptions.Permanent: if there is no such zone or image, the
            size does not fit the source, or the source is not ready
        """

    def delete_volume(self, volume_id: str) -> None:
        """Start to delete a volume; a no-op if it is gone or being deleted.

        :raises CloudConflict: if it is attached, has snapshots, or Cinder is
            busy with it
        """


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class VolumeSnapshot:
    """The content of a volume at an instant, stored with the volume.

    :ivar size_gb: GiB
    :ivar status: the status in Cinder, such as ``creating``, ``available``,
        ``deleting`` or ``error``
    """

    id: str
    name: str
    project_id: str
    volume_id: str
    size_gb: int
    status: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Backup:
    """The content of a volume at an instant, stored elsewhere.

    :ivar size_gb: GiB
    :ivar status: the status in Cinder, such as ``creating``, ``available``,
        ``deleting`` or ``error``
    :ivar reason: why it is in error; '' if unknown
    """

    id: str
    name: str
    project_id: str
    volume_id: str
    size_gb: int
    status: str
    reason: str


class Snapshots(Protocol):
    """Operations on snapshots; :class:`.volumes.Volumes` explains their projects."""

    def find_snapshot(self, snapshot_id: str) -> VolumeSnapshot | None:
        """Return a snapshot; None if it does not exist."""

    def list_snapshots(self, volume_id: str) -> tuple[VolumeSnapshot, ...]:
        """Return the snapshots of a volume, by id; empty if it does not exist."""

    def create_snapshot(self, volume_id: str, name: str) -> str:
        """Start to create a snapshot of a volume and return its id.

        The volume may be attached and in use meanwhile. Not idempotent: names are not
        unique.

        :raises CloudNotFound: if there is no such volume
        :raises CloudConflict: if the state of the volume does not allow it
        :raises CloudQuota: if the project has reached its limit of snapshots or of GiB
        """

    def delete_snapshot(self, snapshot_id: str) -> None:
        """Start to delete a snapshot; a no-op if it is gone or being deleted.

        :raises CloudConflict: if its state does not allow it
        """


class Backups(Protocol):
    """Operations on backups; :class:`.volumes.Volumes` explains their projects.

    In a cloud without a backup service, requests for backups succeed. The backup then
    goes to ``error`` with the reason, and cannot be deleted.
    """

    def find_backup(self, backup_id: str) -> Backup | None:
        """Return a backup; None if it does not exist."""

    def list_backups(self, volume_id: str) -> tuple[Backup, ...]:
        """Return the backups of a volume, by id, even if it was deleted."""

    def create_backup(self, volume_id: str, name: str) -> str:
        """Start to create a backup of a volume and return its id.

        The volume may be attached and in use meanwhile. Not idempotent: names are not
        unique.

        :raises CloudNotFound: if there is no such volume
        :raises CloudConflict: if the state of the volume does not allow it
        :raises CloudQuota: if the project has reached its limit of backups or of GiB
        """

    def delete_backup(self, backup_id: str) -> None:
        """Start to delete a backup; a no-op if it is gone or being deleted.

        :raises CloudConflict: if its state does not allow it, or the cloud has no backup
            service
        """


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class VolumeType:
    """A kind of volume.

    :ivar public: whether every project may use it
    :ivar extra_specs: requirements on the pool, such as ``volume_backend_name``
    """

    id: str
    name: str
    public: bool
    extra_specs: Mapping[str, str]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Pool:
    """A storage pool. Sizes are in GiB.

    :ivar name: Cinder's full name, ``host@backend#pool``
    :ivar backend_name: the name to which ``volume_backend_name`` of a type refers
    :ivar total_gb: None if it is unlimited or unknown
    :ivar free_gb: None if it is unlimited or unknown
    :ivar allocated_gb: the size of the volumes that Cinder has created in it
    :ivar provisioned_gb: the size that all users of the storage have provisioned in it
    """

    name: str
    backend_name: str
    total_gb: float | None
    free_gb: float | None
    allocated_gb: float
    provisioned_gb: float


class VolumeTypes(Protocol):
    """Operations on volume types and pools."""

    def find_volume_type(self, name: str) -> VolumeType | None:
        """Return the public or private type of exactly this name; None without one."""

    def list_volume_types(self) -> tuple[VolumeType, ...]:
        """Return all types, public or not, by name.

        Users without administrator rights get only the types that they may use, without
        ``volume_backend_name``; the same applies to :meth:`find_volume_type`.
        """

    def create_volume_type(self, name: str, extra_specs: Mapping[str, str]) -> VolumeType:
        """Create a type that no project may use until access is granted.

        :raises CloudConflict: if a type with this name exists (possibly created by an
            earlier call whose response was lost: see :meth:`find_volume_type`)
        """

    def delete_volume_type(self, type_id: str) -> None:
        """Delete a type; a no-op if it does not exist.

        :raises CloudConflict: if volumes of this type exist
        """

    def list_volume_type_projects(self, type_id: str) -> tuple[str, ...]:
        """Return the ids of the projects that may use a private type, sorted.

        :raises CloudNotFound: if there is no such type, or it is public
        """

    def allow_volume_type(self, type_id: str, project_id: str) -> None:
        """Grant a project access to a private type; a no-op if it already has access.

        :raises CloudNotFound: if there is no such type
        """

    def forbid_volume_type(self, type_id: str, project_id: str) -> None:
        """Revoke a project's access to a type; a no-op if it has none.

        Its volumes of this type stay.
        """

    def list_pools(self) -> tuple[Pool, ...]:
        """Return every pool of Cinder's scheduler, by name."""
