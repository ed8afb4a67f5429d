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

"""Kinds of volumes, and the places where volumes can lie."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Protocol


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class VolumeType:
    """A kind of volumes.

    :ivar public: whether every project may use it
    :ivar extra_specs: what a pool must be, such as ``volume_backend_name``
    """

    id: str
    name: str
    public: bool
    extra_specs: Mapping[str, str]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Pool:
    """A place where volumes can lie. Sizes are in GiB.

    :ivar name: Cinder's full name, ``host@backend#pool``
    :ivar backend_name: what ``volume_backend_name`` in types refers to
    :ivar total_gb: None if it is endless, or the driver does not know
    :ivar free_gb: likewise
    :ivar allocated_gb: what Cinder has put there
    :ivar provisioned_gb: the amount provisioned there by all users
    """

    name: str
    backend_name: str
    total_gb: float | None
    free_gb: float | None
    allocated_gb: float
    provisioned_gb: float


class VolumeTypes(Protocol):
    """Verbs about volume types and pools."""

    def find_volume_type(self, name: str) -> VolumeType | None:
        """Return the type of exactly this name, public or not; None if none."""
        ...

    def list_volume_types(self) -> tuple[VolumeType, ...]:
        """Return all types, public or not, by name.

        Users without administrator rights get those they may use, without
        ``volume_backend_name``; the same holds for :meth:`find_volume_type`.
        """
        ...

    def create_volume_type(self, name: str, extra_specs: Mapping[str, str]) -> VolumeType:
        """Make a type that no project may use until access is granted.

        :raises CloudConflict: if there is one of this name (perhaps made by a
            call before, whose answer was lost: see :meth:`find_volume_type`)
        """
        ...

    def delete_volume_type(self, type_id: str) -> None:
        """Remove a type; fine if it is gone already.

        :raises CloudConflict: if there are volumes of it
        """
        ...

    def list_volume_type_projects(self, type_id: str) -> tuple[str, ...]:
        """Return the projects that may use a private type, in order.

        :raises CloudNotFound: if there is no such type, or it is public
        """
        ...

    def allow_volume_type(self, type_id: str, project_id: str) -> None:
        """Let a project use a private type; fine if it may already.

        :raises CloudNotFound: if there is no such type
        """
        ...

    def forbid_volume_type(self, type_id: str, project_id: str) -> None:
        """Let a project no longer use a type; fine if it may not, or it is gone.

        Volumes that it has stay.
        """
        ...

    def list_pools(self) -> tuple[Pool, ...]:
        """Return every pool that Cinder's scheduler knows, by name."""
        ...
