# SPDX-License-Identifier: Apache-2.0

"""Copies of volumes: snapshots in the same pool, and backups in separate storage."""

from __future__ import annotations

import dataclasses
from typing import Protocol


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
