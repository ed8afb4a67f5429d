# SPDX-License-Identifier: Apache-2.0

"""Volume types, and the pools that store volumes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Protocol


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
