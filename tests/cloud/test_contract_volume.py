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

"""The contract of volumes, held against a real cloud, which has no backups."""

from __future__ import annotations

from tests.contract import paging_contracts
from tests.contract import volume_contracts
from tests.contract import volume_type_contracts
from tests.contract import volume_worlds


class TestRealVolumes(volume_contracts.VolumeContract):
    """Volumes in a real Cinder."""

    world_type = volume_worlds.RealWorld


class TestRealPagedVolumes(paging_contracts.PagedVolumeContract):
    """A list of volumes in a real Cinder."""

    world_type = volume_worlds.RealWorld


class TestRealSnapshots(volume_contracts.SnapshotContract):
    """Snapshots in a real Cinder."""

    world_type = volume_worlds.RealWorld


class TestRealBackups(volume_contracts.BackupContract):
    """Backups in a real Cinder."""

    world_type = volume_worlds.RealWorld


class TestRealVolumeTypes(volume_type_contracts.VolumeTypeContract):
    """Volume types in a real Cinder."""

    world_type = volume_worlds.RealWorld
