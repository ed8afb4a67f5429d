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

"""Volumes, as Cinder knows them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal
from typing import Protocol


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """What a volume is made of, if not of nothing."""

    kind: Literal['snapshot', 'image', 'volume']
    id: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Volume:
    """A block device.

    :ivar size_gb: GiB
    :ivar status: Cinder's word, such as ``creating``, ``available``,
        ``in-use``, ``deleting`` or ``error``
    :ivar volume_type: name of its type; '' if it has none
    :ivar pool: where it lies, a name that pools have as well; '' as long as
        that is not decided
    :ivar server_ids: the servers that it is attached to
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
    """Verbs about volumes.

    Cinder has no way to make something in the project of another: volumes,
    snapshots and backups are made in the project that the client acts in.
    Finding, listing and deleting concern all projects.

    None detaches a volume: it is Nova that has to let it go, and Cinder refuses
    to do so behind its back; see :mod:`climate.clients.protocols.attachments`.
    """

    def find_volume(self, volume_id: str) -> Volume | None:
        """Return a volume; None if there is none."""
        ...

    def list_volumes(
        self,
        *,
        volume_type: str | None = None,
        pool: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> tuple[Volume, ...]:
        """Return the volumes of all projects, by id.

        :param volume_type: only those of the type of this name
        :param pool: only those that lie there
        :param metadata: only those that have all of it
        """
        ...

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
        """Begin to make a volume and return its id.

        :attr:`Volume.status` shows its progress.

        Repeating it makes another volume: names are not unique. After a lost
        answer find it by its metadata, see :meth:`list_volumes`.

        :param size_gb: GiB; None if a source tells it
        :param volume_type: name; the cloud's default if None
        :param availability_zone: the cloud's default if None
        :raises CloudNotFound: if there is no such type, snapshot or volume
        :raises CloudQuota: if the project may have no more of them, or no more
            GiB
        :raises climate.exceptions.Permanent: if there is no such zone or
            image, the size does not fit the source, or the source is not
            ready
        """
        ...

    def delete_volume(self, volume_id: str) -> None:
        """Begin to delete a volume; fine if it is gone or going already.

        :raises CloudConflict: if it is attached, has snapshots, or Cinder is
            busy with it
        """
        ...
