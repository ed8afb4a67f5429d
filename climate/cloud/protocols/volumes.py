# SPDX-License-Identifier: Apache-2.0

"""Volumes of Cinder."""

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
